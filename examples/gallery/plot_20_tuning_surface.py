"""
The surface of the search
=========================

A criterion of the literature compares models at many bandwidths and numbers of clusters. The
surface shows how flat the top is, and so how much the choice matters.
"""

import matplotlib.pyplot as plt

from sparseksc import tune
from sparseksc.datasets import make_rings

X, _ = make_rings(2_000, random_state=0)
result = tune(X, n_clusters=range(2, 8), criterion="ams", random_state=0)
print(result.summary())

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
result.plot(ax=ax)
