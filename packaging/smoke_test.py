"""Use an installed sparseksc as a user would; ends with an error if anything is wrong.

python -I packaging/smoke_test.py [--pure]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import sparseksc
from sparseksc import _native
from sparseksc.datasets import make_spirals

home = Path(sparseksc.__file__).resolve()
source = Path(__file__).resolve().parents[1] / "src"
assert source not in home.parents, f"{home} is the source tree, not an installation"
assert _native.IS_NATIVE != ("--pure" in sys.argv), "the native module is not what was asked for"
assert (home.parent / "py.typed").exists()
assert not list(home.parent.rglob("*.cpp")), "a wheel needs no C++ files"

X, y = make_spirals(2000, random_state=0)[:2]
model = sparseksc.KernelSpectralClustering(2, random_state=0).fit(X)
share = np.mean(model.labels_ == y)
assert max(share, 1 - share) > 0.99, share
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder, "model.ksc"))
    loaded = sparseksc.load(Path(folder, "model.ksc"))
assert np.array_equal(loaded.predict(X), model.labels_)
sparseksc.show_versions()
print("All is well.")
