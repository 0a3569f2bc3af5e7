"""Where a result comes from: parameters, versions, and the code that repeats it."""

from __future__ import annotations

import platform
from importlib.metadata import version
from inspect import signature
from typing import Any

import numpy as np

from sparseksc.data.files import FileStream
from sparseksc.data.source import BLOCK_ROWS
from sparseksc.report.numbers import number
from sparseksc.report.reading import Rows

#: Libraries that have a say in the numbers.
LIBRARIES = ("sparseksc", "numpy", "scipy", "scikit-learn")


def as_code(value: Any) -> str:
    """Write a parameter as it would be typed.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.report.provenance import as_code
    >>> as_code("rbf"), as_code(np.array([1.0, 2.0])), as_code(np.float64(0.5)), as_code(len)
    ("'rbf'", 'np.array([1.0, 2.0])', '0.5', 'len')
    """
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    if isinstance(value, np.generic):
        return repr(value.item())
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(value)


def parameters(estimator: Any) -> list[tuple[str, Any, bool]]:
    """Name, value, and whether it differs from the default, in the order of the documentation."""
    given = estimator.get_params(deep=False)
    defaults = type(estimator)().get_params(deep=False)
    return [
        (name, given[name], as_code(given[name]) != as_code(defaults[name]))
        for name in signature(type(estimator)).parameters
    ]


def code_to_repeat(rows: Rows) -> str:
    """Python code that fits the same model to the same data."""
    changed = {name: value for name, value, differs in parameters(rows.estimator) if differs}
    arguments = ", ".join(f"{name}={as_code(value)}" for name, value in changed.items())
    lines = ["from sparseksc import KernelSpectralClustering"]
    if any(isinstance(value, np.ndarray) for value in changed.values()):
        lines.insert(0, "import numpy as np")
    if isinstance(rows.source, FileStream):
        lines[-1] += ", open_dataset"
        lines += ["", f"X = {_opening(rows.source)}"]
    else:
        lines += ["", f"# X: {rows.kind} with the rows and columns of this page"]
    return "\n".join([*lines, f"model = KernelSpectralClustering({arguments}).fit(X)"])


def _opening(source: FileStream) -> str:
    paths = [str(path) for path in source.paths]
    arguments = [repr(paths[0] if len(paths) == 1 else paths)]
    if source.form.columns is not None:
        arguments.append(f"columns={source.form.columns!r}")
    if source.form.block_rows != BLOCK_ROWS:
        arguments.append(f"block_rows={source.form.block_rows}")
    return f"open_dataset({', '.join(arguments)})"


def parameter_table(estimator: Any) -> list[tuple[str, str, bool]]:
    """Name, value as code, and whether it was changed, of every parameter."""
    return [(name, as_code(value), differs) for name, value, differs in parameters(estimator)]


def fitted_table(estimator: Any) -> list[tuple[str, str]]:
    """Say what training found, apart from the clusters."""
    bandwidth = getattr(estimator, "bandwidth_", None)
    entries = [
        ("Number of clusters", str(estimator.n_clusters_)),
        ("Bandwidth", _bandwidth(bandwidth)),
        ("Pivots in the reduced set", f"{estimator.reduced_set_.shape[0]:,}"),
    ]
    residual = getattr(estimator, "residual_", None)
    if residual is not None:
        entries.append(("Share of the kernel left unexplained", number(float(residual))))
    scaling = getattr(estimator, "scaling_", None)
    entries.append(("Features standardised", "no" if scaling is None else "yes"))
    return entries


def _bandwidth(bandwidth: Any) -> str:
    if bandwidth is None:
        return "none, the kernel has no bandwidth"
    values = np.ravel(bandwidth)
    shown = ", ".join(number(float(value)) for value in values[:8])
    return f"{shown}, … ({len(values):,} values)" if len(values) > 8 else shown


def version_table() -> list[tuple[str, str]]:
    """Names and versions of what computed the numbers."""
    found = [(name, version(name)) for name in LIBRARIES]
    return [("Python", platform.python_version()), *found]
