"""Charts as SVG that needs no script: for print, for screen readers, and where scripts are off.

matplotlib draws them in the colours of the light page, and each of these colours is then replaced
by the name that it has in the style sheet, so that a chart follows the page into the dark.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import numpy as np

from sparseksc._typing import Floats, Integers
from sparseksc.plotting import TuningDisplay
from sparseksc.report.charts.palette import CLUSTERS_LIGHT, LIGHT, SHAPES, colour_of, shape_of
from sparseksc.report.facts import Facts
from sparseksc.report.numbers import number
from sparseksc.report.survey import BINS
from sparseksc.report.view import View

#: Points in a static chart: each takes a hundred bytes.
DRAWN = 1500

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 10,  # points; a figure of 5.6 inches is shown at about 1.3 times its size
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["quiet"],
    "axes.edgecolor": LIGHT["rule"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "xtick.color": LIGHT["rule"],
    "ytick.color": LIGHT["rule"],
    "xtick.labelcolor": LIGHT["quiet"],
    "ytick.labelcolor": LIGHT["quiet"],
    "axes.axisbelow": True,
    "grid.color": LIGHT["rule"],
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "axes.unicode_minus": True,
    "text.parse_math": False,
}


def static_charts(facts: Facts) -> dict[str, str]:
    """SVG elements by the name of the chart."""
    charts = {"spectrum": _spectrum(facts)} if facts.n_clusters > 1 else {}
    for name, view in (("data", facts.points.data), ("scores", facts.points.scores)):
        if view is not None:
            charts[name] = _scatter(name, facts, view)
    if facts.n_clusters > 1:
        for at_level in facts.levels:
            charts[strength_chart(at_level)] = _strengths(at_level)
    if facts.tuning is not None:
        charts["surface"] = _surface(facts)
    return charts


def strength_chart(facts: Facts) -> str:
    """Name of the chart of the memberships at a level."""
    return "strength" if facts.level.finest else f"strength-{facts.n_clusters}"


def _placeholder(cluster: int) -> str:
    """Return a colour that stands for whatever a cluster has at the level that is chosen."""
    return f"#fe{cluster:04x}"


@contextmanager
def _chart(name: str, width: float = 5.6, height: float = 3.6) -> Iterator[tuple[Any, list[str]]]:
    """Axes to draw on, and a list that holds the SVG afterwards."""
    import matplotlib
    from matplotlib.figure import Figure

    written: list[str] = []
    # Names of markers and clips within a page must differ from chart to chart.
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure.add_subplot(), written
        text = StringIO()
        with warnings.catch_warnings():
            # The browser has its own fonts, with letters that matplotlib's has not.
            warnings.filterwarnings("ignore", message="Glyph")
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    written.append(_for_page(name, text.getvalue()))


def _for_page(name: str, svg: str) -> str:
    """Keep the drawing, drop the file around it, and name the colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    used = set(re.findall(r"#([\w.-]+)[\")]", svg))
    svg = re.sub(r' id="clusters-([\d-]+)"', _cluster_classes, svg)
    svg = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", svg)
    names = {colour: f"var(--{key})" for key, colour in LIGHT.items() if key != "page"}
    names |= {colour: f"var(--c{place})" for place, colour in enumerate(CLUSTERS_LIGHT)}

    def named(colour: re.Match[str]) -> str:
        if colour[0].startswith("#fe"):
            return f"var(--k{int(colour[0][3:], 16)})"
        return names.get(colour[0], colour[0])

    def tidy(tag: re.Match[str]) -> str:
        text = re.sub(r"#[0-9a-f]{6}\b", named, tag[0])
        return re.sub(r"(\d\.\d\d)\d+", r"\1", text)

    # Only tags: names of features are left as they are, whatever they look like.
    svg = re.sub(r"<[^>]+>", tidy, svg)
    box = re.search(r'viewBox="[^"]+"', svg)
    assert box is not None
    caption = re.sub(r"-\d+$", "", name)
    head = (
        f'<svg {box[0]} xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'aria-labelledby="{caption}-caption">'
    )
    body = svg[svg.index(">", svg.index("<svg")) + 1 :]
    return head + re.sub(r"\n\s*", "\n", body)


def _cluster_classes(found: re.Match[str]) -> str:
    classes = " ".join(f"cluster-{number}" for number in found[1].split("-"))
    return f' class="of-cluster {classes}"'


