"""Limits that users set, and the memory that is free."""

import pytest

from sparseksc.execution.memory import parse_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("1.5 gb", 1_500_000_000),
        ("64MiB", 2**26),
        ("100", 100),
        (5e6, 5 * 10**6),
    ],
)
def test_limits_are_numbers_or_texts_with_a_unit(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("bad", ["lots", "2 XB", "-1GB", 0, -5, True, "1.2.3GB", []])
def test_other_limits_are_refused(bad):
    with pytest.raises(ValueError, match="memory_limit must be"):
        parse_bytes(bad)


def test_without_a_limit_half_of_the_free_memory_is_taken():
    assert 10**6 < parse_bytes(None) < 2**50
