"""Pairs that must and cannot be linked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering, load, open_dataset
from sparseksc.config.settings import Settings
from sparseksc.core.clusters.classes import COMPONENTS
from sparseksc.core.clusters.constraints import (
    PAIR_WEIGHT,
    ConstraintWarning,
    PairedRows,
    constrain,
)
from sparseksc.core.training import choose_pivots, fit_projection
from sparseksc.data.source import ArraySource
from tests.reference.constraints import constrained_scores

# Four blobs of 100 rows: 0 to 99, 100 to 199, and so on.
X, _ = make_blobs(400, centers=[[0, 0], [6, 0], [0, 7], [8, 8]], random_state=0, shuffle=False)
KERNELS = [{"bandwidth": 4.0}, {"kernel": "landmarks"}]


def fitted(n_clusters, parameters, **more):
    return KernelSpectralClustering(n_clusters, random_state=0, **parameters).fit(X, **more)


def blobs(model):
    """Most frequent label of each blob, and the share of the rows that have it."""
    counts = [np.bincount(part, minlength=4) for part in np.split(model.labels_, 4)]
    return [int(np.argmax(one)) for one in counts], min(one.max() / one.sum() for one in counts)


@pytest.mark.parametrize("parameters", KERNELS)
@pytest.mark.parametrize(("one", "other"), [(0, 1), (0, 2), (1, 3), (0, 3), (1, 2)])
def test_a_pair_decides_which_blobs_are_one_cluster(parameters, one, other):
    model = fitted(3, parameters, must_link=[(100 * one, 100 * other + 50)])
    found, purity = blobs(model)
    assert found[one] == found[other]
    assert len(set(found)) == 3
    assert purity >= 0.99


@pytest.mark.parametrize("parameters", KERNELS)
@pytest.mark.parametrize(("one", "other"), [(0, 2), (0, 3), (2, 3)])
def test_a_pair_decides_which_blobs_are_two_clusters(parameters, one, other):
    found, purity = blobs(fitted(2, parameters, cannot_link=[(100 * one, 100 * other + 50)]))
    assert found[one] != found[other]
    assert purity == 1.0


@pytest.mark.parametrize("parameters", KERNELS)
def test_no_pairs_change_nothing(parameters):
    plain = fitted(4, parameters)
    for nothing in (None, [], np.empty((0, 2), int)):
        other = fitted(4, parameters, must_link=nothing, cannot_link=nothing)
        assert other.coef_.tobytes() == plain.coef_.tobytes()
    # Pairs that are kept to anyway change no label.
    kept = fitted(4, parameters, must_link=[(0, 1)], cannot_link=[(0, 100)])
    np.testing.assert_array_equal(kept.labels_, plain.labels_)


@pytest.mark.parametrize("parameters", KERNELS)
def test_pairs_that_cannot_be_kept_to_are_told(parameters):
    # Three rows cannot be in three of two clusters.
    with pytest.warns(ConstraintWarning, match="1 of 3 that cannot be are in one"):
        fitted(2, parameters, cannot_link=[(0, 100), (100, 200), (200, 0)])


@pytest.mark.parametrize("parameters", KERNELS)
def test_the_components_are_those_of_the_definition(parameters):
    estimator = KernelSpectralClustering(3, random_state=0, **parameters)
    recipe = Settings(estimator.get_params()).recipe(parameters.get("bandwidth"), 2)
    source = ArraySource(X)
    pivots = choose_pivots(source.sample(None, 0), recipe)
    fit = fit_projection(source, COMPONENTS, pivots, recipe)
    must, cannot = np.array([[0, 150], [20, 30]]), np.array([[10, 250]])
    pairs = PairedRows(X, must, cannot)
    projection, spectrum = constrain(fit.projection, fit.spectrum, 2, pairs)
    eigenvalues = spectrum.eigenvalues
    Z, degrees = fit.projection.scores_and_degrees(X)
    shares = fit.degrees.shares_of(degrees, np.ones(len(X)))
    usable = fit.spectrum.eigenvalues > 1e-6
    values = fit.spectrum.eigenvalues[usable]
    expected = constrained_scores(Z[:, usable], values, shares, must, cannot, 2, PAIR_WEIGHT)
    ours = np.sqrt(fit.spectrum.omega) * projection.scores(X) / eigenvalues
    # The same functions up to a rotation.
    rotation, *_ = np.linalg.lstsq(expected, ours, rcond=None)
    np.testing.assert_allclose(expected @ rotation, ours, atol=1e-6)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(2), atol=1e-6)
    assert (np.diff(eigenvalues) <= 0.0).all()
    assert eigenvalues.max() <= 1.0 + 1e-9


@given(st.lists(st.tuples(st.integers(0, 399), st.integers(0, 399)), min_size=1, max_size=6))
@settings(max_examples=15, deadline=None)
@pytest.mark.filterwarnings("ignore::sparseksc.core.clusters.constraints.ConstraintWarning")
def test_the_order_of_pairs_and_of_their_rows_does_not_matter(pairs):
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    one = fitted(3, KERNELS[0], must_link=pairs)
    other = fitted(3, KERNELS[0], must_link=[(b, a) for a, b in reversed(pairs)])
    np.testing.assert_allclose(abs(one.coef_), abs(other.coef_), atol=1e-5 * abs(one.coef_).max())


def test_streams_dask_and_files_keep_to_pairs(tmp_path):
    da = pytest.importorskip("dask.array")
    must = [(0, 350)]
    parameters = KERNELS[1]
    plain = fitted(3, parameters, must_link=must)
    for rows in (open_dataset([X]), da.from_array(X, chunks=(400, 2))):
        other = KernelSpectralClustering(3, random_state=0, **parameters).fit(rows, must_link=must)
        assert other.coef_.tobytes() == plain.coef_.tobytes()
    plain.save(tmp_path / "model.ksc")
    np.testing.assert_array_equal(load(tmp_path / "model.ksc").predict(X), plain.labels_)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ({"must_link": [(0, 400)]}, "must_link must hold row numbers from 0 to 399"),
        ({"cannot_link": [(-1, 3)]}, "cannot_link must hold row numbers"),
        ({"must_link": [(0.5, 1.0)]}, "integers, got float64"),
        ({"must_link": [("a", "b")]}, "integers"),
        ({"must_link": [0, 1]}, r"shape \(n_pairs, 2\), got \(2,\)"),
        ({"cannot_link": [(0, 1, 2)]}, r"shape \(n_pairs, 2\)"),
        ({"must_link": [(7, 7)]}, "got row 7 twice"),
        ({"must_link": [(0, 1)], "cannot_link": [(1, 0)]}, "rows 1 and 0 are a pair of cannot"),
        ({"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}, "through other rows"),
        ({"must_link": [(0, 1)], "y": [1] * 10 + [-1] * 390}, "give y or pairs"),
    ],
)
def test_bad_pairs_get_a_sentence(pairs, words):
    with pytest.raises(ValueError, match=words):
        fitted(2, KERNELS[0], **pairs)
