"""
How many clusters, and how sure
===============================

Without a number, models with any number of clusters are compared by their quality: how much harder
their clusters are to divide than to cut off. Below 1 the clusters overlap; above 2 they are well
apart. Where clusters are far from each other the peak is sharp; where neighbours touch, smaller
numbers, which join some of them, are nearly as good.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from sparseksc import tune

figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
for column, spread in zip(axes.T, (0.7, 1.6), strict=True):
    X, _ = make_blobs(1_000, n_features=5, centers=6, cluster_std=spread, random_state=3)
    result = tune(X, n_clusters=range(2, 11), random_state=0)
    print(result.summary())
    column[0].scatter(*X[:, :2].T, s=4, color="0.3")
    column[0].set_title(f"spread {spread}, two features of five")
    by_number = sorted((model.n_clusters, model.value) for model in result.ranking)
    column[1].plot(*zip(*by_number, strict=True), "o-")
    column[1].axvline(result.best_n_clusters, color="0.7", zorder=0)
    column[1].set(xlabel="number of clusters", ylabel="quality")
    column[1].set_title(f"{result.best_n_clusters} clusters, quality {result.ranking[0].value:.1f}")
