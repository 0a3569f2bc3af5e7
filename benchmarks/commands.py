"""The command line: how fast it starts, and what 10⁷ rows in a Parquet file cost it.

`python -m benchmarks commands`; each command is a process of its own, whose peak of memory
includes the interpreter and its libraries.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from benchmarks.measure import Settings
from benchmarks.problems import BANDWIDTH, RANK
from benchmarks.report import Result, Table, Threshold
from benchmarks.scale import EndlessSpirals, write_parquet

PROGRAM = Path(sysconfig.get_path("scripts")) / "ksc"
ROWS = 10_000_000
#: A new process starts with the peak of the one that starts it, so a small one does that.
STARTER = """
import os, sys, time
start = time.perf_counter()
_, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
wall = time.perf_counter() - start
print(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(settings: Settings) -> Result:
    """Run the commands one after the other on the same file."""
    size = settings.points(ROWS, least=20_000)
    known = ("-k", "2", "--bandwidth", str(BANDWIDTH), "--max-rank", str(RANK))
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(EndlessSpirals(size), Path(folder) / "points.parquet")
        lines = {
            "--help": ("--help",),
            "fit, K and bandwidth given": ("fit", "points.parquet", *known, "-o", "model.ksc"),
            "fit, both searched": ("fit", "points.parquet", "-o", "found.ksc"),
            "predict": ("predict", "model.ksc", "points.parquet", "-o", "labels.parquet"),
        }
        rows = [(name, *measured(line, folder)) for name, line in lines.items()]
    table = Table(
        f"{size:,} rows of two columns in a Parquet file",
        ("ksc", "wall (s)", "processor (s)", "peak memory (MB)"),
        rows,
    )
    thresholds = [
        Threshold("start of ksc --help (s)", rows[0][1], None, 0.5),
        Threshold("peak memory of a command (MB)", max(row[3] for row in rows), None, 1000.0),
    ]
    return Result("commands", [table], thresholds)


def measured(line: tuple[str, ...], folder: str) -> tuple[float, float, float]:
    """Return the time, the time of the processors and the peak of memory of a command."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", STARTER, PROGRAM, *line],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    wall, processor, kilobytes = map(float, done.stderr.splitlines()[-1].split())
    return wall, processor, kilobytes * 1024 / 1e6
