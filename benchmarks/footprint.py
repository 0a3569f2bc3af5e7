"""How much memory this process holds, and has held at most."""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

MEGABYTE = 1e6
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident() -> int:
    """Bytes that this process holds now, or has held at most where the system says no more."""
    if STATUS.exists():
        return _status("VmRSS")
    return peak()


def peak() -> int:
    """Bytes that this process has held at most since `forget_peak`."""
    if STATUS.exists():
        return _status("VmHWM")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak() -> None:
    if CLEAR.exists():
        CLEAR.write_text("5")


def _status(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{STATUS} has no entry {name}.")
    return int(found[1]) * 1024
