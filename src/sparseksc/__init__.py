"""Sparse kernel spectral clustering: clusters of any shape, at any size, with ``predict``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparseksc.estimator import KernelSpectralClustering
    from sparseksc.files import open_dataset
    from sparseksc.memory import estimate_memory
    from sparseksc.model_header import ModelFileError
    from sparseksc.persistence import load
    from sparseksc.training import BandwidthWarning
    from sparseksc.tuning import DoubtWarning, TuningResult, tune
else:
    #: Where each public name lives. It is imported when it is first used, so that what needs
    #: none of them (the help of the command line) does not wait for scikit-learn.
    _HOMES = {
        "BandwidthWarning": "training",
        "DoubtWarning": "tuning",
        "KernelSpectralClustering": "estimator",
        "ModelFileError": "model_header",
        "TuningResult": "tuning",
        "estimate_memory": "memory",
        "load": "persistence",
        "open_dataset": "files",
        "tune": "tuning",
    }

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'sparseksc' has no attribute {name!r}")
        value = getattr(import_module(f"sparseksc.{_HOMES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES})


__version__ = "0.1.0"

__all__ = [
    "BandwidthWarning",
    "DoubtWarning",
    "KernelSpectralClustering",
    "ModelFileError",
    "TuningResult",
    "__version__",
    "estimate_memory",
    "load",
    "open_dataset",
    "tune",
]
