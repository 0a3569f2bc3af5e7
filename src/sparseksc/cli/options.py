"""Options that commands share, and how their values are read.

Parameters of the model have their names, defaults and help from the table of parameters, which
imports nothing, so that help and completion answer at once.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from sparseksc.config.domains import Domain, Flag, Fraction, Integer, OneOf, Share, check_value
from sparseksc.config.parameters import PARAMETERS

#: Largest number of candidates that a range may stand for.
MOST_CANDIDATES = 1000

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


def cluster_numbers(text: str) -> Any:
    """Read ``auto``, a number, a range such as ``2..10`` or a list such as ``2,4,8``.

    Examples
    --------
    >>> from sparseksc.cli.options import cluster_numbers
    >>> cluster_numbers("auto"), cluster_numbers("3"), cluster_numbers("2..5")
    ('auto', 3, [2, 3, 4, 5])
    """
    if text == "auto":
        return text
    try:
        first, dots, last = text.partition("..")
        if dots:
            start, stop = int(first), int(last)
            numbers = list(range(start, min(stop, start + MOST_CANDIDATES) + 1))
        else:
            numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(
            f"{text!r} must be a number of clusters, a range such as 2..10, a list such as 2,4,8, "
            "or auto."
        )
    if len(numbers) > MOST_CANDIDATES:
        raise click.BadParameter(f"{text!r} stands for more than {MOST_CANDIDATES} numbers.")
    return numbers if len(numbers) > 1 else numbers[0]


def bandwidths(text: str) -> Any:
    """Read ``auto``, a positive number, or a list of candidates such as ``0.1,1,10``."""
    if text == "auto":
        return text
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0.0 < number < float("inf") for number in numbers):
        raise click.BadParameter(
            f"{text!r} must be a positive number, a list of candidates such as 0.1,1,10, or auto."
        )
    return numbers if len(numbers) > 1 else numbers[0]


def integer_or_auto(text: str) -> int | str:
    """Read a number of at least 1, or the word auto."""
    if text != "auto" and not (text.isdecimal() and int(text) >= 1):
        raise click.BadParameter(f"{text!r} must be a number of at least 1, or auto.")
    return text if text == "auto" else int(text)


def share_or_auto(text: str) -> float | str:
    """Read a share of the rows, or the word auto."""
    try:
        share = check_value("noise", text if text == "auto" else float(text), Share())
    except ValueError:
        wrong = f"{text!r} must be a share above 0 and below 1, or auto."
        raise click.BadParameter(wrong) from None
    return cast(float | str, share)


def column_names(text: str) -> list[str]:
    """Read names separated by commas; a name with a comma goes into double quotes.

    Examples
    --------
    >>> from sparseksc.cli.options import column_names
    >>> column_names('a, b,"c,d"')
    ['a', 'b', 'c,d']
    """
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        names = []
    if not names or not all(names):
        raise click.BadParameter(f"{text!r} must be names separated by commas.")
    return names


def delimiter(text: str) -> str:
    """Read one character, or the word tab."""
    if text in ("tab", r"\t"):
        return "\t"
    if len(text) != 1 or text in '"\r\n':
        raise click.BadParameter(f"{text!r} must be one character, or tab.")
    return text


def together(*options: Decorator[Any]) -> Decorator[Any]:
    """Add several options to a command, in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


#: A file that is read; ``-`` is CSV on standard input.
FILE = click.Path(dir_okay=True, allow_dash=True)

data_files = click.argument("data", nargs=-1, required=True, type=FILE)

data_options = together(
    click.option(
        "--columns", type=column_names, metavar="A,B,...", help="Columns to use; all by default."
    ),
    click.option(
        "--id",
        "ids",
        type=column_names,
        metavar="A,B,...",
        help="Columns that name the rows: not clustered.",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a CSV holds names; they are expected by default.",
    ),
    click.option(
        "--separator",
        "--delimiter",
        "delimiter",
        type=delimiter,
        metavar="CHARACTER",
        help="What separates the fields of a CSV, or tab; found in its first lines by default.",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="The mark in the numbers of a CSV; found in its first lines by default.",
    ),
    click.option("--charset", help="Encoding of a text file; UTF-8, UTF-16 or cp1252 by default."),
)

