"""A file has one user at a time."""

import subprocess
import sys

import pytest

from sparseksc.data.lock import FileInUse, sole_use


def test_the_second_user_is_refused_until_the_first_has_ended(tmp_path):
    with sole_use(tmp_path / "run"):
        with pytest.raises(FileInUse, match="Another run is using"), sole_use(tmp_path / "run"):
            pass
    with sole_use(tmp_path / "run"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_was_killed_holds_no_lock(tmp_path):
    code = (
        "import os, signal, sys; from sparseksc.data.lock import sole_use\n"
        "with sole_use(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=False)
    assert done.returncode != 0
    with sole_use(tmp_path / "run"):
        pass
