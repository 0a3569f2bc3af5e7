r"""Encodings: from score variables to clusters.

Points of one cluster lie on a line through the origin of the score space, clusters in
different orthants. An encoding holds one prototype per cluster and measures the distance
of a score vector to each of them; the label is the nearest, and the membership
:math:`cm_k = \prod_{p \ne k} d_p / \sum_j \prod_{p \ne j} d_p` (soft KSC) follows from
the distances in the same way for all of them.

=========== ====================================================================
sign        code words of the signs, Hamming distance (Alzate and Suykens, 2010)
direction   mean score of each code word, cosine distance (soft KSC, AMS)
angular     prototypes from the rows of xi, scores without bias (BAS), K > 2; where no
            more than two clusters are found, as qr
qr          prototypes from a pivoted QR decomposition of the scores and the constant
            eigenvector, refined; needs no signs, so it holds up when eigenvalues are
            degenerate. For two clusters, the sign with a soft membership.
=========== ====================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus

from sparseksc._native.clusters import refine, spread
from sparseksc._typing import Floats, Integers
from sparseksc.core.spectrum import Spectrum

#: Rounds of reassignment after which refined directions are taken as they are.
MAX_REFINEMENTS = 100
#: Starts beside the pivoted rows, where the best of several is taken, and how many rows they are
#: compared on: more take longer, and the best start is the same one as a rule.
MORE_STARTS, START_ROWS, START_ROWS_PER_CLUSTER = 8, 2000, 20
#: Binary digits of the share of a cluster that count where clusters are ordered by size.
SHARE_BITS = 40


class TooFewCodeWords(ValueError):
    """The scores do not show as many clusters as were asked for."""


@dataclass(frozen=True)
class Encoding(ABC):
    """One prototype per cluster, shape (K, ...), and the distance to each."""

    prototypes: Floats

    @abstractmethod
    def distances(self, scores: Floats) -> Floats:
        """Distance of each row of ``scores`` (n, K-1) to each prototype, shape (n, K)."""

    def labels(self, scores: Floats) -> Integers:
        """Nearest prototype; ties to the first."""
        return np.argmin(self.distances(scores), axis=1)

    def membership(self, scores: Floats) -> Floats:
        """Soft membership, shape (n, K), rows sum to 1."""
        return membership_from_distances(self.distances(scores))

    def reordered(self, order: Integers) -> Encoding:
        """Give cluster ``order[k]`` the number k."""
        # In one memory order, on which the last bits of the distances depend.
        return replace(self, prototypes=np.ascontiguousarray(self.prototypes[order]))

    @property
    def n_clusters(self) -> int:
        """K."""
        return len(self.prototypes)


def membership_from_distances(distances: Floats) -> Floats:
    r""":math:`cm_k \propto 1 / d_k`; at a prototype (distance 0) the membership is 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.encoding import membership_from_distances
    >>> membership_from_distances(np.array([[1.0, 3.0], [0.0, 2.0]]))
    array([[0.75, 0.25],
           [1.  , 0.  ]])
    """
    if distances.shape[1] == 1:
        return np.ones_like(distances)
    nearest = distances.min(axis=1, keepdims=True)
    # min/d is 1 for the nearest and needs no care for products that underflow.
    closeness = np.where(distances == nearest, 1.0, nearest / np.maximum(distances, 1e-300))
    return closeness / closeness.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class SignCodes(Encoding):
    """The K most frequent sign patterns."""

    def distances(self, scores: Floats) -> Floats:  # noqa: D102
        signs = np.where(scores > 0, 1.0, -1.0)
        return (scores.shape[1] - signs @ self.prototypes.T) / 2.0


@dataclass(frozen=True)
class Means(Encoding):
    """Mean scores with the Euclidean distance: the direction encoding of two clusters."""

    def distances(self, scores: Floats) -> Floats:  # noqa: D102
        return np.linalg.norm(scores[:, None, :] - self.prototypes, axis=2)


@dataclass(frozen=True)
class Directions(Encoding):
    """Unit vectors with the cosine distance."""

    def distances(self, scores: Floats) -> Floats:  # noqa: D102
        return np.maximum(1.0 - _unit_rows(scores) @ self.prototypes.T, 0.0)


@dataclass(frozen=True)
class AngularDirections(Encoding):
    r"""Unit vectors with the chord :math:`\|z/\|z\| - u_k\|`, for scores without the bias."""

    bias: Floats

    def distances(self, scores: Floats) -> Floats:  # noqa: D102
        cosine = _unit_rows(scores - self.bias) @ self.prototypes.T
        return np.sqrt(np.maximum(2.0 - 2.0 * cosine, 0.0))


@dataclass(frozen=True)
class Sides(Encoding):
    """Two clusters on the two sides of zero, each in units of its own mean score.

    The cut stays at zero, where the eigenvector has it, even if one cluster is much
    farther out than the other.
    """

    def labels(self, scores: Floats) -> Integers:
        """Side of zero; zero itself belongs to the first."""
        return (scores[:, 0] * np.sign(self.prototypes[0, 0]) < 0.0).astype(np.intp)

    def distances(self, scores: Floats) -> Floats:  # noqa: D102
        first, second = self.prototypes[:, 0]
        towards_first = scores[:, 0] * np.sign(first) > 0
        place = np.where(towards_first, scores[:, 0] / first, -scores[:, 0] / second)
        return np.abs(np.column_stack([place - 1.0, place + 1.0]))


def _unit_rows(rows: Floats) -> Floats:
    """Rows of length 1; a zero row stays zero and is equally far from everything."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms == 0.0, 1.0, norms)


