"""The code or command that repeats a result."""

import numpy as np
import pandas as pd
import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.report.facts import gather
from sparseksc.report.provenance import code_to_repeat
from tests.report.conftest import shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_the_command_replaces_the_code(plain, data, write):
    assert "KernelSpectralClustering(n_clusters=3" in shown(write(plain, data))
    text = shown(write(plain, data, command="ksc fit 'a & b.csv' -k 3"))
    assert "ksc fit 'a & b.csv' -k 3" in text
    assert "KernelSpectralClustering(" not in text


def test_the_code_repeats_the_result(data, tmp_path):
    pd.DataFrame(data[:, :2], columns=["a", "b"]).to_csv(tmp_path / "d.csv", index=False)
    X = open_dataset(tmp_path / "d.csv", columns=["b", "a"], block_rows=100)
    model = KernelSpectralClustering(3, bandwidth=np.array([8.0, 7.0]), random_state=1).fit(X)
    names = {}
    exec(code_to_repeat(gather(model, X, None).rows), names)
    np.testing.assert_array_equal(names["model"].coef_, model.coef_)
