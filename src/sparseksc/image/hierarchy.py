r"""Which regions belong together: merges by the evidence along common boundaries.

The evidence for the common boundary of two regions are the means :math:`e_1, e_2, e_3` of three
gradients along it (lightness, colour, local contrast), as far as they are above those within the
regions, and the cut between the regions under the kernel, the distance of their mean scores
:math:`e_4 = \|\bar z_a - \bar z_b\|`. Neither :math:`e_1` nor :math:`e_2` is larger than the
distance of the median colours: what smoothing makes of an edge is no boundary. They say how likely
a person would draw it,

.. math:: p = \frac{1}{1 + \exp(-b - \sum_j w_j \log(\tfrac12 + e_j))}.

The least likely boundary goes first, where two boundaries become one its likelihood is the mean
along it, and so on: a level for every number of segments. With the lengths :math:`l_c` and
likelihoods :math:`p_c` of all boundaries c of the first level, of which a level keeps the set B,
the expected precision is :math:`\sum_B p_c l_c / \sum_B l_c`, the expected recall :math:`\sum_B p_c
l_c / \sum_c p_c l_c`, and the level is taken that has the largest

.. math:: F = \frac{2 \sum_B p_c l_c}{\sum_B l_c + \sum_c p_c l_c}.

From there on, where fewer segments are asked for, all boundaries are likely, and the least likely
one may be the only one of a large region. So the boundary goes with which the least recall goes,
:math:`p_c l_c`, until one region is left.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseksc._typing import Floats, Integers
from sparseksc.image.boundaries import Mask
from sparseksc.image.pixels import Scaling, enlarged, filled
from sparseksc.image.regions import Regions, core, quantiles, without_specks

#: Weights of lightness, colour, local contrast and scores, and b: a logistic regression of the
#: share of people who drew them on the evidence for the boundaries of regions, weighted by their
#: lengths, of half of the images (``python -m benchmarks.segmentation --fit``, when colours were
#: means; with medians its numbers differ by up to 0.05, and segments are no better).
WEIGHTS, INTERCEPT = np.array([0.82, 0.82, 0.57, 0.51]), -3.3
#: Evidence below which differences do not count; gradients are in units of CIELAB.
LEAST_EVIDENCE = 0.5
#: Where no boundary is as likely as this, the image is one segment. It was 0.5 until one of the ten
#: images of the paper came out as one.
LEAST_LIKELY = 0.1


@dataclass(frozen=True)
class RegionGraph:
    """Regions that share a boundary.

    Attributes
    ----------
    sizes : array of shape (n_regions,)
        Pixels of each region.
    colours : array of shape (n_regions, n_channels)
        Their median colours, as they are in the image.
    scores : array of shape (n_regions, n_scores)
        Sums of their scores.
    pairs : array of shape (n, 2)
    lengths : array of shape (n,)
        Pairs of neighbouring pixels on the two sides.
    gradients : array of shape (n, 3)
        Sums over these pairs of what the gradients have above those within the regions.
    """

    sizes: Floats
    colours: Floats
    scores: Floats
    pairs: Integers
    lengths: Floats
    gradients: Floats

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return len(self.sizes)

    @property
    def evidence(self) -> Floats:
        """Logarithms of the evidence for each boundary, shape (n, 4)."""
        lightness, colour, contrast = (self.gradients / self.lengths[:, None]).T
        a, b = self.pairs.T
        means = self.scores / self.sizes[:, None]
        apart = np.linalg.norm(means[a] - means[b], axis=1)
        most = np.linalg.norm(self.colours[a] - self.colours[b], axis=1)
        found = [np.minimum(lightness, most), np.minimum(colour, most), contrast, apart]
        return np.log(LEAST_EVIDENCE + np.column_stack(found))


class Neighbours(NamedTuple):
    """Pairs of neighbouring pixels in different regions.

    Attributes
    ----------
    first, second : array of shape (n_neighbours,)
        Numbers of the two pixels in the flattened image.
    boundary : array of shape (n_neighbours,)
        Which of ``pairs`` they are between.
    pairs : array of shape (n, 2)
        Regions that share a boundary, in their order.
    """

    first: Integers
    second: Integers
    boundary: Integers
    pairs: Integers

    @property
    def lengths(self) -> Floats:
        """Pairs of neighbours along each boundary."""
        return np.bincount(self.boundary, minlength=len(self.pairs)).astype(np.float64)

    def sums(self, values: NDArray[Any], floor: Floats | float = 0.0) -> Floats:
        """Sum along each boundary what the means of two neighbours have above its floor."""
        flat = values.ravel()
        means = (flat[self.first] + flat[self.second]).astype(np.float64) / 2.0
        above = np.maximum(means - np.broadcast_to(floor, len(self.pairs))[self.boundary], 0.0)
        return np.bincount(self.boundary, above, minlength=len(self.pairs)).astype(np.float64)


def neighbours(labels: Integers) -> Neighbours:
    """Find the common boundaries of regions; labels below 0 are outside."""
    numbers = np.arange(labels.size).reshape(labels.shape)
    pixels = []
    for axis in range(labels.ndim):
        before, after = (np.moveaxis(numbers, axis, 0)[part] for part in (np.s_[:-1], np.s_[1:]))
        pixels.append(np.stack([before.ravel(), after.ravel()]))
    flat = labels.ravel()
    first, second = np.concatenate(pixels, axis=1)
    apart = (flat[first] != flat[second]) & (flat[first] >= 0) & (flat[second] >= 0)
    first, second = first[apart], second[apart]
    low, high = np.minimum(flat[first], flat[second]), np.maximum(flat[first], flat[second])
    count = int(labels.max()) + 1
    found, boundary = np.unique(low.astype(np.int64) * count + high, return_inverse=True)
    return Neighbours(first, second, boundary, np.stack([found // count, found % count], axis=1))


def within(labels: Integers, gradient: NDArray[Any], pairs: Integers) -> Floats:
    """Return the gradient that the regions on both sides of a boundary have anyway.

    At least the larger of their minima: a strip beside an edge has the slope of the edge all over.
    At least the smaller of the medians of their cores, away from all boundaries: texture has a
    gradient everywhere. Where there is no core, nothing is known.
    """
    inner = core(labels) & (labels >= 0)
    n_regions = int(labels.max()) + 1
    median = quantiles(gradient[inner], labels[inner], n_regions, 0.5)
    least = quantiles(gradient[labels >= 0], labels[labels >= 0], n_regions, 0.0)
    least[np.bincount(labels[inner], minlength=n_regions) == 0] = 0.0
    return np.maximum(least[pairs].max(axis=1), median[pairs].min(axis=1))


def region_graph(
    labels: Integers,
    gradients: Sequence[NDArray[Any]],
    colours: Floats,
    scores: Floats,
    *,
    connected: bool = True,
) -> RegionGraph:
    """Find the common boundaries and what there is along them; labels below 0 are outside.

    Regions in many pieces are along boundaries all over, so that nothing can be said of what is
    within them.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.hierarchy import region_graph
    >>> graph = region_graph(
    ...     np.array([[0, 1], [0, 2]]), [np.ones((2, 2))], np.ones((3, 3)), np.ones((3, 1))
    ... )
    >>> graph.pairs.tolist(), graph.lengths.tolist()
    ([[0, 1], [0, 2], [1, 2]], [1.0, 1.0, 1.0])
    """
    found = neighbours(labels)
    sums = [
        found.sums(one, within(labels, one, found.pairs) if connected else 0.0) for one in gradients
    ]
    sizes = np.bincount(labels[labels >= 0]).astype(np.float64)
    return RegionGraph(sizes, colours, scores, found.pairs, found.lengths, np.stack(sums, axis=1))


def likelihood(evidence: Floats) -> Floats:
    """Share of people who would draw each boundary."""
    return 1.0 / (1.0 + np.exp(-(evidence @ WEIGHTS + INTERCEPT)))


@dataclass(frozen=True)
class Hierarchy:
    """Merges of regions.

    Attributes
    ----------
    n_regions : int
    merges : array of shape (n, 2)
        Regions that become one, number ``n_regions + i`` for merge i.
    expected_f : array of shape (n + 1,)
        Before each merge, and after the last.
    unattended : int
        Number of segments where none is asked for.
    """

    n_regions: int
    merges: Integers
    expected_f: Floats
    unattended: int

    @property
    def numbers(self) -> range:
        """Numbers of segments that there are levels for, ascending."""
        return range(self.n_regions - len(self.merges), self.n_regions + 1)

    def best(self, candidates: Sequence[int]) -> int:
        """Return the candidate of the largest expected F, the smallest of equal ones."""
        return max(candidates, key=lambda n: (self.expected_f[self.n_regions - n], -n))

    def cut(self, n_segments: int) -> Integers:
        """Return the segment of each region, for a number of segments."""
        segments = np.arange(self.n_regions)
        for step, pair in enumerate(self.merges[: self.n_regions - n_segments]):
            segments[np.isin(segments, pair)] = self.n_regions + step
        return np.unique(segments, return_inverse=True)[1]


class _Boundary(NamedTuple):
    """What adds up where boundaries become one."""

    length: float
    expected: float

    @property
    def likelihood(self) -> float:
        """Mean along the boundary."""
        return self.expected / self.length

    def joined(self, other: _Boundary) -> _Boundary:
        return _Boundary(self.length + other.length, self.expected + other.expected)


def merge_regions(graph: RegionGraph, *, connected: bool = True) -> Hierarchy:
    """Merge pairs of regions until none share a boundary.

    Regions in many pieces have long boundaries for their size, of which the sum says little: the
    least likely boundary goes to the end.
    """
    by_likelihood = _Merging(graph)
    by_likelihood.run(lambda one: one.likelihood)
    n_merges = by_likelihood.best()
    merging = _Merging(graph)
    merging.run(lambda one: one.likelihood, n_merges if connected else None)
    merging.run(lambda one: one.expected)
    return Hierarchy(
        graph.n_regions,
        np.array(merging.merges, dtype=np.int64).reshape(-1, 2),
        np.array(merging.expected_f),
        graph.n_regions - n_merges,
    )


class _Merging:
    """Regions and their boundaries, of which one goes after the other."""

    def __init__(self, graph: RegionGraph) -> None:
        expected = likelihood(graph.evidence) * graph.lengths
        self.n_regions = graph.n_regions
        self.around: dict[int, dict[int, _Boundary]] = {one: {} for one in range(self.n_regions)}
        for (a, b), *sums in zip(
            graph.pairs.tolist(), graph.lengths.tolist(), expected.tolist(), strict=True
        ):
            self.around[a][b] = self.around[b][a] = _Boundary(*sums)
        self.total = self.kept = float(expected.sum())
        self.drawn = float(graph.lengths.sum())
        self.merges: list[tuple[int, int]] = []
        self.likelihoods: list[float] = []
        self.expected_f = [_expected_f(self.kept, self.drawn, self.total)]

    def best(self) -> int:
        """Return the number of merges before the largest expected F, the last of equal ones."""
        if not any(one >= LEAST_LIKELY for one in self.likelihoods):
            return len(self.merges)
        return max(range(len(self.expected_f)), key=lambda n: (self.expected_f[n], n))

    def run(self, order: Callable[[_Boundary], float], n_merges: int | None = None) -> None:
        """Merge in an order of the boundaries, up to a number of merges."""
        queue = [
            (order(boundary), a, b)
            for a, others in self.around.items()
            for b, boundary in others.items()
            if a < b
        ]
        heapq.heapify(queue)
        while queue and len(self.merges) != n_merges:
            _, a, b = heapq.heappop(queue)
            if b in self.around.get(a, {}):  # neither has become a part of another
                new = self._merge(a, b)
                for region, boundary in self.around[new].items():
                    heapq.heappush(queue, (order(boundary), region, new))

    def _merge(self, a: int, b: int) -> int:
        gone, new = self.around[a][b], self.n_regions + len(self.merges)
        self.kept, self.drawn = self.kept - gone.expected, self.drawn - gone.length
        self.merges.append((a, b))
        self.likelihoods.append(gone.likelihood)
        self.expected_f.append(_expected_f(self.kept, self.drawn, self.total))
        mine, others = self.around.pop(a), self.around.pop(b)
        del mine[b], others[a]
        for region, boundary in others.items():
            mine[region] = mine[region].joined(boundary) if region in mine else boundary
        self.around[new] = mine
        for region, boundary in mine.items():
            theirs = self.around[region]
            theirs.pop(a, None)
            theirs.pop(b, None)
            theirs[new] = boundary
        return new


def _expected_f(kept: float, drawn: float, total: float) -> float:
    return 2.0 * max(kept, 0.0) / (drawn + total) if drawn + total > 0.0 else 0.0


@dataclass(frozen=True)
class Levels:
    """What all levels of a segmentation come from, in the size that was analysed.

    Attributes
    ----------
    regions : Regions
    hierarchy : Hierarchy
    scale : int
        Factor by which the image was reduced.
    mask : array of the shape of the image, bool
    least : int
        Pixels below which a piece is a speck, in the size that was analysed.
    position_weight : float
        Where it is 0, segments need not be connected, and specks are removed after the merges.
    channel_axis : int, None or "auto"
    scaling : tuple of two arrays, or None
        Of channels that are not colours.
    """

    regions: Regions
    hierarchy: Hierarchy
    scale: int
    mask: Mask
    least: int
    position_weight: float
    channel_axis: int | str | None
    scaling: Scaling | None

    @property
    def has_specks(self) -> bool:
        """Whether there are specks in the regions."""
        return self.position_weight == 0.0 and self.least > 0

    def labels(self, level: int) -> NDArray[np.int32]:
        """Return the segment of each pixel of the image; with specks, some may be left out."""
        labels = enlarged(self._analysed(level), self.scale, self.mask.shape)
        if not self.mask.all():
            if (labels[self.mask] < 0).any():
                labels = filled(labels, labels >= 0)
            labels[~self.mask] = -1
        return labels

    def level_of(self, n_segments: int) -> int:
        """Return the coarsest level that has as many segments when its specks are gone.

        Where none has, the one that comes nearest from below.
        """
        if not self.has_specks:
            return n_segments
        counts: dict[int, int] = {}
        numbers = self.hierarchy.numbers
        for level in (*range(n_segments, numbers.stop), *range(numbers.start, n_segments)):
            found = self._analysed(level)
            counts[level] = len(np.unique(found[found >= 0]))
            if counts[level] == n_segments:
                return level
        return max(counts, key=lambda level: (counts[level] <= n_segments, counts[level], -level))

    def _analysed(self, level: int) -> NDArray[np.int32]:
        segments = np.append(self.hierarchy.cut(level), -1)  # -1 stays -1
        found: NDArray[np.int32] = segments[self.regions.labels].astype(np.int32)
        return without_specks(found, self.least) if self.has_specks else found
