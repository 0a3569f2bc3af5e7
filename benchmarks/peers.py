"""fit + predict against the paper's route and three clusterings of scikit-learn, with the ARI."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from benchmarks.measure import Settings
from benchmarks.problems import BANDWIDTH, POINTS, RANK, Spirals
from benchmarks.report import Result, Table, Threshold
from sparseksc.kernels import make_kernel
from sparseksc.reference import paper_ksc, sign_labels

Labels = NDArray[Any]


class Contenders:
    """Each method clusters the spirals and labels all points."""

    def __init__(self, problem: Spirals) -> None:
        self.problem, self.X = problem, problem.X
        self.rank = min(RANK, len(self.X))

    def ours(self) -> Labels:
        return self.problem.estimator().fit(self.X).predict(self.X)

    def paper(self) -> Labels:
        """Incomplete Cholesky on all points, QR, and scores of the same points as new ones."""
        kernel = make_kernel("rbf", BANDWIDTH)
        model = paper_ksc(self.X, 2, kernel.tile, max_rank=self.rank)
        sign_labels(model.scores, 2)
        return sign_labels(model.transform(self.X), 2)

    def nystroem(self) -> Labels:
        features = Nystroem(gamma=1 / BANDWIDTH, n_components=self.rank, random_state=0)
        return np.asarray(make_pipeline(features, KMeans(2, random_state=0)).fit_predict(self.X))

    def spectral(self) -> Labels:
        """As it comes: ten neighbours, one job, k-means on the embedding."""
        method = SpectralClustering(2, affinity="nearest_neighbors", random_state=0)
        with warnings.catch_warnings():
            # The neighbour graph of two spirals has two components: that is the point of them.
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            return np.asarray(method.fit_predict(self.X))

    def hdbscan(self) -> Labels:
        method = HDBSCAN(min_cluster_size=max(5, len(self.X) // 100), copy=True)
        return np.asarray(method.fit_predict(self.X))


def run(settings: Settings) -> Result:
    problem = Spirals.of_size(settings.points(POINTS, least=1000))
    methods = Contenders(problem)
    ours, paper, spectral = "sparseksc", "the paper's route (NumPy, LAPACK)", "SpectralClustering"
    quick = {ours: methods.ours, paper: methods.paper, "Nystroem + KMeans": methods.nystroem}
    slow = {spectral: methods.spectral}
    if settings.long:
        slow["HDBSCAN"] = methods.hdbscan
    groups = [settings.alternate(quick)]
    groups += [
        settings.alternate({ours: methods.ours, name: method}, once=[name])
        for name, method in slow.items()
    ]
    rows, ratios = [], {}
    for times in groups:
        for name, labels in times.results.items():
            if name not in ratios:
                ratios[name] = times.ratio(name, ours)
                ari = float(adjusted_rand_score(problem.y, labels))
                rows.append((name, times.seconds(name), ratios[name], ari))
    table = Table(
        f"fit + predict: two spirals, {len(problem.X):,} points, rank {methods.rank}",
        ("method", "seconds", "times ours", "ARI"),
        rows,
        "The methods of the first group are timed alternately, the slower ones once, with ours "
        "before. Those without `predict` label the points they are given and no others. The "
        "paper's route uses our compiled kernel.",
    )
    return Result(
        "peers",
        [table],
        [
            Threshold("fit + predict: times the paper's route", ratios[paper].median, 20.0),
            Threshold("fit + predict: times SpectralClustering", ratios[spectral].median, 100.0),
            Threshold("fit + predict: ARI", rows[0][3], 1.0),
        ],
    )
