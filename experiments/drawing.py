"""Figures without a screen, written in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sparseksc.data.atomic import atomic_write

COLOURS = np.array(["#0072b2", "#d55e00", "#009e73", "#cc79a7"])


def subplots(count: int, width: float = 10.0, height: float = 3.6) -> tuple[Any, Any]:
    """Return a figure and a row of axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, count, squeeze=False)[0]


def save(figure: Any, path: Path) -> None:
    """Write a PNG of modest size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=100)
