"""The number of clusters and the bandwidth: :func:`tune`, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import Floats
from sparseksc.core.criteria import CRITERIA
from sparseksc.core.recipe import Recipe
from sparseksc.data.sampling import Sample
from sparseksc.search.surfaces import RankedModel, Surfaces

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Difference of two qualities that decides little: what the agreement of models varies by.
NEARLY = 0.2
#: Eigenvalues after those of the clusters that are of interest.
NEXT_EIGENVALUES = 10


class DoubtWarning(UserWarning):
    """No number of clusters stands out."""


@dataclass(frozen=True, repr=False)
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
        Most pivots, or landmarks, that the best model could have. None where an old file does not
        say.
    best_kernel : str
        Where the quality decides.
    left_out : float
        Share of the rows that the training leaves out, as they bridge clusters: the least dense
        ones. They have a cluster all the same.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sparseksc import tune
    >>> X, _ = make_blobs(300, n_features=5, centers=4, random_state=0)
    >>> result = tune(X, random_state=0)
    >>> result.best_n_clusters, result.best_kernel, result.alternatives
    (4, 'landmarks', [])
    """

    best_n_clusters: int
    best_bandwidth: Any
    criterion: str
    ranking: list[RankedModel]
    surfaces: Surfaces
    eigenvalues: Floats
    doubt: str | None
    max_rank: int | None = None
    best_kernel: str = ""
    left_out: float = 0.0

    def __repr__(self) -> str:
        found = "1 cluster" if self.best_n_clusters == 1 else f"{self.best_n_clusters} clusters"
        kernel = f", {self.best_kernel} kernel" if self.best_kernel else ""
        return f"<TuningResult: {found}{kernel}, of {self.n_models} models compared>"

    @property
    def by_quality(self) -> bool:
        """Whether the quality decided, and not a criterion of the literature."""
        return "quality" in self.surfaces.values

    @property
    def surface(self) -> Floats:
        """Surface of what decided, the larger the better.

        The quality (:mod:`sparseksc.search.quality`), or a criterion of the literature. A file of
        an earlier version may have neither, and the AMS stands in for it.
        """
        if self.by_quality:
            return self.surfaces["quality"]
        return self.surfaces[self.criterion if self.criterion in CRITERIA else "ams"]

    @property
    def runners_up(self) -> list[RankedModel]:
        """The best model of every other number of clusters, best first."""
        return [model for model in self.ranking if model.n_clusters != self.best_n_clusters]

    @property
    def n_models(self) -> int:
        """Number of models that were compared."""
        return int(np.isfinite(next(iter(self.surfaces.values.values()))).sum())

    @property
    def best_row(self) -> int | None:
        """Row of the best model in the surfaces; None where it is not one of them."""
        surfaces = self.surfaces
        for row, bandwidth in enumerate(surfaces.bandwidths):
            same = not surfaces.kernels or (
                surfaces.kernels[row] == self.best_kernel and surfaces.ranks[row] == self.max_rank
            )
            if same and bandwidth == self.best_bandwidth:
                return row
        return None

    def with_next_eigenvalues(self, used: Floats) -> Floats:
        """Return the eigenvalues of the best model, and some of those after them."""
        if self.best_row is None:
            return used
        row = self.eigenvalues[self.best_row]
        after = row[np.isfinite(row)][len(used) : len(used) + NEXT_EIGENVALUES]
        return np.concatenate([used, after])

    @property
    def alternatives(self) -> list[RankedModel]:
        """The best coarser and the best finer clustering that are nearly as good, best first.

        Where the quality decides, and within ``NEARLY`` of the best.
        """
        if not self.by_quality or self.best_n_clusters == 1:
            return []
        best, found = self.ranking[0], []
        for finer in (False, True):
            others = [
                model
                for model in self.runners_up
                if (model.n_clusters > best.n_clusters) == finer
                and model.value > best.value - NEARLY
            ]
            found += others[:1]
        return sorted(found, key=lambda model: -model.value)

    def to_frame(self) -> Any:
        """One row per model, as a pandas data frame."""
        import pandas as pd

        bandwidths = np.empty(len(self.surfaces.bandwidths), dtype=object)
        bandwidths[:] = self.surfaces.bandwidths
        columns = {
            "n_clusters": np.tile(self.surfaces.n_clusters, len(bandwidths)),
            "bandwidth": np.repeat(bandwidths, len(self.surfaces.n_clusters)),
        }
        if self.by_quality:
            columns["kernel"] = np.repeat(self.surfaces.kernels, len(self.surfaces.n_clusters))
            columns["max_rank"] = np.repeat(self.surfaces.ranks, len(self.surfaces.n_clusters))
        columns.update({name: values.ravel() for name, values in self.surfaces.values.items()})
        rows = np.repeat(np.arange(len(bandwidths)), len(self.surfaces.n_clusters))
        chosen = (columns["n_clusters"] == self.best_n_clusters) & (rows == self.best_row)
        return pd.DataFrame({**columns, "chosen": chosen}).infer_objects()

    def summary(self, doubt: bool = True) -> str:
        """One paragraph that says what was chosen, why, and what came next.

        Parameters
        ----------
        doubt : bool, default=True
            Whether to end with the doubt, if there is one; a warning has said it already.
        """
        # A model file of others may say anything here.
        ending = f" {escaped(self.doubt)}" if self.doubt and doubt else ""
        if self.n_models == 0:
            return f"A single cluster, with no others to compare.{ending}"
        compared = np.isfinite(next(iter(self.surfaces.values.values()))).any(axis=0)
        numbers = [self.surfaces.n_clusters[place] for place in np.flatnonzero(compared)]
        tried = f"{self.n_models} models with {_span(numbers)} clusters"
        if self.by_quality and len(self.surfaces.bandwidths) > 1:
            tried += f" and {len(self.surfaces.bandwidths)} scales"
        elif len(self.surfaces.bandwidths) > 1:
            tried += f" and {len(self.surfaces.bandwidths)} bandwidths"
        if self.best_n_clusters == 1:
            return f"Of {tried} none is better than a single cluster.{ending}"
        best = self.ranking[0]
        if self.by_quality:
            return self._summary_of_quality(best, tried) + ending
        at = "" if best.bandwidth is None else f" at bandwidth {_short(best.bandwidth)}"
        text = f"{best.n_clusters} clusters{at} were chosen from {tried}"
        how = f"criterion {self.criterion}"
        if self.criterion not in CRITERIA:
            how = "rule of an earlier version"
        text += f" by the {how}, with the value {best.value:.3f}."
        if len(self.ranking) > 1:
            rest = ", then ".join(
                f"{model.n_clusters} ({model.value:.3g})" for model in self.runners_up[:2]
            )
            text += f" The next best numbers of clusters, against {best.value:.3g}, are {rest}."
        return text + ending

    def _summary_of_quality(self, best: RankedModel, tried: str) -> str:
        scale = f"the {best.kernel} kernel"
        if best.kernel == "landmarks":
            scale = f"up to {best.max_rank:,} landmarks"
        elif best.bandwidth is not None:
            scale += f" at bandwidth {_short(best.bandwidth)}"
        text = (
            f"{best.n_clusters} clusters, seen with {scale}, were chosen from {tried} by their "
            f"quality, {best.value:.2f}"
        )
        ratio = f"{best.conductance_ratio:.1f} times as hard to divide as to cut off"
        # A doubt says it itself.
        text += "." if ratio in (self.doubt or "") else f": they are {ratio} from each other."
        for model in self.alternatives:
            how = "finer" if model.n_clusters > best.n_clusters else "coarser"
            text += (
                f" A {how} answer with {model.n_clusters} clusters is nearly as good "
                f"({model.value:.2f})."
            )
        if self.left_out > 0.0:
            text += (
                f" The least dense {self.left_out:.0%} of the rows bridge clusters: the training "
                "leaves them out, and they have the clusters that the model gives them."
            )
        return text

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw the surface of the search; see :class:`sparseksc.plotting.TuningDisplay`."""
        from sparseksc.plotting import TuningDisplay

        return TuningDisplay(self).plot(ax=ax)


class SearchOutcome(NamedTuple):
    """What a search found, and how to train the model that it selected.

    Attributes
    ----------
    result : TuningResult
    recipe : Recipe
    selection : Sample or None
        Rows to select its pivots in; None where others are to be used.
    """

    result: TuningResult
    recipe: Recipe
    selection: Sample | None


def _span(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]} to {numbers[-1]}"


def _short(bandwidth: Any) -> str:
    if isinstance(bandwidth, tuple):
        return "(" + ", ".join(f"{one:.3g}" for one in bandwidth) + ")"
    return f"{bandwidth:.3g}"
