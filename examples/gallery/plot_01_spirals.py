"""
First clustering
================

Two intertwined spirals. No straight line separates them, and k-means cuts them in half. The number
of clusters is given, the bandwidth is found.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals
from sparseksc.plotting import RegionsDisplay

X, y = make_spirals(5_000, random_state=0)
model = KernelSpectralClustering(2, random_state=0).fit(X)

# %%
# Beside k-means, which is told the same number.

answers = {
    "k-means": KMeans(2, random_state=0).fit_predict(X),
    "kernel spectral clustering": model.labels_,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for ax, (name, labels) in zip(axes, answers.items(), strict=True):
    ax.scatter(*X.T, c=labels, s=2, cmap="coolwarm")
    ax.set_title(f"{name}: ARI {adjusted_rand_score(y, labels):.2f}")
    ax.set_aspect("equal")
    ax.axis("off")

# %%
# The model is a function of the plane, carried by a few points of the data, the reduced set
# (marked). Any other point has a cluster, too.

RegionsDisplay.from_estimator(model, X)
print(model.predict([[0.0, 1.0], [1.5, -1.0]]))
