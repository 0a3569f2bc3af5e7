"""What all figures share: axes, colours, and what is kept of a drawing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparseksc._typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None, **subplot: Any) -> Axes:
    """Return the given axes, or new ones in a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Figures need matplotlib: install it, or sparseksc with the extra 'plot'."
        ) from None
    _, made = plt.subplots(layout="constrained", subplot_kw=subplot or None)
    return made


#: Of points that are in no cluster.
NOISE_COLOUR = (0.6, 0.6, 0.6, 1.0)


def cluster_colours(K: int) -> Floats:
    """One distinct colour per cluster, and grey, the last, for noise; shape (K + 1, 4)."""
    from matplotlib import colormaps

    name = "tab10" if K <= 10 else "tab20" if K <= 20 else "turbo"
    places = np.arange(K) if K <= 20 else np.linspace(0.0, 1.0, K)
    return np.vstack([colormaps[name](places), NOISE_COLOUR])


def cluster_numbers(estimator: Any, X: Any) -> Any:
    """Cluster of each row by its number, whatever its name is."""
    return np.asarray(estimator._apply(estimator.model_.labels, X, None, np.intp))


@dataclass
class Display:
    """What all figures keep."""

    ax_: Any = field(init=False, repr=False, default=None)
    figure_: Any = field(init=False, repr=False, default=None)

    def _keep(self, ax: Any) -> None:
        self.ax_, self.figure_ = ax, ax.figure
