"""Print the oldest dependencies that pyproject.toml allows, for ``pip install -r``."""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"

for dependency in tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"]:
    print(dependency.replace(">=", "==") + ".*")
