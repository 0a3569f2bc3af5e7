"""The build backend: that of scikit-build-core, with the last compiled wheel kept.

``pip install .`` compiles for about a minute, and pip keeps no wheel of a folder. Here the wheel
stays in ``build/wheels``, under a hash of all that it is made of: the same files, interpreter,
settings and compiler flags give the same wheel at once. A wheel without the native module is not
kept: the next installation may find a compiler. With ``SPARSEKSC_REQUIRE_NATIVE=1`` there is no
such wheel: the build fails where the compiler does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Any

from scikit_build_core import build

#: What a wheel is made of, in the folder of the project, where pip runs the backend.
SOURCES = ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "src", "packaging")
#: Variables that decide what the compiler makes of it.
VARIABLES = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CMAKE_ARGS", "SPARSEKSC_PURE")
WHEELS = Path("build", "wheels")


def __getattr__(name: str) -> Any:
    """Return the other hooks of the backend, as many as it has."""
    return getattr(build, name)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel, or take the one that was built of the same."""
    kept = kept_wheel(config_settings)
    if kept is not None:
        print(f"Nothing has changed: taking {kept}; remove it to compile again.", flush=True)
        shutil.copyfile(kept, Path(wheel_directory, kept.name))
        return kept.name
    print("Compiling the native module, about a minute on two cores.", flush=True)
    name: str = build.build_wheel(wheel_directory, config_settings, metadata_directory)
    if name.endswith("-none-any.whl") and os.environ.get("SPARSEKSC_REQUIRE_NATIVE") == "1":
        Path(wheel_directory, name).unlink()
        raise SystemExit(
            "The native module was not compiled, and SPARSEKSC_REQUIRE_NATIVE=1 allows no wheel "
            "without it: see what the compiler says above, or unset the variable."
        )
    if name.endswith("-none-any.whl"):
        print(
            "The native module was not compiled: this is a pure wheel, which computes the same "
            "more slowly. sparseksc.show_versions() tells.",
            flush=True,
        )
    else:
        with suppress(OSError):  # a folder that cannot be written
            folder = folder_of(config_settings)
            shutil.rmtree(WHEELS, ignore_errors=True)
            folder.mkdir(parents=True)
            shutil.copyfile(Path(wheel_directory, name), folder / "unfinished")
            os.replace(folder / "unfinished", folder / name)
    return name


def kept_wheel(config_settings: dict[str, Any] | None) -> Path | None:
    """Return the wheel that was built of the same files and settings, if it is there."""
    return next(folder_of(config_settings).glob("*.whl"), None)


def folder_of(config_settings: dict[str, Any] | None) -> Path:
    """Return the folder of the wheel for these files and settings."""
    given = [sys.version, sysconfig.get_platform(), repr(sorted((config_settings or {}).items()))]
    given += [f"{name}={os.environ.get(name)}" for name in VARIABLES]
    digest = hashlib.sha256("\n".join(given).encode())
    for path in sorted(file for source in SOURCES for file in _files(Path(source))):
        content = path.read_bytes()
        digest.update(f"\n{path.as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return WHEELS / digest.hexdigest()[:16]


def _files(path: Path) -> list[Path]:
    """Return a file, or those of a folder and below it, without what Python has compiled."""
    if path.is_dir():
        return [one for one in path.rglob("*") if one.is_file() and one.suffix != ".pyc"]
    return [path] if path.is_file() else []
