"""Numbers in words, as the commands say them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparseksc._text import count as count
from sparseksc._text import escaped
from sparseksc.cli.console import Reporter


def short_bandwidth(bandwidth: Any) -> str:
    """Return a bandwidth in a few digits, one for each feature if there are several."""
    if bandwidth is None:
        return "none"
    values = bandwidth if isinstance(bandwidth, list | tuple) else [bandwidth]
    return ", ".join(f"{value:.4g}" for value in values)


def cluster_table(reporter: Reporter, sizes: Sequence[float], names: Any = None) -> None:
    """Print the clusters, by their names if they have any, and how many rows each has."""
    total = sum(sizes) or 1.0
    called = range(len(sizes)) if names is None else names
    rows = [
        (escaped(str(cluster)), f"{size:,.0f}", f"{size / total:.1%}")
        for cluster, size in zip(called, sizes, strict=True)
    ]
    reporter.table(("cluster", "rows", "share"), rows)
