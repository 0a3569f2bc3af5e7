"""Wide input: CSV files of many columns, a few rows with many features, and sparse rows of text."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.measure import Settings
from benchmarks.report import Result, Table, Threshold
from sparseksc import KernelSpectralClustering, open_dataset

#: Rows and columns of the files.
FILES = ((50, 20_000), (5, 1_000_000))
#: Rows and features of the arrays, the kernel, and whether the bandwidth is searched for.
ARRAYS = (
    (120, 10_000, "rbf", False),
    (120, 10_000, "rbf", True),
    (120, 10_000, "laplacian", True),
    (1000, 5000, "rbf", True),
    (3000, 2000, "rbf", True),
)
#: Documents, words and topics, and words in a document.
TEXT, TOPICS, LENGTH = (2412, 7843), 4, 90
TEXT_KERNELS: tuple[dict[str, Any], ...] = (
    {"kernel": "cosine"},
    {"kernel": "linear"},
    {"kernel": "rbf", "bandwidth": 1.0},
    {"kernel": "landmarks", "metric": "cosine"},
)


def run(settings: Settings) -> Result:
    """Time each once: they take seconds."""
    share = min(1.0, settings.scale)
    rng, rows = np.random.default_rng(0), []
    with tempfile.TemporaryDirectory() as folder:
        for n, d in FILES:
            path, d = Path(folder) / f"{d}.csv", max(20, int(share * d))
            write(path, rng.normal(size=(n, d)).round(3))
            opened = timed(open_dataset, path)
            source = open_dataset(path)
            name = f"CSV, {n} x {d:,}"
            rows.append((name, "open", opened, None))
            rows.append((name, "one pass", timed(list, source.blocks()), None))
            model = KernelSpectralClustering(2, bandwidth=2.0 * d, random_state=0)
            rows.append((name, "open and fit", opened + timed(fit, model, source), None))
    for n, d, kernel, search in ARRAYS:
        n, d = max(30, int(share * n)), max(20, int(share * d))
        X = rng.normal(size=(n, d))
        X[::2] += 1.0
        chosen: dict[str, Any] = {} if search else {"n_clusters": 2, "bandwidth": 2.0 * d}
        model = KernelSpectralClustering(kernel=kernel, random_state=0, **chosen)
        what = "search and fit" if search else "fit"
        rows.append((f"array, {n:,} x {d:,}, {kernel}", what, timed(fit, model, X), None))
    searched = rows[-len(ARRAYS) :]
    text = documents(*(max(400, int(share * size)) for size in TEXT))
    topics = np.arange(text.shape[0]) % TOPICS
    what = f"text, {text.shape[0]:,} x {text.shape[1]:,}"
    for name, work, model in (
        *(
            (one["kernel"], "fit", KernelSpectralClustering(TOPICS, random_state=0, **one))
            for one in TEXT_KERNELS
        ),
        ("nothing known", "search and fit", KernelSpectralClustering(random_state=0)),
        (
            "SpectralClustering",
            "fit",
            SpectralClustering(TOPICS, affinity="cosine", random_state=0),
        ),
    ):
        seconds = timed(fit, model, text)
        found = float(normalized_mutual_info_score(topics, model.labels_))
        rows.append((f"{what}, {name}", work, seconds, found))
    slowest = max(seconds for name, _, seconds, _ in rows if name.startswith("CSV, 50"))
    return Result(
        "wide",
        [Table("CPU seconds for wide input", ("input", "work", "seconds", "NMI"), rows)],
        [
            Threshold("CSV of 20,000 columns: open and fit (s)", slowest, at_most=4.0),
            Threshold("array of 120 x 10,000: search and fit (s)", searched[1][2], at_most=4.0),
        ],
    )


def write(path: Path, X: np.ndarray) -> None:
    """Write a CSV file with a header."""
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(f"c{column}" for column in range(X.shape[1])) + "\n")
        for row in X:
            file.write(",".join(map(str, row.tolist())) + "\n")


def documents(n: int, d: int) -> Any:
    """Rows of length 1 whose words are drawn by Zipf's law, with favourites of each topic."""
    rng = np.random.default_rng(0)
    chances = np.tile(1.0 / np.arange(1, d + 1), (TOPICS, 1))
    for topic in chances:
        topic[rng.choice(d, d // 20, replace=False)] *= 12.0
    chances /= chances.sum(axis=1, keepdims=True)
    lengths = rng.poisson(LENGTH, n) + 1
    words = [rng.choice(d, size, p=chances[i % TOPICS]) for i, size in enumerate(lengths)]
    ends = np.append(0, np.cumsum(lengths))
    counts = sp.csr_array((np.ones(ends[-1]), np.concatenate(words), ends), shape=(n, d))
    counts.sum_duplicates()
    return TfidfTransformer().fit_transform(counts)


def fit(model: Any, X: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)


def timed(work: Callable[..., Any], *arguments: Any) -> float:
    started = time.process_time()
    work(*arguments)
    return time.process_time() - started
