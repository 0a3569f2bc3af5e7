"""Damaged files of every kind are refused in a sentence, or give rows of numbers."""

import sys

import pytest

from tests import fuzz_files

pytest.importorskip("pyarrow")

#: Files in an ordinary run of the tests; `python -m tests.fuzz_files 2000` for more.
N_FILES = 150


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is that of Linux")
def test_damaged_files_give_rows_or_a_sentence():
    outcomes, failures = fuzz_files.fuzz(N_FILES, seed=1)
    assert failures == []
    tried = {ending for ending, _ in outcomes}
    whole = {".npy", ".npz", ".parquet", ".arrow", ".csv", ".jsonl", ".xlsx"}
    assert tried == whole | {".csv.gz", ".csv.xz", ".csv.zst"}
    assert {"refused", "read as other rows"} <= {outcome for _, outcome in outcomes}
