"""
A stream that drifts
====================

Chunks come in one after the other and are not kept; the first one decides the bandwidth. Two
clusters move; ``forgetting`` lets old rows count less, and the regions follow.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import RegionsDisplay

rng = np.random.default_rng(0)
model = KernelSpectralClustering(2, random_state=0)
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharex=True, sharey=True)
for step in range(9):
    centres = np.array([[-2.0, 0.0], [2.0, 0.0]]) + 0.3 * step * np.array([[0, 1], [0, -1]])
    chunk = centres[rng.integers(2, size=500)] + rng.normal(scale=0.6, size=(500, 2))
    model.partial_fit(chunk, forgetting=0.5)
    if step % 4 == 0:
        RegionsDisplay.from_estimator(model, chunk, ax=axes[step // 4])
        axes[step // 4].set_title(f"after chunk {step + 1}")
