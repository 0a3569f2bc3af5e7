"""Results of benchmarks: tables and thresholds, as text, as JSON and as a page in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.measure import Settings, Spread
from sparseksc.data.atomic import atomic_write

#: Heading of the section that is written by hand.
BY_NAME = "\n## By name\n"
#: What lies between these lines of a page of the manual is written by a benchmark.
FILLED = re.compile(r"(?<=<!-- results -->\n).*?(?=\n<!-- end -->)", re.DOTALL)

Cell = str | int | float | bool | Spread | None


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns, and what there is to say about them."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: {len(row)} cells in {len(self.columns)} columns.")


@dataclass(frozen=True)
class Threshold:
    """A number that the project has promised to reach, and what was measured."""

    what: str
    value: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool:
        above = self.at_least is None or self.value >= self.at_least
        below = self.at_most is None or self.value <= self.at_most
        return above and below

    @property
    def goal(self) -> str:
        parts = []
        if self.at_least is not None:
            parts.append(f"at least {shown(self.at_least)}")
        if self.at_most is not None:
            parts.append(f"at most {shown(self.at_most)}")
        return " and ".join(parts)


@dataclass(frozen=True)
class Result:
    """What one benchmark has found."""

    name: str
    tables: Sequence[Table]
    thresholds: Sequence[Threshold] = field(default=())


def shown(cell: Cell) -> str:
    """Return a cell as text: three digits, and quartiles in brackets behind a median."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Spread):
        if cell.low == cell.high:
            return shown(cell.median)
        return f"{shown(cell.median)} ({shown(cell.low)}–{shown(cell.high)})"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return cell


def thresholds_table(results: Iterable[Result], full_size: bool = True) -> Table:
    """Collect the thresholds of all benchmarks."""
    rows = [
        (threshold.what, threshold.goal, float(threshold.value), threshold.met)
        for result in results
        for threshold in result.thresholds
    ]
    note = "" if full_size else "At reduced sizes: these numbers are not the ones promised."
    return Table("Acceptance thresholds", ("what", "goal", "measured", "met"), rows, note)


def as_text(table: Table) -> str:
    """Return a table for the terminal, in columns."""
    cells = [list(table.columns), *([shown(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(table.columns))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([table.title, *lines, *([table.note] if table.note else []), ""])


def as_markdown(table: Table) -> str:
    """Return a table for a page."""
    lines = ["| " + " | ".join(table.columns) + " |", "|---" * len(table.columns) + "|"]
    lines += ["| " + " | ".join(shown(cell) for cell in row) + " |" for row in table.rows]
    parts = [f"**{table.title}**", "\n".join(lines), table.note]
    return "\n\n".join(part for part in parts if part)


def as_json(result: Result, machine: Mapping[str, str], settings: Settings) -> str:
    """Return a result with all that is needed to read it later."""
    content = {
        "benchmark": result.name,
        "machine": dict(machine),
        "settings": asdict(settings),
        "tables": [
            {
                "title": table.title,
                "note": table.note,
                "rows": [
                    {
                        column: asdict(cell) if isinstance(cell, Spread) else cell
                        for column, cell in zip(table.columns, row, strict=True)
                    }
                    for row in table.rows
                ],
            }
            for table in result.tables
        ],
        "thresholds": [
            asdict(threshold) | {"met": threshold.met} for threshold in result.thresholds
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def page(
    results: Sequence[Result],
    summaries: Mapping[str, str],
    machine: Mapping[str, str],
    command: str,
) -> str:
    """Return the results page: how to repeat the measurements, and what they were."""
    about = "\n".join(f"| {name} | {value} |" for name, value in machine.items())
    parts = [
        "# Benchmarks",
        f"All numbers up to the last section come from one run of `{command}`. `make bench` "
        "takes a few minutes, `python -m benchmarks --help` lists what there is. Contenders are "
        "timed alternately in one process; a cell such as 8.3 (8.1–8.6) is a median with its "
        "quartiles, and a ratio is the median of the ratios of neighbouring times.",
        f"| machine | |\n|---|---|\n{about}",
        "## Acceptance thresholds\n\n"
        + as_markdown(thresholds_table(results)).partition("\n\n")[2],
    ]
    for result in results:
        parts.append(f"## {result.name}\n\n{summaries[result.name]}")
        parts += [as_markdown(table) for table in result.tables]
    return "\n\n".join(parts) + "\n"


def by_name(path: Path) -> str:
    """Return the last section of a page, for benchmarks that are run by name, or nothing."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    _, heading, section = text.partition(BY_NAME)
    return heading + section


def write(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(text.encode())


def fill(path: Path, text: str) -> None:
    """Put the results of a benchmark into a page of the manual."""
    page, count = FILLED.subn(lambda _: f"\n{text}\n", path.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{path.name} has {count} places for results instead of one.")
    write(path, page)
