"""The labelled sets of the battery, with the number of clusters known and with nothing known.

    python -m benchmarks.battery [--data FOLDER ...] [--only NAME ...] [--ours]
        [--criterion NAME] [--seeds N ...]

Every set is centred and divided by the mean standard deviation of its columns. Points labelled 0
are noise and not scored; where there are several label files, the best counts. The peers run beside
us in the same process: with K known KMeans, GaussianMixture, SpectralClustering (rbf with its
default, and nearest neighbours) and Genie, where genieclust is installed; with nothing known
HDBSCAN. The means are also given for every other set, from the first and from the second. With
several seeds there is a table for each, and the spread of the means.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from sparseksc import KernelSpectralClustering

try:
    from genieclust import Genie
except ImportError:
    Genie = None

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "battery"


@dataclass(frozen=True)
class Problem:
    """Points, scaled, and the accepted answers."""

    name: str
    X: NDArray[np.float64]
    answers: list[NDArray[np.int64]]

    @property
    def cluster_numbers(self) -> list[int]:
        return sorted({len(np.unique(y[y > 0])) for y in self.answers})

    def ari(self, labels: NDArray[Any]) -> float:
        """Return the adjusted Rand index with the nearest of the accepted answers."""
        return max(adjusted_rand_score(y[y > 0], labels[y > 0]) for y in self.answers)


def load(folder: Path) -> Iterator[Problem]:
    for path in sorted(folder.glob("*/*.data.gz")):
        stem = path.name.removesuffix(".data.gz")
        X = _numbers(path)
        X = (X - X.mean(axis=0)) / X.std(axis=0).mean()
        files = sorted(path.parent.glob(f"{stem}.labels*.gz"))
        yield Problem(stem, X, [_numbers(file).ravel().astype(np.int64) for file in files])


def _numbers(path: Path) -> NDArray[np.float64]:
    with gzip.open(path, "rt") as lines:
        return np.loadtxt(lines, ndmin=2)


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
) -> dict[str, Any]:
    """Return the ARI of every method, the number of clusters that was found, and seconds."""
    mine = {"ours": ours(criterion, seed, kernel)}
    known, unknown = (mine if ours_only else mine | peers for peers in (KNOWN, UNKNOWN))
    row: dict[str, Any] = {
        "set": problem.name,
        "points": len(problem.X),
        "K": problem.cluster_numbers,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, method in known.items():
            start = time.perf_counter()
            row[f"K: {name}"] = max(
                problem.ari(method(problem.X, K)) for K in problem.cluster_numbers
            )
            row[f"seconds K: {name}"] = time.perf_counter() - start
        for name, method in unknown.items():
            start = time.perf_counter()
            labels = method(problem.X, 0)
            row[f"-: {name}"] = problem.ari(labels)
            row[f"seconds -: {name}"] = time.perf_counter() - start
            row[f"found: {name}"] = len(np.unique(labels[labels >= 0]))
    return row


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line per set, and the means."""
    methods = [key for key in rows[0] if key.startswith(("K: ", "-: "))]
    lines = [f"{'set':15}{'points':>7}{'K':>6}  " + "".join(f"{key:>16}" for key in methods)]
    for row in rows:
        cells = []
        for key in methods:
            found = row.get(f"found: {key[3:]}") if key.startswith("-") else None
            cells.append(f"{row[key]:.2f}" + (f" ({found})" if found is not None else ""))
        numbers = "/".join(map(str, row["K"]))
        lines.append(
            f"{row['set']:15}{row['points']:>7}{numbers:>6}  "
            + "".join(f"{cell:>16}" for cell in cells)
        )
    for name, part in (("mean ARI", rows), ("  odd sets", rows[::2]), ("  even sets", rows[1::2])):
        means = [f"{np.mean([row[key] for row in part]):.3f}" if part else "" for key in methods]
        lines.append(f"{name:15}{'':13}  " + "".join(f"{mean:>16}" for mean in means))
    right = []
    for key in methods:
        found = [row.get(f"found: {key[3:]}") for row in rows] if key.startswith("-") else []
        hits = sum(number in row["K"] for number, row in zip(found, rows, strict=False))
        right.append(f"{hits} of {len(rows)}" if found else "")
    lines.append(f"{'right K':15}{'':13}  " + "".join(f"{cell:>16}" for cell in right))
    seconds = [f"{sum(row[f'seconds {key}'] for row in rows):.0f} s" for key in methods]
    lines.append(f"{'time':15}{'':13}  " + "".join(f"{cell:>16}" for cell in seconds))
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.battery",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    folders = [DATA, DATA.with_name("battery-more")]
    parser.add_argument("--data", type=Path, nargs="+", default=folders, help="folders of sets")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the sets")
    parser.add_argument("--ours", action="store_true", help="without the peers")
    parser.add_argument(
        "--criterion", default="auto", help="our rule of choice: auto, ams, blf or bas"
    )
    parser.add_argument("--kernel", default="auto", help="our kernel: auto, rbf or landmarks")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of our clustering")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to a file")
    given = parser.parse_args(arguments)
    rows = []
    for folder in given.data:
        means = []
        for seed in given.seeds:
            found = []
            for problem in load(folder):
                if given.only and problem.name not in given.only:
                    continue
                row = measure(problem, given.ours, given.criterion, seed, given.kernel)
                found.append(row)
                print(f"{problem.name} ...", flush=True)
            if found:
                print(f"seed {seed}\n{table(found)}", flush=True)
                means.append([np.mean([row[key] for row in found]) for key in OURS])
            rows += found
        if len(means) > 1:
            for key, values in zip(OURS, np.transpose(means), strict=True):
                print(f"{key}: {np.mean(values):.3f} ± {np.std(values):.3f} over the seeds")
    if not rows:
        names = ", ".join(map(str, given.data))
        parser.error(f"no sets in {names}; give the folder of the battery with --data")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
