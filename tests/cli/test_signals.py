"""Signals wait while outputs get their names, and end the program at once the second time."""

import os
import subprocess
import sys

import numpy as np

from tests.promises.running import only_ignored

#: Runs ksc, with a signal whenever a certain function is called.
SCRIPT = """
import os, signal
from sparseksc.cli import main, staging
function = staging.{name}
def interrupted(*arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    return function(*arguments)
staging.{name} = interrupted
main.entry()
"""


def run(folder, name):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[30:] += 20.0
    np.save(folder / "x.npy", X)
    line = ["fit", "x.npy", "-k", "2", "--bandwidth", "1", "-o", "m.ksc", "--labels", "l.csv"]
    code = [sys.executable, "-c", SCRIPT.format(name=name)]
    return ended([*code, *line], folder)


def ended(command, folder):
    with only_ignored():
        return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)


def test_a_signal_between_two_outputs_waits_for_both(tmp_path):
    done = run(tmp_path, "take_place")
    assert (done.returncode, done.stderr) == (143, b"")
    assert sorted(os.listdir(tmp_path)) == ["l.csv", "m.ksc", "x.npy"]


def test_a_signal_before_an_output_is_begun_leaves_nothing(tmp_path):
    done = run(tmp_path, "temporary_folder")
    assert (done.returncode, done.stderr) == (143, b"")
    assert os.listdir(tmp_path) == ["x.npy"]


def test_a_signal_that_was_caught_by_others_ends_it_the_second_time(tmp_path):
    code = (
        "import os, signal, pathlib\n"
        "from sparseksc.cli.signals import install_handlers\n"
        "from sparseksc.data.atomic import temporary_folder\n"
        "install_handlers()\n"
        "with temporary_folder(pathlib.Path()):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except BaseException:\n"
        "        pass\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "print('never reached')\n"
    )
    done = ended([sys.executable, "-c", code], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (143, b"", b"")
    assert os.listdir(tmp_path) == []
