"""``ksc info``: what is in a model file."""

from __future__ import annotations

from typing import Any

from sparseksc.cli.console import Reporter
from sparseksc.cli.words import cluster_table, count, short_bandwidth
from sparseksc.model_file import read_header
from sparseksc.preprocessing import TableEncoder


def run(*, model: str, as_json: bool) -> None:
    """Do what the command line says."""
    reporter = Reporter(as_json)
    header = read_header(model)
    training, kernel, noise = header["training"], header["kernel"], header.get("noise")
    names, table = header["feature_names"], header.get("table")
    reporter.say(
        f"{model}: {count(header['n_clusters'], 'cluster')}, found in "
        f"{count(training['n_samples'], 'row')} and {count(header['n_features'], 'column')}.",
        style="bold",
    )
    reporter.facts(
        {
            "columns": None if names is None else ", ".join(names),
            "table": TableEncoder.meant(table).summary() if table else None,
            "scaled": "yes, predict does the same" if header["scaled"] else "no",
            "kernel": _kernel(kernel),
            "landmarks" if kernel["name"] == "landmarks" else "pivots": f"{header['n_pivots']:,}",
            "encoding": header["encoding"],
            "eigenvalues": ", ".join(f"{value:.4g}" for value in training["eigenvalues"]) or None,
            "outliers": count(training["n_outliers"], "row"),
            "noise": f"{100 * noise['share']:.1f} % of the rows" if noise else None,
            "precision": header["dtype"],
            "format": f"{header['format']} {header['version']}",
            "written by": ", ".join(
                f"{name} {version}" for name, version in header["libraries"].items()
            ),
        }
    )
    cluster_table(reporter, training["cluster_sizes"])
    tuning = header["tuning"]
    if tuning and tuning.get("doubt"):
        reporter.say(f"doubt: {tuning['doubt']}")
    reporter.result(header)


def _kernel(kernel: dict[str, Any]) -> str:
    text = str(kernel["name"])
    if kernel.get("bandwidth") is not None:
        text += f", bandwidth {short_bandwidth(kernel['bandwidth'])}"
    for name in ("degree", "coef0", "n_neighbors", "metric"):
        if kernel.get(name) is not None:
            value = kernel[name]
            text += f", {name} {value if isinstance(value, str) else format(value, 'g')}"
    return text
