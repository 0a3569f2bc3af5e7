"""Options that commands share, and how their values are read.

Nothing here imports the library, so that help and completion answer at once. The names of
kernels and rules are therefore repeated; a test compares them with the library's.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any, TypeVar

import click

KERNELS = ("rbf", "laplacian", "chi2", "cosine", "linear", "polynomial")
PIVOTING = ("greedy", "weighted", "block", "random", "uniform", "renyi")
ENCODINGS = ("auto", "sign", "direction", "angular", "qr")
CRITERIA = ("auto", "ams", "blf", "bas")
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


def rank(text: str) -> int | str:
    """Read a number of pivots, or the word auto."""
    if text != "auto" and not (text.isdecimal() and int(text) >= 1):
        raise click.BadParameter(f"{text!r} must be a number of at least 1, or auto.")
    return text if text == "auto" else int(text)


def column_names(text: str) -> list[str]:
    """Read names separated by commas; a name with a comma goes into double quotes.

    Examples
    --------
    >>> from sparseksc.cli.options import column_names
    >>> column_names('a, b,"c,d"')
    ['a', 'b', 'c,d']
    """
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
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
        "--delimiter",
        type=delimiter,
        metavar="CHARACTER",
        default=",",
        help="What separates the fields of a CSV.",
    ),
)

model_options = together(
    click.option("--scale", is_flag=True, help="Standardise the columns; kept in the model."),
    click.option(
        "--kernel", type=click.Choice(KERNELS), default="rbf", show_default=True, help="Similarity."
    ),
    click.option("--degree", type=int, help="Degree of the polynomial kernel."),
    click.option("--coef0", type=float, help="Constant of the polynomial kernel."),
    click.option(
        "--max-rank",
        type=rank,
        metavar="R",
        default="auto",
        show_default=True,
        help="Most pivots of the reduced set; auto is 200, or more where clusters need them.",
    ),
    click.option(
        "--tol",
        type=click.FloatRange(0.0, 1.0),
        default=1e-3,
        show_default=True,
        help="Share of the kernel matrix that the pivots may leave out.",
    ),
    click.option(
        "--pivoting",
        type=click.Choice(PIVOTING),
        default="greedy",
        show_default=True,
        help="How pivots are chosen.",
    ),
    click.option(
        "--encoding",
        type=click.Choice(ENCODINGS),
        default="auto",
        show_default=True,
        help="How clusters are read off the scores.",
    ),
    click.option(
        "--criterion",
        type=click.Choice(CRITERIA),
        default="auto",
        show_default=True,
        help="How a search chooses.",
    ),
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


def bandwidth_option(help: str) -> Decorator[Any]:
    """Make the option ``--bandwidth``."""
    return click.option(
        "--bandwidth",
        type=bandwidths,
        metavar="H",
        default="auto",
        show_default=True,
        help=help,
    )


seed_option = click.option(
    "--random-state",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed; the same seed gives the same result.",
)

jobs_option = click.option(
    "--n-jobs", type=int, help="Threads, all cores by default; the result is the same."
)

memory_option = click.option(
    "--memory-limit", metavar="SIZE", help="Such as 2GB; half of the free memory by default."
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
    names = ("scale", "kernel", "max_rank", "tol", "pivoting", "encoding", "criterion")
    parameters = {name: options.pop(name) for name in names}
    polynomial = {name: options.pop(name) for name in ("degree", "coef0")}
    given = {name: value for name, value in polynomial.items() if value is not None}
    if given and parameters["kernel"] != "polynomial":
        raise click.UsageError(f"--{next(iter(given))} is for --kernel polynomial.")
    return {**parameters, "kernel_params": given or None}
