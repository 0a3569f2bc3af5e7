"""Run the benchmarks: print their tables, write JSON, and the results page if asked to."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import benchmarks
from benchmarks import machine, report
from benchmarks.measure import Settings

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER / "README.md"
#: What runs without a name, in this order.
USUAL = (
    "kernels",
    "selection",
    "training",
    "peers",
    "growth",
    "search",
    "memory",
    "scale",
    "cluster",
)
QUICK = Settings(scale=0.1, budget=0.5)


def available() -> dict[str, ModuleType]:
    """Return all benchmarks: modules with a function `run`, or a `main` with its own options."""
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    names = [*USUAL, *sorted(name for name in names if name not in (*USUAL, "__main__"))]
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in names}
    return {
        name: module
        for name, module in modules.items()
        if hasattr(module, "run") or hasattr(module, "main")
    }


def summary(module: ModuleType) -> str:
    """Return the first sentence of a benchmark's description."""
    return (module.__doc__ or "").partition("\n")[0]


def parser(modules: dict[str, ModuleType]) -> argparse.ArgumentParser:
    width = max(len(name) for name in modules)
    listed = "\n".join(
        f"  {name:{width}}  {summary(module)}" + ("" if name in USUAL else " (by name only)")
        for name, module in modules.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"benchmarks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", help="the usual ones by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the points, in seconds")
    parser.add_argument("--long", action="store_true", help="with what takes minutes (HDBSCAN...)")
    parser.add_argument("--repeats", type=int, metavar="N", help="rounds of every comparison")
    parser.add_argument(
        "--json", type=Path, metavar="DIR", default=FOLDER.parent / "results" / "benchmarks",
        help="where the JSON files are written (results/benchmarks by default)",
    )  # fmt: skip
    parser.add_argument("--markdown", action="store_true", help=f"write benchmarks/{PAGE.name}")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    modules = available()
    arguments_parser = parser(modules)
    given, others = arguments_parser.parse_known_args(arguments)
    unknown = [name for name in given.names if name not in modules]
    if unknown:
        arguments_parser.error(
            f"no benchmark is named {unknown[0]!r}; there are {', '.join(modules)}"
        )
    own = [name for name in given.names if not hasattr(modules[name], "run")]
    if others and len(own) != 1:
        arguments_parser.error(f"unknown option {others[0]!r}")
    if given.repeats is not None and given.repeats < 1:
        arguments_parser.error(f"--repeats must be at least 1, got {given.repeats}")
    if given.quick and given.markdown:
        arguments_parser.error("--markdown needs the full sizes, not --quick")
    base = QUICK if given.quick else Settings()
    settings = Settings(base.scale, base.budget, given.repeats, given.long)
    names = given.names or USUAL
    about = machine.describe()
    timed = [name for name in names if hasattr(modules[name], "run")]
    results = run(timed, settings, given.json, about)
    if given.markdown and results:
        summaries = {result.name: summary(modules[result.name]) for result in results}
        command = shlex.join(["python", "-m", "benchmarks", *(arguments or sys.argv[1:])])
        page = report.page(results, summaries, about, command)
        report.write(PAGE, page + report.by_name(PAGE))
        print(f"wrote benchmarks/{PAGE.name}")
    for name in own:
        modules[name].main(others)


def run(
    names: Sequence[str], settings: Settings, folder: Path, about: Mapping[str, str]
) -> list[report.Result]:
    """Run benchmarks one after the other, and print and write what each finds."""
    results = []
    if names:
        print("".join(f"{name:14}{value}\n" for name, value in about.items()))
    for name in names:
        started = time.perf_counter()
        result = importlib.import_module(f"benchmarks.{name}").run(settings)
        for table in result.tables:
            print(report.as_text(table))
        print(f"{name}: {time.perf_counter() - started:.0f} s\n", flush=True)
        report.write(folder / f"{name}.json", report.as_json(result, about, settings))
        results.append(result)
    if any(result.thresholds for result in results):
        print(report.as_text(report.thresholds_table(results, full_size=settings.scale == 1.0)))
    return results


if __name__ == "__main__":
    main()
