"""The tree of the package: few and short files, each with a test file at the same place."""

import re
from pathlib import Path

import pytest

import sparseksc

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(sparseksc.__file__).resolve().parent
FOLDERS = sorted({path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")})
MOST_FILES, MOST_LINES = 14, 450
#: Modules without a test file of their own, and why.
WITHOUT_TESTS = {
    "_typing.py": "names of types",
    "_version.py": "one constant, which is tested here",
    "onnx.py": "hands on what persistence/onnx.py has",
    "search/constants.py": "constants alone",
}


def modules():
    """Names of all modules, as paths in the package."""
    found = (path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
    return sorted(name for name in found if not name.endswith("__init__.py"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_has_few_files(folder):
    names = [path.name for path in (PACKAGE / folder).glob("*.py")]
    assert len(names) <= MOST_FILES, sorted(names)


def test_no_file_is_long():
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {path.name: length for path, length in lengths.items() if length > MOST_LINES} == {}


def test_every_module_has_a_test_file_at_the_same_place():
    tests = ROOT / "tests"
    missing = set()
    for name in modules():
        path = Path(name)
        if not (tests / path.parent / f"test_{path.stem.lstrip('_')}.py").exists():
            missing.add(name)
    assert missing == set(WITHOUT_TESTS)


def test_the_version_is_the_same_everywhere():
    version = re.escape(sparseksc.__version__)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {version}$", citation, re.MULTILINE)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## .*$", changes, re.MULTILINE)[0]
    assert re.match(rf"## \[?(Unreleased|{version})\]?", newest)
