"""The tree of a page: its lines, its heights, and the colours of its levels."""

import numpy as np
import pytest

from sparseksc.report.charts.tree import BEYOND, colours_of, make_tree
from sparseksc.report.levels import levels_of
from tests.report.conftest import shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_every_cluster_and_every_merge_has_a_line(nested):
    model, X = nested
    sizes = np.bincount(model.predict(X))
    tree = make_tree(model.tree_, sizes, [str(k) for k in range(5)])
    assert sorted(tree.order) == list(range(5))
    assert [colour for colour, _ in tree.lines] == [
        *(f"k{k}" for k in range(5)),
        "n0",
        "n1",
        "n2",
        "n3",
    ]
    heights = 100 * model.distances_ / (model.distances_[-1] * (1 + BEYOND))
    np.testing.assert_allclose(np.array(tree.heights, dtype=float), heights, atol=0.006)
    for step, (_, path) in enumerate(tree.lines[5:]):
        assert path.startswith(f"M{tree.heights[step]} ")
    assert [merge["left"] for merge in tree.merges] == [4, 3, 2, 1]
    assert tree.merges[-1]["rows"] == f"{len(X):,}"


def test_clusters_of_a_merge_stand_side_by_side(nested):
    model, X = nested
    sizes = np.bincount(model.predict(X))
    order = make_tree(model.tree_, sizes, [str(k) for k in range(5)]).order
    for m in (2, 3, 4):
        groups = model.cut(m)[order]
        assert np.count_nonzero(np.diff(groups)) == m - 1


def test_a_cut_lies_between_two_merges(nested):
    model, X = nested
    tree = make_tree(model.tree_, np.bincount(model.predict(X)), [str(k) for k in range(5)])
    for m in range(2, 6):
        assert sum(float(height) <= float(tree.cut(m)) for height in tree.heights) == 5 - m


def test_colours_of_a_level_are_those_of_its_groups(nested):
    model, _ = nested
    for level in levels_of(model):
        colours = dict(colours_of(level, model.tree_))
        for k, group in enumerate(level.groups):
            assert colours[f"k{k}"] == f"c{level.leaders[group]}"
        uncut = [colours[f"n{step}"] == "ink" for step in range(4)]
        assert uncut == [step >= 5 - level.n_groups for step in range(4)]


def test_the_merges_are_told_in_numbers(nested, write):
    model, X = nested
    text = shown(write(model, X))
    assert "What is merged, from the most similar clusters on" in text
    assert f"{model.distances_[-1]:.2f}" in text
