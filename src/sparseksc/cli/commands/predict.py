"""``ksc predict``: label rows with a saved model."""

from __future__ import annotations

from typing import Any

import click

from sparseksc.cli.console import Reporter
from sparseksc.cli.inputs import opened_for
from sparseksc.cli.labels import check_outputs, check_table, keeps_types, write_labels
from sparseksc.cli.staging import Staging
from sparseksc.cli.words import cluster_table, count
from sparseksc.model_file import load


def run(
    *,
    model: str,
    data: tuple[str, ...],
    output: str,
    level: int | None,
    membership: bool,
    append: bool,
    spreadsheet: bool,
    request: dict[str, Any],
    n_jobs: int | None,
    as_json: bool,
) -> None:
    """Do what the command line says."""
    if as_json and output == "-":
        raise click.UsageError("--json and the labels both want standard output: give -o a file.")
    check_outputs([model, *data], [output])
    check_table(output, request["ids"], spreadsheet, append)
    request["typed_ids"] = keeps_types(output) and append
    reporter = Reporter(as_json, stdout_is_taken=output == "-")
    with reporter.listening(), Staging() as staging:
        place = output if output == "-" else staging.place(output)
        fitted = load(model).set_params(n_jobs=n_jobs)
        if level is not None:
            fitted.cut(level)  # which refuses a wrong number before any work
        with opened_for(fitted, data, request, append) as rows:
            sizes, noise = write_labels(fitted, rows, place, membership, spreadsheet, level)
    if output != "-":
        reporter.say(f"{count(sum(sizes) + noise, 'row')} labelled: {output}", style="bold")
        cluster_table(reporter, sizes, fitted.model_.classes if level is None else None)
        if noise > 0:
            reporter.say(f"noise, in no cluster: {count(noise, 'row')}")
    reporter.result(
        {
            "n_rows": sum(sizes) + noise,
            "cluster_sizes": sizes,
            "n_noise": noise,
            "model": model,
            "labels": output,
        }
    )
