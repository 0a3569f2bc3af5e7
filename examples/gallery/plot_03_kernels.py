"""
Two kernels: rbf and landmarks
==============================

The rbf kernel has one bandwidth for all points; the landmarks kernel adapts to the density, and has
none. With the number of clusters given, both find these thin shapes and these unequal densities.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals

centres, spreads = [[0, 0], [3, 0], [12, 6]], [0.2, 0.4, 3.0]
problems = {
    "thin": (*make_spirals(3_000, random_state=0), 2),
    "unequal": (*make_blobs(2_000, centers=centres, cluster_std=spreads, random_state=0), 3),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
for row, (X, y, K) in zip(axes, problems.values(), strict=True):
    for ax, kernel in zip(row, ("rbf", "landmarks"), strict=True):
        model = KernelSpectralClustering(K, kernel=kernel, random_state=0).fit(X)
        ax.scatter(*X.T, c=model.labels_, s=3, cmap="viridis")
        ax.set_title(f"{kernel}: ARI {adjusted_rand_score(y, model.labels_):.2f}")
        ax.axis("off")
