"""The program's first test: ten Gaussians, and a grid of K and bandwidths."""

from __future__ import annotations

from time import process_time

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.report import Table, Threshold, write
from experiments import program
from experiments.drawing import save, subplots
from experiments.options import Options
from experiments.section import Section
from experiments.spirals import compiled_kernel
from experiments.store import as_csv, read
from experiments.tuning import Tuning
from sparseksc.datasets import make_gaussians
from sparseksc.reference import incomplete_cholesky

N_CLUSTERS, OVERLAP = 10, 0.3
#: Parameters of the program's script.
TOL, MAX_RANK, ICD_BANDWIDTH = 0.85, 500, 0.002
CLUSTERS, BANDWIDTHS = range(3, 21), (1e-5, 1.0, 50)
ETA, OUTLIERS = 0.5, 100
#: What the program printed: rank, K, bandwidth, criterion, ARI.
PRINTED = {
    "rank": 110,
    "n_clusters": 10,
    "bandwidth": 0.0010985,
    "ams": 0.968,
    "ari": 1.0,
    "icd_s": 0.136,
    "tuning_s": 4.44,
    "training_s": 0.056,
    "test_s": 0.168,
}


def run(options: Options) -> None:
    n, n_train = (3_000, 1_000) if options.quick else (100_000, 10_000)
    first, last, count = BANDWIDTHS
    bandwidths = np.geomspace(first, last, 7 if options.quick else count)
    X, y = make_gaussians(n, n_clusters=N_CLUSTERS, overlap=OVERLAP, random_state=options.seed)
    X = program.standardised(X)
    train, valid = X[:n_train], X[n_train : 2 * n_train]
    clock = [process_time()]
    factor = incomplete_cholesky(train, compiled_kernel(ICD_BANDWIDTH), tol=TOL, max_rank=MAX_RANK)
    clock.append(process_time())
    tuning = Tuning(train, factor, compiled_kernel, CLUSTERS[-1])
    surface = np.array(
        [
            list(tuning.criteria(valid, float(h), {"ams": CLUSTERS}, ETA, OUTLIERS).values())
            for h in bandwidths
        ]
    )
    clock.append(process_time())
    row, column = np.unravel_index(np.nanargmax(surface), surface.shape)
    K, h = CLUSTERS[int(column)], float(bandwidths[int(row)])
    model = tuning.at(h)
    clock.append(process_time())
    labels = model.labels("direction", K, X)
    clock.append(process_time())
    seconds = np.diff(clock)
    found = {
        "rank": len(factor.pivots),
        "n_clusters": K,
        "bandwidth": h,
        "ams": float(surface[row, column]),
        "ari": float(adjusted_rand_score(y, labels)),
        **dict(zip(("icd_s", "tuning_s", "training_s", "test_s"), seconds.tolist(), strict=True)),
    }
    write(options.out / "gaussians.csv", as_csv([found]))
    draw(options, surface, bandwidths, X, labels)


def draw(options: Options, surface, bandwidths, X, labels) -> None:
    figure, (grid, best, plane) = subplots(3, width=11.0)
    grid.pcolormesh(list(CLUSTERS), bandwidths, surface, shading="nearest")
    grid.set(yscale="log", xlabel="K", ylabel="bandwidth", title="AMS on validation points")
    with np.errstate(all="ignore"):
        highest = np.nanmax(np.where(np.isnan(surface), -1.0, surface), axis=0)
    best.plot(list(CLUSTERS), highest, "o-")
    best.set(xlabel="K", ylabel="AMS", title="best bandwidth of each K")
    some = slice(0, 5_000)
    plane.scatter(*X[some].T, s=1, c=labels[some], cmap="tab10")
    plane.set(xticks=[], yticks=[], aspect="equal", title="clusters")
    save(figure, options.out / "gaussians.png")


def section(options: Options) -> Section:
    (row,) = read(options.out / "gaussians.csv")
    names = {
        "rank": "rank of the ICD",
        "n_clusters": "K found",
        "bandwidth": "bandwidth found",
        "ams": "AMS on validation points",
        "ari": "ARI on all points",
        "icd_s": "s, ICD",
        "tuning_s": "s, tuning",
        "training_s": "s, training",
        "test_s": "s, labels of all points",
    }
    table = Table(
        "Ten Gaussians",
        ("what", "printed", "here"),
        [(name, f"{PRINTED[key]:g}", f"{float(str(row[key])):.3g}") for key, name in names.items()],
    )
    text = (
        f"100,000 points of {N_CLUSTERS} Gaussians in the plane, standardised; 10,000 of them for "
        f"training, 10,000 for validation. ICD with bandwidth {ICD_BANDWIDTH:g} and tolerance "
        f"{TOL:g}; criterion AMS with balance {ETA:g} and outlier threshold {OUTLIERS} over K = "
        f"{CLUSTERS[0]} … {CLUSTERS[-1]} and {BANDWIDTHS[2]} bandwidths from {BANDWIDTHS[0]:g} to "
        f"{BANDWIDTHS[1]:g}."
    )
    why = (
        "The program's points are a file that was not used; these are drawn by `make_gaussians` "
        f"with an overlap of {OVERLAP:g}. The rank follows from the area that the standardised "
        "clusters cover. The criterion is flat over a decade of bandwidths (the bright bar in the "
        "figure), so that its maximum may lie anywhere on it. The program ran on four threads, "
        "this on one."
    )
    thresholds = [
        Threshold("ten Gaussians: K found", float(str(row["n_clusters"])), 10, 10),
        Threshold("ten Gaussians: ARI", float(str(row["ari"])), 0.99),
    ]
    return Section("Test 1: ten Gaussians", text, [table], thresholds, why, "gaussians.png")
