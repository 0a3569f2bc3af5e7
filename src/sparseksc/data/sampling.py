"""Seeded samples of rows, the same however the rows arrive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from sparseksc._native.hashing import ahead, uniform
from sparseksc._typing import Array, Floats, Integers

#: Rows whose weight is at most this share of the largest change no digit of any sum, and count like
#: rows of weight 0; without them, products and ratios of weights are finite.
NEGLIGIBLE_WEIGHT = 2.0**-400
#: Weights whose largest is within 2 to the power of plus or minus this are taken as they are.
ORDINARY_EXPONENT = 32
#: Binary digits of the weights in units of a typical row.
TYPICAL_BITS = 44


@dataclass(frozen=True)
class Sample:
    """Some rows of a source: their numbers in it, the rows and their weights."""

    rows: Integers
    X: Array
    weights: Floats

    def first(self, size: int | None, seed: int) -> Sample:
        """Return the sample that would have been drawn with a smaller size."""
        places = selection_sample(self.rows, size, seed, self.weights)
        if len(places) == len(self.rows):
            return self
        return Sample(self.rows[places], self.X[places], self.weights[places])

    def weights_for(self, total: float, seed: int) -> Floats:
        """Weights with which these rows stand for all, whose sum is ``total``.

        Rows of a part were drawn by their own weights already.
        """
        if np.ptp(self.weights) > 0.0 and self.weights.sum() < (1.0 - 1e-9) * total:
            return represented_weights(self.rows, seed, self.weights)
        return self.weights

    def drawn(self, size: int, seed: int) -> Sample:
        """Draw rows by their weights; theirs, in typical rows, then stand for all."""
        places, mass = weighted_sample(self, size, seed)
        mass = in_typical_rows(self.weights, mass)
        return Sample(self.rows[places], rows_at(self.X, places), mass)

    def join(self, later: Sample, size: int | None, seed: int) -> Sample:
        """Return the sample of this one's rows and later ones."""
        rows = np.concatenate([self.rows, later.rows])
        weights = np.concatenate([self.weights, later.weights])
        places = selection_sample(rows, size, seed, weights)
        here = int(np.searchsorted(places, len(self.rows)))
        # Rows that are not kept are not copied.
        X = np.empty((len(places), self.X.shape[1]), np.result_type(self.X, later.X))
        np.take(self.X, places[:here], axis=0, out=X[:here], mode="clip")
        np.take(later.X, places[here:] - len(self.rows), axis=0, out=X[here:], mode="clip")
        return Sample(rows[places], X, weights[places])


def selection_sample(
    rows: Integers | int, size: int | None, seed: int, weights: Array | None = None
) -> Integers:
    """Draw some rows, uniformly and without replacement, and return their places, ascending.

    ``rows`` are the ascending numbers of the rows, or how many there are: then the places are the
    numbers.

    Every row runs in an exponential race with its weight as rate, on a clock that
    depends on the seed and the row number alone; the first ``size`` rows win. The
    sample is therefore the same however the rows arrive in chunks, a smaller sample is
    part of a larger one, an integer weight counts like that many copies, and rows of
    weight zero never win.
    """
    if weights is not None and not weights.all():
        present = np.flatnonzero(weights > 0)
        numbers = present if isinstance(rows, int) else rows[present]
        return present[selection_sample(numbers, size, seed, weights[present])]
    count = rows if isinstance(rows, int) else len(rows)
    if size is None or size >= count:
        return np.arange(count)
    if weights is None or weights.min() == weights.max():
        places, finish = _leaders(rows, count, size, seed)
        return places[first_to_finish(finish, size)]
    numbers = np.arange(count) if isinstance(rows, int) else rows
    return first_to_finish(-np.log(hashed_uniform(seed, numbers)) / weights, size)


