"""Results as CSV, one row for each thing computed, so that a run can be taken up again."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.report import write

Value = str | int | float | bool | None
Row = dict[str, Value]
Compute = Callable[[], Mapping[str, Value]]


class Store:
    """A table in a CSV file; what it holds is not computed again.

    Parameters
    ----------
    path : Path
        The file. It is complete after every row.
    keys : tuple of str
        Columns that say what a row is about.
    """

    def __init__(self, path: Path, keys: tuple[str, ...]) -> None:
        self.path, self.keys = path, keys
        self.rows: list[Row] = read(path) if path.exists() else []
        if self.rows and not set(keys) <= set(self.rows[0]):
            raise ValueError(
                f"{path} has other columns than {', '.join(keys)}; remove it, or use another --out."
            )

    def get(self, compute: Compute, **key: Value) -> Row:
        """Return the row of this key, computed now if it is not there yet."""
        return self._find(key) or self._add(key, compute())

    def fill(self, tasks: Iterable[tuple[Compute, Row]], jobs: int) -> None:
        """Compute the rows that are not there yet, several at a time, each on one thread.

        Not for times: what runs beside them would disturb them.
        """
        missing = [(compute, key) for compute, key in tasks if not self._find(key)]
        if jobs == 1 or len(missing) < 2:
            for compute, key in missing:
                self._add(key, compute())
            return
        with ProcessPoolExecutor(jobs, get_context("spawn")) as processes:
            found = [processes.submit(on_one_thread, compute) for compute, _ in missing]
            try:
                for (_, key), one in zip(missing, found, strict=True):
                    self._add(key, one.result())
            finally:  # after an error, do not compute the rest first
                processes.shutdown(cancel_futures=True)

    def _find(self, key: Mapping[str, Value]) -> Row | None:
        for row in self.rows:
            # As text: a name that consists of digits is read as a number.
            if all(str(row[name]) == str(key[name]) for name in self.keys):
                return row
        return None

    def _add(self, key: Mapping[str, Value], computed: Mapping[str, Value]) -> Row:
        row = {**{name: key[name] for name in self.keys}, **computed}
        self.rows.append(row)
        write(self.path, as_csv(self.rows))
        shown = "  ".join(f"{name}={_short(value)}" for name, value in row.items())
        print(f"{self.path.stem}: {shown}", flush=True)
        return row


def on_one_thread(compute: Compute) -> Mapping[str, Value]:
    with threadpool_limits(1):
        return compute()


def read(path: Path) -> list[Row]:
    """Read rows from CSV; numbers become numbers, empty cells None."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def as_csv(rows: list[Row]) -> str:
    """Return rows as CSV, with the columns in the order of their first appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: "" if value is None else value for name, value in row.items()} for row in rows
    )
    return text.getvalue()


def _value(text: str | None) -> Value:
    if not text:
        return None
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _short(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
