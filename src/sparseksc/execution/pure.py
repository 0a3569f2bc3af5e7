"""What to say where the native module was not compiled."""

from __future__ import annotations

import os

from sparseksc import _native
from sparseksc.execution.notices import warn

#: Fits of fewer rows take seconds also without the native module.
LARGE_FIT = 100_000

_said = False


def warn_of_slow_fit(n_rows: int | None) -> None:
    """Warn at the first large fit that NumPy does the work of the native module.

    Nothing is said where the module was switched off by ``SPARSEKSC_NATIVE=0``. A source that does
    not know its rows (``None``) is large.
    """
    global _said
    if _native.IS_NATIVE or _said or os.environ.get("SPARSEKSC_NATIVE") == "0":
        return
    if n_rows is not None and n_rows < LARGE_FIT:
        return
    _said = True
    warn(
        "The native module of sparseksc was not compiled when it was installed, and NumPy does its "
        "work, more slowly. Install a wheel, or a C++ compiler and then "
        "`pip install --force-reinstall --no-deps sparseksc`; sparseksc.show_versions() says which "
        "is used.",
        RuntimeWarning,
    )
