"""The manual of the command line shows what really happens."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="needs the manual in docs/")
#: Pages with commands, and which of them they show.
PAGES = {
    "command-line.md": {"fit", "predict", "info", "tune", "report", "segment"},
    "tables.md": {"fit", "predict"},
}
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(page):
    """Commands of a page and what they print."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for example in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, printed = example.partition("\n")
            yield line, printed


@pytest.mark.parametrize("page", PAGES)
def test_the_manual_shows_what_really_happens(ksc, page, tmp_path):
    for needed in ("pandas", "bokeh", "PIL", "matplotlib"):
        pytest.importorskip(needed)
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    checker = doctest.OutputChecker()
    seen = set()
    for line, printed in examples(page):
        if line.startswith("ksc "):
            done = ksc(*shlex.split(line)[1:])
            found = done.out + done.err
            seen.add(line.split()[1])
        else:
            run = subprocess.run(
                ["bash", "-c", line],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                check=True,
            )
            found = run.stdout + run.stderr
        assert checker.check_output(printed, found, LOOSELY), f"{line}\n{found}"
    assert seen == PAGES[page]
    for block in re.findall(
        r"^```python\n(.*?)^```", (DOCS / page).read_text("utf-8"), re.M | re.S
    ):
        exec(compile(block, page, "exec"), {})
