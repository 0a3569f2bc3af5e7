"""From statistics of a table to what becomes of each column, and the weights of the features."""

from __future__ import annotations

import re
from math import ceil
from typing import Any

import numpy as np

from sparseksc.data.formats.arrow import LARGEST_EXACT
from sparseksc.data.formats.csv import is_number
from sparseksc.preprocessing.columns import NUMERIC, EncodedColumn
from sparseksc.preprocessing.statistics import TableStatistics
from sparseksc.scaling import Scaling

#: Share of the texts of a column that are numbers, from which the others are taken for faults.
MOSTLY_NUMBERS = 0.9
#: What two different levels count, as a share of the squared median difference of two numbers.
#: Chosen on one half of benchmarks/mixed_tables.py (mean ARI 0.65; 0.62 with 0.2, 0.61 with 1), and
#: the best of these on the other half, too (0.875, 0.869 and 0.857).
MISMATCH = 0.5
#: Numbers with separators of thousands, signs of currencies or units.
MARKED_NUMBER = re.compile(r"[^\w\s]{0,2}\s?[-+]?\d[\d.,'’\s]*(%|[^\W\d]{1,3}|[^\w\s])?")
#: Of these, what no code or name looks like: groups of three digits, decimals, signs.
WRITTEN_NUMBER = re.compile(r"[^\w\s]{0,2}\s?[-+]?\d+([.,'’\s]\d{3})*([.,]\d+)?\s?(%|[^\w\s])?")
WRITTEN_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*"
    r"|[^\W\d]{3,9}\.? \d{1,2},? \d{4}|\d{1,2}\.? [^\W\d]{3,9}\.? \d{4}"
)
#: Rows from which numbers that count them are no coincidence.
COUNTED_ROWS = 20
#: Values up to which numbers have gaps like levels.
FEW_VALUES = 10
#: Median difference of two standard normal numbers, where no column of numbers says another one.
USUAL_DIFFERENCE = 0.9539


class MostlyNumbers(ValueError):
    """A column holds numbers, but for a few texts, which are taken for faults."""

    def __init__(self, column: str, example: str) -> None:
        super().__init__(
            f"Column {column!r} holds numbers, but for values such as {example[:40]!r}: correct "
            "them, leave the column out, or take it as a category."
        )
        self.column = column


def plan_columns(
    statistics: TableStatistics, left_out: dict[str, str], names: list[str], parameters: Any
) -> list[EncodedColumn]:
    """Decide what becomes of each of the columns ``names``; some are ``left_out`` already."""
    least = max(2, ceil(parameters.min_frequency * statistics.n_rows))
    columns = []
    for name in names:
        if name in left_out:
            columns.append(EncodedColumn(name, "left out", left_out[name]))
        elif name in statistics.levels:
            columns.append(_category(name, statistics, least, parameters))
        else:
            columns.append(_number(name, statistics, least, parameters.missing))
    return columns


def _left_out(name: str, reason: str) -> EncodedColumn:
    return EncodedColumn(name, "left out", reason)


def _number(name: str, statistics: TableStatistics, least: int, missing: str) -> EncodedColumn:
    n_missing = statistics.missing(name)
    if n_missing == statistics.n_rows:
        return _left_out(name, "empty")
    _, _, low, high = statistics.spread(name)
    if low == high:
        beyond = abs(low) >= LARGEST_EXACT
        return _left_out(name, "constant once rounded, beyond 2^53" if beyond else "constant")
    counts = statistics.counts_rows(name) and statistics.n_rows >= COUNTED_ROWS
    if counts and statistics.kinds[name] == "number":
        return _left_out(name, "row numbers")
    values = statistics.sampled(name)
    values = values[~np.isnan(values)]
    fill = float(np.median(values)) if len(values) else low
    indicator = missing == "impute" and n_missing >= least
    return EncodedColumn(name, statistics.kinds[name], fill=fill, indicator=indicator)


