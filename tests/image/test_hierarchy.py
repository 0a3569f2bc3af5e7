"""Merges by the evidence along common boundaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseksc.image.hierarchy import Hierarchy, likelihood, merge_regions, region_graph
from tests.reference import image as slow


def without_gaps(labels):
    """Region numbers from 0; the last number is outside."""
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape) - 1


shapes = st.sampled_from([(1, 1), (2, 3), (6, 5), (3, 3, 4), (8, 12)])
maps = shapes.flatmap(lambda shape: arrays(np.int32, shape, elements=st.integers(0, 5)))
blocks = st.integers(0, 3).map(lambda seed: np.random.default_rng(seed).integers(-1, 3, (2, 3)))
#: Regions of single pixels, and some that are large enough to have a core.
maps = maps | blocks.map(lambda block: block.repeat(8, axis=0).repeat(9, axis=1))


def example(labels, seed=0):
    """Gradients of a label map, mean colours and sums of scores of its regions."""
    rng = np.random.default_rng(seed)
    gradients = [rng.gamma(1.0, 4.0, labels.shape) for _ in range(3)]
    n_regions = int(labels.max()) + 1
    return gradients, rng.normal(0.0, 3.0, (n_regions, 3)), rng.normal(0.0, 9.0, (n_regions, 4))


@given(maps.map(without_gaps))
def test_graph_agrees_with_a_loop_over_pixels(labels):
    if labels.max() < 0:
        return
    gradients, colours, scores = example(labels)
    graph = region_graph(labels, gradients, colours, scores)
    expected = slow.common_boundaries(labels, gradients)
    assert [tuple(pair) for pair in graph.pairs.tolist()] == sorted(expected)
    for pair, length, sums in zip(graph.pairs, graph.lengths, graph.gradients, strict=True):
        assert length == expected[tuple(pair)][0]
        np.testing.assert_allclose(sums, expected[tuple(pair)][1:])
    of_pairs = slow.evidence(labels, gradients, colours, scores)
    for pair, evidence in zip(graph.pairs, graph.evidence, strict=True):
        np.testing.assert_allclose(evidence, of_pairs[tuple(pair)])
    assert graph.sizes.sum() == np.count_nonzero(labels >= 0)


@pytest.mark.parametrize("seed", range(5))
def test_merges_agree_with_means_and_sums_along_all_first_boundaries(seed):
    labels = np.random.default_rng(seed).integers(0, 4, (3, 4)).repeat(3, axis=0)
    labels = slow.pieces(labels)
    graph = region_graph(labels, *example(labels, seed))
    found = merge_regions(graph)
    first = likelihood(graph.evidence).tolist()
    likely = dict(zip(map(tuple, graph.pairs.tolist()), first, strict=True))
    expected, best = slow.merged(labels, likely)
    assert found.numbers == range(1, found.n_regions + 1)
    for n, (parts, f) in expected.items():
        cut = found.cut(n)[labels]
        assert cut.max() + 1 == n
        assert len(np.unique(np.stack([cut.ravel(), parts.ravel()]), axis=1).T) == n
        assert found.expected_f[found.n_regions - n] == pytest.approx(f)
    assert found.unattended == best
    assert found.best([best, 1]) == best


def test_a_strip_beside_an_edge_has_no_evidence_and_neither_has_texture():
    labels = np.repeat([0, 1, 2], [20, 8, 20])[None].repeat(30, axis=0)
    colours, scores = np.array([[0.0], [50.0], [100.0]]), np.zeros((3, 1))
    slope = np.exp(-(((np.arange(48) - 27.5) / 6) ** 2))[None].repeat(30, axis=0) * 40.0
    texture = np.full(labels.shape, 7.0)
    graph = region_graph(labels, [slope, texture, texture], colours, scores)
    (strip, *_), (edge, *_) = np.exp(graph.evidence) - 0.5
    assert edge > 20.0 > 1.0 > strip
    np.testing.assert_allclose(graph.gradients[:, 1:], 0.0)


def test_regions_of_one_colour_have_no_evidence_of_colour():
    labels = np.repeat([0, 1], 10)[None].repeat(20, axis=0)
    gradients, same = [np.full(labels.shape, 30.0)] * 3, np.full((2, 3), 40.0)
    gradients = [one * (np.abs(np.arange(20) - 9.5) < 2) for one in gradients]
    graph = region_graph(labels, gradients, same, np.zeros((2, 1)))
    np.testing.assert_allclose(np.exp(graph.evidence) - 0.5, [[0.0, 0.0, 30.0, 0.0]], atol=1e-9)


def test_more_evidence_makes_a_boundary_more_likely():
    evidence = np.log(0.5 + np.array([[0.0, 0, 0, 0], [5, 5, 5, 1], [9, 9, 9, 5]]))
    assert (np.diff(likelihood(evidence)) > 0.0).all()


def test_best_is_one_of_the_candidates():
    found = Hierarchy(3, np.array([[0, 1], [2, 3]]), np.array([0.5, 0.9, 0.4]), 2)
    assert found.best([1, 2, 3]) == 2
    assert found.best([1, 3]) == 3


@pytest.mark.parametrize(("strength", "unattended"), [(40.0, 3), (0.5, 1)])
def test_one_segment_where_nothing_is_likely(strength, unattended):
    labels = np.repeat([0, 1, 2], 20)[None].repeat(30, axis=0)
    edges = np.where(np.abs(np.arange(60) % 20 - 9.5) > 9, strength, 0.0)[None].repeat(30, axis=0)
    colours = np.array([[0.0], [strength], [0.0]])
    graph = region_graph(labels, [edges] * 3, colours, np.zeros((3, 1)))
    assert merge_regions(graph).unattended == unattended


def test_a_few_segments_are_large_ones_and_no_specks():
    # Two halves, and a speck in each with a sharper boundary than theirs.
    labels = np.repeat([0, 1], 30)[None].repeat(40, axis=0)
    labels[10:14, 10:14], labels[10:14, 40:44] = 2, 3
    colours = np.array([[0.0], [60.0], [100.0], [100.0]])
    edges = np.where(np.abs(np.arange(60) - 29.5) < 2, 30.0, 0.0)[None].repeat(40, axis=0)
    edges[7:17, 7:17] = edges[7:17, 37:47] = 40.0
    graph = region_graph(labels, [edges] * 3, colours, np.zeros((4, 1)))
    found = merge_regions(graph)
    assert found.unattended == 4
    assert found.cut(2).tolist() == [0, 1, 0, 1]
    in_pieces = merge_regions(graph, connected=False)
    assert in_pieces.unattended == 4
    assert in_pieces.cut(3).tolist() != found.cut(3).tolist()
