"""
Networks
========

Nodes are alike if they have neighbours in common: rows of the matrix of links, compared by their
cosine. The same matrix, before and after it is sorted by clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering

rng = np.random.default_rng(0)
group = rng.permutation(np.arange(600) % 3)
same = group[:, None] == group
linked = np.triu(rng.random(same.shape) < np.where(same, 20 / 200, 3 / 400), 1)
rows = sp.csr_array((linked | linked.T | np.eye(600, dtype=bool)).astype(float))
model = KernelSpectralClustering(3, kernel="cosine", random_state=0).fit(rows)

order = np.argsort(model.labels_, kind="stable")
figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
axes[0].spy(rows, markersize=0.6)
axes[0].set_title("links, as they come")
axes[1].spy(rows[order][:, order], markersize=0.6)
axes[1].set_title("sorted by cluster")
for ax in axes:
    ax.set(xticks=[], yticks=[])
