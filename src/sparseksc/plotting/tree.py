"""Figure of the tree of clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scipy.cluster.hierarchy import dendrogram
from sklearn.utils.validation import check_is_fitted

from sparseksc._typing import Floats
from sparseksc.plotting.canvas import Display, axes_or_new

if TYPE_CHECKING:
    from sparseksc.estimator import KernelSpectralClustering


@dataclass
class DendrogramDisplay(Display):
    """Which clusters merge into coarser ones, and at which height.

    Parameters
    ----------
    tree : array of shape (K - 1, 4)
        ``tree_`` of an estimator.
    names : list of str
        Of the clusters, with their sizes.

    Attributes
    ----------
    dendrogram_ : dict
        What :func:`scipy.cluster.hierarchy.dendrogram` returned.
    ax_, figure_

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sparseksc import KernelSpectralClustering
    >>> from sparseksc.plotting import DendrogramDisplay
    >>> X, _ = make_blobs(300, centers=4, random_state=0)
    >>> ksc = KernelSpectralClustering(4, bandwidth=3.0, random_state=0).fit(X)
    >>> DendrogramDisplay.from_estimator(ksc).names[0].startswith("0 (")
    True
    """

    tree: Floats
    names: list[str]
    dendrogram_: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    @classmethod
    def from_estimator(
        cls, estimator: KernelSpectralClustering, *, n_clusters: int | None = None, ax: Any = None
    ) -> DendrogramDisplay:
        """Draw the tree of a fitted model, with a line where ``n_clusters`` groups are left."""
        check_is_fitted(estimator)
        if estimator.n_clusters_ < 2:
            raise ValueError("A single cluster has no tree to draw.")
        called = getattr(estimator, "classes_", range(estimator.n_clusters_))
        sizes = estimator.cluster_sizes_
        names = [f"{name} ({size:,.0f})" for name, size in zip(called, sizes, strict=True)]
        display = cls(estimator.tree_, names).plot(ax=ax)
        if n_clusters is not None:
            estimator.cut(n_clusters)  # which checks the number
            merges = estimator.n_clusters_ - n_clusters
            heights = [0.0, *estimator.distances_, 1.1 * estimator.distances_[-1]]
            at = (heights[merges] + heights[merges + 1]) / 2
            display.ax_.axvline(at, color="grey", ls="--", lw=1.0)
        return display

    def plot(self, *, ax: Any = None) -> DendrogramDisplay:
        """Draw the tree from left to right, a cluster in each line."""
        ax = axes_or_new(ax)
        drawn = dendrogram(
            self.tree, labels=self.names, orientation="right", color_threshold=0.0, ax=ax
        )
        self.dendrogram_ = dict(drawn)
        ax.set_xlabel("height: log(1 + 1 / normalised cut)")
        ax.set_ylabel("cluster (points)")
        self._keep(ax)
        return self
