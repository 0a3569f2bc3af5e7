"""Figure of the score space, in which every cluster is a line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sparseksc._typing import Floats, Integers
from sparseksc.core.encoding import AngularDirections, Directions
from sparseksc.plotting.canvas import Display, axes_or_new, cluster_colours, cluster_numbers

if TYPE_CHECKING:
    from sparseksc.estimator import KernelSpectralClustering

#: Second axis where there is one score.
SUMS = "Σ k(x, p) + b₁"


@dataclass
class ScoresDisplay(Display):
    """Score space: points of one cluster lie on one line, in the direction of its prototype.

    Two clusters have one score; the second axis is then the sum of the kernel values, as in
    the line fit criterion.

    Parameters
    ----------
    scores : array of shape (n, 2) or (n, 3)
    labels : array of shape (n,)
    prototypes : array of shape (K, 2) or (K, 3), or None
        Directions from ``origin``.
    origin : array of shape (2,) or (3,)
    names : tuple of str
        Of the axes.

    Attributes
    ----------
    points_ : list of artists
        One per cluster.
    lines_ : list of artists
        One per prototype.
    ax_, figure_
    """

    scores: Floats
    labels: Integers
    prototypes: Floats | None
    origin: Floats
    names: tuple[str, ...]
    points_: list[Any] = field(init=False, repr=False, default_factory=list)
    lines_: list[Any] = field(init=False, repr=False, default_factory=list)

    @classmethod
    def from_estimator(
        cls,
        estimator: KernelSpectralClustering,
        X: ArrayLike,
        *,
        n_dimensions: int = 2,
        ax: Any = None,
    ) -> ScoresDisplay:
        """Draw the scores of the rows of ``X``, in the first two or three dimensions."""
        check_is_fitted(estimator)
        if n_dimensions not in (2, 3):
            raise ValueError(f"n_dimensions must be 2 or 3, got {n_dimensions!r}.")
        scores = np.asarray(estimator.transform(X), dtype=np.float64)
        labels = cluster_numbers(estimator, X)
        encoding = estimator.model_.encoding
        if scores.shape[1] == 0:
            raise ValueError("A single cluster has no scores to draw.")
        if scores.shape[1] == 1:
            projection = estimator.model_.projection
            if projection.kernel.has_linear_degrees:
                second, name = estimator._apply(projection.kernel_sums, X, None, np.float64), SUMS
                second = np.asarray(second) + estimator.bias_[0]
            else:
                degrees = estimator._apply(projection.degrees, X, None, np.float64)
                second, name = -np.asarray(degrees), "distance to the nearest landmark"
            shown = np.column_stack([scores[:, 0], second])
            return cls(shown, labels, None, np.zeros(2), ("z₁", name)).plot(ax=ax)
        m = min(n_dimensions, scores.shape[1])
        prototypes, origin = None, np.zeros(m)
        if isinstance(encoding, Directions | AngularDirections):
            prototypes = encoding.prototypes[:, :m]
        if isinstance(encoding, AngularDirections):
            origin = encoding.bias[:m]
        names = ("z₁", "z₂", "z₃")[:m]
        return cls(scores[:, :m], labels, prototypes, origin, names).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ScoresDisplay:
        """Draw the points of every cluster, and a line along its prototype."""
        flat = len(self.names) == 2
        ax = axes_or_new(ax) if flat else axes_or_new(ax, projection="3d")
        clusters = np.unique(self.labels)
        K = int(clusters.max()) + 1 if self.prototypes is None else len(self.prototypes)
        colours = cluster_colours(K)
        for k in clusters:
            points, name = self.scores[self.labels == k], f"cluster {k}" if k >= 0 else "noise"
            self.points_.append(ax.scatter(*points.T, s=6, color=colours[k], alpha=0.6, label=name))
        if self.prototypes is not None:
            for k, direction in enumerate(self.prototypes):
                mine = self.scores[self.labels == k]
                length = np.linalg.norm(direction)
                if len(mine) == 0 or length == 0.0:
                    continue
                reach = np.max((mine - self.origin) @ direction) / length**2
                ends = np.array([self.origin, self.origin + 1.1 * reach * direction])
                self.lines_ += ax.plot(*ends.T, color=colours[k], lw=1.5)
        elif flat:
            self.lines_.append(ax.axvline(0.0, color="grey", lw=1.0))
        for axis, name in zip("xyz", self.names, strict=False):
            getattr(ax, f"set_{axis}label")(name)
        if K <= 10:
            ax.legend(markerscale=2.0)
        self._keep(ax)
        return self
