"""Outputs are complete or not there."""

import os
import subprocess
import sys
import time

import pytest

from sparseksc.data import atomic
from sparseksc.data.atomic import atomic_write

needs_locks = pytest.mark.skipif(atomic.fcntl is None, reason="needs locks")


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    target = tmp_path / "result.bin"
    with atomic_write(target) as file:
        file.write(b"half")
        assert not target.exists()
        file.write(b"whole")
    assert target.read_bytes() == b"halfwhole"
    assert os.listdir(tmp_path) == ["result.bin"]


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path):
    target = tmp_path / "result.bin"
    target.write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt), atomic_write(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert target.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["result.bin"]


def test_a_missing_folder_is_named_before_any_work(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="There is no folder"),
        atomic_write(tmp_path / "nowhere" / "result.bin"),
    ):
        raise AssertionError("never reached")


def test_a_link_stays_a_link_and_a_folder_a_folder(tmp_path):
    (tmp_path / "real").write_bytes(b"before")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"after"
    with pytest.raises(IsADirectoryError, match="is a folder"), atomic_write(tmp_path):
        raise AssertionError("never reached")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_is_written_to_and_not_replaced():
    with pytest.raises(OSError, match="No space left"), atomic_write("/dev/full") as file:
        file.write(b"lost")
    assert not os.path.isfile("/dev/full")


@pytest.mark.skipif(os.name != "posix", reason="needs rights of files")
def test_a_file_keeps_the_rights_of_the_one_that_it_replaces(tmp_path):
    target = tmp_path / "model"
    for mode in (0o600, 0o664):
        target.write_bytes(b"old")
        target.chmod(mode)
        with atomic_write(target) as file:
            file.write(b"new")
        assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"new", mode)


def named(machine, ending=".part", drawn="0123abcd"):
    """Name that a temporary file has on some machine."""
    start = drawn + atomic._digest(machine)
    return f".ksc-{start}{atomic._digest(start)}{ending}"


@needs_locks
def test_nothing_that_merely_looks_alike_is_removed(tmp_path):
    here = atomic._machine()
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
    atomic.remove_leftovers(tmp_path)
    assert sorted(os.walk(tmp_path)) == before


@needs_locks
def test_what_another_machine_has_made_stays_for_a_week(tmp_path):
    fresh, old = tmp_path / named("elsewhere"), tmp_path / named("elsewhere", drawn="ffff0000")
    for path in (fresh, old):
        path.write_text("half")
    os.utime(old, (time.time() - 8 * 24 * 3600,) * 2)
    atomic.remove_leftovers(tmp_path)
    assert fresh.exists()
    assert not old.exists()


@needs_locks
def test_many_processes_that_write_to_one_folder_all_succeed(tmp_path):
    code = (
        "import sys\n"
        "from sparseksc.data import atomic\n"
        "from sparseksc.data.atomic import atomic_write\n"
        "for turn in range(300):\n"
        "    atomic._searched.clear()\n"
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
    with pytest.raises(FileNotFoundError), atomic.temporary_file(tmp_path / "nowhere"):
        raise AssertionError("never reached")
    assert not atomic._own


def test_a_process_can_remove_its_own_at_once(tmp_path):
    with (
        atomic.temporary_folder(tmp_path) as folder,
        atomic.temporary_file(tmp_path) as (path, _),
    ):
        (folder / "half").write_text("half")
        atomic.remove_own()
        assert not folder.exists()
        assert not path.exists()
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_emptied_keeps_its_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic.shutil, "rmtree", lambda *rest, **more: None)
    with atomic.temporary_folder(tmp_path) as folder:
        pass
    assert sorted(os.listdir(tmp_path)) == [folder.name, f"{folder.name}.lock"]
    atomic._own.clear()


@needs_locks
def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    path = tmp_path / named(atomic._machine())
    path.write_text("half")
    monkeypatch.setattr(atomic, "_lock", lambda handle: None)
    atomic.remove_leftovers(tmp_path)
    assert path.exists()
