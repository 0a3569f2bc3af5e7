"""Limits that users set, and the memory that is free."""

import ctypes
import sys

import numpy as np
import pytest

from sparseksc.execution.memory import GUESS, free_memory, parse_bytes, release_memory

V1, V2 = "sys/fs/cgroup/memory", "sys/fs/cgroup"
needs_linux = pytest.mark.skipif(sys.platform == "darwin", reason="macOS has neither of the files")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("1.5 gb", 1_500_000_000),
        ("64MiB", 2**26),
        ("100", 100),
        (5e6, 5 * 10**6),
        (np.int64(2**40), 2**40),
        (np.int32(7), 7),
        (np.float32(2.5e6), 2_500_000),
        ("1e3", 1000),
        (".5kB", 500),
    ],
)
def test_limits_are_numbers_or_texts_with_a_unit(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("bad", ["lots", "2 XB", "-1GB", 0, -5, True, "1.2.3GB", []])
def test_other_limits_are_refused(bad):
    with pytest.raises(ValueError, match="memory_limit must be"):
        parse_bytes(bad)


@pytest.mark.parametrize("text", ["", ".", "inf", "nan", "1e400", "1e400GB", "-1", "1e-3", "٣GB"])
def test_texts_that_are_no_finite_number_of_bytes_are_refused(text):
    with pytest.raises(ValueError, match="memory_limit must be"):
        parse_bytes(text)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 0.5, np.int64(0), np.float32("nan")])
def test_numbers_that_are_no_bytes_are_refused(number):
    with pytest.raises(ValueError, match="memory_limit must be"):
        parse_bytes(number)


def test_without_a_limit_half_of_the_free_memory_is_taken():
    assert 10**6 < parse_bytes(None) < 2**50


@pytest.fixture
def system(tmp_path):
    """A function that lays out files of a system with 8,000 kB of free memory."""

    def lay_out(files):
        for name, content in {"proc/meminfo": MEMINFO, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path

    return lay_out


MEMINFO = """MemTotal:       16000 kB
MemFree:         2000 kB
MemAvailable:    8000 kB
Buffers:          500 kB
"""
AVAILABLE = 8000 * 1024


def v2(group, most, used=0):
    return {f"{V2}/{group}/memory.max": f"{most}\n", f"{V2}/{group}/memory.current": f"{used}\n"}


def v1(group, most, used=0):
    return {
        f"{V1}/{group}/memory.limit_in_bytes": f"{most}\n",
        f"{V1}/{group}/memory.usage_in_bytes": f"{used}\n",
    }


IN_V2 = {"proc/self/cgroup": "0::/user/shell\n"}
IN_V1 = {"proc/self/cgroup": "7:cpu,cpuacct:/elsewhere\n5:memory:/user/shell\n"}


@needs_linux
@pytest.mark.parametrize(
    ("files", "free"),
    [
        pytest.param({}, AVAILABLE, id="no groups"),
        pytest.param(IN_V2, AVAILABLE, id="a group without files"),
        pytest.param({**IN_V2, **v2("user/shell", 10**6)}, 10**6, id="a limit"),
        pytest.param({**IN_V2, **v2("user/shell", 10**6, 400_000)}, 600_000, id="what is used"),
        pytest.param({**IN_V2, **v2("user/shell", 10**6, 2 * 10**6)}, 0, id="more than the limit"),
        pytest.param({**IN_V2, **v2("user/shell", "max", 5)}, AVAILABLE, id="no limit"),
        pytest.param({**IN_V2, **v2("user/shell", 10**9)}, AVAILABLE, id="more than there is"),
        pytest.param(
            {**IN_V2, **v2("user/shell", 5 * 10**6), **v2("user", 3 * 10**6, 10**6)},
            2 * 10**6,
            id="a lower limit above",
        ),
        pytest.param(
            {**IN_V2, **v2("user/shell", "max"), **v2("", 10**6)}, 10**6, id="a limit at the root"
        ),
        pytest.param({**IN_V2, **v2("user/other", 10)}, AVAILABLE, id="a limit of others"),
        pytest.param(v2("", 10**6), 10**6, id="a container that hides its group"),
        pytest.param({**IN_V1, **v1("user/shell", 10**6, 1000)}, 999_000, id="version 1"),
        pytest.param(
            {**IN_V1, **v1("user/shell", 2**63 - 4096), **v1("user", 10**6)},
            10**6,
            id="version 1, a lower limit above",
        ),
        pytest.param({**IN_V1, **v1("elsewhere", 10)}, AVAILABLE, id="version 1, another group"),
        pytest.param(
            {**IN_V2, f"{V2}/user/shell/memory.max": "1000\n"}, AVAILABLE, id="use is not told"
        ),
        pytest.param({"proc/self/cgroup": "nonsense\n"}, AVAILABLE, id="a damaged list"),
    ],
)
def test_free_memory_is_that_of_the_system_or_of_the_group_if_that_has_less(system, files, free):
    assert free_memory(system(files)) == free


@needs_linux
@pytest.mark.parametrize("meminfo", [None, "", "MemTotal: 5 kB\n", "MemAvailable: many kB\n"])
def test_a_system_that_does_not_tell_has_its_free_pages_or_a_guess(meminfo, tmp_path, monkeypatch):
    if meminfo is not None:
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc" / "meminfo").write_text(meminfo)
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": 1000}.get)
    assert free_memory(tmp_path) == 4_096_000

    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr("os.sysconf", unknown)
    assert free_memory(tmp_path) == GUESS


def test_memory_is_released_wherever_the_library_runs(monkeypatch):
    release_memory()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())  # a C library without the function
    release_memory()
