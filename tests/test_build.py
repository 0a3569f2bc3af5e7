"""The build backend keeps the wheel that it has built, and says where it is a pure one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BACKEND = Path(__file__).resolve().parents[1] / "packaging" / "cached_wheel.py"

PROJECT = """
[build-system]
requires = ["scikit-build-core>=0.11"]
build-backend = "cached_wheel"
backend-path = ["packaging"]
[project]
name = "tiny"
version = "1"
"""
CMAKE = """
cmake_minimum_required(VERSION 3.26...3.31)
project(tiny LANGUAGES NONE)
install(FILES src/data.txt DESTINATION tiny)
"""


#: What pyproject.toml of the package says about a compiler that fails.
FALLBACK = """
[[tool.scikit-build.overrides]]
if.failed = true
wheel.cmake = false
wheel.py-api = "py3"
"""


def run_pip(folder, out, **variables):
    """Build a wheel with pip; return what it did."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-v", "-w", out, folder]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=250,
        env={**os.environ, **variables},
    )  # fmt: skip
    if "No matching distribution" in done.stderr or "NewConnectionError" in done.stderr:
        pytest.skip("needs an index of packages")
    return done


def wheel(folder, out):
    """Build a wheel; return its bytes and what was said."""
    done = run_pip(folder, out)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = out.glob("*.whl")
    return file.read_bytes(), done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    """A project with the backend, and nothing to compile."""
    if not BACKEND.exists():
        pytest.skip("needs the folder of the project")
    folder = tmp_path / "tiny"
    (folder / "src").mkdir(parents=True)
    (folder / "packaging").mkdir()
    shutil.copy(BACKEND, folder / "packaging")
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "src" / "data.txt").write_text("before")
    return folder


@pytest.mark.slow
def test_a_compiler_that_fails_leaves_a_pure_wheel_unless_that_is_forbidden(folder, tmp_path):
    (folder / "pyproject.toml").write_text(PROJECT + FALLBACK)
    (folder / "CMakeLists.txt").write_text(CMAKE + 'message(FATAL_ERROR "no compiler")')
    done = run_pip(folder, tmp_path / "out", SPARSEKSC_REQUIRE_NATIVE="1")
    assert done.returncode != 0
    assert "SPARSEKSC_REQUIRE_NATIVE=1 allows no wheel" in done.stdout + done.stderr
    assert not list(tmp_path.glob("out/*.whl"))
    _, said = wheel(folder, tmp_path / "out")
    assert "this is a pure wheel" in said
    assert [path.name for path in tmp_path.glob("out/*.whl")] == ["tiny-1-py3-none-any.whl"]
    assert not list(folder.glob("build/wheels/*/*.whl"))


@pytest.mark.slow
def test_the_same_files_are_built_once(folder, tmp_path):
    first, said = wheel(folder, tmp_path / "first")
    assert "Compiling" in said and "Nothing has changed" not in said
    again, said = wheel(folder, tmp_path / "again")
    assert "Nothing has changed" in said and "Configuring CMake" not in said
    assert again == first
    (folder / "src" / "data.txt").write_text("afterwards")
    other, said = wheel(folder, tmp_path / "other")
    assert "Compiling" in said and "Nothing has changed" not in said
    assert other != first
    assert len(list(folder.glob("build/wheels/*/*.whl"))) == 1
