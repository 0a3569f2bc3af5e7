"""Temporary files: which are leftovers, and which are not."""

import os
import subprocess
import sys
import time

import pytest

from sparseksc.data import leftovers

pytestmark = pytest.mark.skipif(leftovers.fcntl is None, reason="needs locks")


def named(machine, ending=".part", drawn="0123abcd"):
    """Name that a temporary file has on some machine."""
    start = drawn + leftovers._digest(machine)
    return f".ksc-{start}{leftovers._digest(start)}{ending}"


def test_nothing_that_merely_looks_alike_is_removed(tmp_path):
    here = leftovers._machine()
    (tmp_path / ".ksc-notes").mkdir()
    (tmp_path / ".ksc-notes" / "todo.txt").write_text("mine")
    real = named(here, ".lock")
    (tmp_path / real.removesuffix(".lock")).mkdir()  # a folder without its lock
    (tmp_path / real.removesuffix(".lock") / "todo.txt").write_text("mine")
    wrong = real[:-6] + ("0" if real[-6] != "0" else "1") + real[-5:]
    for name in (".x.csv.0123456789ab.part", ".ksc-x.part", "ksc-0123", f"{real}.txt", wrong):
        (tmp_path / name).write_text("mine")
    (tmp_path / "target").write_text("mine")
    (tmp_path / named(here, drawn="00000000")).symlink_to("target")
    (tmp_path / named(here, drawn="11111111")).mkdir()
    os.mkfifo(tmp_path / named(here, drawn="22222222"))
    if os.geteuid() == 0:
        theirs = tmp_path / named(here, drawn="33333333")
        theirs.write_text("of another user")
        os.chown(theirs, 65534, 65534)
    before = sorted(os.walk(tmp_path))
    leftovers.remove_leftovers(tmp_path)
    assert sorted(os.walk(tmp_path)) == before


def test_what_another_machine_has_made_stays_for_a_week(tmp_path):
    fresh, old = tmp_path / named("elsewhere"), tmp_path / named("elsewhere", drawn="ffff0000")
    for path in (fresh, old):
        path.write_text("half")
    os.utime(old, (time.time() - 8 * 24 * 3600,) * 2)
    leftovers.remove_leftovers(tmp_path)
    assert fresh.exists()
    assert not old.exists()


def test_many_processes_that_write_to_one_folder_all_succeed(tmp_path):
    code = (
        "import sys\n"
        "from sparseksc.data import leftovers\n"
        "from sparseksc.data.atomic import atomic_write\n"
        "for turn in range(300):\n"
        "    leftovers._searched.clear()\n"
        "    with atomic_write(sys.argv[1]) as file:\n"
        "        file.write(b'whole')\n"
    )
    lines = [[sys.executable, "-c", code, tmp_path / f"result{number}"] for number in range(4)]
    processes = [subprocess.Popen(line, stderr=subprocess.PIPE) for line in lines]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, b"")
    assert sorted(os.listdir(tmp_path)) == [f"result{number}" for number in range(4)]


def test_a_failure_to_create_is_not_remembered(tmp_path):
    with pytest.raises(FileNotFoundError), leftovers.temporary_file(tmp_path / "nowhere"):
        raise AssertionError("never reached")
    assert not leftovers._own


def test_a_process_can_remove_its_own_at_once(tmp_path):
    with (
        leftovers.temporary_folder(tmp_path) as folder,
        leftovers.temporary_file(tmp_path) as (path, _),
    ):
        (folder / "half").write_text("half")
        leftovers.remove_own()
        assert not folder.exists()
        assert not path.exists()
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_emptied_keeps_its_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers.shutil, "rmtree", lambda *rest, **more: None)
    with leftovers.temporary_folder(tmp_path) as folder:
        pass
    assert sorted(os.listdir(tmp_path)) == [folder.name, f"{folder.name}.lock"]
    leftovers._own.clear()


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    path = tmp_path / named(leftovers._machine())
    path.write_text("half")
    monkeypatch.setattr(leftovers, "_lock", lambda handle: None)
    leftovers.remove_leftovers(tmp_path)
    assert path.exists()
