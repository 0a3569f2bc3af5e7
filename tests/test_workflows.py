"""The workflows of the forge call make, and nothing that make does not know."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="needs the folder of the project")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
#: What a step may run besides make: it prepares the machine.
PREPARATION = ("echo ", "sudo apt-get ")


def steps():
    """Return name of the workflow, job and step of all of them."""
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            for step in job["steps"]:
                yield path.name, job, step


def targets_of(command, job):
    """Return the targets that a command asks of make, for all values of the matrix."""
    target = re.match(r"make (\S+|\$\{\{.*?\}\})( [A-Z]+=|$)", command)[1]
    if target.startswith("${{"):
        return job["strategy"]["matrix"]["target"]
    return [target]


def test_every_command_is_a_target_of_make():
    seen = set()
    for name, job, step in steps():
        command = step.get("run")
        if command is None or command.startswith(PREPARATION):
            continue
        assert "\n" not in command, (name, command)
        seen |= set(targets_of(command, job))
    assert seen <= TARGETS
    assert {"test", "lint", "docs", "dist", "audit", "changelog", "cross", "emulate"} <= seen


def test_every_action_is_one_commit_whose_version_is_named():
    for path in WORKFLOWS:
        for line in path.read_text("utf-8").splitlines():
            if "uses: " in line:
                pinned = re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)
                assert pinned, (path, line)


def test_only_the_job_that_publishes_may_ask_for_a_token():
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            assert ("id-token" in job.get("permissions", {})) == (name == "publish")


def check_version(*arguments):
    command = [sys.executable, ROOT / "packaging" / "check_version.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_all_files_name_one_version():
    done = check_version()
    assert done.returncode == 0, done.stderr


def test_a_tag_of_another_version_is_refused():
    done = check_version("v999.0")
    assert done.returncode == 1
    assert "The version is" in done.stderr
