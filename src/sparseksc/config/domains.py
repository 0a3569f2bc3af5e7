"""Domains of parameters: what a value may be, and the sentence for one that may not.

Nothing is imported but the standard library, so that the command line can show its help without
waiting for NumPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeAlias


@dataclass(frozen=True)
class OneOf:
    """One of a few names; or a function, if that is allowed."""

    names: tuple[str, ...]
    or_function: bool = False


@dataclass(frozen=True)
class Integer:
    """An integer of at least ``least``, or one of some other values that stand for one."""

    least: int
    others: tuple[Any, ...] = ()
    also: str = ""


@dataclass(frozen=True)
class Fraction:
    """A number between 0 and 1; greater than 0 if ``positive``."""

    positive: bool = False


@dataclass(frozen=True)
class Share:
    """A number above 0 and below 1, "auto" or None."""


@dataclass(frozen=True)
class Flag:
    """True or False."""


@dataclass(frozen=True)
class Clusters:
    """A number of clusters, several candidates, or "auto" for ``automatic``."""

    automatic: range


@dataclass(frozen=True)
class Bandwidths:
    """A positive number or one for each feature; candidates or "auto" if ``several``.

    How many features there are is known with the data: see
    :func:`sparseksc.config.checks.candidates_of_bandwidth`.
    """

    several: bool


@dataclass(frozen=True)
class Arguments:
    """A mapping from names to values, or None."""


@dataclass(frozen=True)
class Seed:
    """What seeds random draws in scikit-learn: an integer, a generator or None."""


@dataclass(frozen=True)
class Size:
    """A number of bytes, a text such as "2GB", or None; read where it is used."""


Domain: TypeAlias = (
    OneOf | Integer | Fraction | Share | Flag | Clusters | Bandwidths | Arguments | Seed | Size
)


def check_value(name: str, value: Any, domain: Domain) -> Any:
    """Return a value in its plain form, or raise a ValueError that says what is allowed.

    Examples
    --------
    >>> from sparseksc.config.domains import Clusters, Fraction, check_value
    >>> check_value("n_clusters", (5, 3), Clusters(range(2, 11)))
    [3, 5]
    >>> check_value("tol", 2.0, Fraction())
    Traceback (most recent call last):
        ...
    ValueError: tol must be a number between 0 and 1, got 2.0.
    """
    match domain:
        case OneOf(names, or_function):
            if not (or_function and callable(value)) and value not in names:
                return check_choice(name, value, names)
        case Integer(least, others, also):
            if isinstance(value, bool) or value not in others:
                return check_integer(name, value, least, also)
        case Fraction(positive):
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not 0.0 <= float(value) <= 1.0 or (positive and value == 0.0):
                allowed = "above 0 and at most 1" if positive else "between 0 and 1"
                raise ValueError(f"{name} must be a number {allowed}, got {value!r}.")
            return float(value)
        case Share():
            if value is None or (isinstance(value, str) and value == "auto"):
                return value
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not 0.0 < float(value) < 1.0:
                raise ValueError(
                    f"{name} must be a share above 0 and below 1, 'auto' or None, got {value!r}."
                )
            return float(value)
        case Flag():
            if type(value).__name__ not in ("bool", "bool_"):
                raise ValueError(f"{name} must be True or False, got {value!r}.")
        case Clusters(automatic):
            if isinstance(value, str) and value == "auto":
                return list(automatic)
            if isinstance(value, list | tuple | range) or getattr(value, "ndim", 0) == 1:
                if len(value) == 0:
                    raise ValueError(f"{name} must not be an empty list of candidates.")
                if any(isinstance(one, Integral) and one == 1 for one in value):
                    raise ValueError(
                        f"{name} must be a list of integers of at least 2, got 1 among them: leave "
                        "it out, or use 'auto', which also finds a single cluster."
                    )
                return sorted({check_integer(name, one, 2) for one in value})
            return [check_integer(name, value, 1, ", a list of them or 'auto'")]
        case Arguments():
            if value is not None and not isinstance(value, Mapping):
                raise ValueError(f"{name} must be a dict or None, got {value!r}.")
        case Seed():
            given = value is None or type(value).__name__ in ("RandomState", "Generator")
            if not given and not (isinstance(value, Integral) and int(value) >= 0):
                raise ValueError(
                    f"{name} must be a non-negative integer, a RandomState, a Generator or None, "
                    f"got {value!r}."
                )
    return value


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """One of a few names; for a misspelt one the error names the nearest.

    Examples
    --------
    >>> from sparseksc.config.domains import check_choice
    >>> check_choice("pivoting", "gredy", ["greedy", "block"])
    Traceback (most recent call last):
        ...
    ValueError: pivoting must be one of 'greedy', 'block', got 'gredy'. Did you mean 'greedy'?
    """
    allowed = list(allowed)
    if isinstance(value, str) and value in allowed:
        return value
    near: list[str] = []
    if isinstance(value, str) and value:
        start = value.lower()
        near = [choice for choice in allowed if choice.startswith(start)]
        near = near or get_close_matches(start, allowed, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    names = ", ".join(repr(choice) for choice in allowed)
    raise ValueError(f"{name} must be one of {names}, got {value!r}.{hint}")


def check_integer(name: str, value: Any, least: int, also: str = "") -> int:
    """Return an integer (not a boolean) of at least ``least``."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    raise ValueError(f"{name} must be an integer of at least {least}{also}, got {value!r}.")
