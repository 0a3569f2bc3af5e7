"""Figure of the clusters of two models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparseksc._typing import Floats
from sparseksc.plotting.canvas import Display, axes_or_new


@dataclass
class ComparisonDisplay(Display):
    """Where the rows of each old cluster are in the new model.

    Parameters
    ----------
    table : array of shape (n_old, n_new)
        Rows of each pair.
    old, new : list
        Names.

    Attributes
    ----------
    image_ : artist
    ax_, figure_
    """

    table: Floats
    old: list[Any]
    new: list[Any]
    image_: Any = field(init=False, repr=False, default=None)

    def plot(self, *, ax: Any = None) -> ComparisonDisplay:
        """Draw a square for each pair, as dark as the part of the old cluster that it holds."""
        ax = axes_or_new(ax)
        shares = self.table / np.maximum(self.table.sum(axis=1, keepdims=True), 1.0)
        self.image_ = ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        ax.set_xticks(range(len(self.new)), [str(name) for name in self.new])
        ax.set_yticks(range(len(self.old)), [str(name) for name in self.old])
        ax.set_xlabel("new cluster")
        ax.set_ylabel("old cluster")
        for (row, column), count in np.ndenumerate(self.table):
            if count > 0:
                colour = "white" if shares[row, column] > 0.5 else "black"
                ax.text(column, row, f"{count:,.0f}", ha="center", va="center", color=colour)
        self._keep(ax)
        return self
