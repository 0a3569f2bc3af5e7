"""`ksc info` says what is in a model file."""

import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_info_says_what_is_in_a_model(ksc, files):
    done = ksc("info", files / "model.ksc")
    assert done.code == 0
    for words in ("3 clusters, found in 300 rows and 2 columns", "a, b", "rbf, bandwidth 1", "yes"):
        assert words in done.out
