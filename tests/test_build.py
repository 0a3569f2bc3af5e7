"""The build backend keeps the wheel that it has built."""

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


def wheel(folder, out):
    """Build a wheel with pip; return its bytes and what was said."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-v", "-w", out, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)
    if "No matching distribution" in done.stderr or "NewConnectionError" in done.stderr:
        pytest.skip("needs an index of packages")
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = out.glob("*.whl")
    return file.read_bytes(), done.stdout + done.stderr


@pytest.mark.slow
def test_the_same_files_are_built_once(tmp_path):
    if not BACKEND.exists():
        pytest.skip("needs the folder of the project")
    folder = tmp_path / "tiny"
    (folder / "src").mkdir(parents=True)
    (folder / "packaging").mkdir()
    shutil.copy(BACKEND, folder / "packaging")
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "src" / "data.txt").write_text("before")
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
