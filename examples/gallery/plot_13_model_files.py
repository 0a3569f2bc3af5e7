"""
Model files
===========

A model is saved as numbers and text, without code: opening a stranger's file runs nothing.
"""

import tempfile
from pathlib import Path

import numpy as np

from sparseksc import KernelSpectralClustering, load
from sparseksc.datasets import make_gaussians
from sparseksc.model_file import read_header
from sparseksc.plotting import ScoresDisplay

X, _ = make_gaussians(2_000, n_clusters=3, random_state=0)
model = KernelSpectralClustering(n_clusters=3, scale=True, random_state=0).fit(X)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.ksc"
    model.save(path)
    again, header = load(path), read_header(path)
    print(f"{path.stat().st_size:,} bytes, kernel {header['kernel']['name']}")
np.testing.assert_array_equal(again.predict(X), model.labels_)

# %%
# The loaded model draws, predicts and transforms as before: here its score space, in which every
# cluster is a line.

ScoresDisplay.from_estimator(again, X)
