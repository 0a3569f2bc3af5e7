"""
Two kernels: rbf and landmarks
==============================

The rbf kernel has one bandwidth for all points, and sees thin shapes in few features. The landmarks
kernel describes a point by its nearest landmarks and has no bandwidth: it is for many features. On
thin shapes it needs landmarks that are closer to each other than the arms are: ``max_rank``.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals

kernels = {
    "rbf": {"kernel": "rbf"},
    "100 landmarks": {"kernel": "landmarks", "max_rank": 100},
    "landmarks": {"kernel": "landmarks"},
}
spirals, of_spirals = make_spirals(3_000, random_state=0)
digits, of_digits = load_digits(return_X_y=True)
problems = {
    "two spirals": (spirals, of_spirals, spirals),
    "digits, 64 features": (digits, of_digits, PCA(2).fit_transform(digits)),
}

# %%
# The number of clusters is given, the bandwidth is found. Digits are drawn along their two
# principal components.

figure, axes = plt.subplots(2, 3, figsize=(10, 7), layout="constrained")
for row, (problem, (X, y, drawn)) in zip(axes, problems.items(), strict=True):
    for ax, (name, given) in zip(row, kernels.items(), strict=True):
        model = KernelSpectralClustering(len(set(y)), random_state=0, **given).fit(X)
        ax.scatter(*drawn.T, c=model.labels_, s=3, cmap="tab10")
        ax.set_title(f"{name}: ARI {adjusted_rand_score(y, model.labels_):.2f}")
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(problem)
