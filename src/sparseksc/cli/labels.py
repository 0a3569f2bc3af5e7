"""Labels of all rows, with ids and memberships, block by block in the order of the rows."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from sparseksc._text import escaped
from sparseksc.cli.inputs import Opened
from sparseksc.cli.pipes import silence
from sparseksc.core.clusters.hierarchy import Level
from sparseksc.data.files import require_separate
from sparseksc.data.formats.arrow import require_pyarrow
from sparseksc.data.formats.base import Column
from sparseksc.data.writers import (
    ColumnWriter,
    CsvWriter,
    column_writer,
    label_columns,
    spreadsheet_text,
    table_ending,
)
from sparseksc.data.writers import write_labels as write
from sparseksc.execution.notices import warn
from sparseksc.execution.progress import progress_bar

#: The standard streams as files: what they are redirected to can be read or written as well.
STDIN, STDOUT = "/dev/stdin", "/dev/stdout"


def check_table(
    output: str, ids: Sequence[str] | None, spreadsheet: bool, append: bool = False
) -> None:
    """Refuse a table that could not be written, before any work."""
    taken = [name for name in ids or () if re.fullmatch(r"label|membership_\d+", name)]
    if taken:
        raise click.UsageError(f"{taken[0]!r} is a column of the labels: rename the id.")
    if spreadsheet and output != "-" and not output.lower().endswith((".csv", ".csv.gz")):
        raise click.UsageError(
            f"--spreadsheet is for labels as CSV, got {escaped(output)}: leave it out."
        )
    if output == "-":
        return
    try:
        ending = table_ending(output)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if ending == ".npy" and (ids or append):
        raise click.UsageError(
            f"{escaped(output)} can hold numbers alone: choose .npz, .csv, .parquet or .arrow to "
            f"keep {'all columns' if append else 'ids'}."
        )
    if ending in (".parquet", ".pq", ".arrow", ".feather"):
        require_pyarrow()


def check_outputs(inputs: Sequence[str], outputs: Sequence[str | None]) -> None:
    """Refuse to write over what is read, and two outputs to one file."""
    read = [STDIN if name == "-" else name for name in inputs]
    written = [STDOUT if name == "-" else name for name in outputs if name is not None]
    try:
        require_separate(read, written)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def keeps_types(output: str) -> bool:
    """Whether a table has types of columns; CSV has text."""
    return output != "-" and not output.lower().endswith((".csv", ".csv.gz"))


def write_labels(
    model: Any,
    opened: Opened,
    output: Path | str,
    membership: bool,
    spreadsheet: bool,
    level: int | None = None,
) -> tuple[list[int], int]:
    """Write the label of each row; return the sizes of the clusters, and how many are noise.

    A ``level`` is a number of coarser clusters.
    """
    K, scaling, labeller = level or model.n_clusters_, model.scaling_, model.model_
    names = labeller.classes
    if level is not None:
        labeller, names = Level(model.model_, model.cut(level)), None
    source = opened.carrying
    ids, records = source.ids, source.records()
    if opened.append and opened.files is None:
        # Arrays have no columns beside the numbers.
        own = source.feature_names or [f"column{n}" for n in range(1, source.n_features + 1)]
        ids = [*own, *ids]
        records = ((block, [*block.T, *others]) for block, others in records)
    if scaling is not None:
        # The columns have been found by their names, so only their units are left to change.
        records = ((scaling.apply(block), others) for block, others in records)
    columns = label_columns(K, ids, membership)
    with _writer(output, columns, spreadsheet_text if spreadsheet else None) as writer:
        counted = CountedLabels(writer, len(ids), K, source.n_rows, names)
        write(labeller, records, counted, membership=membership, n_jobs=model.n_jobs)
        if not counted.counts.any():
            raise ValueError(f"{source.paths[0]} has no rows.")
    counted.bar.close()
    dropped = getattr(source, "n_dropped", 0)
    if dropped:
        warn(
            f"{dropped:,} row{'s' * (dropped != 1)} with missing values have no label, and are not "
            "in the table.",
            UserWarning,
        )
    noise, *sizes = counted.counts.tolist()
    return sizes, noise


class CountedLabels(ColumnWriter):
    """Counts the labels on their way to a table, and shows the progress."""

    def __init__(
        self,
        writer: ColumnWriter,
        place: int,
        n_clusters: int,
        n_rows: int | None,
        clusters: Any = None,
    ) -> None:
        super().__init__(writer.file, writer.names)
        self._writer, self._place = writer, place
        called = range(n_clusters) if clusters is None else clusters.tolist()
        self._numbers = {name: number for number, name in enumerate(called, start=1)}
        #: Of noise, whose label is -1, and of the clusters.
        self.counts = np.zeros(n_clusters + 1, dtype=np.int64)
        self.bar = progress_bar(n_rows, "labels", "row")

    def write(self, columns: list[Column]) -> None:
        """Hand the columns on, and count the labels among them."""
        self._writer.write(columns)
        labels = columns[self._place]
        for name, count in zip(*np.unique(np.asarray(labels), return_counts=True), strict=True):
            self.counts[self._numbers.get(name.item(), 0)] += count
        self.bar.update(len(labels))


@contextmanager
def _writer(
    output: Path | str, names: list[str], change: Callable[[str], str] | None
) -> Iterator[ColumnWriter]:
    if output != "-":
        with column_writer(output, names, change) as writer:
            yield writer
        return
    if sys.stdout.isatty():
        # Ids are data of others: a pipe gets them as they are, a terminal would obey them.
        change = escaped if change is None else lambda text: escaped(spreadsheet_text(text))
    try:
        yield CsvWriter(sys.stdout.buffer, names, change)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has seen enough; a model and a report may still be wanted.
        silence(sys.stdout)
