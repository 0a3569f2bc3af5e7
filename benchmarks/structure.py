"""How many of our functions a small fit enters, and how deep they are nested.

    python -m benchmarks structure [--list]

A count of what a reader has to follow: ``KernelSpectralClustering(2, bandwidth=1.0).fit(X)`` on
1,000 points, after one fit that fills the caches. Comprehensions are not functions.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

import sparseksc
from sparseksc import KernelSpectralClustering

PACKAGE = os.path.dirname(sparseksc.__file__)
#: Acceptance thresholds for the number of functions and the depth.
MOST_FUNCTIONS, MOST_DEPTH = 100, 15


def entered() -> tuple[dict[CodeType, int], list[str]]:
    """Functions of the package that a fit enters, with how often, and the deepest stack."""
    X = np.random.default_rng(0).normal(size=(1000, 2))
    X[500:] += 6.0
    KernelSpectralClustering(2, bandwidth=1.0, n_jobs=1).fit(X)
    counts: dict[CodeType, int] = {}
    stack: list[str] = []
    deepest: list[str] = []

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) or code.co_name in COMPREHENSIONS:
            return
        if event == "call":
            counts[code] = counts.get(code, 0) + 1
            stack.append(code.co_qualname)
            if len(stack) > len(deepest):
                deepest[:] = stack
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(watch)
    try:
        KernelSpectralClustering(2, bandwidth=1.0, n_jobs=1).fit(X)
    finally:
        sys.setprofile(None)
    return counts, deepest


COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks structure")
    parser.add_argument("--list", action="store_true", help="name the functions and the stack")
    given = parser.parse_args(arguments)
    counts, deepest = entered()
    if given.list:
        for code, times in counts.items():
            print(f"{times:4}  {os.path.relpath(code.co_filename, PACKAGE)}  {code.co_qualname}")
        print(*("  " * level + name for level, name in enumerate(deepest)), sep="\n")
    print(f"functions entered: {len(counts)} (at most {MOST_FUNCTIONS})")
    print(f"depth: {len(deepest)} (at most {MOST_DEPTH})")
    return int(len(counts) > MOST_FUNCTIONS or len(deepest) > MOST_DEPTH)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