@dataclass(frozen=True)
class ClusterSizes:
    """Weight and first point of each cluster among ``n_points`` points.

    A cluster without points has the first point ``n_points``; points of weight zero count
    like none.
    """

    sizes: Floats
    first: Integers
    n_points: int

    @classmethod
    def of_labels(cls, labels: Integers, weights: Floats, n_clusters: int) -> ClusterSizes:
        """Count the points of a chunk."""
        first = np.full(n_clusters, len(labels))
        start, stop = 0, 256  # as a rule, all clusters are among a few rows
        while start < len(labels) and first.max() == len(labels):
            present = start + np.flatnonzero(weights[start:stop] > 0.0)
            np.minimum.at(first, labels[present], present)
            start, stop = stop, 4 * stop
        sizes = np.bincount(labels, weights, minlength=n_clusters).astype(np.float64)
        return cls(sizes, first, len(labels))

    def merge(self, later: ClusterSizes) -> ClusterSizes:
        """Count these points and later ones."""
        first = np.where(self.first < self.n_points, self.first, self.n_points + later.first)
        return ClusterSizes(self.sizes + later.sizes, first, self.n_points + later.n_points)

    @property
    def order(self) -> Integers:
        """Clusters from the largest to the smallest, ties by the first point.

        Sizes that differ by rounding errors alone are equal: which of two clusters is the first
        must not depend on the unit of the weights.
        """
        shares = np.rint(np.ldexp(self.sizes / (self.sizes.sum() or 1.0), SHARE_BITS))
        return np.lexsort((self.first, -shares))

    def ordered(self) -> ClusterSizes:
        """Return the same counts, the largest cluster first."""
        order = self.order
        return ClusterSizes(self.sizes[order], self.first[order], self.n_points)


SignCounts = dict[bytes, float]


