"""The program as a process: how fast it starts, and how it ends."""

import os
import pty
import signal
import subprocess
import sys
import termios
import time

import numpy as np
import pytest

from tests.cli.conftest import PROGRAM
from tests.promises.running import start

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="needs the installed program ksc")


def on_a_terminal(line, cwd, **environment):
    """Run with both outputs on a terminal; return all that appears there, and the exit code."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 100))
    process = subprocess.Popen(
        [PROGRAM, *line],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65_536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(leader)
    return seen.decode(), process.wait()


def test_help_starts_without_the_libraries():
    code = (
        "import sys; from sparseksc.cli.main import main; main(['fit', '--help']); "
        "print([name for name in ('numpy', 'sklearn', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
    spent = []
    for _ in range(3):
        before = os.times()
        subprocess.run([PROGRAM, "--help"], capture_output=True, check=True)
        after = os.times()
        # Time of the processor: the machine may be busy with something else.
        spent.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    assert min(spent) < 0.5


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_ends_quietly_and_leaves_nothing(tmp_path, number, code):
    X = np.random.default_rng(0).normal(size=(30_000, 5))
    np.save(tmp_path / "many.npy", X)
    (tmp_path / "model.ksc").write_bytes(b"before")
    process = start(tmp_path, "fit", "many.npy", "-k", "2..30", "-o", "model.ksc", text=True)
    deadline = time.monotonic() + 60
    while not any(name.startswith(".ksc-") for name in os.listdir(tmp_path)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "", "")
    assert sorted(os.listdir(tmp_path)) == ["many.npy", "model.ksc"]
    assert (tmp_path / "model.ksc").read_bytes() == b"before"


def test_a_terminal_has_colours_unless_no_color_is_set(tmp_path):
    line = ["info", "nothing.ksc"]
    coloured, code = on_a_terminal(line, tmp_path)
    assert code == 1
    assert "\x1b[" in coloured
    plain, _ = on_a_terminal(line, tmp_path, NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert "nothing.ksc" in plain


@pytest.mark.slow
def test_a_terminal_has_progress_bars_and_a_pipe_has_none(tmp_path, program):
    pytest.importorskip("tqdm")
    X = np.random.default_rng(0).normal(size=(600_000, 4))
    np.save(tmp_path / "many.npy", X)
    line = ["fit", "many.npy", "-k", "3", "--bandwidth", "1", "--max-rank", "1000", "-o", "m.ksc"]
    line += ["--n-jobs", "1"]
    seen, code = on_a_terminal(line, tmp_path)
    assert code == 0
    assert "rows:" in seen
    assert "%|" in seen
    done = program(*line)
    assert (done.code, done.err) == (0, "")
    assert "%|" not in done.out


def test_a_machine_without_the_extra_is_told_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['click'] = None; "
        "from sparseksc.cli.main import main; sys.exit(main(['--help']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "ksc: The command line needs click and rich: pip install 'sparseksc[cli]'.\n"
    )
