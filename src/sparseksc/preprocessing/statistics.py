"""What has to be known of all rows of a table, in one pass, whatever its size.

Rows arrive in batches; what is kept of them is bounded: moments of the numbers, counts of the
levels, and a uniform sample of rows for the medians. The sample depends on the numbers of the rows
alone, so that it is the same however the rows arrive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparseksc._typing import Floats
from sparseksc.data.formats.csv import is_number
from sparseksc.data.sampling import Sample
from sparseksc.preprocessing.columns import NUMERIC, levels_of, numbers_of
from sparseksc.scaling import Spread

#: Rows of which medians are taken.
SAMPLED = 20_000
#: Different texts up to which a column is counted.
MOST_LEVELS = 10_000


@dataclass
class Levels:
    """Counts of the levels of a column of texts; none where there are too many."""

    counts: Counter[str] = field(default_factory=Counter)
    n_missing: int = 0
    too_many: bool = False
    #: Values that could be numbers, while all are counted.
    n_numbers: int = 0
    example: str = ""

    def add(self, column: Any) -> None:
        """Count the values of an Arrow array."""
        codes, names = levels_of(column)
        self.n_missing += int((codes < 0).sum())
        if self.too_many:
            return
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
        for name, count in zip(names, counts, strict=True):
            if is_number(name):
                self.n_numbers += count
            else:
                self.example = self.example or name
            self.counts[name] += count
        self._bound()

    def merge(self, later: Levels) -> None:
        """Add the counts of later rows."""
        self.n_missing += later.n_missing
        self.too_many |= later.too_many
        self.n_numbers += later.n_numbers
        self.example = self.example or later.example
        self.counts.update(later.counts)
        self._bound()

    def _bound(self) -> None:
        self.too_many |= len(self.counts) > MOST_LEVELS


class TableStatistics:
    """Statistics of the columns of a table.

    Parameters
    ----------
    kinds : mapping of str to str
        Of each column: a kind of number, or "category".
    start : int
        Number of the first row.
    """

    def __init__(self, kinds: Mapping[str, str], start: int = 0) -> None:
        self.numeric = [name for name, kind in kinds.items() if kind in NUMERIC]
        self.kinds = dict(kinds)
        self.levels = {name: Levels() for name, kind in kinds.items() if kind == "category"}
        self.start = self.stop = start
        width = len(self.numeric)
        self.n_missing = np.zeros(width, dtype=np.int64)
        self.spreads: list[Spread] = [_nothing() for _ in self.numeric]
        #: First value of a column whose values count the rows; NaN where they do not.
        self.origin = np.full(width, np.nan)
        self.sample: Sample | None = None

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return self.stop - self.start

    def add(self, batch: Any) -> None:
        """Add the rows of a record batch."""
        rows = batch.num_rows
        if rows == 0:
            return
        numbers = np.empty((rows, len(self.numeric)))
        for place, name in enumerate(self.numeric):
            numbers[:, place] = numbers_of(batch.column(name), self.kinds[name])
        if np.isinf(numbers).any():
            row, place = np.argwhere(np.isinf(numbers))[0]
            raise ValueError(
                f"Row {self.stop + int(row) + 1:,} has the value {numbers[row, place]} in column "
                f"{self.numeric[place]!r}: replace it, or remove the row."
            )
        for name, levels in self.levels.items():
            levels.add(batch.column(name))
        self._add_numbers(numbers)

    def _add_numbers(self, numbers: Floats) -> None:
        rows = len(numbers)
        present = ~np.isnan(numbers)
        counting = (
            numbers - np.arange(self.stop - self.start, self.stop - self.start + rows)[:, None]
        )
        for place, (column, there) in enumerate(zip(numbers.T, present.T, strict=True)):
            found = column[there][:, None]
            self.n_missing[place] += rows - len(found)
            self.spreads[place] = self.spreads[place].merge(Spread.of(found, np.ones(len(found))))
            origin = counting[0, place] if self.n_rows == 0 else self.origin[place]
            steady = bool((counting[:, place] == origin).all())
            self.origin[place] = origin if steady else np.nan
        more = Sample(np.arange(self.stop, self.stop + rows), numbers, np.ones(rows))
        self.sample = (
            more.first(SAMPLED, 0) if self.sample is None else self.sample.join(more, SAMPLED, 0)
        )
        self.stop += rows

    def merge(self, later: TableStatistics) -> TableStatistics:
        """Add the rows that follow these."""
        if later.n_rows == 0:
            return self
        if self.n_rows == 0:
            return later
        for name, levels in self.levels.items():
            levels.merge(later.levels[name])
        self.n_missing += later.n_missing
        pairs = zip(self.spreads, later.spreads, strict=True)
        self.spreads = [one.merge(other) for one, other in pairs]
        same = later.origin == self.origin + self.n_rows
        self.origin = np.where(same, self.origin, np.nan)
        assert self.sample is not None
        assert later.sample is not None
        self.sample = self.sample.join(later.sample, SAMPLED, 0)
        self.stop = later.stop
        return self

    def spread(self, name: str) -> tuple[float, float, float, float]:
        """Mean, standard deviation, least and largest value of a column of numbers."""
        one = self.spreads[self.numeric.index(name)]
        deviation = np.sqrt(one.deviation[0] / one.weight) if one.weight else 0.0
        return float(one.mean[0]), float(deviation), float(one.least[0]), float(one.largest[0])

    def sampled(self, name: str) -> Floats:
        """Values of a column of numbers in the sample, NaN where they are missing."""
        assert self.sample is not None
        values: Floats = self.sample.X[:, self.numeric.index(name)]
        return values

    def missing(self, name: str) -> int:
        """Count the missing values of a column."""
        if name in self.levels:
            return self.levels[name].n_missing
        return int(self.n_missing[self.numeric.index(name)])

    def counts_rows(self, name: str) -> bool:
        """Whether a column of numbers counts the rows, from wherever."""
        return bool(np.isfinite(self.origin[self.numeric.index(name)]))


def gather(batches: Iterable[Any], kinds: Mapping[str, str], start: int = 0) -> TableStatistics:
    """Statistics of all rows of some batches."""
    statistics = TableStatistics(kinds, start)
    for batch in batches:
        statistics.add(batch)
    return statistics


def _nothing() -> Spread:
    return Spread.of(np.empty((0, 1)), np.empty(0))
