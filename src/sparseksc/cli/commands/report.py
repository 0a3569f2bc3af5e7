"""``ksc report``: a page that shows what a saved model found."""

from __future__ import annotations

from typing import Any

from sparseksc.cli.console import Reporter
from sparseksc.cli.inputs import opened_for
from sparseksc.cli.labels import check_outputs
from sparseksc.cli.page import check_page, write_page
from sparseksc.cli.staging import Staging
from sparseksc.model_file import load


def run(
    *,
    model: str,
    data: tuple[str, ...],
    output: str,
    title: str | None,
    request: dict[str, Any],
    n_jobs: int | None,
    as_json: bool,
    command: str,
) -> None:
    """Do what the command line says."""
    check_page(output)
    check_outputs([model, *data], [output])
    reporter = Reporter(as_json)
    with reporter.listening(), Staging() as staging:
        place = staging.place(output)
        fitted = load(model).set_params(n_jobs=n_jobs)
        with opened_for(fitted, data, request) as rows:
            write_page(fitted, rows.source, place, command=command, title=title)
    reporter.say(f"report: {output}")
    reporter.result({"report": output, "model": model})
