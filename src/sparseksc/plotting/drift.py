"""Figure of a stream: what the model said of each chunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparseksc.plotting.canvas import Display, axes_or_new, cluster_colours

if TYPE_CHECKING:
    from sparseksc.estimator import KernelSpectralClustering


@dataclass
class DriftDisplay(Display):
    """Shares of the clusters in each chunk, with the residual and the share of outliers as lines.

    Vertical lines tell where a cluster was born or died.

    Parameters
    ----------
    history : list of dict
        ``history_`` of an estimator.

    Attributes
    ----------
    bands_, lines_, events_ : lists of artists
        One band per cluster; the lines of residual and outliers, and of births and deaths.
    ax_, figure_
    """

    history: list[dict[str, Any]]
    bands_: list[Any] = field(init=False, repr=False, default_factory=list)
    lines_: list[Any] = field(init=False, repr=False, default_factory=list)
    events_: list[Any] = field(init=False, repr=False, default_factory=list)

    @classmethod
    def from_estimator(cls, estimator: KernelSpectralClustering, *, ax: Any = None) -> DriftDisplay:
        """Draw what ``partial_fit`` has seen."""
        check_is_fitted(estimator)
        if not hasattr(estimator, "history_"):
            raise ValueError("There is a history after partial_fit only, and this model had fit.")
        return cls(estimator.history_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> DriftDisplay:
        """Draw a band for each cluster, and two lines above them."""
        ax = axes_or_new(ax)
        chunks = np.arange(1, len(self.history) + 1)
        clusters = sorted({name for record in self.history for name in record["clusters"]})
        K, places = len(clusters), {name: place for place, name in enumerate(clusters)}
        sizes = np.zeros((len(chunks), K))
        for row, record in zip(sizes, self.history, strict=True):
            row[[places[name] for name in record["clusters"]]] = record["cluster_sizes"]
        shares = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1.0)
        names = [f"cluster {name}" for name in clusters]
        colours = cluster_colours(K)[:K]
        self.bands_ = ax.stackplot(chunks, shares.T, colors=colours, labels=names, alpha=0.4)
        for name, style in (("residual", "-"), ("outlier_share", "--")):
            values = [record[name] for record in self.history]
            label = name.replace("_", " ")
            self.lines_ += ax.plot(chunks, values, color="black", ls=style, lw=1.2, label=label)
        for chunk, record in zip(chunks, self.history, strict=True):
            told = [f"{name} {kind}" for kind in ("born", "died") for name in record[kind]]
            if told:
                self.events_.append(ax.axvline(chunk, color="black", lw=0.8, ls=":"))
                place = {"rotation": 90, "ha": "right", "va": "top", "fontsize": "small"}
                ax.annotate(", ".join(told), (chunk, 0.98), **place)
        ax.set(xlabel="chunk", ylabel="share of the chunk", ylim=(0.0, 1.0))
        if K <= 10:
            ax.legend(fontsize="small")
        self._keep(ax)
        return self
