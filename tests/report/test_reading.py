"""Rows of every kind are read with their names."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.report.facts import gather
from tests.report.conftest import shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_blocks_and_kinds_of_data_do_not_matter(plain, data, tmp_path):
    np.save(tmp_path / "rows.npy", data)
    whole = gather(plain, data, None)
    kinds = [
        open_dataset(tmp_path / "rows.npy", block_rows=7),
        np.asfortranarray(data),
        data.tolist(),
    ]
    for X in kinds:
        facts = gather(plain, X, None)
        np.testing.assert_array_equal(facts.survey.sizes, whole.survey.sizes)
        np.testing.assert_allclose(facts.survey.means, whole.survey.means, rtol=1e-9)
        np.testing.assert_allclose(facts.profile.medians, whole.profile.medians)
        np.testing.assert_array_equal(facts.survey.between.rows, whole.survey.between.rows)
        assert facts.answer == whole.answer


def test_names_of_rows(plain, data, write):
    names = [f"sample {row}" for row in range(300)]
    weakest = gather(plain, data, None).survey.between.rows[0]
    assert f"sample {weakest} " in shown(write(plain, data, ids=names))
    assert "Rows are counted from 0" not in shown(write(plain, data, ids=names))
    assert f"sample {weakest} " in shown(write(plain, pd.DataFrame(data, index=names)))
    with pytest.raises(ValueError, match="ids has 299 names for 300 rows"):
        write(plain, data, ids=names[:-1])
    with pytest.raises(ValueError, match="ids has 299 names for 300 rows"):
        write(plain, open_dataset([data]), ids=names[:-1])


def test_data_frames_of_polars(data, write):
    frame = pl.from_numpy(data, schema=list("abcde"))
    model = KernelSpectralClustering(3, bandwidth=8.0, random_state=0).fit(frame)
    text = shown(write(model, frame))
    assert "a data frame (polars)" in text
    assert "They differ most in" in text and "Rows are counted from 0" in text


def test_wide_sparse_rows(data, write):
    rng = np.random.default_rng(1)
    wide = sp.hstack([data[:, :2], sp.random_array((300, 5000), density=0.001, rng=rng)])
    X = sp.csr_matrix(wide)
    model = KernelSpectralClustering(3, bandwidth=8.0, random_state=0).fit(X)
    text = shown(write(model, X))
    assert "most telling of 5002 features" in text
    assert "a sparse matrix" in text