def _scatter(name: str, facts: Facts, view: View) -> str:
    width = min(5.6, 1.0 + 4.4 * view.aspect)
    with _chart(name, width, 1.0 + (width - 1.0) / view.aspect) as (ax, written):
        n = len(facts.points.labels)
        chosen = np.linspace(0, n - 1, min(n, DRAWN)).astype(int)
        labels = facts.points.labels[chosen]
        for cluster in np.unique(labels):
            mine = chosen[labels == cluster]
            (drawn,) = ax.plot(
                view.x[mine],
                view.y[mine],
                SHAPES[shape_of(cluster)][1],
                color=_placeholder(cluster),
                markersize=3.6,
                markeredgewidth=0,
                alpha=0.75,
            )
            drawn.set_gid(f"clusters-{cluster}")
        ax.set_xlabel(view.x_name)
        if view.y_name:
            ax.set_ylabel(view.y_name)
            ax.grid(True)
        else:
            ax.set_yticks(-np.arange(facts.n_clusters), _names(facts.level.names))
            ax.grid(True, axis="x")
        if view.same_units:
            ax.set_aspect("equal", adjustable="datalim")
        if name == "scores":
            ax.axvline(0.0, color=LIGHT["quiet"], linewidth=0.8)
            if view.y_name:
                ax.axhline(0.0, color=LIGHT["quiet"], linewidth=0.8)
    return written[0]


def _names(names: list[str]) -> list[str]:
    few = len(names) <= 12
    return [f"cluster {name}" if few or k % 5 == 0 else "" for k, name in enumerate(names)]


def _bars(below: Floats, counts: Integers) -> Any:
    """Outline of the bars of one cluster: a single path, however many there are."""
    from matplotlib.path import Path

    (filled,) = np.nonzero(counts)
    left, right = filled / BINS, (filled + 0.9) / BINS
    low, high = below[filled], (below + counts)[filled]
    corners = [(left, low), (right, low), (right, high), (left, high)]
    bars = np.array([np.column_stack(corner) for corner in corners]).transpose(1, 0, 2)
    closed = np.concatenate([bars, bars[:, :1]], axis=1)
    return Path.make_compound_path(*(Path(bar, closed=True) for bar in closed))


def _strengths(facts: Facts) -> str:
    from matplotlib.patches import PathPatch

    with _chart(strength_chart(facts), height=3.0) as (ax, written):
        below = np.zeros(BINS)
        for group, counts in enumerate(facts.survey.strengths):
            colour = CLUSTERS_LIGHT[colour_of(int(facts.level.leaders[group]))]
            bars = ax.add_patch(PathPatch(_bars(below, counts), facecolor=colour, linewidth=0))
            bars.set_gid("clusters-" + "-".join(map(str, facts.level.members(group))))
            below += counts
        ax.set_ylim(0.0, 1.05 * below.max())
        ax.set_xlim(0.0, 1.0)
        ax.grid(True, axis="y")
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("membership in the own cluster")
        ax.set_ylabel("rows")
    return written[0]


def _spectrum(facts: Facts) -> str:
    values, used = facts.spectrum, facts.n_clusters - 1
    with _chart("spectrum", 4.2, 2.8) as (ax, written):
        place = np.arange(1, len(values) + 1)
        ax.vlines(place, 0.0, values, color=LIGHT["rule"], linewidth=2)
        ax.plot(place[:used], values[:used], "o", color=CLUSTERS_LIGHT[0], label="used")
        if len(values) > used:
            ax.plot(
                place[used:],
                values[used:],
                "o",
                markerfacecolor="none",
                markeredgecolor=CLUSTERS_LIGHT[0],
                label="not used",
            )
            ax.legend()
        ax.set_ylim(0.0, 1.08)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(True, axis="y")
        ax.set_xlabel("component")
        ax.set_ylabel("eigenvalue")
    return written[0]


def _surface(facts: Facts) -> str:
    with _chart("surface") as (ax, written):
        display = TuningDisplay(facts.tuning).plot(ax=ax)
        if display.best_ is not None:
            display.best_.set_markeredgecolor(CLUSTERS_LIGHT[1])
        if ax.get_legend() is not None:
            ax.get_legend().remove()
        if ax.get_yscale() == "log":
            ax.yaxis.set_major_formatter(lambda value, _: number(value))
            ax.yaxis.set_minor_formatter("")
    return written[0]
