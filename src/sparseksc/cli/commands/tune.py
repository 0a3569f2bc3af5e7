"""``ksc tune``: compare numbers of clusters and bandwidths."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from sparseksc._text import escaped
from sparseksc.cli.console import Reporter, plain
from sparseksc.cli.inputs import opened, require_units
from sparseksc.cli.labels import check_outputs
from sparseksc.cli.staging import Staging
from sparseksc.cli.words import short_bandwidth
from sparseksc.data.atomic import atomic_write
from sparseksc.data.files import FileStream
from sparseksc.preprocessing.stream import EncodedStream
from sparseksc.tuning import TuningResult
from sparseksc.tuning import tune as search

FIGURES = (".png", ".svg", ".pdf")


def run(
    *,
    data: tuple[str, ...],
    n_clusters: Any,
    bandwidth: Any,
    parameters: dict[str, Any],
    output: str | None,
    plot: str | None,
    request: dict[str, Any],
    table: dict[str, Any],
    random_state: int,
    n_jobs: int | None,
    as_json: bool,
) -> None:
    """Do what the command line says."""
    if plot is not None and not plot.lower().endswith(FIGURES):
        raise click.UsageError(
            f"The figure {escaped(plot)} must end in one of {', '.join(FIGURES)}."
        )
    if as_json and output == "-":
        raise click.UsageError("--json and -o - both want standard output: choose one.")
    check_outputs(data, [output, plot])
    reporter = Reporter(as_json, stdout_is_taken=output == "-")
    with reporter.listening(), Staging() as staging, opened(data, request, table) as rows:
        places = {name: staging.place(name) for name in (output, plot) if name not in (None, "-")}

        def compare(source: FileStream) -> TuningResult:
            encoded = {}
            if isinstance(source, EncodedStream):
                require_units(source, parameters["metric"])
                encoded = {"scale": True}
            return search(
                source,
                n_clusters,
                bandwidth,
                random_state=random_state,
                n_jobs=n_jobs,
                **{**parameters, **encoded},
            )

        result = rows.use(compare)
        for note in rows.notes:
            reporter.say(note)
        content = as_dictionary(result)
        if output == "-":
            print(json.dumps(content, allow_nan=False))
        elif output is not None:
            with atomic_write(places[output]) as file:
                file.write(json.dumps(content, indent=1, allow_nan=False).encode() + b"\n")
        if plot is not None:
            draw(result, places[plot])
    reporter.say(result.summary(doubt=not reporter.has_warned(result.doubt)))
    reporter.table(*_table(result))
    for what, name in {"models": output, "figure": plot}.items():
        if name not in (None, "-"):
            reporter.say(f"{what}: {name}")
    reporter.result({**content, "output": output, "plot": plot})


def _table(result: TuningResult) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the best model for each number of clusters: names of the columns, and rows."""
    if result.by_quality:
        return ("clusters", "kernel", "landmarks or bandwidth", "quality"), [
            (
                str(choice.n_clusters),
                choice.kernel,
                f"{choice.max_rank:,}"
                if choice.kernel == "landmarks"
                else short_bandwidth(choice.bandwidth),
                f"{choice.value:.2f}",
            )
            for choice in result.ranking
        ]
    return ("clusters", "bandwidth", "value", "AMS"), [
        (
            str(choice.n_clusters),
            short_bandwidth(choice.bandwidth),
            f"{choice.value:.4g}",
            f"{choice.ams:.3f}",
        )
        for choice in result.ranking
    ]


def as_dictionary(result: TuningResult) -> dict[str, Any]:
    """Return all of a search as JSON can hold it."""
    surfaces = result.surfaces
    content: dict[str, Any] = plain(
        {
            "best_n_clusters": result.best_n_clusters,
            "best_bandwidth": result.best_bandwidth,
            "criterion": result.criterion,
            "summary": result.summary(),
            "doubt": result.doubt,
            "max_rank": result.max_rank,
            "best_kernel": result.best_kernel,
            "alternatives": [choice.n_clusters for choice in result.alternatives],
            "ranking": [asdict(choice) for choice in result.ranking],
            "n_clusters": surfaces.n_clusters,
            "bandwidths": surfaces.bandwidths,
            "kernels": surfaces.kernels,
            "ranks": surfaces.ranks,
            "surfaces": surfaces.values,
            "eigenvalues": result.eigenvalues,
        }
    )
    return content


def draw(result: TuningResult, path: Path) -> None:
    """Write the figure of a search."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError(
            "Figures need matplotlib: install it, or sparseksc with the extra 'plot'."
        ) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = result.plot().figure_
    try:
        with atomic_write(path) as file:
            figure.savefig(file, format=os.path.splitext(path)[1][1:].lower(), dpi=150)
    finally:
        pyplot.close(figure)
