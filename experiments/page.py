"""The page that shows the paper's numbers beside ours."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import machine
from benchmarks.report import Table, as_markdown, thresholds_table, write
from experiments import paper, program
from experiments.options import Options
from experiments.section import Section

#: Pages, and the parts of each.
PAGES = {
    "reproduction.md": ("figure1", "table1", "figure2", "table2", "table3", "rules", "table4"),
    "program.md": ("gaussians", "encodings", "shapes"),
}
#: Part, seconds by the clock and CPU seconds of every run of a part.
SECONDS = "seconds.csv"
#: Figures that may leave the output folder: none that shows a photograph.
FIGURES = ("figure1.png", "figure2.png", "gaussians.png", "encodings.png", "shapes.png")


INTRODUCTIONS = {
    "reproduction.md": (
        "# The paper's experiments",
        f"The tables and figures of {paper.TITLE}, computed again. `python -m experiments all "
        "--docs` computes the numbers and writes this page; a run that was stopped is taken up "
        "where it was. `--quick` is a small version of it that the tests run. *Printed* are the "
        "paper's numbers, all of them; a test compares them with its LaTeX source.",
    ),
    "program.md": (
        "# The tests of the authors' program",
        f"{program.TITLE} `python -m experiments gaussians encodings shapes --docs` writes this "
        "page. *Printed* is what the description shows.",
    ),
}


def sections(options: Options, parts: Iterable[str]) -> list[Section]:
    """Sections of all parts that have numbers in the output folder."""
    found = []
    for name in parts:
        if list(options.out.glob(f"{name}*")):
            try:
                found.append(importlib.import_module(f"experiments.{name}").section(options))
            except FileNotFoundError:  # the run was stopped in the middle of this part
                print(f"{name}: not finished, so the page leaves it out")
    return found


def text(name: str, options: Options, found: Sequence[Section], figures: str = "") -> str:
    """Return a page. ``figures`` is the folder of the pictures, seen from the page."""
    thresholds = [threshold for section in found for threshold in section.thresholds]
    about = machine.describe()
    told = "; ".join(
        f"{name} {about[name]}" for name in ("processor", "cores", "NumPy", "scikit-learn", "BLAS")
    )
    parts = [
        *INTRODUCTIONS[name],
        "Times are CPU seconds of one core: every route runs on one thread, because other work on "
        f"the machine disturbs that least. {told}.",
    ]
    if told := cost(options, name):
        parts.append(told)
    if options.quick:
        parts.append("**Quick sizes: these numbers show that everything runs, and nothing else.**")
    if thresholds:
        rows = [
            (threshold.what, threshold.goal, _number(threshold.value), threshold.met)
            for threshold in thresholds
        ]
        table = Table("Acceptance thresholds", thresholds_table([]).columns, rows)
        parts.append("## Acceptance thresholds\n\n" + as_markdown(table).partition("\n\n")[2])
    for section in found:
        parts += [f"## {section.title}", section.text]
        if section.figure:
            parts.append(f"![{section.title}]({figures}{section.figure})")
        parts += [as_markdown(table) for table in section.tables]
        if section.why:
            parts.append(f"**Where and why it differs.** {section.why}")
    return "\n\n".join(parts) + "\n"


def cost(options: Options, name: str) -> str:
    """Say how long the parts of a page took, all their runs together; empty if it is not known."""
    wall = dict.fromkeys(PAGES, 0.0)
    cpu = dict.fromkeys(PAGES, 0.0)
    for part, *spent in (row.split(",") for row in _costs(options)):
        (of,) = (one for one, parts in PAGES.items() if part in parts)
        wall[of] += float(spent[0]) / 60
        cpu[of] += float(spent[1]) / 60
    if not cpu[name]:
        return ""
    told = f"This page took {cpu[name]:.0f} CPU minutes, {wall[name]:.0f} minutes by the clock"
    if all(cpu.values()):
        told += f"; all pages together took {sum(cpu.values()):.0f} and {sum(wall.values()):.0f}"
    return f"{told} (processes for what is not timed: {options.jobs})."


def forget_cost(options: Options, part: str) -> None:
    """Leave out the runs of a part whose numbers are computed again."""
    kept = [row for row in _costs(options) if row.partition(",")[0] != part]
    write(options.out / SECONDS, "".join(f"{row}\n" for row in kept))


def _costs(options: Options) -> list[str]:
    path = options.out / SECONDS
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 10 else f"{value:,.0f}"


def write_pages(options: Options) -> list[Path]:
    """Write the pages that have numbers into the output folder."""
    written = []
    for name, parts in PAGES.items():
        if found := sections(options, parts):
            write(options.out / name, text(name, options, found))
            written.append(options.out / name)
    return written


def copy_to_docs(options: Options, docs: Path) -> list[Path]:
    """Write the pages and the figures that belong to them into the documentation."""
    written = []
    for name, parts in PAGES.items():
        if found := sections(options, parts):
            write(docs / name, text(name, options, found, "figures/"))
            written.append(docs / name)
    folder = docs / "figures"
    folder.mkdir(exist_ok=True)
    for name in FIGURES:
        source = options.out / name
        if source.exists():
            target = folder / name
            target.write_bytes(source.read_bytes())
            written.append(target)
    return written
