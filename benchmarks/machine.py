"""What the numbers were measured on: processor, libraries, date and commit."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

import sparseksc
from sparseksc import _native
from sparseksc.execution.threads import thread_count


def describe() -> dict[str, str]:
    """Return the description of this machine and of the code, ready to be printed."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "processor": processor(),
        "cores": str(thread_count(None)),
        "load before": load(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "sparseksc": f"{sparseksc.__version__}, {core()}",
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "BLAS": blas(),
    }


def processor() -> str:
    """Return the name of the processor, where the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def load() -> str:
    """Return the average number of running processes in the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def core() -> str:
    """Say which instructions the compiled core uses, or that NumPy does its work."""
    if not _native.IS_NATIVE:
        return "NumPy only"
    from sparseksc._native import _core

    return f"compiled core ({_core.active_variant()})"


def blas() -> str:
    """Return the BLAS libraries in use."""
    found = {
        f"{library['internal_api']} {library['version']} ({library.get('architecture', '?')})"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return ", ".join(sorted(found)) or "unknown"


def commit() -> str:
    """Return the commit that is checked out, marked where files have been changed since."""
    try:
        short = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{short} (with changes)" if changed else short


def _git(*arguments: str) -> str:
    here = Path(__file__).resolve().parent
    done = subprocess.run(
        ["git", "-C", str(here.parent), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
