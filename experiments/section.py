"""A section of the page: words, tables, thresholds and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report import Table, Threshold


@dataclass(frozen=True)
class Section:
    """What one experiment has to show.

    ``why`` explains where and why the numbers differ from the paper's; ``figure`` is the name of
    a picture in the output folder.
    """

    title: str
    text: str
    tables: Sequence[Table] = ()
    thresholds: Sequence[Threshold] = ()
    why: str = ""
    figure: str = ""
