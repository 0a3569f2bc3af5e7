"""Figures of the plane: decision regions, and how firm they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from sparseksc._typing import Floats, Integers
from sparseksc.plotting.canvas import Display, axes_or_new, cluster_colours, cluster_numbers

if TYPE_CHECKING:
    from sparseksc.estimator import KernelSpectralClustering


@dataclass
class _Plane(Display):
    """A grid over the plane around some points."""

    x: Floats
    y: Floats
    values: NDArray[Any]
    points: Floats
    labels: Integers
    reduced_set: Floats
    mesh_: Any = field(init=False, repr=False, default=None)
    points_: Any = field(init=False, repr=False, default=None)
    reduced_set_: Any = field(init=False, repr=False, default=None)

    @staticmethod
    def _grid(
        estimator: KernelSpectralClustering, X: ArrayLike, resolution: int
    ) -> tuple[Floats, Floats, Floats, Floats]:
        check_is_fitted(estimator)
        if estimator.n_features_in_ != 2 or estimator.kernel == "precomputed":
            raise ValueError(
                "A map of the plane needs a model of two features, this one has "
                f"{estimator.n_features_in_}."
            )
        points = np.asarray(X, dtype=np.float64)
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.05 * np.where(high > low, high - low, 1.0)
        if estimator.kernel == "chi2":
            margin = np.minimum(margin, low)
        x, y = (
            np.linspace(low[axis] - margin[axis], high[axis] + margin[axis], resolution)
            for axis in (0, 1)
        )
        return points, x, y, np.column_stack([grid.ravel() for grid in np.meshgrid(x, y)])

    def _finish(self, ax: Any) -> None:
        """Draw the points and the reduced set over the map."""
        colours = cluster_colours(int(self.labels.max()) + 1)
        self.points_ = ax.scatter(
            *self.points.T, s=4, color=colours[self.labels], edgecolor="none", zorder=2
        )
        self.reduced_set_ = ax.scatter(
            *self.reduced_set.T,
            s=18,
            facecolor="none",
            edgecolor="black",
            linewidth=0.7,
            zorder=3,
            label="reduced set",
        )
        ax.set_xlim(self.x[0], self.x[-1])
        ax.set_ylim(self.y[0], self.y[-1])
        ax.legend(loc="upper right")
        self._keep(ax)


@dataclass
class RegionsDisplay(_Plane):
    """Decision regions in the plane, with the data and the reduced set.

    Parameters
    ----------
    x, y : array of shape (resolution,)
        The grid.
    values : array of shape (resolution, resolution)
        Cluster at each place of the grid.
    points, labels : arrays of shape (n, 2) and (n,)
    reduced_set : array of shape (R, 2)

    Attributes
    ----------
    mesh_, points_, reduced_set_ : artists
    ax_, figure_
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: KernelSpectralClustering,
        X: ArrayLike,
        *,
        resolution: int = 200,
        ax: Any = None,
    ) -> RegionsDisplay:
        """Predict the cluster of every place around the rows of ``X``."""
        points, x, y, grid = cls._grid(estimator, X, resolution)
        regions = cluster_numbers(estimator, grid).reshape(resolution, resolution)
        labels = cluster_numbers(estimator, X)
        return cls(x, y, regions, points, labels, estimator.reduced_set_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> RegionsDisplay:
        """Draw the regions in pale colours below the points."""
        from matplotlib.colors import ListedColormap

        ax = axes_or_new(ax)
        K = int(max(self.values.max(), self.labels.max())) + 1
        self.mesh_ = ax.pcolormesh(
            self.x,
            self.y,
            np.where(self.values < 0, K, self.values),
            cmap=ListedColormap(cluster_colours(K)),
            vmin=-0.5,
            vmax=K + 0.5,
            alpha=0.3,
            shading="nearest",
            linewidth=0,
            rasterized=True,
        )
        self._finish(ax)
        return self


@dataclass
class MembershipDisplay(_Plane):
    """How firmly each place of the plane belongs to its cluster, from 1/K to 1.

    Parameters
    ----------
    x, y : array of shape (resolution,)
        The grid.
    values : array of shape (resolution, resolution)
        Largest membership at each place.
    points, labels : arrays of shape (n, 2) and (n,)
    reduced_set : array of shape (R, 2)

    Attributes
    ----------
    mesh_, points_, reduced_set_ : artists
    ax_, figure_
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: KernelSpectralClustering,
        X: ArrayLike,
        *,
        resolution: int = 200,
        ax: Any = None,
    ) -> MembershipDisplay:
        """Compute the membership of every place around the rows of ``X``."""
        points, x, y, grid = cls._grid(estimator, X, resolution)
        firm = estimator.membership(grid).max(axis=1).reshape(resolution, resolution)
        labels = cluster_numbers(estimator, X)
        return cls(x, y, firm, points, labels, estimator.reduced_set_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> MembershipDisplay:
        """Draw the membership in shades of grey below the points."""
        ax = axes_or_new(ax)
        self.mesh_ = ax.pcolormesh(
            self.x,
            self.y,
            self.values,
            cmap="Greys_r",
            vmin=0.0,
            vmax=1.0,
            shading="nearest",
            rasterized=True,
        )
        ax.figure.colorbar(self.mesh_, ax=ax, label="largest membership")
        self._finish(ax)
        return self
