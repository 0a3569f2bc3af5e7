"""Sparse kernel spectral clustering: clusters of any shape, at any size, with ``predict``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sparseksc._version import __version__

if TYPE_CHECKING:
    from sparseksc.comparison import Comparison, compare
    from sparseksc.config.memory import estimate_memory
    from sparseksc.core.clusters.availability import BandwidthWarning
    from sparseksc.data.files import open_dataset
    from sparseksc.estimator import KernelSpectralClustering
    from sparseksc.model_file import ModelFileError, load
    from sparseksc.tuning import DoubtWarning, TuningResult, tune
    from sparseksc.versions import show_versions
else:
    #: Where each public name lives. It is imported when it is first used, so that what needs
    #: none of them (the help of the command line) does not wait for scikit-learn.
    _HOMES = {
        "BandwidthWarning": "core.clusters.availability",
        "Comparison": "comparison",
        "DoubtWarning": "tuning",
        "KernelSpectralClustering": "estimator",
        "ModelFileError": "model_file",
        "TuningResult": "tuning",
        "compare": "comparison",
        "estimate_memory": "config.memory",
        "load": "model_file",
        "open_dataset": "data.files",
        "show_versions": "versions",
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


__all__ = [
    "BandwidthWarning",
    "Comparison",
    "DoubtWarning",
    "KernelSpectralClustering",
    "ModelFileError",
    "TuningResult",
    "__version__",
    "compare",
    "estimate_memory",
    "load",
    "open_dataset",
    "show_versions",
    "tune",
]
