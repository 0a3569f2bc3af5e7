"""Compute the paper's tables and figures again, and write them beside the printed ones."""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments import images, page
from experiments.options import DATA, REPOSITORY, Options

IMAGES = ("table3", "rules", "table4")
PARTS = tuple(part for parts in page.PAGES.values() for part in parts)


def parser() -> argparse.ArgumentParser:
    listed = "\n".join(
        f"  {name:9}  {(importlib.import_module(f'experiments.{name}').__doc__ or '').strip()}"
        for name in PARTS
    )
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=__doc__,
        epilog=f"parts:\n{listed}\n  page       The pages, from the numbers that are there.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="+", metavar="part", help="'all', or some of those below")
    parser.add_argument("--quick", action="store_true", help="small sizes, in under a minute")
    parser.add_argument(
        "--out", type=Path, metavar="DIR",
        help="where everything is written (results/experiments, with --quick experiments-quick)",
    )  # fmt: skip
    parser.add_argument(
        "--data", type=Path, metavar="DIR", default=DATA,
        help="folder of BSDS500 with images/ and groundTruth/ (../shared/data/bsds500)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of the first run")
    parser.add_argument("--runs", type=int, metavar="N", help="runs of every experiment")
    parser.add_argument(
        "--jobs", type=int, metavar="N",
        help="processes for what is not timed (as many as there are cores, with --quick 1)",
    )  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="compute again what is there")
    parser.add_argument("--docs", action="store_true", help="write the pages into docs/ too")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    arguments_parser = parser()
    given = arguments_parser.parse_args(arguments)
    known = ("all", "page", *PARTS)
    unknown = [name for name in given.parts if name not in known]
    if unknown:
        arguments_parser.error(f"no part is named {unknown[0]!r}; there are {', '.join(known)}")
    if given.runs is not None and given.runs < 1:
        arguments_parser.error(f"--runs must be at least 1, got {given.runs}")
    if given.jobs is not None and given.jobs < 1:
        arguments_parser.error(f"--jobs must be at least 1, got {given.jobs}")
    if given.seed < 0:
        arguments_parser.error(f"--seed must not be negative, got {given.seed}")
    if given.quick and given.docs:
        arguments_parser.error("--docs needs the full sizes, not --quick")
    usual = REPOSITORY / "results" / ("experiments-quick" if given.quick else "experiments")
    jobs = given.jobs or (1 if given.quick else os.cpu_count() or 1)
    options = Options(given.quick, given.out or usual, given.data, given.seed, given.runs, jobs)
    options.out.mkdir(parents=True, exist_ok=True)
    # One thread: other work on the machine disturbs the CPU times of one thread least.
    with threadpool_limits(1):
        for name in PARTS if "all" in given.parts else given.parts:
            if name != "page":
                run(name, options, given.fresh)
    for written in page.write_pages(options):
        print(f"wrote {written}")
    if given.docs:
        for path in page.copy_to_docs(options, REPOSITORY / "docs"):
            print(f"wrote {path.relative_to(REPOSITORY)}")


def run(name: str, options: Options, fresh: bool) -> None:
    """Run one part, unless it needs images that are not there."""
    if name in IMAGES and (reason := images.missing(options.data)):
        print(f"{name}: skipped. {reason}")
        return
    if fresh:
        for path in options.out.glob(f"{name}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        page.forget_cost(options, name)
    clock = seconds()
    importlib.import_module(f"experiments.{name}").run(options)
    wall, cpu = (after - before for after, before in zip(seconds(), clock, strict=True))
    # A part that was stopped and taken up again has several rows.
    with (options.out / page.SECONDS).open("a", encoding="utf-8") as file:
        file.write(f"{name},{wall:.1f},{cpu:.1f}\n")
    print(f"{name}: {wall:.0f} s, CPU {cpu:.0f} s", flush=True)


def seconds() -> tuple[float, float]:
    """Time by the clock, and CPU time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()
