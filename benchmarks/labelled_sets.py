"""Labelled sets: the suites that clusterings are compared on.

``battery`` and ``battery-more`` are folders of ``../shared/data``, ``large`` its three sets of
characters; ``scikit-learn`` are the small sets that it ships, and ``drawn`` those of
:mod:`benchmarks.drawn_sets`, other ones for each number of a draw.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from benchmarks.drawn_sets import DRAWN

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
DATA = SHARED / "battery"


@dataclass(frozen=True)
class Problem:
    """Points, scaled, and the accepted answers; labels start at 1, and 0 is noise."""

    name: str
    X: NDArray[np.float64]
    answers: list[NDArray[np.int64]]

    @property
    def cluster_numbers(self) -> list[int]:
        return sorted({len(np.unique(y[y > 0])) for y in self.answers})

    def ari(self, labels: NDArray[Any]) -> float:
        """Return the adjusted Rand index with the nearest of the accepted answers."""
        return max(adjusted_rand_score(y[y > 0], labels[y > 0]) for y in self.answers)

    def nmi(self, labels: NDArray[Any]) -> float:
        """Return the normalised mutual information with the nearest of the accepted answers."""
        return max(normalized_mutual_info_score(y[y > 0], labels[y > 0]) for y in self.answers)


def _scaled(X: NDArray[Any]) -> NDArray[np.float64]:
    """Centre, and divide by the mean standard deviation of the columns."""
    X = np.asarray(X, dtype=np.float64)
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0).mean())


def load(folder: Path) -> Iterator[Problem]:
    """Read the sets of a folder."""
    for path in sorted(folder.glob("*/*.data.gz")):
        stem = path.name.removesuffix(".data.gz")
        files = sorted(path.parent.glob(f"{stem}.labels*.gz"))
        answers = [_numbers(file).ravel().astype(np.int64) for file in files]
        yield Problem(stem, _scaled(_numbers(path)), answers)


def _numbers(path: Path) -> NDArray[np.float64]:
    with gzip.open(path, "rt") as lines:
        return np.loadtxt(lines, ndmin=2)


def of_scikit_learn() -> Iterator[Problem]:
    """Sets of measurements, whose columns have units, are standardised."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        spread = X.std(axis=0) if name in ("wine", "breast_cancer") else 1.0
        yield Problem(name, _scaled(X / spread), [y.astype(np.int64) + 1])


def of_characters() -> Iterator[Problem]:
    """Yield PenDigits, Letters and MNIST."""
    for name in ("pendigits", "letter", "mnist"):
        path = SHARED / "large" / f"{name}.npz"
        if path.exists():
            with np.load(path) as arrays:
                y = np.unique(arrays["y"], return_inverse=True)[1]
                yield Problem(name, _scaled(arrays["X"]), [y.astype(np.int64) + 1])


def drawn(number: int) -> Iterator[Problem]:
    """Draw a set of every kind; the rows are in any order."""
    for place, (name, make) in enumerate(DRAWN.items()):
        X, y = make(np.random.default_rng([number, place]))
        rows = np.random.default_rng([number, place, 1]).permutation(len(X))
        yield Problem(name, _scaled(X[rows]), [y[rows]])


#: Suites by name; those that are drawn take the number of the draw.
SUITES: dict[str, Callable[[int], Iterator[Problem]]] = {
    "battery": lambda draw: load(DATA),
    "battery-more": lambda draw: load(DATA.with_name("battery-more")),
    "scikit-learn": lambda draw: of_scikit_learn(),
    "drawn": drawn,
    "large": lambda draw: of_characters(),
}
