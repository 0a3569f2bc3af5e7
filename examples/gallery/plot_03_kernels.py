"""
Two kernels: rbf and landmarks
==============================

The rbf kernel has one bandwidth for all points, and sees thin shapes in few features. The landmarks
kernel describes a point by its nearest landmarks and has no bandwidth: it is for many features, in
which no bandwidth tells near from far. Each is better on one of these two sets; "auto", the
default, compares them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals

spirals, of_spirals = make_spirals(4_000, random_state=0)
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
    for ax, kernel in zip(row, ("rbf", "landmarks", "auto"), strict=True):
        model = KernelSpectralClustering(len(set(y)), kernel=kernel, random_state=0).fit(X)
        ax.scatter(*drawn.T, c=model.labels_, s=3, cmap="tab10")
        ax.set_title(f"{kernel}: ARI {adjusted_rand_score(y, model.labels_):.2f}")
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(problem)
