"""One pass over all rows: sizes, moments and memberships, exact however many rows there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparseksc._typing import Array, Floats, Integers
from sparseksc.report.levels import Level
from sparseksc.report.reading import Answers, Rows

#: Bars of the histogram of the memberships, from 0 to 1.
BINS = 20
#: Rows that are named because they lie between two clusters.
WEAKEST = 12


@dataclass(frozen=True)
class Between:
    """Rows between two clusters, the nearest to a tie first.

    Attributes
    ----------
    rows, labels, seconds : arrays of shape (m,)
        Row numbers, their clusters and the second best ones.
    strengths, second_strengths : arrays of shape (m,)
        Memberships in both.
    X : array or CSR matrix of shape (m, d)
    """

    rows: Integers
    labels: Integers
    seconds: Integers
    strengths: Floats
    second_strengths: Floats
    X: Array

    def first(self, count: int) -> Between:
        """Keep the nearest to a tie; among equals, the first rows."""
        tie = self.second_strengths / np.maximum(self.strengths, 1e-300)
        kept = np.lexsort((self.rows, -tie))[:count]
        return Between(
            self.rows[kept],
            self.labels[kept],
            self.seconds[kept],
            self.strengths[kept],
            self.second_strengths[kept],
            self.X[kept],
        )

    def join(self, other: Between) -> Between:
        """Put two lists together."""
        return Between(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.seconds, other.seconds]),
            np.concatenate([self.strengths, other.strengths]),
            np.concatenate([self.second_strengths, other.second_strengths]),
            _stacked([self.X, other.X]),
        )


def _stacked(parts: list[Any]) -> Array:
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


@dataclass(frozen=True)
class Survey:
    """What all rows together say.

    Attributes
    ----------
    sizes : array of shape (K,)
        Rows of each cluster.
    n_outliers, n_noise : int
        Rows in clusters that are out of the reach of the reduced set, and rows in none, which
        everything else leaves out.
    strengths : array of shape (K, BINS)
        Rows of each cluster by their membership in it.
    strength_sums : array of shape (K,)
    means, deviations : arrays of shape (K, d)
        Of each feature in each cluster (0 for clusters without rows); of no columns for a
        kernel matrix.
    between : Between or None
        None for a single cluster.
    """

    sizes: Integers
    n_outliers: int
    n_noise: int
    strengths: Integers
    strength_sums: Floats
    means: Floats
    deviations: Floats
    between: Between | None

    @property
    def n_rows(self) -> int:
        """All rows that are in a cluster."""
        return int(self.sizes.sum())

    @property
    def mean_strength(self) -> float:
        """Average membership of a row in its own cluster."""
        return float(self.strength_sums.sum() / self.n_rows)

    @property
    def cluster_strengths(self) -> Floats:
        """Average membership of the rows of each cluster, 0 where there are none."""
        return self.strength_sums / np.maximum(self.sizes, 1)


class _Moments:
    r"""Sums of values and squares by cluster, about a place and in units near the data's own.

    With a shift c and a unit s, mean = c + s m and variance = s² (q - m²) for the averages m
    and q of (x - c)/s and its square: nothing cancels that matters, and nothing overflows.
    Sparse rows are not shifted, so that they stay sparse.
    """

    def __init__(self, K: int, first: Array) -> None:
        n_features = first.shape[1]
        if sp.issparse(first):
            self.shift = np.zeros(n_features)
            unit = np.asarray(abs(first).max(axis=0).todense(), dtype=np.float64).ravel()
        else:
            low, high = (np.asarray(end, dtype=np.float64) for end in (first.min(0), first.max(0)))
            self.shift = low / 2 + high / 2
            unit = high / 2 - low / 2
        self.unit = np.where(unit > 0.0, unit, 1.0)
        self.sums = np.zeros((K, n_features))
        self.squares = np.zeros((K, n_features))

    def add(self, block: Any, members: Any) -> None:
        """Add rows; ``members`` has a one for each row, in the row of its cluster."""
        if not isinstance(block, np.ndarray):
            scaled = block.astype(np.float64) @ sp.diags_array(1.0 / self.unit)
            self.sums += (members @ scaled).toarray()
            self.squares += (members @ scaled.multiply(scaled)).toarray()
        else:
            scaled = (np.asarray(block, dtype=np.float64) - self.shift) / self.unit
            self.sums += members @ scaled
            self.squares += members @ (scaled * scaled)

    def results(self, level: Level, sizes: Integers) -> tuple[Floats, Floats]:
        """Means and standard deviations of groups of clusters, shape (n_groups, d)."""
        counts = np.maximum(sizes, 1)[:, None]
        means = level.summed(self.sums) / counts
        variances = np.maximum(level.summed(self.squares) / counts - means**2, 0.0)
        present = (sizes > 0)[:, None]
        return (
            np.where(present, self.shift + self.unit * means, 0.0),
            np.where(present, self.unit * np.sqrt(variances), 0.0),
        )


class _Memberships:
    """Sizes, memberships and rows between clusters at one level."""

    def __init__(self, level: Level) -> None:
        K = level.n_groups
        self.level = level
        self.sizes = np.zeros(K, dtype=np.intp)
        self.strengths = np.zeros((K, BINS), dtype=np.intp)
        self.sums = np.zeros(K)
        self.between: Between | None = None

    def add(self, numbers: Integers, block: Any, answers: Answers) -> None:
        """Add rows that are in clusters."""
        level, K, n = self.level, self.level.n_groups, len(numbers)
        membership = answers.membership if level.finest else answers.membership @ level.indicator
        labels, place = level.groups[answers.labels], np.arange(n)
        own = membership[place, labels]
        self.sizes += np.bincount(labels, minlength=K)
        self.sums += np.bincount(labels, own, minlength=K)
        bins = np.minimum((own * BINS).astype(np.intp), BINS - 1)
        self.strengths += np.bincount(labels * BINS + bins, minlength=K * BINS).reshape(K, BINS)
        if K > 1:
            others = membership.copy()
            others[place, labels] = -1.0
            seconds = np.argmax(others, axis=1)
            here = Between(numbers, labels, seconds, own, others[place, seconds], block)
            here = here.first(WEAKEST)
            self.between = here if self.between is None else self.between.join(here).first(WEAKEST)


def survey_rows(rows: Rows, levels: list[Level]) -> list[Survey]:
    """Read all rows once, for all levels."""
    found = [_Memberships(level) for level in levels]
    n_outliers, n_noise, start = 0, 0, 0
    moments: _Moments | None = None
    for block in rows.blocks():
        answers = rows.answers(block)
        numbers, n_read = start + np.flatnonzero(answers.labels >= 0), block.shape[0]
        block, answers = answers.in_clusters(block)
        start, n_noise = start + n_read, n_noise + n_read - len(numbers)
        n = len(numbers)
        if n == 0:
            continue
        n_outliers += int(answers.outliers.sum())
        for memberships in found:
            memberships.add(numbers, block, answers)
        if rows.has_features:
            K = answers.membership.shape[1]
            moments = moments or _Moments(K, block)
            members = sp.csc_array((np.ones(n), answers.labels, np.arange(n + 1)), shape=(K, n))
            moments.add(block, members)
    if n_noise == start:
        raise ValueError("All rows are noise to this model: there are no clusters to report on.")
    if rows.ids is not None and len(rows.ids) != start:
        raise ValueError(f"ids has {len(rows.ids):,} names for {start:,} rows.")
    surveys = []
    for level, seen in zip(levels, found, strict=True):
        nothing = np.zeros((level.n_groups, 0))
        means, deviations = moments.results(level, seen.sizes) if moments else (nothing, nothing)
        surveys.append(
            Survey(
                seen.sizes,
                n_outliers,
                n_noise,
                seen.strengths,
                seen.sums,
                means,
                deviations,
                seen.between,
            )
        )
    return surveys
