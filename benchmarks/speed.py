"""The tables of docs/speed.md: rows, features, rank, peers, search and memory, in one run.

``python -m benchmarks speed --docs`` writes them into the page, with the machine, the date and the
commit. On an idle machine it takes some minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sklearn.cluster import KMeans

from benchmarks import growth, machine, memory, peers, report, search
from benchmarks.measure import Settings
from benchmarks.problems import POINTS, Spirals

PAGE = Path(__file__).resolve().parents[1] / "docs" / "speed.md"
#: What the page tells of the machine.
TOLD = ("date", "commit", "processor", "cores", "load before", "sparseksc", "scikit-learn")


def sections(settings: Settings) -> dict[str, Sequence[report.Table]]:
    """Return the tables of the page by heading."""
    grown = growth.run(settings).tables
    return {
        "Rows": [table for table in grown if "points:" in table.title],
        "Rank, features, clusters and precision": [
            table
            for table in grown
            if "Growth with" in table.title and "points:" not in table.title
        ],
        "Threads": [table for table in grown if "Threads" in table.title],
        "Beside others": peers.run(settings).tables,
        "With nothing given": [search.in_shapes(replace(settings, repeats=1))[0]],
        "A few rows": [_few_rows(settings)],
        "Memory": memory.run(settings).tables,
    }


def _few_rows(settings: Settings) -> report.Table:
    """Time `predict` of a few rows, as a service calls it."""
    spirals = Spirals.of_size(settings.points(POINTS))
    models = {"sparseksc": spirals.estimator(), "KMeans": KMeans(2, n_init=1, random_state=0)}
    rows = []
    for count in (1, 100):
        new = spirals.X[:count]
        fitted = {name: model.fit(spirals.X) for name, model in models.items()}
        times = settings.alternate(
            {
                name: lambda model=model, new=new: model.predict(new)
                for name, model in fitted.items()
            }
        )
        rows.append((count, *(times.seconds(name).scaled(1e3) for name in models)))
    columns = ("rows", *(f"{name} (ms)" for name in models))
    return report.Table("predict of a few rows", columns, rows)


def markdown(tables: Mapping[str, Sequence[report.Table]], about: Mapping[str, str]) -> str:
    """Return what stands between the marks of the page."""
    told = ", ".join(f"{name} {about[name]}" for name in TOLD)
    parts = [f"Measured in one run ({told})."]
    for heading, group in tables.items():
        parts += [f"### {heading}", *map(report.as_markdown, group)]
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks speed", description=__doc__)
    parser.add_argument("--docs", action="store_true", help="write docs/speed.md")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of all sizes")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds for a comparison")
    given = parser.parse_args(arguments)
    about = machine.describe()
    text = markdown(sections(Settings(given.scale, given.budget)), about)
    print(text)
    if given.docs:
        report.fill(PAGE, text)


if __name__ == "__main__":
    main()
