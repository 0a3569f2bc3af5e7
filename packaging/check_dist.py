"""Build the sdist and a wheel, and check them as they would be installed.

    python packaging/check_dist.py            # builds into dist/
    python packaging/check_dist.py --audit D  # checks the files in D alone

The wheel is installed into an empty environment and used outside of the source tree; the wheel that
is built from the sdist has the same files.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SMOKE_TEST = ROOT / "packaging" / "smoke_test.py"


def run(*command: object, cwd: Path = ROOT) -> None:
    """Run a command, which must succeed."""
    print("+", *command, flush=True)
    subprocess.run(list(map(str, command)), cwd=cwd, check=True)


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of this kind."""
    (path,) = folder.glob(pattern)
    return path


def audit(folder: Path) -> None:
    """Check the metadata, the libraries that the wheels need, and the stable ABI."""
    scripts = Path(sys.executable).parent
    run(scripts / "twine", "check", "--strict", *sorted(folder.iterdir()))
    for wheel in folder.glob("*.whl"):
        if "-abi3-" in wheel.name:
            run(scripts / "abi3audit", "--strict", "--report", wheel)
        if "linux" in wheel.name:
            run(scripts / "auditwheel", "show", wheel)


def contents(wheel: Path) -> dict[str, str]:
    """Return the hash of each file, without RECORD, which lists the same."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/RECORD")]
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in names}


def check_same(wheel: Path, other: Path) -> None:
    """Refuse two wheels of different files."""
    left, right = contents(wheel), contents(other)
    differing = sorted(name for name in {*left, *right} if left.get(name) != right.get(name))
    if wheel.name != other.name or differing:
        raise SystemExit(f"{wheel.name} and {other.name}, from the sdist, differ: {differing}")
    print(f"The wheel from the sdist has the same {len(left)} files.")


def check_installation(wheel: Path, folder: Path) -> None:
    """Install a wheel into an empty environment, and use it elsewhere."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    run(python, "-I", SMOKE_TEST, cwd=folder)


def main() -> None:
    """Build and check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--audit", type=Path, help="check the files in this folder alone")
    given = parser.parse_args()
    if given.audit:
        audit(given.audit)
        return
    os.environ["SPARSEKSC_REQUIRE_NATIVE"] = "1"
    dist = ROOT / "dist"
    run(sys.executable, "-m", "build", "--sdist", "--wheel", "--outdir", dist)
    audit(dist)
    wheel, sdist = only(dist, "*.whl"), only(dist, "*.tar.gz")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        check_installation(wheel, folder)
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        unpacked = folder / sdist.name.removesuffix(".tar.gz")
        run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "again", unpacked)
        check_same(wheel, only(folder / "again", "*.whl"))


if __name__ == "__main__":
    main()