def _category(name: str, statistics: TableStatistics, least: int, parameters: Any) -> EncodedColumn:
    levels = statistics.levels[name]
    present = statistics.n_rows - levels.n_missing
    if present == 0:
        return _left_out(name, "empty")
    if levels.too_many:
        return _left_out(name, f"more than {len(levels.counts) - 1:,} different texts")
    counts = levels.counts
    asked = name in parameters.categorical
    # Few different numbers are levels, such as numbers of cylinders beside "rotary".
    mostly = len(counts) > FEW_VALUES and levels.n_numbers >= MOSTLY_NUMBERS * present
    if mostly and levels.example and not asked:
        raise MostlyNumbers(name, levels.example)
    ranked = sorted(counts, key=lambda level: (-counts[level], level))
    frequent = [level for level in ranked if counts[level] >= least]
    if len(counts) == 1 and levels.n_missing < least:
        return _left_out(name, "constant")
    if not frequent:
        different = len(counts) == present
        reason = "all different" if different else f"{len(counts):,} rare levels"
        return _left_out(name, reason + _example(ranked))
    covered = sum(counts[level] for level in frequent)
    written = _written(ranked)
    if len(counts) > FEW_VALUES and covered < present / 2 and not asked and written:
        return _left_out(name, f"{written}, such as {ranked[0][:20]!r}")
    most = parameters.max_categories
    kept = frequent if len(ranked) <= most else frequent[: most - 1]
    rest = present - sum(counts[level] for level in kept)
    indicator = parameters.missing == "impute" and levels.n_missing >= least
    return EncodedColumn(
        name, "category", levels=tuple(kept), pooled=rest >= least, indicator=indicator
    )


def _written(levels: list[str]) -> str:
    """Say what texts are to people: numbers with signs or groups of digits, dates; or nothing."""
    for form, words in (
        (WRITTEN_NUMBER, "numbers that are written as texts"),
        (WRITTEN_DATE, "dates that are written in several ways"),
    ):
        if sum(form.fullmatch(level) is not None for level in levels) > len(levels) / 2:
            return words
    return ""


def _example(levels: list[str]) -> str:
    """Show one of the texts where they are numbers or dates to people, who may correct them."""
    marked = sum(MARKED_NUMBER.fullmatch(level) is not None for level in levels)
    if marked < len(levels) / 2 and not _written(levels):
        return ""
    shown = next((level for level in levels if not is_number(level)), levels[0])
    return f", such as {shown[:20]!r}"


def weigh(columns: list[EncodedColumn], statistics: TableStatistics) -> Scaling:
    r"""Return the shift and scale of every feature.

    Numbers get mean 0 and variance 1. With m the median, over the columns of numbers, of the
    median difference of two rows, two rows of different levels are at the squared distance
    :math:`\delta^2 = m^2/2`: each level is multiplied by :math:`\delta/\sqrt{2}`. Under the rbf
    kernel that is the product of an rbf kernel on the numbers and an overlap kernel
    :math:`\exp(-\delta^2 [a \ne b]/h)` on each category. Numbers of few values are gaps, too: their
    neighbours are at most as far apart as two levels.
    """
    numeric = [column for column in columns if column.kind in NUMERIC and column.kind != "boolean"]
    differences = []
    for column in numeric:
        values = statistics.sampled(column.name)
        half = len(values) // 2
        apart = np.abs(values[:half] - values[half : 2 * half])
        apart = apart[~np.isnan(apart)]
        if len(apart):
            differences.append(float(np.median(apart)) / statistics.spread(column.name)[1])
    median = float(np.median(differences)) if differences else 0.0
    mismatch = np.sqrt(MISMATCH) * (median if median > 0.0 else USUAL_DIFFERENCE)
    means, scales = [], []
    for column in columns:
        width = len(column.feature_names)
        mean, scale = np.zeros(width), np.full(width, np.sqrt(2.0) / mismatch)
        if column.kind == "boolean":
            scale[0] = 1.0 / mismatch
        elif column.kind in NUMERIC:
            mean[0], scale[0] = statistics.spread(column.name)[:2]
            values = np.unique(statistics.sampled(column.name))
            values = values[~np.isnan(values)]
            if 1 < len(values) <= FEW_VALUES:
                scale[0] = max(scale[0], np.diff(values).min() / mismatch)
        means.append(mean)
        scales.append(scale)
    return Scaling(np.concatenate([*means, []]), np.concatenate([*scales, []]))