def rows_at(X: Array, places: Integers) -> Array:
    """Rows of ``X`` at ascending places, without a copy where these are all."""
    if len(places) == X.shape[0] and (not isinstance(X, np.ndarray) or X.flags.c_contiguous):
        return X
    return X[places]


def first_to_finish(finish: Floats, size: int) -> Integers:
    """Places of the ``size`` smallest, ascending; of equal ones the first."""
    winners = np.flatnonzero(finish <= np.partition(finish, size - 1)[size - 1])
    return winners if len(winners) == size else np.sort(np.argsort(finish, kind="stable")[:size])


def _leaders(rows: Integers | int, count: int, size: int, seed: int) -> tuple[Integers, Floats]:
    """Places of rows of equal weight that may be among the first ``size``, and their finish.

    They are chosen by a bound that a few more than ``size`` are expected to pass; should fewer
    pass, all are taken.
    """
    state = _hash_state(seed)
    rows = rows if isinstance(rows, int) else np.asarray(rows, np.int64)
    places, chances = ahead(rows, state, 1.0 - (size + 6.0 * np.sqrt(size) + 6.0) / count)
    if len(places) < size:
        places, chances = ahead(rows, state, 0.0)
    return places, -chances  # in the order of the logarithms


def represented_weights(rows: Integers, seed: int, weights: Floats) -> Floats:
    """Weights with which the rows of a :func:`selection_sample` stand for all.

    A race that ends at the time t is won by a row of weight w with the probability
    1 - exp(-w t), whose inverse scales w: heavy rows are drawn more often already.
    """
    finish = (-np.log(hashed_uniform(seed, rows)) / weights).max()
    time = np.maximum(weights * finish, np.finfo(np.float64).tiny)
    scaled: Floats = weights / -np.expm1(-time)
    return scaled


def weighted_sample(sample: Sample, size: int, seed: int) -> tuple[Integers, Floats]:
    """Places of some rows, drawn with their weight as rate, and weights that stand for all."""
    weights = sample.weights
    places = selection_sample(sample.rows, size, seed, weights)
    mass = weights[places]
    if len(places) < np.count_nonzero(weights > 0.0):
        mass = represented_weights(sample.rows[places], seed, mass)
    return places, mass


def weight_unit(largest: float) -> float:
    """Power of two in whose units the largest weight is near 1; 1 where it is ordinary.

    Examples
    --------
    >>> from sparseksc.data.sampling import weight_unit
    >>> weight_unit(1000.0), weight_unit(1.5 * 2.0**500) == 2.0**500
    (1.0, True)
    """
    exponent = int(np.frexp(largest)[1]) - 1
    return 1.0 if abs(exponent) <= ORDINARY_EXPONENT else float(np.ldexp(1.0, exponent))


def in_typical_rows(weights: Floats, mass: Floats) -> Floats:
    """Return ``mass`` in units of a typical row: of the median of the positive ``weights``.

    It is what a number of points can be compared with, since weights may have any unit. It is
    rounded, so that its digits do not depend on that unit either.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.data.sampling import in_typical_rows
    >>> weights = np.array([1.0, 1.0, 3.0, 0.0])
    >>> in_typical_rows(weights, weights), in_typical_rows(0.1 * weights, 0.1 * weights)
    (array([1., 1., 3., 0.]), array([1., 1., 3., 0.]))
    """
    positive = weights[weights > 0.0]
    middle = (len(positive) - 1) // 2
    unit = np.partition(positive, middle)[middle]
    if unit == 1.0:
        return mass
    mantissa, exponent = np.frexp(mass / unit)
    return np.ldexp(np.rint(np.ldexp(mantissa, TYPICAL_BITS)), exponent - TYPICAL_BITS)


def hashed_uniform(seed: int, rows: Integers) -> Floats:
    """Uniform numbers in (0, 1), one per row number: the SplitMix64 hash of (seed, row)."""
    return uniform(np.asarray(rows, np.int64), _hash_state(seed))


@cache
def _hash_state(seed: int) -> int:
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
