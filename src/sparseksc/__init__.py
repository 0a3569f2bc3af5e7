"""Sparse kernel spectral clustering: clusters of any shape, at any size, with ``predict``."""

from sparseksc.estimator import KernelSpectralClustering
from sparseksc.files import open_dataset
from sparseksc.memory import estimate_memory
from sparseksc.training import BandwidthWarning
from sparseksc.tuning import DoubtWarning, TuningResult, tune

__version__ = "0.1.0"

__all__ = [
    "BandwidthWarning",
    "DoubtWarning",
    "KernelSpectralClustering",
    "TuningResult",
    "__version__",
    "estimate_memory",
    "open_dataset",
    "tune",
]
