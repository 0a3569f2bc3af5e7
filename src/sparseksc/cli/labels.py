"""Labels of all rows, with ids and memberships, block by block in the order of the rows."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from sparseksc.cli.pipes import silence
from sparseksc.files import KINDS, FileStream
from sparseksc.formats import require_pyarrow
from sparseksc.outputs import ColumnWriter, CsvWriter, column_writer, table_ending
from sparseksc.progress import progress_bar
from sparseksc.sources import IterableSource


def check_table(output: str, ids: Sequence[str] | None) -> None:
    """Refuse a table that could not be written, before any work."""
    taken = [name for name in ids or () if re.fullmatch(r"label|membership_\d+", name)]
    if taken:
        raise click.UsageError(f"{taken[0]!r} is a column of the labels: rename the id.")
    if output == "-":
        return
    try:
        ending = table_ending(output)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if ending == ".npy" and ids:
        raise click.UsageError(
            f"{output} can hold numbers alone: choose .npz, .csv, .parquet or .arrow to keep ids."
        )
    if ending in (".parquet", ".pq", ".arrow", ".feather"):
        require_pyarrow()


def check_distinct(inputs: Sequence[str], outputs: Sequence[str | None]) -> None:
    """Refuse to write over what is read."""
    read = {os.path.realpath(name) for name in inputs if name != "-"}
    for output in outputs:
        if output not in (None, "-") and os.path.realpath(output) in read:
            raise click.UsageError(f"{output} is read by this command: write to another file.")
        folder = os.path.dirname(os.path.realpath(output or "-"))
        if output not in (None, "-") and folder in read and output.lower().endswith(tuple(KINDS)):
            raise click.UsageError(
                f"{output} would be one of the files that are read: write to another folder."
            )


def write_labels(model: Any, source: FileStream, output: Path | str, membership: bool) -> list[int]:
    """Write the label of each row, and return the sizes of the clusters."""
    K = model.n_clusters_
    names = [*source.ids, "label"]
    if membership:
        names += [f"membership_{cluster}" for cluster in range(K)]
    sizes = np.zeros(K, dtype=np.int64)
    bar = progress_bar(source.n_rows, "labels", "row")
    with _writer(output, names) as writer:
        for block, ids in source.records():
            # As a source, since the columns have been found by their names.
            rows = IterableSource([block])
            labels = model.predict(rows)
            strengths = list(model.membership(rows).T) if membership else []
            writer.write([*ids, labels, *strengths])
            sizes += np.bincount(labels, minlength=K)
            bar.update(len(block))
        if not sizes.any():
            raise ValueError(f"{source.paths[0]} has no rows.")
    bar.close()
    return [int(size) for size in sizes]


@contextmanager
def _writer(output: Path | str, names: list[str]) -> Iterator[ColumnWriter]:
    if output != "-":
        with column_writer(output, names) as writer:
            yield writer
        return
    try:
        yield CsvWriter(sys.stdout.buffer, names)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has seen enough; a model and a report may still be wanted.
        silence(sys.stdout)
