"""Names of kernels, and points to try them on."""

import numpy as np

from sparseksc.kernels import KERNELS, Exponential

#: Kernels of two points alone.
NAMED = [name for name in KERNELS if name not in ("precomputed", "landmarks")]
EXPONENTIAL = [name for name in NAMED if issubclass(KERNELS[name], Exponential)]
WITH_BANDWIDTH = [name for name in NAMED if KERNELS[name].has_bandwidth]
SPARSE = [name for name in NAMED if KERNELS[name].accepts_sparse]


def points(n, d=4, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).gamma(1.0, size=(n, d)).astype(dtype)
