"""Data in files, and ksc as a program."""

import os
import subprocess
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(sysconfig.get_path("scripts")) / "ksc"

needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="needs the installed program ksc")

#: Options of fit that need no search.
FAST = ("-k", "2", "--bandwidth", "1")


def two_groups(n=60):
    """Points in two far groups."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    X[n // 2 :] += 20.0
    return X


def write_csv(path, X, columns="name,a,b", names=None):
    """Write points with names as CSV."""
    names = [f"n{row}" for row in range(len(X))] if names is None else names
    lines = [f"{name},{a!r},{b!r}" for name, (a, b) in zip(names, X.tolist(), strict=True)]
    path.write_text("\n".join([columns, *lines]) + "\n", encoding="utf-8")


def run(folder, *arguments, **more):
    """Run ksc in a folder, and return the finished process with its outputs as bytes."""
    if not {"stdin", "input"} & set(more):
        more["stdin"] = subprocess.DEVNULL
    if "stdout" not in more:
        more["stdout"] = subprocess.PIPE
    return subprocess.run(
        [PROGRAM, *map(os.fspath, arguments)],
        cwd=folder,
        stderr=subprocess.PIPE,
        check=False,
        timeout=120,
        **more,
    )


def start(folder, *arguments, **more):
    """Start ksc in a folder."""
    return subprocess.Popen(
        [PROGRAM, *map(os.fspath, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def wait_until(condition, process, seconds=60.0):
    """Wait for something that a running process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def contents(folder):
    """Name and bytes of each file of a folder and below it."""
    return {
        os.path.relpath(path, folder): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }
