"""Figures of a search: its surface, the number of clusters, the spectrum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparseksc._typing import Floats
from sparseksc.plotting.canvas import Display, axes_or_new

if TYPE_CHECKING:
    from sparseksc.estimator import KernelSpectralClustering
    from sparseksc.search.result import TuningResult


#: Names of the criteria on axes.
TITLES = {
    "ams": "average membership strength (AMS)",
    "blf": "balanced line fit (BLF)",
    "bas": "balanced angular similarity (BAS)",
}


def tuning_of(estimator: KernelSpectralClustering) -> TuningResult:
    """Return what the search of a fitted model found."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "tuning_"):
        raise ValueError(
            "This model was fitted without a search: pass several candidates, or 'auto', for "
            "n_clusters or bandwidth."
        )
    return estimator.tuning_


@dataclass
class TuningDisplay(Display):
    """The best quality for each number of clusters, a line a kernel.

    Where a criterion of the literature decides, its surface instead: one column per number of
    clusters, one row per bandwidth.

    Parameters
    ----------
    result : TuningResult

    Attributes
    ----------
    mesh_ : QuadMesh or None
    lines_ : list of Line2D
    best_ : Line2D
        The mark of the chosen model.
    ax_, figure_

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sparseksc import KernelSpectralClustering
    >>> from sparseksc.plotting import TuningDisplay
    >>> X, _ = make_blobs(200, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> ksc = KernelSpectralClustering(random_state=0).fit(X)
    >>> display = TuningDisplay.from_estimator(ksc)  # doctest: +SKIP
    """

    result: TuningResult
    mesh_: Any = field(init=False, repr=False, default=None)
    lines_: list[Any] = field(init=False, repr=False, default_factory=list)
    best_: Any = field(init=False, repr=False, default=None)

    @classmethod
    def from_estimator(
        cls, estimator: KernelSpectralClustering, *, criterion: str | None = None, ax: Any = None
    ) -> TuningDisplay:
        """Draw the search of a fitted estimator."""
        return cls(tuning_of(estimator)).plot(criterion=criterion, ax=ax)

    def plot(self, *, criterion: str | None = None, ax: Any = None) -> TuningDisplay:
        """Draw the surface of ``criterion``, by default of the one that decided."""
        result, surfaces = self.result, self.result.surfaces
        criterion = criterion or result.criterion
        if criterion not in ("auto", *TITLES):
            names = ", ".join(("auto", *TITLES))
            raise ValueError(f"criterion must be one of {names}, got {criterion!r}.")
        if result.by_quality:
            if criterion != "auto":
                raise ValueError(f"A search by the quality has no surface of {criterion!r}.")
            return self._plot_qualities(axes_or_new(ax))
        values = result.surface if criterion == "auto" else surfaces[criterion]
        ax = axes_or_new(ax)
        K = np.array(surfaces.n_clusters)
        scalar = all(isinstance(h, float) for h in surfaces.bandwidths)
        heights = np.array(surfaces.bandwidths if scalar else np.arange(len(values)), dtype=float)
        columns = np.arange(len(K) + 1) - 0.5
        rows = (
            log_edges(heights) if scalar and len(heights) > 1 else np.arange(len(values) + 1) - 0.5
        )
        self.mesh_ = ax.pcolormesh(columns, rows, np.ma.masked_invalid(values), cmap="viridis")
        ax.set_xticks(np.arange(len(K)), [str(k) for k in K])
        ax.set_xlabel("number of clusters")
        if scalar and len(heights) > 1:
            ax.set_yscale("log")
            ax.set_ylabel("bandwidth")
        else:
            heights = np.arange(len(values), dtype=float)
            ax.set_ylabel("bandwidth, candidate")
        ax.figure.colorbar(self.mesh_, ax=ax, label=TITLES.get(criterion, TITLES["ams"]))
        if result.best_n_clusters in surfaces.n_clusters:
            place = (
                surfaces.n_clusters.index(result.best_n_clusters),
                heights[surfaces.bandwidths.index(result.best_bandwidth)],
            )
            (self.best_,) = ax.plot(
                *place, "o", ms=11, mfc="none", mec="red", mew=2, label="chosen"
            )
            ax.legend(loc="upper right")
        self._keep(ax)
        return self

    def _plot_qualities(self, ax: Any) -> TuningDisplay:
        result = self.result
        for kernel, (K, values) in result.surfaces.best_by_kernel("quality").items():
            (line,) = ax.plot(K, values, "o-", ms=4, label=kernel)
            self.lines_.append(line)
        if result.best_n_clusters > 1:
            best = result.ranking[0]
            (self.best_,) = ax.plot(
                best.n_clusters, best.value, "o", ms=11, mfc="none", mec="red", mew=2
            )
        else:
            compared = "" if result.n_models else "\nno models to compare"
            ax.set_title(f"one cluster{compared}")
        ax.axhline(0.0, color="lightgrey", zorder=0)
        if max(result.surfaces.n_clusters, default=0) > 20:
            ax.set_xscale("log", base=2)
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        else:
            ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        ax.set_xlabel("number of clusters")
        ax.set_ylabel("quality")
        ax.legend()
        self._keep(ax)
        return self


