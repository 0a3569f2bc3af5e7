"""
A stream in which a cluster is born
===================================

``partial_fit`` keeps the number of every cluster. Where the number of clusters is open, it also
finds those that appear and loses those that vanish; ``history_`` tells at which chunk.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import DriftDisplay

rng = np.random.default_rng(0)
places = np.array([(0.0, 0.0), (12.0, 0.0), (0.0, 12.0)])
model = KernelSpectralClustering(kernel="landmarks", max_rank=200, random_state=0)
for day in range(12):
    alive = [0, 1] if day < 4 else [0, 1, 2] if day < 7 else [1, 2]
    chunk = places[rng.choice(alive, 150)] + rng.normal(size=(150, 2))
    model.partial_fit(chunk, forgetting=0.7)

for day, record in enumerate(model.history_, start=1):
    for kind in ("born", "died"):
        for name in record[kind]:
            print(f"chunk {day}: cluster {name} {kind}")

# %%
# The vertical lines are births and deaths, the bands the shares of the clusters in each chunk.

DriftDisplay.from_estimator(model)
plt.show()
