"""Pairs of overlapping clusters in few and many dimensions: numbers of neighbours of landmarks.

    python -m benchmarks gaussians [--long]

Two clusters whose centres are 100 apart in each of d features, 2,048 points: Gaussians of standard
deviation w sqrt(d / 2), and heavier tails, whose distances to the centre are those of a normal
variable of deviation w d, in all directions. The answer is the nearer centre. The rule for
``n_neighbors="auto"`` was chosen on other draws of such pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.measure import Settings
from benchmarks.report import Result, Table
from sparseksc import KernelSpectralClustering

POINTS, SEEDS, FIRST_SEED = 2048, 3, 100
#: Kind, features and width.
PAIRS = (
    ("normal", 2, 60),
    ("normal", 8, 60),
    ("normal", 32, 60),
    ("normal", 64, 60),
    ("normal", 128, 30),
    ("normal", 128, 50),
    ("tails", 2, 60),
    ("tails", 8, 60),
    ("tails", 32, 60),
    ("tails", 64, 70),
    ("tails", 64, 90),
    ("tails", 128, 30),
    ("tails", 128, 50),
)
NEIGHBORS: tuple[int | str, ...] = (4, 6, 12, 16, 24, "auto")


def pair(kind: str, d: int, width: float, n: int, seed: int) -> tuple[Any, Any]:
    """Draw points, and say which centre is nearer."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "tails":
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        X *= width * d * np.abs(rng.normal(size=(n, 1)))
    else:
        X *= width * np.sqrt(d / 2)
    X += 100.0 * (np.arange(n) % 2)[:, None]
    return X, X.sum(axis=1) > 50.0 * d


def run(settings: Settings) -> Result:
    """Compare the clusters of each number of neighbours with the nearer centre; more draws long."""
    n, seeds = max(300, int(POINTS * min(1.0, settings.scale))), SEEDS if settings.long else 1
    rows = []
    for kind, d, width in PAIRS:
        found: dict[str, list[float]] = {}
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            X, y = pair(kind, d, width, n, seed)
            for s in NEIGHBORS:
                model = KernelSpectralClustering(
                    2, kernel="landmarks", n_neighbors=s, random_state=seed
                )
                found.setdefault(str(s), []).append(adjusted_rand_score(y, model.fit_predict(X)))
            labels = KMeans(2, n_init=3, random_state=seed).fit_predict(X)
            found.setdefault("KMeans", []).append(adjusted_rand_score(y, labels))
        rows.append((kind, d, width, *(f"{np.mean(values):.3f}" for values in found.values())))
    columns = ("kind", "d", "width", *(f"s = {s}" for s in NEIGHBORS), "KMeans")
    return Result("gaussians", [Table(f"ARI, {n:,} points, mean of {seeds}", columns, rows)], [])
