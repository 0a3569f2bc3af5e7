"""Levels of a page: their numbers are those of a model with coarser clusters."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering
from sparseksc.report.facts import gather
from sparseksc.report.levels import MOST_GROUPS, levels_of
from tests.report.conftest import Outline, shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_every_level_tells_what_the_labels_of_that_level_tell(nested):
    model, X = nested
    facts = gather(model, X, None)
    assert [at_level.n_clusters for at_level in facts.levels] == [5, 2, 3, 4]
    for coarse in facts.coarser:
        m = coarse.n_clusters
        labels = model.predict(X, n_clusters=m)
        membership = model.membership(X) @ np.eye(m)[model.cut(m)]
        own = membership[np.arange(len(X)), labels]
        np.testing.assert_array_equal(coarse.survey.sizes, np.bincount(labels))
        assert coarse.survey.mean_strength == pytest.approx(own.mean())
        for group in range(m):
            mine = X[labels == group]
            np.testing.assert_allclose(coarse.survey.means[group], mine.mean(axis=0))
            np.testing.assert_allclose(coarse.survey.deviations[group], mine.std(axis=0))
            assert coarse.survey.strengths[group].sum() == len(mine)
        medians = [np.median(X[labels == group], axis=0) for group in range(m)]
        np.testing.assert_allclose(
            coarse.profile.medians, np.array(medians)[:, coarse.profile.features]
        )
        ordered = np.sort(membership, axis=1)
        tie = ordered[:, -2] / ordered[:, -1]
        np.testing.assert_allclose(
            np.sort(tie[coarse.survey.between.rows]), np.sort(tie)[-12:], rtol=1e-12
        )
        drawn = facts.points
        np.testing.assert_allclose(drawn.strengths(coarse.level), own[drawn.rows])


def test_a_group_has_the_colour_of_its_largest_cluster(nested):
    model, _ = nested
    for level in levels_of(model):
        for group, leader in enumerate(level.leaders):
            members = level.members(group)
            assert leader in members
            assert model.cluster_sizes_[leader] == model.cluster_sizes_[members].max()


def test_many_clusters_offer_a_few_levels(write):
    X, _ = make_blobs(2000, n_features=10, centers=40, random_state=0)
    model = KernelSpectralClustering(40, bandwidth=80.0, random_state=0).fit(X)
    assert [level.n_groups for level in levels_of(model)] == [40, *range(2, MOST_GROUPS + 1)]
    write(model, X)  # within the size of a page


def test_two_clusters_and_old_models_have_one_level(plain, data, nested, write):
    two = KernelSpectralClustering(2, bandwidth=8.0, random_state=0).fit(data)
    assert len(levels_of(two)) == 1
    assert "Coarser clusters" not in shown(write(two, data))
    model, X = nested
    tree = model.__dict__.pop("tree_")
    try:
        assert len(levels_of(model)) == 1
        assert "Coarser clusters" not in shown(write(model, X))
    finally:
        model.tree_ = tree


def test_classes_are_called_by_their_names(write):
    X, y = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    some = np.where(np.arange(300) % 10 == 0, np.array(["oak", "<b>elm</b>", "ash"])[y], None)
    model = KernelSpectralClustering(3, bandwidth=8.0, random_state=0).fit(X, some)
    page = write(model, X)
    text = shown(page)
    assert "Cluster oak 100 " in text and "Cluster <b>elm</b> 100 " in text
    assert "Cluster 0 100 " not in text.split("Coarser clusters")[0].split("of ")[0]
    labels = [attrs.get("aria-label") for attrs in Outline(page).named("input")]
    assert "Cluster ash, 100 rows" in labels
