"""Charts for the screen, with Bokeh: hover, zoom, and one cluster highlighted in all of them.

Bokeh's own script is part of the page, so nothing is fetched. The charts carry no colours: the
script of the page takes them from the style sheet, which knows whether the page is dark.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import numpy as np

from sparseksc.plotting.search import TITLES, log_edges
from sparseksc.report.charts.palette import CLUSTERS_LIGHT, SHAPES, shape_of
from sparseksc.report.facts import Facts
from sparseksc.report.numbers import number
from sparseksc.report.survey import BINS
from sparseksc.report.view import View

#: Features that a tooltip shows.
IN_TOOLTIP = 5


def bokeh_script() -> str:
    """Return the program that draws the charts, to be written into the page."""
    script = files("bokeh").joinpath("server", "static", "js", "bokeh.min.js").read_text("utf-8")
    # Inside of a page these would end the script or begin a comment.
    return script.replace("</script", r"<\/script").replace("<!--", r"<\!--")


def live_charts(facts: Facts) -> tuple[list[str], str]:
    """Names of the charts, and the JSON text that the script of the page makes them from."""
    from bokeh.document import Document

    charts = {}
    source = _points(facts)
    for name, view in (("data", facts.points.data), ("scores", facts.points.scores)):
        if view is not None:
            charts[name] = _scatter(name, facts, view, source)
    if facts.n_clusters > 1:
        charts["strength"] = _strengths(facts)
    if facts.tuning is not None:
        charts["surface"] = _surface(facts)
    document = Document()
    for chart in charts.values():
        document.add_root(chart)
    content = {
        "document": document.to_json(deferred=False),
        "roots": {chart.id: f"live-{name}" for name, chart in charts.items()},
        "levels": [_level(at_level) for at_level in facts.levels],
        "shapes": [shape for shape, _, _ in SHAPES],
    }
    return list(charts), _renumbered(json.dumps(content, allow_nan=True))


def _level(facts: Facts) -> dict[str, Any]:
    """Return what the script of the page needs to show a level."""
    level = facts.level
    return {
        "groups": level.groups.tolist(),
        "leaders": level.leaders.tolist(),
        "shapes": [shape_of(int(leader)) for leader in level.leaders],
        "names": level.names,
        "strength": np.round(facts.points.strengths(level), 2).tolist(),
        "bars": _bars(facts) if facts.n_clusters > 1 else None,
        "highest": _highest(facts),
    }


def _renumbered(text: str) -> str:
    """Count Bokeh's objects from 1, so that the same facts give the same page."""
    known: dict[str, str] = {}

    def new(found: re.Match[str]) -> str:
        return known.setdefault(found[0], f'"p{len(known) + 1}"')

    return re.sub(r'"p\d{4,}"', new, text)


def _figure(name: str, tooltips: list[tuple[str, str]], **layout: Any) -> Any:
    from bokeh.models import HoverTool, PanTool, TapTool, WheelZoomTool
    from bokeh.plotting import figure

    # The wheel alone scrolls the page; with the Ctrl key it zooms, as in maps.
    wheel = WheelZoomTool(modifiers={"ctrl": True})
    pan = PanTool()
    chart = figure(
        name=name,
        sizing_mode="stretch_width",
        tools=[pan, wheel, TapTool(), HoverTool(tooltips=tooltips)],
        toolbar_location=None,
        output_backend="canvas",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_right=12,
        **layout,
    )
    chart.toolbar.active_scroll = wheel
    chart.toolbar.active_drag = pan
    chart.axis.minor_tick_line_color = None
    chart.axis.axis_label_text_font_style = "normal"
    return chart


def _points(facts: Facts) -> Any:
    from bokeh.models import ColumnDataSource

    points = facts.points
    n = len(points.rows)
    columns: dict[str, Any] = {
        "cluster": points.labels.astype(np.int32),
        "name": [facts.level.names[label] for label in points.labels],
        "row": [facts.rows.name_of(int(row)) for row in points.rows],
        "strength": points.strengths(facts.level).astype(np.float32),
        "marker": [SHAPES[shape_of(int(label))][0] for label in points.labels],
        "colour": ["#888888"] * n,
        "opacity": np.full(n, 0.75, dtype=np.float32),
    }
    for name, view in (("data", points.data), ("scores", points.scores)):
        if view is not None:
            columns[f"{name}_x"], columns[f"{name}_y"] = _in_range(view.x), _in_range(view.y)
    for place in range(min(IN_TOOLTIP, points.values.shape[1])):
        columns[f"value_{place}"] = [number(float(value)) for value in points.values[:, place]]
    return ColumnDataSource(columns, name="points")


