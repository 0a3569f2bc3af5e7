"""Numbers for people: as many digits as mean something."""

from __future__ import annotations

from math import floor, isfinite, log10


def decimals(spread: float) -> int | None:
    """Decimal places that show about three digits of a spread; None where that is unreadable."""
    if not isfinite(spread) or spread <= 0.0:
        return None
    places = 2 - floor(log10(spread))
    return max(places, 0) if -5 < places <= 6 else None


def number(value: float, places: int | None = None) -> str:
    """Write a number with ``places`` decimals, or with four digits.

    Examples
    --------
    >>> from sparseksc.report.numbers import number
    >>> number(1234567.0), number(0.000125), number(-2.5), number(3.2e-9), number(float("nan"))
    ('1,234,567', '0.000125', '−2.5', '3.2e−9', '–')
    """
    if not isfinite(value):
        return "–"
    size = abs(value)
    if size < 1e15 and places is not None:
        text = f"{value:,.{places}f}"
    elif value == 0.0:
        text = "0"
    elif 1e-4 <= size < 1e9:
        text = f"{value:,.{max(0, 3 - floor(log10(size)))}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        digits, _, power = f"{value:.2e}".partition("e")
        text = f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
    if not any(digit in text for digit in "123456789"):
        text = text.removeprefix("-")
    return text.replace("-", "−")


def percent(share: float) -> str:
    """Write a share of 1; what is not nothing never looks like nothing.

    Examples
    --------
    >>> from sparseksc.report.numbers import percent
    >>> percent(0.25), percent(0.0004), percent(1.0), percent(0.0), percent(0.99999)
    ('25 %', 'under 0.1 %', '100 %', '0 %', 'over 99.9 %')
    """
    if 0.0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1.0:
        return "over 99.9 %"
    text = f"{100 * share:.1f}".rstrip("0").rstrip(".") if share < 0.1 or share > 0.99 else None
    return f"{text or round(100 * share)} %"


def plural(count: int, thing: str) -> str:
    """Write a count and what is counted.

    Examples
    --------
    >>> from sparseksc.report.numbers import plural
    >>> plural(1, "row"), plural(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def listed(things: list[str]) -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> from sparseksc.report.numbers import listed
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"
