r"""Density of points, by which noise is told from clusters.

With reference rows :math:`p_r`, drawn from the data, and their masses :math:`m_r`,

.. math:: \rho(x) = \sum_r m_r \exp(-\|x - p_r\|^2 / h),

where h is the median squared distance of a reference row to its neighbour number
``N_NEIGHBORS``. A point whose density is below the ``floor`` is noise. A model carries its density,
so that new points can be noise, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sparseksc._typing import Array, Booleans, Floats
from sparseksc.data.distinct import distinct_sample
from sparseksc.data.sampling import Sample
from sparseksc.execution.threads import chunk_slices, map_rows
from sparseksc.kernels import RBF, Landmarks
from sparseksc.kernels.exponential import FUSED_RANK
from sparseksc.kernels.products import unit_rows

#: Neighbour whose median distance is the scale of the density. Of 10, 15 and 20, and multiples of
#: the bandwidth from 0.35 to 2.5, this was steadiest on chameleon_t4_8k and chameleon_t7_10k.
N_NEIGHBORS = 20
#: Of few rows, a nearer neighbour: one of so many rows.
ROWS_PER_NEIGHBOR = 10
#: Distances whose square and its inverse are numbers.
LEAST_DISTANCE, LARGEST_DISTANCE = 1e-150, 1e150
#: Most reference rows, and numbers in them; but at least so many rows (cost).
REFERENCE_ROWS, REFERENCE_ENTRIES, LEAST_REFERENCE_ROWS = 5_000, 1_000_000, 1_000


@dataclass(frozen=True)
class Density:
    """Kernel density estimate of rows, and the floor below which they are noise.

    Attributes
    ----------
    points : array of shape (M, n_features)
        Reference rows.
    mass : array of shape (M,)
        What they count, in typical rows.
    bandwidth : float
    by_angle : bool
        Whether rows are compared by their directions: they are divided by their lengths first.
    floor : float
        A point of less density is noise.
    """

    points: Array
    mass: Floats
    bandwidth: float
    by_angle: bool = False
    floor: float = 0.0

    @classmethod
    def of_sample(cls, sample: Sample, seed: int, *, by_angle: bool = False) -> Density:
        """Estimate the density that some rows stand for.

        Examples
        --------
        >>> import numpy as np
        >>> from sparseksc.core.density import Density
        >>> from sparseksc.data.sampling import Sample
        >>> X = np.random.default_rng(0).normal(size=(1000, 2))
        >>> density = Density.of_sample(Sample(np.arange(1000), X, np.ones(1000)), 0)
        >>> at_centre, far_away = density.values(np.array([[0.0, 0.0], [9.0, 9.0]]))
        >>> bool(at_centre > 20.0), bool(far_away < 1.0)
        (True, True)
        """
        width = max(sample.X.shape[1], 1)
        size = min(REFERENCE_ROWS, max(REFERENCE_ENTRIES // width, LEAST_REFERENCE_ROWS))
        drawn = sample.drawn(size, seed)
        rows = unit_rows(drawn.X) if by_angle else drawn.X
        reference = distinct_sample(replace(drawn, X=rows))
        return cls(reference.X, reference.weights, _scale(reference), by_angle)

    @cached_property
    def _parts(self) -> list[tuple[Array, Floats]]:
        """Reference rows and masses, as many at a time as the native core takes at once."""
        parts = chunk_slices(self.points.shape[0], FUSED_RANK)
        return [(self.points[part], self.mass[part]) for part in parts]

    @property
    def written(self) -> int:
        """Columns of the tiles that are written to memory."""
        return max(RBF(self.bandwidth).written(P) for P, _ in self._parts)

    def values(self, X: Array, n_jobs: int | None = None) -> Floats:
        """Density at each row, shape (n,)."""
        return map_rows(self._chunk_values, X, self.written, n_jobs)

    def chunk_is_noise(self, rows: Array) -> Booleans:
        """Whether a few rows are noise, in the calling thread."""
        marks: Booleans = self._chunk_values(rows) < self.floor
        return marks

    def with_share(self, share: float, values: Floats, weights: Floats) -> Density:
        """Set the floor so that at most a share of the weight of some rows is below it."""
        return replace(self, floor=floor_of_share(values, weights, share))

    def _chunk_values(self, rows: Array) -> Floats:
        rows, kernel = unit_rows(rows) if self.by_angle else rows, RBF(self.bandwidth)
        values = np.zeros(rows.shape[0])
        for P, mass in self._parts:
            values += kernel.degrees(rows, P, mass)
        return values


def floor_of_share(values: Floats, weights: Floats, share: float) -> float:
    """Return the largest of some densities below which there is at most a share of the weight.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.density import floor_of_share
    >>> floor_of_share(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), 0.5)
    3.0
    """
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) - weights[order]  # before each row, in this order
    allowed = below <= share * weights.sum()
    return float(values[order[np.flatnonzero(allowed)[-1]]])


def _scale(reference: Sample) -> float:
    """Median squared distance of the rows to one of their neighbours."""
    n = reference.X.shape[0]
    count = 1 + min(N_NEIGHBORS, max(n // ROWS_PER_NEIGHBOR, 1), n - 1)  # a row is its own first
    distances = Landmarks().nearest(reference.X, reference.X, count)[1][:, -1]
    order = np.argsort(distances, kind="stable")
    half = np.searchsorted(np.cumsum(reference.weights[order]), reference.weights.sum() / 2.0)
    median = float(distances[order[half]])
    return min(max(median, LEAST_DISTANCE), LARGEST_DISTANCE) ** 2
