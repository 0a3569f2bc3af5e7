"""The memory of the machine, and limits that users set."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
#: What is taken for free where the system does not tell.
GUESS = 4 * 10**9


def parse_bytes(limit: Any) -> int:
    """Bytes of a number or of a text such as "2GB"; half of the free memory for None.

    Examples
    --------
    >>> from sparseksc.execution.memory import parse_bytes
    >>> parse_bytes("1.5 GB"), parse_bytes("64MiB")
    (1500000000, 67108864)
    """
    if limit is None:
        return free_memory() // 2
    size = 0.0
    if isinstance(limit, str):
        number = r"\s*(\d+\.?\d*|\.\d+)(e\d+)?\s*([a-z]*)\s*"
        found = re.fullmatch(number, limit.lower(), re.ASCII)
        if found and found[3] in UNITS:
            size = float(found[1] + (found[2] or "")) * UNITS[found[3]]
    elif isinstance(limit, Real) and not isinstance(limit, bool):
        size = float(limit)
    if isfinite(size) and size >= 1.0:
        return int(size)
    raise ValueError(
        f"memory_limit must be a positive number of bytes or a text like '2GB', got {limit!r}."
    )


def free_memory(root: Path = Path("/")) -> int:
    """Bytes that are free for use: of the system, or of the container if that has less.

    ``root`` is where the files of the system are.
    """
    if sys.platform == "darwin":
        return _free_on_macos()
    free = GUESS
    with suppress(OSError, ValueError, AttributeError):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    with suppress(OSError, ValueError, IndexError):
        lines = (root / "proc/meminfo").read_text().splitlines()
        available = [line for line in lines if line.startswith("MemAvailable:")]
        free = int(available[0].split()[1]) * 1024
    for most, used in _limits_of_groups(root):
        with suppress(OSError, ValueError):
            free = min(free, max(int(most.read_text()) - int(used.read_text()), 0))
    return free


@cache
def _limits_of_groups(root: Path) -> list[tuple[Path, Path]]:
    """Files with the limit and the use of the control groups (version 2, then 1) of this process.

    A group inherits the limits of all above it; "max" is none.
    """
    group = Path()
    with suppress(OSError, ValueError):
        entries = (root / "proc/self/cgroup").read_text().splitlines()
        groups = [entry.split(":", 2) for entry in entries]
        named = [path for _, kind, path in groups if kind == "" or "memory" in kind.split(",")]
        group = Path(named[-1].lstrip("/")) if named else group
    found = []
    for mount, most, used in (
        ("sys/fs/cgroup", "memory.max", "memory.current"),
        ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        for folder in (group, *group.parents):
            place = root / mount / folder
            with suppress(OSError, ValueError):
                int((place / most).read_text()), int((place / used).read_text())
                found.append((place / most, place / used))
    return found


def _free_on_macos() -> int:
    """Pages that macOS can hand out at once, from its ``vm_stat``."""
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        report = subprocess.run(["vm_stat"], capture_output=True, text=True, timeout=5, check=True)
        return available_pages(report.stdout)
    return GUESS


def available_pages(report: str) -> int:
    """Bytes that are free or can be freed at once, from the output of ``vm_stat``.

    Examples
    --------
    >>> from sparseksc.execution.memory import available_pages
    >>> available_pages('''Mach Virtual Memory Statistics: (page size of 16384 bytes)
    ... Pages free:                    100.
    ... Pages active:                  900.
    ... Pages inactive:                 50.
    ... Pages speculative:              10.
    ... Pages purgeable:                 5.''')
    2703360
    """
    size = re.search(r"page size of (\d+) bytes", report)
    if size is None:
        raise ValueError("vm_stat does not tell the size of a page.")
    kinds = ("free", "inactive", "speculative", "purgeable")
    counts = re.findall(rf"^Pages ({'|'.join(kinds)}):\s+(\d+)\.$", report, re.MULTILINE)
    return int(size[1]) * sum(int(count) for _, count in counts)


def release_memory() -> None:
    """Give freed memory back to the system, where the C library would keep it for its threads."""
    with suppress(OSError, AttributeError):  # only glibc has the function, and keeps that much
        ctypes.CDLL(None).malloc_trim(0)
