"""
Outliers among new points
=========================

``predict`` gives every point a cluster. ``outliers`` says which points are similar to hardly any
training point, so that their labels say little (crosses).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from sparseksc import KernelSpectralClustering

X, _ = make_moons(1_000, noise=0.05, random_state=0)
model = KernelSpectralClustering(2, random_state=0).fit(X)

new = np.random.default_rng(0).uniform([-2, -1.5], [3, 2], size=(300, 2))
labels, far = model.predict(new), model.outliers(new)

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
ax.scatter(*X.T, s=3, color="0.8")
ax.scatter(*new[~far].T, c=labels[~far], s=25, cmap="coolwarm")
ax.scatter(*new[far].T, s=25, marker="x", color="0.4", linewidths=1)
ax.set_title(f"{far.sum()} of {len(new)} new points are outliers")
ax.axis("off")
