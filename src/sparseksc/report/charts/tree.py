"""The tree of clusters as lines that stretch with the page, and the colours of each level.

Lines have no colours of their own but those of variables of the style sheet, ``--k3`` for cluster 3
and ``--n0`` for the first merge, which every level sets: below the cut the colour of the group,
above it none.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np

from sparseksc._typing import Floats, Integers
from sparseksc.report.charts.palette import colour_of
from sparseksc.report.levels import Level
from sparseksc.report.numbers import number

#: Part of the width that is left beyond the last merge.
BEYOND = 0.06


@dataclass(frozen=True)
class Tree:
    """Where the clusters and their merges are drawn.

    Attributes
    ----------
    order : list of int
        Clusters from top to bottom.
    lines : list of (str, str)
        Name of the colour and the line itself, as path of SVG in a box of 100 by K.
    ticks : list of (str, str)
        Place in per cent of the width, and height.
    merges : list of dict
        How many clusters are left after a merge, which ones it has merged, the rows and the height.
    heights : list of str
        Of the merges, in per cent of the width.
    """

    order: list[int]
    lines: list[tuple[str, str]]
    ticks: list[tuple[str, str]]
    merges: list[dict[str, Any]]
    heights: list[str]

    def cut(self, n_groups: int) -> str:
        """Return where so many groups are left, in per cent of the width."""
        places = [0.0, *map(float, self.heights), 100.0]
        merged = len(self.heights) + 1 - n_groups
        return f"{(places[merged] + places[merged + 1]) / 2:.2f}"


def make_tree(linkage: Floats, sizes: Integers, names: list[str]) -> Tree:
    """Lay out a tree, with the larger part of every merge first.

    Parameters
    ----------
    linkage : array of shape (K - 1, 4)
        ``tree_`` of an estimator.
    sizes : array of shape (K,)
        Rows of the clusters.
    names : list of str
        Of the clusters.
    """
    K = len(sizes)
    members = {cluster: [cluster] for cluster in range(K)}
    children = [(int(left), int(right)) for left, right in linkage[:, :2]]
    for step, (left, right) in enumerate(children):
        parts = sorted((members[left], members[right]), key=lambda part: -int(sizes[part].sum()))
        members[K + step] = parts[0] + parts[1]
    order = members[2 * K - 2]
    full = float(linkage[-1, 2]) * (1.0 + BEYOND)
    across = np.append(np.zeros(K), 100.0 * linkage[:, 2] / full)
    down = np.empty(2 * K - 1)
    down[order] = np.arange(K) + 0.5
    ends = np.full(2 * K - 1, 100.0)
    for step, pair in enumerate(children):
        down[K + step] = down[list(pair)].mean()
        ends[list(pair)] = across[K + step]
    lines = []
    for node in range(2 * K - 1):
        path = f"M{across[node]:.2f} {down[node]:.3f}H{ends[node]:.2f}"
        if node >= K:
            first, last = sorted(down[list(children[node - K])])
            path += f"M{across[node]:.2f} {first:.3f}V{last:.3f}"
        lines.append((f"k{node}" if node < K else f"n{node - K}", path))
    merges = [
        {
            "left": K - 1 - step,
            "merged": " + ".join(", ".join(names[k] for k in members[part]) for part in pair),
            "rows": f"{int(sizes[members[K + step]].sum()):,}",
            "height": number(float(linkage[step, 2]), 2),
        }
        for step, pair in enumerate(children)
    ]
    ticks = [(f"{100.0 * tick / full:.2f}", number(tick)) for tick in _ticks(full)]
    return Tree(order, lines, ticks, merges, [f"{place:.2f}" for place in across[K:]])


def _ticks(end: float) -> list[float]:
    """Round values from 0 to an end, three to six of them."""
    power = 10.0 ** floor(log10(end))
    step = next(step for step in (2.0, 1.0, 0.5, 0.2) if end / (step * power) >= 2.5) * power
    return [float(tick) for tick in np.arange(0.0, end, step)]


def colours_of(level: Level, linkage: Floats | None) -> list[tuple[str, str]]:
    """Return the variables of a level and their colours: of clusters, and of merges.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.report.charts.tree import colours_of
    >>> from sparseksc.report.levels import Level
    >>> linkage = np.array([[0, 2, 0.5, 2], [1, 3, 1.0, 3]])
    >>> two = Level(np.array([0, 1, 0]), np.array([0, 1]), ["0", "1"], finest=False)
    >>> colours_of(two, linkage)
    [('k0', 'c0'), ('k1', 'c1'), ('k2', 'c0'), ('n0', 'c0'), ('n1', 'ink')]
    """
    found = [
        (f"k{cluster}", f"c{colour_of(int(level.leaders[group]))}")
        for cluster, group in enumerate(level.groups)
    ]
    if linkage is None:
        return found
    K = len(linkage) + 1
    first = list(range(K))  # a cluster of each node
    for step, left in enumerate(linkage[:, 0].astype(int)):
        first.append(first[left])
        leader = int(level.leaders[level.groups[first[-1]]])
        below = step < K - level.n_groups
        found.append((f"n{step}", f"c{colour_of(leader)}" if below else "ink"))
    return found