def _in_range(values: Any) -> Any:
    """Single precision where the numbers allow it: half the size."""
    single = np.asarray(values, dtype=np.float64)
    spread = np.ptp(single) if len(single) else 0.0
    fits = np.abs(single).max(initial=0.0) < min(1e30, 1e4 * spread)
    return single.astype(np.float32) if fits else single


def _around(values: Any) -> tuple[float, float]:
    """Return the ends of an axis that shows all values with a margin."""
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or 0.05 * abs(low) or 1.0
    return low - margin, high + margin


def _scatter(name: str, facts: Facts, view: View, source: Any) -> Any:
    from bokeh.models.annotations import Span

    tooltips = [("Row", "@row"), ("Cluster", "@name"), ("Membership", "@strength{0.00}")]
    if facts.profile is not None:
        shown = facts.profile.names[: min(IN_TOOLTIP, facts.points.values.shape[1])]
        tooltips += [(label, f"@value_{place}") for place, label in enumerate(shown)]
    chart = _figure(
        name,
        tooltips,
        x_range=_around(view.x),
        y_range=_around(view.y),
        aspect_ratio=view.aspect,
    )
    if name == "scores":
        for axis in ("width", "height") if view.y_name else ("height",):
            chart.add_layout(Span(location=0, dimension=axis, line_color="#80858f"))
    chart.scatter(
        f"{name}_x",
        f"{name}_y",
        source=source,
        marker="marker",
        size=7,
        color="colour",
        alpha="opacity",
        line_color=None,
        nonselection_alpha="opacity",
    )
    chart.xaxis.axis_label = view.x_name
    if view.y_name:
        chart.yaxis.axis_label = view.y_name
    else:
        lanes = list(range(facts.n_clusters))
        chart.yaxis.ticker = [-lane for lane in lanes]
        names = facts.level.names
        chart.yaxis.major_label_overrides = {-lane: f"cluster {names[lane]}" for lane in lanes}
        chart.ygrid.visible = False
    return chart


def _bars(facts: Facts) -> dict[str, list[Any]]:
    """Columns of the histogram of the memberships, a stack of clusters in each bar."""
    counts = facts.survey.strengths
    tops = np.cumsum(counts, axis=0)
    group, place = np.nonzero(counts)
    return {
        "group": group.tolist(),
        "name": [facts.level.names[k] for k in group],
        "left": (place / BINS).tolist(),
        "right": ((place + 0.9) / BINS).tolist(),
        "top": tops[group, place].astype(float).tolist(),
        "bottom": (tops - counts)[group, place].astype(float).tolist(),
        "count": [f"{counts[k, bar]:,}" for k, bar in zip(group, place, strict=True)],
        "range": [f"{bar / BINS:.2f} to {(bar + 1) / BINS:.2f}" for bar in place],
        "colour": ["#888888"] * len(place),
        "opacity": [0.9] * len(place),
    }


def _highest(facts: Facts) -> float:
    return 1.05 * float(facts.survey.strengths.sum(axis=0).max())


def _strengths(facts: Facts) -> Any:
    from bokeh.models import ColumnDataSource, NumeralTickFormatter

    source = ColumnDataSource(_bars(facts), name="bars")
    tooltips = [("Cluster", "@name"), ("Membership", "@range"), ("Rows", "@count")]
    y_range = (0.0, _highest(facts))
    chart = _figure("strength", tooltips, height=300, x_range=(0.0, 1.0), y_range=y_range)
    chart.quad(
        left="left",
        right="right",
        top="top",
        bottom="bottom",
        source=source,
        color="colour",
        alpha="opacity",
        line_color=None,
        nonselection_alpha="opacity",
    )
    chart.xaxis.axis_label = "membership in the own cluster"
    chart.yaxis.axis_label = "rows"
    chart.yaxis.formatter = NumeralTickFormatter(format="0,0")
    chart.xgrid.visible = False
    return chart


