"""
Many features: handwritten digits
=================================

1,797 images of 8 × 8 pixels, 64 features. The mean image of each cluster, beside those of k-means.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from sparseksc import KernelSpectralClustering

X, y = load_digits(return_X_y=True)
answers = {
    "landmarks": KernelSpectralClustering(10, kernel="landmarks", random_state=0).fit_predict(X),
    "k-means": KMeans(10, random_state=0).fit_predict(X),
}
figure, axes = plt.subplots(2, 10, figsize=(10, 2.8), layout="constrained")
for row, (name, labels) in zip(axes, answers.items(), strict=True):
    for cluster, ax in enumerate(row):
        ax.imshow(X[labels == cluster].mean(axis=0).reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(f"{name}\nNMI {normalized_mutual_info_score(y, labels):.2f}")
