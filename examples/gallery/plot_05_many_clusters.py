"""
Dozens of clusters
==================

Fifty Gaussians, and four candidates for their number, among which the search selects.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering

rng = np.random.default_rng(0)
grid = np.array([(a, b) for a in range(10) for b in range(5)], dtype=float)
centres = grid + rng.uniform(-0.2, 0.2, size=grid.shape)
y = np.arange(5_000) % 50
X = centres[y] + rng.normal(scale=0.1, size=(5_000, 2))

model = KernelSpectralClustering(kernel="landmarks", n_clusters=[40, 45, 50, 55], random_state=0)
model.fit(X)
print(model.n_clusters_, "clusters, ARI", round(adjusted_rand_score(y, model.labels_), 3))

figure, ax = plt.subplots(figsize=(9, 5), layout="constrained")
ax.scatter(*X.T, c=rng.permutation(model.n_clusters_)[model.labels_], s=4, cmap="nipy_spectral")
ax.set_title(f"{model.n_clusters_} clusters")
ax.axis("off")
