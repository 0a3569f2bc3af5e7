"""The labelled sets of the battery, with the number of clusters known and with nothing known.

    python -m benchmarks.battery [--suites NAME ...] [--only NAME ...] [--ours]
        [--kernel NAME] [--criterion NAME] [--seeds N ...] [--draw N]

The suites are those of :mod:`benchmarks.labelled_sets`: ``battery`` and ``battery-more`` by
default, and ``scikit-learn``, ``drawn`` and ``large``. Every set is centred and divided by the mean
standard deviation of its columns. Points labelled 0 are noise and not scored; where there are
several label files, the best counts. The peers run beside us in the same process: with K known
KMeans, GaussianMixture, SpectralClustering (rbf with its default, and nearest neighbours) and
Genie, where genieclust is installed; with nothing known HDBSCAN. Those that take too long for large
sets are left out there. The means are also given for every other set, from the first and from the
second. With several seeds there is a table for each, and the spread of the means.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture

from benchmarks.labelled_sets import SUITES, Problem
from sparseksc import KernelSpectralClustering

try:
    from genieclust import Genie
except ImportError:
    Genie = None

#: Suites of classes that people have given are scored by their information: classes may overlap.
SCORES = {"scikit-learn": "nmi", "large": "nmi"}
#: Columns of our own results.
OURS = ("K: ours", "-: ours")

Method = Callable[[NDArray[np.float64], int], NDArray[Any]]

KNOWN: dict[str, Method] = {
    "KMeans": lambda X, K: KMeans(K, n_init=10, random_state=0).fit_predict(X),
    "Gaussians": lambda X, K: GaussianMixture(K, n_init=5, random_state=0).fit_predict(X),
    "spectral rbf": lambda X, K: SpectralClustering(K, random_state=0).fit_predict(X),
    "spectral nn": lambda X, K: SpectralClustering(
        K, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
}
if Genie is not None:
    KNOWN["Genie"] = lambda X, K: Genie(n_clusters=K).fit_predict(X)
UNKNOWN: dict[str, Method] = {
    "HDBSCAN": lambda X, K: HDBSCAN(copy=True).fit_predict(X),
}
#: Numbers in a set up to which peers are tried that compare all pairs of its points, or hold a
#: matrix for every cluster.
FEW_NUMBERS = 200_000
FAST = ("ours", "KMeans", "Genie")


def ours(criterion: str, seed: int, kernel: str = "auto") -> Method:
    """Our clustering with a rule of choice; the number of clusters is open where it is 0."""

    def fit(X: NDArray[np.float64], K: int) -> NDArray[Any]:
        ksc = KernelSpectralClustering(
            K or "auto", kernel=kernel, criterion=criterion, random_state=seed
        )
        return ksc.fit(X).labels_

    return fit


def measure(
    problem: Problem,
    ours_only: bool = False,
    criterion: str = "auto",
    seed: int = 0,
    kernel: str = "auto",
    score: str = "ari",
) -> dict[str, Any]:
    """Return the score of every method, the number of clusters that was found, and seconds.

    Methods that are too slow for a set have NaN.
    """
    mine = {"ours": ours(criterion, seed, kernel)}
    known, unknown = (mine if ours_only else mine | peers for peers in (KNOWN, UNKNOWN))
    row: dict[str, Any] = {
        "set": problem.name,
        "points": len(problem.X),
        "K": problem.cluster_numbers,
    }
    score_of: Callable[[Any], float] = getattr(problem, score)

    def run(key: str, name: str, method: Method, numbers: Sequence[int]) -> NDArray[Any] | None:
        """Enter the best score of some numbers of clusters, and return the last labels."""
        row[key] = row[f"seconds {key}"] = np.nan
        if problem.X.size > FEW_NUMBERS and name not in FAST:
            return None
        start = time.perf_counter()
        found = [method(problem.X, K) for K in numbers]
        row[f"seconds {key}"] = time.perf_counter() - start
        row[key] = max(score_of(labels) for labels in found)
        return found[-1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, method in known.items():
            run(f"K: {name}", name, method, problem.cluster_numbers)
        for name, method in unknown.items():
            labels = run(f"-: {name}", name, method, [0])
            row[f"found: {name}"] = 0 if labels is None else len(np.unique(labels[labels >= 0]))
    return row


def table(rows: Sequence[dict[str, Any]], score: str = "ari") -> str:
    """Return a line per set, and the means."""
    methods = [key for key in rows[0] if key.startswith(("K: ", "-: "))]
    lines = [f"{'set':20}{'points':>7}{'K':>6}  " + "".join(f"{key:>16}" for key in methods)]
    for row in rows:
        cells = []
        for key in methods:
            found = row.get(f"found: {key[3:]}") if key.startswith("-") else None
            value = f"{row[key]:.2f}" + (f" ({found})" if found is not None else "")
            cells.append("" if np.isnan(row[key]) else value)
        numbers = "/".join(map(str, row["K"]))
        lines.append(
            f"{row['set']:20}{row['points']:>7}{numbers:>6}  "
            + "".join(f"{cell:>16}" for cell in cells)
        )
    for name, part in (
        (f"mean {score.upper()}", rows),
        ("  odd sets", rows[::2]),
        ("  even sets", rows[1::2]),
    ):
        means = [_complete([row[key] for row in part], np.mean, "{:.3f}") for key in methods]
        lines.append(f"{name:20}{'':13}  " + "".join(f"{mean:>16}" for mean in means))
    right = []
    for key in methods:
        found = [row.get(f"found: {key[3:]}") for row in rows] if key.startswith("-") else []
        hits = sum(number in row["K"] for number, row in zip(found, rows, strict=False))
        right.append(f"{hits} of {len(rows)}" if found else "")
    lines.append(f"{'right K':20}{'':13}  " + "".join(f"{cell:>16}" for cell in right))
    seconds = [
        _complete([row[f"seconds {key}"] for row in rows], np.sum, "{:.0f} s") for key in methods
    ]
    lines.append(f"{'time':20}{'':13}  " + "".join(f"{cell:>16}" for cell in seconds))
    return "\n".join(lines)


def _complete(values: Sequence[float], total: Callable[[Any], Any], form: str) -> str:
    """Write a total; nothing where a value is missing, or all are."""
    return "" if not values or np.isnan(values).any() else form.format(total(values))


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.battery",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--suites", nargs="+", choices=SUITES, default=list(SUITES)[:2], help="suites of sets"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the sets")
    parser.add_argument("--ours", action="store_true", help="without the peers")
    parser.add_argument(
        "--criterion", default="auto", help="our rule of choice: auto, ams, blf or bas"
    )
    parser.add_argument("--kernel", default="auto", help="our kernel: auto, rbf or landmarks")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of our clustering")
    parser.add_argument("--draw", type=int, default=0, help="number of the sets that are drawn")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to a file")
    given = parser.parse_args(arguments)
    rows = []
    for suite in given.suites:
        score, means = SCORES.get(suite, "ari"), []
        problems = [
            one for one in SUITES[suite](given.draw) if not given.only or one.name in given.only
        ]
        for seed in given.seeds if problems else ():
            found = []
            for problem in problems:
                row = measure(problem, given.ours, given.criterion, seed, given.kernel, score)
                found.append(row)
                print(f"{problem.name} ...", flush=True)
            print(f"{suite}, seed {seed}\n{table(found, score)}", flush=True)
            means.append([np.mean([row[key] for row in found]) for key in OURS])
            rows += found
        if len(means) > 1:
            for key, values in zip(OURS, np.transpose(means), strict=True):
                print(f"{key}: {np.mean(values):.3f} ± {np.std(values):.3f} over the seeds")
    if not rows:
        parser.error("no such sets; battery, battery-more and large need ../shared/data")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