def log_edges(centres: Floats) -> Floats:
    """Borders between ascending values, halfway on a logarithmic scale."""
    logs = np.log(centres)
    middle = (logs[1:] + logs[:-1]) / 2
    first, last = 2 * logs[0] - middle[0], 2 * logs[-1] - middle[-1]
    return np.exp(np.concatenate([[first], middle, [last]]))


@dataclass
class ClusterNumberDisplay(Display):
    """The value of the rule for the best model with each number of clusters.

    Parameters
    ----------
    result : TuningResult

    Attributes
    ----------
    line_, best_ : Line2D
    ax_, figure_
    """

    result: TuningResult
    line_: Any = field(init=False, repr=False, default=None)
    best_: Any = field(init=False, repr=False, default=None)

    @classmethod
    def from_estimator(
        cls, estimator: KernelSpectralClustering, *, ax: Any = None
    ) -> ClusterNumberDisplay:
        """Draw the search of a fitted estimator."""
        return cls(tuning_of(estimator)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ClusterNumberDisplay:
        """Draw one point per number of clusters."""
        ax = axes_or_new(ax)
        models = sorted(self.result.ranking, key=lambda model: model.n_clusters)
        K = [model.n_clusters for model in models]
        values = [model.value for model in models]
        (self.line_,) = ax.plot(K, values, "o-", color="tab:blue")
        best = [model for model in models if model.n_clusters == self.result.best_n_clusters]
        if best:
            (self.best_,) = ax.plot(
                [best[0].n_clusters], [best[0].value], "o", ms=12, mfc="none", mec="red", mew=2
            )
        ax.set_xticks(K)
        ax.set_xlabel("number of clusters")
        if self.result.by_quality:
            ax.set_ylabel("quality")
        else:
            ax.set_ylabel(TITLES.get(self.result.criterion, "value"))
        self._keep(ax)
        return self


@dataclass
class SpectrumDisplay(Display):
    """Leading eigenvalues at the bandwidth of the model; those of the clusters are filled.

    Parameters
    ----------
    eigenvalues : array of shape (m,)
        Descending.
    n_clusters : int
        K: the first K - 1 of them separate the clusters.

    Attributes
    ----------
    used_, rest_ : Line2D
    ax_, figure_
    """

    eigenvalues: Floats
    n_clusters: int
    used_: Any = field(init=False, repr=False, default=None)
    rest_: Any = field(init=False, repr=False, default=None)

    @classmethod
    def from_estimator(
        cls, estimator: KernelSpectralClustering, *, ax: Any = None
    ) -> SpectrumDisplay:
        """Draw the eigenvalues of a fitted estimator, and more of them if there was a search."""
        check_is_fitted(estimator)
        values = np.asarray(estimator.eigenvalues_)
        result = getattr(estimator, "tuning_", None)
        if result is not None:
            values = result.with_next_eigenvalues(values)
        return cls(values, estimator.n_clusters_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SpectrumDisplay:
        """Draw the eigenvalues against their number."""
        ax = axes_or_new(ax)
        used = self.n_clusters - 1
        number = np.arange(1, len(self.eigenvalues) + 1)
        ax.vlines(number, 0.0, self.eigenvalues, color="lightgrey", zorder=1)
        (self.used_,) = ax.plot(
            number[:used], self.eigenvalues[:used], "o", color="tab:blue", label="used"
        )
        (self.rest_,) = ax.plot(
            number[used:], self.eigenvalues[used:], "o", mfc="white", mec="tab:blue", label="rest"
        )
        ax.set_xticks(number)
        ax.set_ylim(0.0, 1.05)
        ax.set_xlabel("component")
        ax.set_ylabel("eigenvalue λ")
        ax.set_title(f"{self.n_clusters} clusters use the first {used}")
        ax.legend()
        self._keep(ax)
        return self
