"""Data in files, and ksc as a program."""

import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import contextmanager
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
    """Run ksc in a folder, and return the finished process with its outputs as bytes.

    It is a process of its own, and a new program where more is asked of it. Otherwise it is the
    copy of one that has imported everything already, which takes most of the time of a command.
    """
    command = [os.fspath(PROGRAM), *map(os.fspath, arguments)]
    if not more and hasattr(os, "fork"):
        return run_copy(folder, command)
    if not {"stdin", "input"} & set(more):
        more["stdin"] = subprocess.DEVNULL
    if "stdout" not in more:
        more["stdout"] = subprocess.PIPE
    return subprocess.run(
        command, cwd=folder, stderr=subprocess.PIPE, check=False, timeout=120, **more
    )


def run_copy(folder, command):
    """Run ksc in a copy of a process that has imported all commands."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.promises.imported"])
    with tempfile.TemporaryDirectory() as outputs:
        process = context.Process(target=be_the_program, args=(folder, command, outputs))
        process.start()
        process.join(120)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(command, 120)
        out, err = (Path(outputs, name).read_bytes() for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(command, process.exitcode, out, err)


def be_the_program(folder, command, outputs):
    """Do what the script ksc does, with both outputs in files."""
    from sparseksc.cli.main import entry

    nothing, write = os.open(os.devnull, os.O_RDONLY), os.O_WRONLY | os.O_CREAT
    os.dup2(nothing, 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(os.path.join(outputs, name), write), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
    os.chdir(folder)
    sys.argv = command
    entry()


@contextmanager
def only_ignored(*numbers):
    """Let programs that are started here ignore these signals, and no others.

    Who runs the tests may ignore some (nohup does), and programs inherit that.
    """
    endings = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    wrong = {one for one in endings if signal.getsignal(one) == signal.SIG_IGN} ^ set(numbers)
    handlers = [signal.SIG_IGN if one in numbers else signal.SIG_DFL for one in wrong]
    before = [signal.signal(*pair) for pair in zip(wrong, handlers, strict=True)]
    try:
        yield
    finally:
        for pair in zip(wrong, before, strict=True):
            signal.signal(*pair)


def start(folder, *arguments, ignored=(), **more):
    """Start ksc in a folder."""
    with only_ignored(*ignored):
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
