"""From a fitted model and data to a file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sparseksc._typing import StrPath
from sparseksc.data.adapters import require_output
from sparseksc.data.atomic import atomic_write
from sparseksc.report.facts import gather
from sparseksc.report.page import render


def write_report(
    estimator: Any,
    X: Any,
    path: StrPath,
    *,
    title: str | None = None,
    command: str | None = None,
    ids: Sequence[Any] | None = None,
) -> None:
    """Write a page about a clustering that anybody can read in a browser.

    The page is a single HTML file that loads nothing from the network: sizes and profiles of the
    clusters, figures, memberships, the search for the number of clusters, warnings, parameters
    and the code that repeats the result.

    Parameters
    ----------
    estimator : KernelSpectralClustering
        Fitted, or loaded from a file.
    X : array-like of shape (n_samples, n_features), Source, or Dask collection
        The rows to describe, usually those of the training. It is read twice: cluster sizes,
        means and memberships come from all rows, medians and figures from a uniform sample.
        Features are shown in the units of ``X``.
    path : path
        The file to write; it appears when it is complete.
    title : str, optional
        Heading of the page.
    command : str, optional
        The command that repeats the result, if it was not Python code.
    ids : sequence of length n_samples, optional
        Names of the rows; by default the index of a pandas data frame, or row numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparseksc import KernelSpectralClustering
    >>> from sparseksc.datasets import make_spirals
    >>> from sparseksc.report import write_report
    >>> X, _ = make_spirals(500, random_state=0)
    >>> model = KernelSpectralClustering(2, bandwidth=0.02, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "report.html"
    ...     write_report(model, X, page, title="Two spirals")
    ...     "2 clusters" in page.read_text(encoding="utf-8")
    True
    """
    _require_extra()
    require_output(path, X, estimator)
    # What can be wrong with the path is found before the work.
    with atomic_write(path) as file:
        page = render(gather(estimator, X, ids), title, command)
        file.write(page.encode("utf-8", "replace"))


def _require_extra() -> None:
    for package in ("matplotlib", "bokeh", "jinja2"):
        try:
            import_module(package)
        except ImportError:
            raise ImportError(
                f"Reports need {package}: install it, or sparseksc with the extra 'report'."
            ) from None
