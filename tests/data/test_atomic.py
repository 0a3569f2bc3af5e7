"""Outputs are complete or not there."""

import os

import pytest

from sparseksc.data.atomic import atomic_write


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
