"""
Dask
====

Dask arrays and data frames are summed where they live, on threads here, on a cluster where there is
one. ``labels_`` is lazy.
"""

import dask
import dask.array as da
import matplotlib.pyplot as plt

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_rings

points, _ = make_rings(40_000, random_state=0)
X = da.from_array(points, chunks=(10_000, 2))
with dask.config.set(scheduler="threads"):
    model = KernelSpectralClustering(3, random_state=0).fit(X)
    print(model.labels_)
    labels = model.labels_.compute()

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.scatter(*points[::8].T, c=labels[::8], s=2, cmap="viridis")
ax.set_title(f"{X.npartitions} blocks of {X.chunksize[0]:,} rows")
ax.axis("off")