def _packed_signs(scores: Floats) -> NDArray[np.uint8]:
    """Signs of each row in bytes, shape (bytes, n): ``np.packbits`` column by column."""
    n, m = scores.shape
    packed = np.zeros((-(-m // 8), n), np.uint8)
    for column, positive in enumerate((scores > 0).T):
        packed[column // 8] |= positive.astype(np.uint8) << np.uint8(7 - column % 8)
    return packed


def sign_counts(scores: Floats, weights: Floats) -> SignCounts:
    """Weight of each sign pattern that occurs, the signs packed into bytes."""
    packed = _packed_signs(scores)
    if len(packed) == 0:
        return {b"": float(weights.sum())}
    if len(packed) == 1:  # one small integer is counted without sorting
        totals = np.bincount(packed[0], weights)
        return {bytes([code]): float(totals[code]) for code in np.flatnonzero(totals)}
    words, places = np.unique(packed, axis=1, return_inverse=True)
    totals = np.bincount(places.ravel(), weights)
    return {word.tobytes(): float(total) for word, total in zip(words.T, totals, strict=True)}


def merge_counts(left: SignCounts, right: SignCounts) -> SignCounts:
    """Add the weights of two sets of patterns."""
    return {
        word: left.get(word, 0.0) + right.get(word, 0.0)
        for word in sorted(left.keys() | right.keys())
    }


def code_book(counts: SignCounts, n_scores: int) -> Floats:
    """Return the most frequent sign patterns of K-1 scores, shape (K, K-1), entries +1 and -1."""
    K = n_scores + 1
    present = {word: weight for word, weight in counts.items() if weight > 0.0}
    if len(present) < K:
        raise TooFewCodeWords(f"the scores have {len(present)} sign patterns, not {K}")
    frequent = sorted(present, key=lambda word: (-present[word], word))[:K]
    bits = np.frombuffer(b"".join(frequent), dtype=np.uint8).reshape(K, -1)
    return np.where(np.unpackbits(bits, axis=1, count=n_scores), 1.0, -1.0)


def _grouped_by_sign(rows: Floats, weights: Floats) -> Integers:
    """For every row, the number of its sign pattern in the code book, -1 if it is not there."""
    words = code_book(sign_counts(rows, weights), rows.shape[1])
    groups, packed = np.full(len(rows), -1), _packed_signs(rows)
    for number, word in enumerate(_packed_signs(words).T):
        alike = np.logical_and.reduce([b == w for b, w in zip(packed, word, strict=True)])
        groups = np.where(alike, number, groups)
    return groups


def _grouped_means(rows: Floats, groups: Integers, weights: Floats, K: int) -> Floats:
    """Weighted mean of the rows of each group; rows of group -1 count nowhere."""
    weights = np.where(groups < 0, 0.0, weights)
    groups = np.maximum(groups, 0)
    mass = np.bincount(groups, weights, minlength=K)
    sums = [np.bincount(groups, weights * column, minlength=K) for column in rows.T]
    return np.reshape(sums, (-1, K)).T / np.where(mass == 0.0, 1.0, mass)[:, None]


def _fit_sign(spectrum: Spectrum, scores: Floats, weights: Floats, shares: Floats) -> Encoding:
    return SignCodes(code_book(sign_counts(scores, weights), scores.shape[1]))


def _fit_direction(spectrum: Spectrum, scores: Floats, weights: Floats, shares: Floats) -> Encoding:
    K = scores.shape[1] + 1
    means = _grouped_means(scores, _grouped_by_sign(scores, weights), weights, K)
    return Means(means) if K == 2 else Directions(_unit_rows(means))


def _fit_angular(spectrum: Spectrum, scores: Floats, weights: Floats, shares: Floats) -> Encoding:
    K = scores.shape[1] + 1
    if K < 3:  # all that the scores show of the clusters asked for
        return _fit_qr(spectrum, scores, weights, shares)
    rows = spectrum.coef
    ones = np.ones(len(rows))
    groups = _grouped_by_sign(rows, ones)
    prototypes = _unit_rows(_grouped_means(_unit_rows(rows), groups, ones, K))
    return AngularDirections(_refined(_unit_rows(rows), ones, prototypes), spectrum.bias)


def _fit_qr(
    spectrum: Spectrum, scores: Floats, weights: Floats, shares: Floats, more_starts: int = 0
) -> Encoding:
    K = scores.shape[1] + 1
    if K == 2:
        side = (scores[:, 0] > 0.0).astype(np.intp)
        mass = np.bincount(side, weights, minlength=2)
        if not mass.all():
            raise TooFewCodeWords("the scores have 1 sign patterns, not 2")
        means = np.bincount(side, weights * scores[:, 0], minlength=2) / mass
        return Sides(means[np.argsort(-mass, kind="stable"), None])
    # For ideal clusters these rows have K orthogonal directions, whatever the rotation of
    # a degenerate eigenspace: 1/sqrt(omega) belongs to the constant eigenvector.
    constant = np.full((len(scores), 1), 1.0 / np.sqrt(spectrum.omega))
    rows = np.hstack([constant, scores / spectrum.eigenvalues]) * (shares > 0.0)[:, None]
    directions = _unit_rows(rows)
    prototypes = directions[_pivoted_rows(rows, K)]
    if more_starts > 0:
        prototypes = _best_start(directions, weights, shares, prototypes, more_starts)
    prototypes = _refined(directions, weights, prototypes)
    groups = np.argmax(directions @ prototypes.T, axis=1)
    # Without the bias, a point keeps its direction as it moves away from the pivots.
    directions = _unit_rows(scores - spectrum.bias)
    prototypes = _unit_rows(_grouped_means(directions, groups, weights, K))
    return AngularDirections(_refined(directions, weights, prototypes), spectrum.bias)


def fit_best_directions(
    spectrum: Spectrum,
    scores: Floats,
    weights: Floats,
    shares: Floats,
    more_starts: int = MORE_STARTS,
) -> Encoding:
    """Find the prototypes of "qr" from several starts, and keep the best.

    For many clusters, or some that overlap, the pivoted rows lead to one local optimum of several.
    """
    return _fit_qr(spectrum, scores, weights, shares, more_starts)


def _best_start(
    directions: Floats, weights: Floats, shares: Floats, start: Floats, more_starts: int
) -> Floats:
    """Refine the given prototypes and other starts, and return the best of what they lead to.

    Where there are many rows, some have to do.
    """
    size = max(START_ROWS, START_ROWS_PER_CLUSTER * len(start))
    if len(directions) > size:
        present = np.flatnonzero(shares > 0.0)
        some = present[np.sort(np.random.default_rng(0).permutation(len(present))[:size])]
        directions, weights, shares = directions[some], weights[some], shares[some]
    best = _refined(directions, weights, start)
    most = _agreement(directions, weights, best)
    for seed in range(more_starts):
        start, _ = kmeans_plusplus(directions, len(best), sample_weight=shares, random_state=seed)
        other = _refined(directions, weights, start)
        agreement = _agreement(directions, weights, other)
        if agreement > most:
            best, most = other, agreement
    return best


def _agreement(directions: Floats, weights: Floats, prototypes: Floats) -> float:
    """Objective of the refinement: mean cosine to the nearest prototype."""
    return float(weights @ (directions @ prototypes.T).max(axis=1))


def _pivoted_rows(rows: Floats, K: int) -> Integers:
    """K rows of a column-pivoted QR of ``rows.T``: each the longest outside the span so far."""
    chosen = spread(rows, K)
    if len(chosen) < K:
        raise TooFewCodeWords(f"the scores span {len(chosen)} directions, not {K}")
    return chosen


def _refined(directions: Floats, weights: Floats, prototypes: Floats) -> Floats:
    """Move each prototype to the mean direction of the points nearest to it, until they stay."""
    return refine(directions, weights, prototypes, MAX_REFINEMENTS)


#: How each encoding finds its prototypes in training scores. Arguments: the spectrum with K-1
#: components; the scores (n, K-1) of training points; their sample weights (n,); and their shares
#: w_i / d_i (n,), 0 for points that the reduced set does not represent. Raises TooFewCodeWords
#: where the scores show fewer than K clusters; K = 1, without scores, must succeed. The training
#: counts the code words of "sign" over all rows instead.
ENCODINGS: dict[str, Callable[[Spectrum, Floats, Floats, Floats], Encoding]] = {
    "sign": _fit_sign,
    "direction": _fit_direction,
    "angular": _fit_angular,
    "qr": _fit_qr,
}
