"""Labels on standard output."""

import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_fit_writes_labels_to_standard_output_and_words_to_standard_error(ksc, files, fast):
    done = ksc("fit", files / "points.npy", *fast, "--labels", "-")
    assert done.code == 0
    assert done.out.startswith("label\n")
    assert len(done.out.splitlines()) == 301
    assert done.err.startswith("3 clusters in 300 rows")
