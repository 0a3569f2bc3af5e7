"""Whether the data shows as many clusters as are asked for, and the sentences where it does not."""

from __future__ import annotations

import numpy as np

from sparseksc.core.recipe import Recipe
from sparseksc.core.reduced_set import ReducedSet
from sparseksc.execution.notices import warn
from sparseksc.kernels import Exponential, Kernel

#: Share of the sample weight outside the reach of the reduced set that calls for a warning.
MANY_OUTLIERS = 0.5
#: Pivots whose kernel values are all below this are similar to nothing but themselves.
UNRELATED = 1e-8


class BandwidthWarning(UserWarning):
    """The bandwidth makes the kernel see too little of the data, or too much."""


class TooManyClustersError(ValueError):
    """More clusters are asked for than there are components; ``available`` is how many can be."""

    def __init__(self, sentence: str, available: int = 1) -> None:
        super().__init__(sentence)
        self.available = available


def here(kernel: Kernel) -> str:
    """Say what decides how many clusters there can be."""
    return "at this bandwidth" if kernel.has_bandwidth else "with this kernel"


def too_many(
    n_clusters: int, available: int, reduced_set: ReducedSet, recipe: Recipe
) -> TooManyClustersError:
    """Say that the spectrum has fewer components than so many clusters need."""
    few = reduced_set.rank < n_clusters and UNRELATED < reduced_set.residual <= recipe.tol
    if few and recipe.kernel.name != "landmarks":  # which no tol decides about
        return TooManyClustersError(
            f"{n_clusters} clusters asked for, but tol={recipe.tol} is reached with "
            f"{reduced_set.rank} pivots, too few to tell them apart. Use a smaller tol.",
            available,
        )
    advice = ", or use a smaller bandwidth" if recipe.kernel.has_bandwidth else ""
    return TooManyClustersError(
        f"{n_clusters} clusters asked for, but with this kernel the data shows no more than "
        f"{available}: everything else is rounding error. Ask for fewer "
        f"clusters{advice}.",
        available,
    )


def check_reach(reduced_set: ReducedSet, kernel: Kernel, n_clusters: int, outside: float) -> None:
    """Complain about a bandwidth at which the kernel is close to the identity."""
    L, rank = reduced_set.factor, len(reduced_set.factor)
    unrelated = rank > n_clusters and (
        np.abs(np.tril(L, -1)).max() < UNRELATED * np.abs(np.diagonal(L)).max()
    )
    if unrelated and reduced_set.residual < UNRELATED:
        raise ValueError(
            "No two different points are similar with this kernel"
            f"{_too_small(kernel, '. Use a larger one.')}"
        )
    if unrelated:
        warn(
            f"No two of the {rank} pivots are similar, so that the clusters are "
            f"arbitrary groups of them{_too_small(kernel, ' for this rank. Use a larger one.')}",
            BandwidthWarning,
        )
    elif outside > MANY_OUTLIERS:
        warn(
            f"{outside:.0%} of the points are out of the reach of the {rank} pivots, "
            "and their labels mean little"
            f"{_too_small(kernel, ' for this rank. Use a larger one, or a larger max_rank.')}",
            BandwidthWarning,
        )


def _too_small(kernel: Kernel, advice: str) -> str:
    """Blame the bandwidth, where there is one."""
    if isinstance(kernel, Exponential):
        return f": the bandwidth {kernel.bandwidth} is too small{advice}"
    return "."
