"""
Files larger than memory
========================

A folder of Parquet files is read in blocks; memory does not grow with the number of rows. The
labels are written to a file, too.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pyarrow as pa
import pyarrow.parquet as pq

from sparseksc import KernelSpectralClustering, estimate_memory, open_dataset
from sparseksc.datasets import make_spirals

with tempfile.TemporaryDirectory() as folder:
    for month in range(4):
        X, _ = make_spirals(50_000, random_state=month)
        pq.write_table(pa.table({"x": X[:, 0], "y": X[:, 1]}), f"{folder}/month-{month}.parquet")
    data = open_dataset(f"{folder}/month-*.parquet", columns=["x", "y"])
    # A kernel that is named is not compared with others.
    model = KernelSpectralClustering(2, kernel="rbf", random_state=0).fit(data)
    labels = Path(folder) / "labels.parquet"
    model.predict(data, out=labels)
    written = pq.read_table(labels)["label"].to_numpy()
print(written[:3], "of", len(written), "rows")

# %%
# What a fit needs beside the data, before it runs: the same for a thousand times as many rows.

print(estimate_memory(10**9, 2, max_rank=200, streamed=True))

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.scatter(*X[:5_000].T, c=written[150_000:155_000], s=2, cmap="coolwarm")
ax.set_title("200,000 rows in four files")
ax.axis("off")
