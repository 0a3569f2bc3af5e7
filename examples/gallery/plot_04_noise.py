"""
Background noise, beside HDBSCAN
================================

Two moons and a tenth of uniform noise, which bridges them. ``noise="auto"`` finds how many points
are in no cluster, and gives them the label -1 (grey). With fewer points their densities are less
certain, and an arm may fall in parts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_moons

from sparseksc import KernelSpectralClustering

X, _ = make_moons(1_000, noise=0.05, random_state=1)
rng = np.random.default_rng(0)
X = np.vstack([X, rng.uniform(X.min(axis=0), X.max(axis=0), size=(110, 2))])

model = KernelSpectralClustering(noise="auto", random_state=0).fit(X)
answers = {
    'noise="auto"': model.labels_,
    "HDBSCAN": HDBSCAN(min_cluster_size=len(X) // 50, copy=True).fit_predict(X),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (name, labels) in zip(axes, answers.items(), strict=True):
    noise = labels < 0
    ax.scatter(*X[noise].T, s=8, color="0.7")
    ax.scatter(*X[~noise].T, s=8, c=labels[~noise], cmap="tab20")
    ax.set_title(f"{name}: {labels.max() + 1} clusters, {noise.mean():.0%} noise")
    ax.axis("off")

# %%
# The model carries the density: a new point can be noise, too.

print(model.predict([[0.5, 5.0], [0.0, 1.0]]))
