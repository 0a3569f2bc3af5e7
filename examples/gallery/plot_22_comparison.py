"""
Beside other methods
====================

Four shapes, five methods. All but HDBSCAN are told the number of clusters; titles are the adjusted
Rand index. No method is the best everywhere: the manual has :doc:`more of it </comparison>`.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals

n = 600
skew = np.array([[0.6, -0.6], [-0.4, 0.8]])
blobs, of_blobs = make_blobs(n, random_state=170)
problems = {
    "moons": make_moons(n, noise=0.05, random_state=0),
    "spirals": make_spirals(5 * n, random_state=0),
    "unequal": make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170),
    "skewed": (blobs @ skew, of_blobs),
}
methods = {
    "sparseksc": lambda X, K: KernelSpectralClustering(K, random_state=0).fit_predict(X),
    "KMeans": lambda X, K: KMeans(K, random_state=0).fit_predict(X),
    "GaussianMixture": lambda X, K: GaussianMixture(K, random_state=0).fit_predict(X),
    "HDBSCAN": lambda X, K: HDBSCAN(min_cluster_size=len(X) // 50, copy=True).fit_predict(X),
    "Spectral": lambda X, K: SpectralClustering(
        K, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
}
figure, axes = plt.subplots(len(problems), len(methods), figsize=(10, 8), layout="constrained")
for row, (X, y) in zip(axes, problems.values(), strict=True):
    X = scale(X)
    for ax, (name, method) in zip(row, methods.items(), strict=True):
        with warnings.catch_warnings():
            # Shapes that are apart have neighbour graphs that are apart.
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            labels = method(X, len(np.unique(y)))
        ax.scatter(*X.T, c=np.where(labels < 0, np.nan, labels), s=2, cmap="viridis")
        heading = f"{name}\n" if ax in axes[0] else ""
        ax.set_title(f"{heading}{adjusted_rand_score(y, labels):.2f}", fontsize=10)
        ax.set(xticks=[], yticks=[])
