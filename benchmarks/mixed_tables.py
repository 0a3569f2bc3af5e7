"""Mixed tables by the weight of a mismatch of levels: ARI with the number of clusters known.

python -m benchmarks mixed_tables [--weights 0.1 0.2 0.5 1] [--kernel auto] [--penguins FILE]

Labelled measurements get columns as tables have them: `irrelevant`, a sex and a year that have
nothing to do with the groups; `informative`, a text that names the group of three rows in four;
`cut`, half of the measurements known by their quantiles only; `dimorphic`, a sex that shifts a
measurement, and an island that goes with the group. Weights are chosen on the first half of the
sets; FILE is penguins.csv of the package palmerpenguins, clustered without the species.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering
from sparseksc.preprocessing import TableEncoder, plan

WEIGHTS = (0.1, 0.2, 0.5, 1.0)
ROWS = 350
CHOSEN_ON = ("iris", "cancer", "2 features", "5 features")


def measurements() -> Iterator[tuple[str, pd.DataFrame, Any]]:
    """Labelled tables of numbers."""
    for name, load in {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}.items():
        X, y = load(return_X_y=True)
        yield name, pd.DataFrame(X), y
    X, y = load_digits(return_X_y=True)
    few = y < 5
    yield "digits", pd.DataFrame(PCA(8, random_state=0).fit_transform(X[few])), y[few]
    for d in (2, 3, 5, 8):
        X, y = make_blobs(ROWS, d, centers=3, center_box=(-4, 4), random_state=d)
        yield f"{d} features", pd.DataFrame(X), y


def variants(numbers: pd.DataFrame, y: Any, seed: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """The same rows with columns of other kinds."""
    rng = np.random.default_rng(seed)
    n, K = len(y), int(y.max()) + 1
    numbers = numbers.set_axis([f"m{place}" for place in range(numbers.shape[1])], axis=1)
    sex, year = rng.choice(["f", "m"], n), rng.choice([2007, 2008, 2009], n)

    def named(share: float) -> list[str]:
        return [f"L{one}" for one in np.where(rng.random(n) < share, y, rng.integers(K, size=n))]

    yield "irrelevant", numbers.assign(sex=sex, year=year)
    yield "informative", numbers.assign(kind=named(0.75), sex=sex)
    cut = numbers.copy()
    for name in rng.permutation(numbers.columns)[: max(1, numbers.shape[1] // 2)]:
        ranks = numbers[name].rank(method="first")
        cut[name] = [f"q{one}" for one in pd.qcut(ranks, int(rng.integers(2, 5)), labels=False)]
    yield "cut", cut.assign(region=rng.choice(list("NESW"), n))
    shifted = numbers.assign(m0=numbers["m0"] + numbers["m0"].std() * (sex == "m"))
    yield "dimorphic", shifted.assign(sex=sex, year=year, island=named(0.6))


def tables(penguins: str | None) -> Iterator[tuple[str, str, pd.DataFrame, Any]]:
    """Name, variant, table and labels."""
    for number, (name, numbers, y) in enumerate(measurements()):
        some = np.sort(np.random.default_rng(number).permutation(len(y))[:ROWS])
        rows, labels = numbers.iloc[some].reset_index(drop=True), y[some]
        for variant, table in variants(rows, labels, number):
            yield name, variant, table, labels
    if penguins is not None:
        table = pd.read_csv(penguins)
        yield "penguins", "as shipped", table.drop(columns="species"), table["species"]


def agreement(table: pd.DataFrame, y: Any, weight: float, kernel: str) -> float:
    """ARI of the clusters of an encoded table."""
    plan.MISMATCH = weight
    X = TableEncoder().fit_transform(table)
    model = KernelSpectralClustering(len(np.unique(y)), kernel=kernel, random_state=0).fit(X)
    return float(adjusted_rand_score(y, model.labels_))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mixed_tables")
    parser.add_argument("--weights", type=float, nargs="+", default=list(WEIGHTS))
    parser.add_argument("--kernel", default="auto")
    parser.add_argument("--penguins", metavar="FILE")
    given = parser.parse_args(arguments)
    usual, rows = plan.MISMATCH, []
    try:
        for name, variant, table, y in tables(given.penguins):
            found = [agreement(table, y, weight, given.kernel) for weight in given.weights]
            rows.append((name, variant, *found))
    finally:
        plan.MISMATCH = usual
    scores = pd.DataFrame(rows, columns=["set", "variant", *given.weights])
    half = np.where(scores["set"].isin(CHOSEN_ON), "chosen on", "held out")
    half = np.where(scores["set"] == "penguins", "penguins", half)
    for by in (scores["variant"], half):
        print(scores.groupby(by)[given.weights].mean().round(3).to_string(), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