table_options = together(
    click.option(
        "--drop-columns", type=column_names, metavar="A,B,...", help="Columns to leave out."
    ),
    click.option(
        "--categorical",
        type=column_names,
        metavar="A,B,...",
        help="Columns of numbers that are codes.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["impute", "drop", "error"]),
        default="impute",
        show_default=True,
        help="What to do with missing values: fill them in, leave their rows out, or refuse them.",
    ),
    click.option("--numeric-only", is_flag=True, help="Leave out columns of text and dates."),
)

append_option = click.option(
    "--append", is_flag=True, help="Write the labels beside all columns of the data."
)

#: Options that say how files are read: arguments of ``open_dataset``.
REQUEST = ("columns", "ids", "header", "delimiter", "decimal")


def data_request(options: dict[str, Any]) -> dict[str, Any]:
    """Take what is asked of the files out of the options of a command."""
    # --encoding is that of the clusters.
    return {name: options.pop(name) for name in REQUEST} | {"encoding": options.pop("charset")}


def table_request(options: dict[str, Any]) -> dict[str, Any]:
    """Take what is to become of the columns out of the options of a command."""
    return {
        "drop_columns": options.pop("drop_columns") or [],
        "categorical": options.pop("categorical") or [],
        "missing": options.pop("missing"),
        "numeric_only": options.pop("numeric_only"),
    }


def parameter_option(name: str, **more: Any) -> Decorator[Any]:
    """Make the option of a parameter, from its entry in the table."""
    entry = PARAMETERS[name]
    settings = {"help": entry.help, "default": entry.default, **_type_of(entry.domain), **more}
    settings["show_default"] = settings["default"] not in (None, False)
    return click.option(f"--{name.replace('_', '-')}", **settings)


def _type_of(domain: Domain) -> dict[str, Any]:
    """Return how the values of a domain are read."""
    match domain:
        case OneOf(names):
            # A kernel matrix is not a table of rows.
            return {"type": click.Choice([name for name in names if name != "precomputed"])}
        case Integer(_, others):
            return {"type": integer_or_auto if "auto" in others else int}
        case Fraction():
            return {"type": click.FloatRange(0.0, 1.0)}
        case Share():
            return {"type": share_or_auto}
        case Flag():
            return {"is_flag": True}
    return {}


#: Parameters that every training has; the rest is for those who write Python.
MODEL_PARAMETERS = (
    "scale",
    "kernel",
    "n_neighbors",
    "metric",
    "max_rank",
    "tol",
    "pivoting",
    "encoding",
    "criterion",
    "noise",
)

model_options = together(
    parameter_option("scale"),
    parameter_option("kernel"),
    click.option("--degree", type=int, help="Degree of the polynomial kernel."),
    click.option("--coef0", type=float, help="Constant of the polynomial kernel."),
    parameter_option("n_neighbors", metavar="S"),
    parameter_option("metric"),
    parameter_option("max_rank", metavar="R"),
    parameter_option("tol"),
    parameter_option("pivoting"),
    parameter_option("encoding"),
    parameter_option("criterion"),
    parameter_option("noise", metavar="SHARE"),
)


def numbers_option(name: str, default: str, help: str) -> Decorator[Any]:
    """Make the option ``-k``: how many clusters or segments."""
    return click.option(
        "-k",
        name,
        type=cluster_numbers,
        metavar="K",
        default=default,
        show_default=True,
        help=help,
    )


def bandwidth_option(help: str = PARAMETERS["bandwidth"].help) -> Decorator[Any]:
    """Make the option ``--bandwidth``."""
    return click.option(
        "--bandwidth",
        type=bandwidths,
        metavar="H",
        default="auto",
        show_default=True,
        help=help,
    )


seed_option = parameter_option("random_state", type=click.IntRange(0, 2**32 - 1), default=0)
jobs_option = parameter_option("n_jobs")
memory_option = parameter_option("memory_limit", metavar="SIZE")

spreadsheet_option = click.option(
    "--spreadsheet",
    is_flag=True,
    help="In CSV, put an apostrophe before ids that a spreadsheet would take for a formula.",
)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else."
)

debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show where an error came from."
)

ending_options = together(json_option, debug_option)


def model_parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Take the parameters of the estimator out of the options of a command."""
    parameters = {name: options.pop(name) for name in MODEL_PARAMETERS}
    polynomial = {name: options.pop(name) for name in ("degree", "coef0")}
    given = {name: value for name, value in polynomial.items() if value is not None}
    if given and parameters["kernel"] != "polynomial":
        raise click.UsageError(f"--{next(iter(given))} is for --kernel polynomial.")
    return {**parameters, "kernel_params": given or None}
