"""The number of clusters and the bandwidth: :func:`tune`, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import Floats
from sparseksc.search.ranking import RankedModel, Surfaces

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DoubtWarning(UserWarning):
    """No number of clusters stands out."""


@dataclass(frozen=True)
class TuningResult:
    """What a search found.

    Attributes
    ----------
    best_n_clusters : int
        1 where ``n_clusters="auto"`` and the data shows no clusters.
    best_bandwidth : float, tuple of float or None
    criterion : str
        The rule of the choice: "auto", "ams", "blf" or "bas".
    ranking : list of RankedModel
        The best model for each number of clusters, best first.
    surfaces : Surfaces
        Values of every criterion for every model; ``surfaces["ams"]`` has one row for each of
        ``surfaces.bandwidths`` and one column for each of ``surfaces.n_clusters``.
    eigenvalues : array of shape (n_bandwidths, n_eigenvalues)
        Leading eigenvalues at each bandwidth, NaN where there are fewer.
    doubt : str or None
        Why the answer should not be trusted, in a sentence.
    max_rank : int or None
        Most pivots that the models of the ranking could have: for ``max_rank="auto"`` 200, or
        1,000 after a refinement at a higher rank. None where an old file does not say.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sparseksc import tune
    >>> X, _ = make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> result = tune(X, n_clusters=range(2, 6), random_state=0)
    >>> result.best_n_clusters
    3
    >>> sorted(result.surfaces.values)
    ['ams', 'bas', 'blf', 'cohesion', 'conductance', 'cut', 'smallest', 'strength']
    """

    best_n_clusters: int
    best_bandwidth: Any
    criterion: str
    ranking: list[RankedModel]
    surfaces: Surfaces
    eigenvalues: Floats
    doubt: str | None
    max_rank: int | None = None

    @property
    def surface(self) -> Floats:
        """Surface of the criterion that decided, the larger the better.

        For the rule "auto", ``-log10`` of the cut: 3 means that one edge in a thousand of the
        neighbour graph leads from one cluster to another.
        """
        if self.criterion == "auto":
            with np.errstate(divide="ignore"):
                return -np.log10(self.surfaces["cut"])
        return self.surfaces[self.criterion]

    @property
    def runners_up(self) -> list[RankedModel]:
        """The best model of every other number of clusters, best first."""
        return [model for model in self.ranking if model.n_clusters != self.best_n_clusters]

    @property
    def n_models(self) -> int:
        """Number of models that were compared."""
        return int(np.isfinite(self.surfaces["ams"]).sum())

    def to_frame(self) -> Any:
        """One row per model, as a pandas data frame."""
        import pandas as pd

        bandwidths = np.empty(len(self.surfaces.bandwidths), dtype=object)
        bandwidths[:] = self.surfaces.bandwidths
        columns = {
            "n_clusters": np.tile(self.surfaces.n_clusters, len(bandwidths)),
            "bandwidth": np.repeat(bandwidths, len(self.surfaces.n_clusters)),
        }
        columns.update({name: values.ravel() for name, values in self.surfaces.values.items()})
        chosen = (columns["n_clusters"] == self.best_n_clusters) & np.array(
            [bandwidth == self.best_bandwidth for bandwidth in columns["bandwidth"]]
        )
        return pd.DataFrame({**columns, "chosen": chosen}).infer_objects()

    def summary(self) -> str:
        """One paragraph that says what was chosen, why, and what came next."""
        tried = f"{self.n_models} models with {_span(self.surfaces.n_clusters)} clusters"
        if len(self.surfaces.bandwidths) > 1:
            tried += f" and {len(self.surfaces.bandwidths)} bandwidths"
        # A model file of others may say anything here.
        doubt = f" {escaped(self.doubt)}" if self.doubt else ""
        if self.n_models == 0:
            return f"A single cluster, with no others to compare.{doubt}"
        if self.best_n_clusters == 1:
            return f"Of {tried} none is better than a single cluster.{doubt}"
        best = self.ranking[0]
        at = "" if best.bandwidth is None else f" at bandwidth {_short(best.bandwidth)}"
        text = f"{best.n_clusters} clusters{at} were chosen from {tried}"
        if self.criterion == "auto":
            text += (
                f": {max(best.conductance, 0.0):.2%} of the edges to nearest neighbours lead from "
                "one cluster to another"
            )
            if np.isfinite(best.conductance_ratio) and len(self.ranking) > 1:
                text += (
                    ", and with one more cluster this share grows "
                    f"{best.conductance_ratio:.1f} times as much as it would without clusters"
                )
        else:
            text += f" by the criterion {self.criterion}, with the value {best.value:.3f}"
        text += f" (AMS {best.ams:.3f})."
        if len(self.ranking) > 1:
            rest = ", then ".join(
                f"{model.n_clusters} ({model.value:.3g})" for model in self.runners_up[:2]
            )
            text += f" The next best numbers of clusters, against {best.value:.3g}, are {rest}."
        return text + doubt

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw the surface of the search; see :class:`sparseksc.plotting.TuningDisplay`."""
        from sparseksc.plotting import TuningDisplay

        return TuningDisplay(self).plot(ax=ax)


def _span(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]} to {numbers[-1]}"


def _short(bandwidth: Any) -> str:
    if isinstance(bandwidth, tuple):
        return "(" + ", ".join(f"{one:.3g}" for one in bandwidth) + ")"
    return f"{bandwidth:.3g}"
