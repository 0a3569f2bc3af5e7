"""Check that a tag, the package, CITATION.cff, CHANGELOG.md and the recipe name the same version.

    python packaging/check_version.py [v1.2.3]

Without a tag, the newest section of CHANGELOG.md may be "Unreleased".
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def found(pattern: str, name: str) -> str:
    """Return what the first match of a pattern in a file holds."""
    match = re.search(pattern, (ROOT / name).read_text("utf-8"), re.MULTILINE)
    if match is None:
        raise SystemExit(f"{name} has no line {pattern!r}.")
    return match[1]


def main(tag: str = "") -> None:
    """Compare the versions."""
    version = found(r'^__version__ = "(.+)"$', "src/sparseksc/_version.py")
    named = {"CITATION.cff": found(r"^version: (.+)$", "CITATION.cff")}
    named["the conda recipe"] = found(r'^  version: "(.+)"$', "packaging/conda/recipe.yaml")
    section = found(r"^## \[?([^\]\s]+)", "CHANGELOG.md")
    if tag or section != "Unreleased":
        named["CHANGELOG.md"] = section
    if tag:
        named[f"the tag {tag}"] = tag.removeprefix("v")
    for place, other in named.items():
        if other != version:
            raise SystemExit(f"The version is {version}, but {place} has {other}.")
    print(f"Version {version}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