def _surface(facts: Facts) -> Any:
    from bokeh.models import ColumnDataSource
    from bokeh.models.annotations import ColorBar
    from bokeh.models.mappers import LinearColorMapper

    tuning = facts.tuning
    surfaces = tuning.surfaces
    if tuning.by_quality:
        return _qualities(tuning)
    heights = surfaces.bandwidths
    scalar = len(heights) > 1 and all(isinstance(h, float) for h in heights)
    values = tuning.surface
    row, column = np.nonzero(np.isfinite(values))
    edges = log_edges(np.array(heights)) if scalar else np.arange(len(heights) + 1) - 0.5
    shown = values[row, column]
    source = ColumnDataSource(
        {
            "left": column - 0.5,
            "right": column + 0.5,
            "bottom": edges[row],
            "top": edges[row + 1],
            "value": shown,
            "clusters": [str(surfaces.n_clusters[place]) for place in column],
            "bandwidth": [_bandwidth(heights[place]) for place in row],
            "ams": surfaces["ams"][row, column],
        }
    )
    tooltips = [
        ("Clusters", "@clusters"),
        ("Bandwidth", "@bandwidth"),
        (TITLES.get(tuning.criterion, TITLES["ams"]).capitalize(), "@value{0.00}"),
        ("Membership strength", "@ams{0.00}"),
    ]
    chart = _figure(
        "surface",
        tooltips,
        height=380,
        x_range=(-0.5, len(surfaces.n_clusters) - 0.5),
        y_range=(float(edges[0]), float(edges[-1])),
        y_axis_type="log" if scalar else "linear",
    )
    mapper = LinearColorMapper(
        palette="Viridis256", low=float(shown.min()), high=float(shown.max())
    )
    chart.quad(
        left="left",
        right="right",
        top="top",
        bottom="bottom",
        source=source,
        color={"field": "value", "transform": mapper},
        line_width=1,
        nonselection_alpha=1.0,
    )
    if tuning.best_n_clusters in surfaces.n_clusters and tuning.best_bandwidth in heights:
        place = heights.index(tuning.best_bandwidth)
        for colour, width in (("black", 6), ("white", 2.5)):  # seen on any shade
            chart.scatter(
                [surfaces.n_clusters.index(tuning.best_n_clusters)],
                [heights[place] if scalar else place],
                marker="circle",
                size=17,
                fill_color=None,
                line_color=colour,
                line_width=width,
            )
    ticks = list(range(len(surfaces.n_clusters)))
    chart.xaxis.ticker = ticks
    chart.xaxis.major_label_overrides = {tick: str(surfaces.n_clusters[tick]) for tick in ticks}
    chart.xaxis.axis_label = "number of clusters"
    chart.yaxis.axis_label = "bandwidth" if scalar else "bandwidth, candidate"
    chart.grid.visible = False
    bar = ColorBar(color_mapper=mapper, background_fill_color=None, width=10)
    chart.add_layout(bar, "right")
    return chart


def _qualities(tuning: Any) -> Any:
    """Draw the best quality for each number of clusters, a line a kernel."""
    from bokeh.models import ColumnDataSource

    tooltips = [("Kernel", "@kernel"), ("Clusters", "@K"), ("Quality", "@quality{0.00}")]
    most = max(tuning.surfaces.n_clusters)
    chart = _figure("surface", tooltips, height=380, x_axis_type="log" if most > 20 else "linear")
    lines = tuning.surfaces.best_by_kernel("quality")
    for (kernel, (K, values)), colour in zip(lines.items(), CLUSTERS_LIGHT, strict=False):
        source = ColumnDataSource({"K": K, "quality": values, "kernel": len(K) * [kernel]})
        chart.line("K", "quality", source=source, color=colour, line_width=2, legend_label=kernel)
        chart.scatter("K", "quality", source=source, color=colour, size=7, legend_label=kernel)
    if tuning.best_n_clusters > 1:
        best = tuning.ranking[0]
        chart.scatter(
            [best.n_clusters],
            [best.value],
            size=17,
            fill_color=None,
            line_color="black",
            line_width=2.5,
        )
    chart.xaxis.axis_label = "number of clusters"
    chart.yaxis.axis_label = "quality"
    return chart


def _bandwidth(bandwidth: Any) -> str:
    if bandwidth is None:
        return "–"
    return ", ".join(number(float(value)) for value in np.ravel(bandwidth)[:4])
