"""Outputs that appear together, or not at all."""

import os

import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_an_output_that_may_not_be_written_is_named(ksc, files, fast, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    done = ksc("fit", files / "points.npy", *fast, "-o", "closed/model.ksc")
    assert (done.code, done.err) == (1, "ksc: closed/model.ksc: Permission denied.\n")
