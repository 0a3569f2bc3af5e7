"""One pass over all rows: exact sizes, moments and memberships."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.report.facts import gather
from tests.report.conftest import shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_sizes_and_moments_are_those_of_all_rows(plain, data):
    survey = gather(plain, data, None).survey
    for cluster in range(3):
        mine = data[plain.labels_ == cluster]
        assert survey.sizes[cluster] == len(mine)
        np.testing.assert_allclose(survey.means[cluster], mine.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(survey.deviations[cluster], mine.std(axis=0), atol=1e-12)
    strengths = plain.membership(data).max(axis=1)
    assert survey.mean_strength == pytest.approx(strengths.mean())
    assert survey.strengths.sum() == 300
    assert survey.strengths[:, :10].sum() == (strengths < 0.5).sum()


@pytest.mark.parametrize("offset, unit", [(1e8, 1.0), (0.0, 1e120), (0.0, 1e-120)])
def test_moments_survive_offsets_and_units(data, offset, unit):
    X = data[:, :2] * unit + offset
    model = KernelSpectralClustering(3, bandwidth=8.0 * unit**2, random_state=0).fit(X)
    facts = gather(model, X, None)
    centred = (X - offset) / unit
    for cluster in range(3):
        mine = centred[model.labels_ == cluster]
        np.testing.assert_allclose(
            facts.survey.deviations[cluster] / unit, mine.std(axis=0), rtol=1e-5
        )
    assert np.isfinite(facts.profile.effects).all()
    assert np.isfinite([facts.points.data.x, facts.points.data.y]).all()


def test_the_rows_between_clusters_are_the_nearest_to_a_tie(plain, data):
    between = gather(plain, data, None).survey.between
    ordered = np.sort(plain.membership(data), axis=1)
    tie = ordered[:, -2] / ordered[:, -1]
    np.testing.assert_array_equal(between.rows, np.argsort(-tie, kind="stable")[:12])
    np.testing.assert_array_equal(between.labels, plain.labels_[between.rows])
    np.testing.assert_allclose(between.X, data[between.rows])


@pytest.mark.slow
def test_a_million_rows(tmp_path, write):
    X, _ = make_blobs(10**6, n_features=4, centers=3, random_state=0)
    np.save(tmp_path / "rows.npy", X)
    model = KernelSpectralClustering(3, bandwidth=8.0, max_rank=50, random_state=0).fit(X[:5000])
    text = shown(write(model, open_dataset(tmp_path / "rows.npy")))
    for cluster, size in enumerate(np.bincount(model.predict(X))):
        assert f"Cluster {cluster} {size:,} " in text
    assert "exact, from all 1,000,000 rows" in text
