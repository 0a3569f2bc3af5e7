"""Numbers for people."""

import pytest

from sparseksc.report.numbers import decimals, number

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


@pytest.mark.parametrize(
    "value, places, text",
    [
        (0.5, 2, "0.50"),
        (-0.0001, 2, "0.00"),
        (123456.7, 0, "123,457"),
        (1e20, 2, "1e20"),
        # Rounded to three digits, these have no exponent.
        (9.9996e-5, None, "1e−4"),
        (999_999_999_999_999.9, None, "1e15"),
    ],
)
def test_numbers_for_people(value, places, text):
    assert number(value, places) == text


def test_decimals_follow_the_spread():
    assert [decimals(spread) for spread in (0.0, 300.0, 1.5, 0.02, 1e-9)] == [None, 0, 2, 4, None]
