"""
Sample weights
==============

A row with weight 5 counts like five copies of it. So rows that are equal can be added up first:
here points are rounded to a grid, and each cell is one row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering

X, y = make_moons(50_000, noise=0.07, random_state=0)
cells, cell_of, counts = np.unique(np.round(X, 1), axis=0, return_inverse=True, return_counts=True)
model = KernelSpectralClustering(2, random_state=0)
model.fit(cells, sample_weight=counts)
ari = adjusted_rand_score(y, model.labels_[cell_of.ravel()])

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.scatter(*cells.T, s=counts / 10, c=model.labels_, cmap="coolwarm")
ax.set_title(f"{len(X):,} points in {len(cells)} rows: ARI {ari:.2f}")
ax.axis("off")
