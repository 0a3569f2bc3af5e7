"""What is installed: the versions that a report of a problem should name."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from sparseksc import _native
from sparseksc._version import __version__

#: The packages that the library needs, and those that it uses where they are installed.
PACKAGES = (
    "numpy", "scipy", "scikit-learn", "threadpoolctl", "joblib", "matplotlib", "bokeh", "pyarrow",
    "dask", "pillow", "onnx",
)  # fmt: skip


def show_versions() -> None:
    """Print versions, whether the native module is used, the vector level, threads and BLAS.

    Examples
    --------
    >>> import sparseksc
    >>> sparseksc.show_versions()  # doctest: +ELLIPSIS
    sparseksc      ...
    """
    facts = {**_facts(), **_libraries()}
    width = max(map(len, facts)) + 2
    for name, fact in facts.items():
        print(f"{name:{width}}{fact}")


def _facts() -> dict[str, str]:
    """Return versions, what is compiled, and the threads."""
    python = sys.version.split()[0]
    gil = "" if getattr(sys, "_is_gil_enabled", lambda: True)() else ", free-threaded"
    facts = {
        "sparseksc": __version__,
        "native module": native_module(),
        "Python": f"{python} ({platform.python_implementation()}{gil})",
        "system": f"{platform.system()} {platform.machine()}",
        "processors": str(_processors()),
    }
    for name in PACKAGES:
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            facts[name] = "not installed"
    return facts


def native_module() -> str:
    """Return whether the native module is used, and for which instruction set."""
    if not _native.IS_NATIVE:
        if os.environ.get("SPARSEKSC_NATIVE") == "0":
            return "switched off by SPARSEKSC_NATIVE=0"
        return "not compiled; NumPy does its work, more slowly"
    from sparseksc._native import _core

    return f"compiled, {_core.active_variant()} (of {', '.join(_core.variants())})"


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _libraries() -> dict[str, str]:
    """Return the BLAS and OpenMP libraries that are loaded, and their threads."""
    import scipy.linalg  # noqa: F401  # loads its BLAS
    from threadpoolctl import threadpool_info

    facts = {}
    for number, library in enumerate(threadpool_info(), start=1):
        words = [library["internal_api"], library.get("version") or "of unknown version"]
        words += [library["architecture"]] if library.get("architecture") else []
        name = f"{library['user_api'].upper() if library['user_api'] == 'blas' else 'OpenMP'}"
        facts[f"{name} {number}"] = f"{' '.join(words)}, {library['num_threads']} threads"
    return facts
