"""``ksc fit``: cluster the rows, and keep the model, the labels and a report."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

import click

from sparseksc._text import escaped
from sparseksc.cli.console import Reporter
from sparseksc.cli.inputs import opened, require_units
from sparseksc.cli.labels import (
    check_outputs,
    check_table,
    keeps_types,
    write_labels,
)
from sparseksc.cli.page import check_page, write_page
from sparseksc.cli.staging import Staging
from sparseksc.cli.words import cluster_table, count, short_bandwidth
from sparseksc.data.files import FileStream
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.model_file import load
from sparseksc.preprocessing.stream import EncodedStream


def run(
    *,
    data: tuple[str, ...],
    n_clusters: Any,
    bandwidth: Any,
    parameters: dict[str, Any],
    output: str | None,
    labels: str | None,
    membership: bool,
    append: bool,
    spreadsheet: bool,
    report: str | None,
    request: dict[str, Any],
    table: dict[str, Any],
    random_state: int,
    n_jobs: int | None,
    memory_limit: str | None,
    checkpoint: str | None,
    align_to: str | None,
    label: str | None,
    as_json: bool,
    command: str,
) -> None:
    """Do what the command line says."""
    if output == "-":
        raise click.UsageError("A model cannot go to standard output: give -o the name of a file.")
    if as_json and labels == "-":
        raise click.UsageError("--json and --labels - both want standard output: choose one.")
    if checkpoint is not None:
        _check_checkpoint(checkpoint, data)
    lock = None if checkpoint is None else f"{checkpoint}.lock"
    check_outputs(
        [*data, *([align_to] if align_to else [])], [output, labels, report, checkpoint, lock]
    )
    if label is not None and label not in (request["ids"] or ()):
        request["ids"] = [*(request["ids"] or ()), label]
    if labels is not None:
        check_table(labels, request["ids"], spreadsheet, append)
        request["typed_ids"] = keeps_types(labels) and append
    if report is not None:
        check_page(report)
    reporter = Reporter(as_json, stdout_is_taken=labels == "-")
    earlier = None if align_to is None else load(align_to)
    model = KernelSpectralClustering(
        n_clusters,
        bandwidth=bandwidth,
        random_state=random_state,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        verbose=int(sys.stderr.isatty()),
        **parameters,
    )
    with (
        reporter.listening(),
        Staging() as staging,
        opened(data, request, table, append) as rows,
    ):
        places = {
            name: staging.place(name)
            for name in (output, labels, report)
            if name not in (None, "-")
        }
        rows.use(partial(_fit, model, checkpoint, earlier, label))
        source = rows.source
        for note in rows.notes:
            reporter.say(note)
        if output is not None:
            model.save(places[output])
        if labels is not None:
            write_labels(model, rows, places.get(labels, labels), membership, spreadsheet)
        if report is not None:
            write_page(model, source, places[report], command=command)
    tuning = getattr(model, "tuning_", None)
    sizes = [int(size) for size in model.cluster_sizes_]
    n_rows = model.n_samples_seen_
    bandwidth = model.bandwidth_
    bandwidth = "" if bandwidth is None else f", bandwidth {short_bandwidth(bandwidth)}"
    kernel = model.model_.projection.kernel.name
    point = "landmark" if kernel == "landmarks" else "pivot"
    reporter.say(
        f"{count(model.n_clusters_, 'cluster')} in {count(n_rows, 'row')} and "
        f"{count(model.n_features_in_, 'column')}: {kernel} kernel{bandwidth}, "
        f"{count(model.reduced_set_.shape[0], point)}.",
        style="bold",
    )
    if tuning is not None:
        reporter.say(tuning.summary(doubt=not reporter.has_warned(tuning.doubt)))
    cluster_table(reporter, sizes, model.model_.classes)
    if model.noise_share_ > 0.0:
        reporter.say(f"noise, in no cluster: {100 * model.noise_share_:.1f} % of the rows")
    written = {"model": output, "labels": labels, "report": report}
    for what, name in written.items():
        if name not in (None, "-"):
            reporter.say(f"{what}: {name}")
    reporter.result(
        {
            "n_clusters": model.n_clusters_,
            "bandwidth": model.bandwidth_,
            "n_rows": n_rows,
            "n_columns": model.n_features_in_,
            "columns": source.feature_names,
            "notes": rows.notes,
            "cluster_sizes": sizes,
            "classes": None if model.model_.classes is None else model.model_.classes.tolist(),
            "n_pivots": model.reduced_set_.shape[0],
            "eigenvalues": model.eigenvalues_,
            "residual": model.residual_,
            "n_outliers": model.n_outliers_,
            "noise_share": model.noise_share_,
            "summary": None if tuning is None else tuning.summary(),
            "doubt": None if tuning is None else tuning.doubt,
            "timings": model.timings_,
            **written,
        }
    )


def _fit(
    model: KernelSpectralClustering,
    checkpoint: str | None,
    earlier: KernelSpectralClustering | None,
    label: str | None,
    source: FileStream,
) -> None:
    if isinstance(source, EncodedStream):
        # Levels have their weights, numbers their units.
        require_units(source, model.metric)
        model.set_params(scale=True)
    source.label_column = label
    model.fit(source, checkpoint=checkpoint, align_to=earlier)


def _check_checkpoint(checkpoint: str, data: tuple[str, ...]) -> None:
    """Refuse a checkpoint that could not be written or taken up, before any work."""
    if "-" in data:
        raise click.UsageError("--checkpoint needs files: standard input cannot be read again.")
    folder = os.path.dirname(os.path.realpath(checkpoint))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {escaped(folder)} to write the checkpoint to.")
