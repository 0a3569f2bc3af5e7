"""Times of several functions, taken alternately in one process.

A single time says little on a machine that has other work to do. A ratio of two times that were
taken one after the other says more, and the median of many such ratios says enough. Every
benchmark therefore hands all its contenders to `Settings.alternate`, which runs them in rounds,
forwards and backwards in turn, and reports medians with their quartiles.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

#: Rounds, unless the user asks for a number of them.
LEAST_ROUNDS, MOST_ROUNDS = 3, 101
#: Calls of a quick contender in one round, and the share of the slowest one's time they may take.
MOST_CALLS, SHARE = 5, 0.2

Contender = Callable[[], Any]


@dataclass(frozen=True)
class Spread:
    """A median between its quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Collection[float]) -> Spread:
        if len(values) == 1:
            return cls(*values, *values, *values)
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)

    def scaled(self, factor: float) -> Spread:
        return Spread(self.median * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True)
class Times:
    """Seconds of each contender, one for every round, and what its last call returned."""

    wall: Mapping[str, tuple[float, ...]]
    cpu: Mapping[str, tuple[float, ...]]
    results: Mapping[str, Any]

    def seconds(self, name: str) -> Spread:
        return Spread.of(self.wall[name])

    def cpu_seconds(self, name: str) -> Spread:
        """CPU time of all threads, which other work on the machine disturbs less."""
        return Spread.of(self.cpu[name])

    def nanoseconds_per(self, name: str, count: int) -> Spread:
        """CPU time for each of many entries."""
        return self.cpu_seconds(name).scaled(1e9 / count)

    def ratio(self, slow: str, quick: str) -> Spread:
        """How many times longer one contender took than another, round by round."""
        return _ratio(self.wall[slow], self.wall[quick])

    def cpu_ratio(self, slow: str, quick: str) -> Spread:
        """Return the same of CPU time."""
        return _ratio(self.cpu[slow], self.cpu[quick])

    def cores(self, name: str) -> float:
        """Cores that were at work on average: CPU time over wall time."""
        return sum(self.cpu[name]) / sum(self.wall[name])


def _ratio(numerators: tuple[float, ...], denominators: tuple[float, ...]) -> Spread:
    pairs = zip(numerators, denominators, strict=True)
    return Spread.of([numerator / denominator for numerator, denominator in pairs])


@dataclass(frozen=True)
class Settings:
    """How large and how long the benchmarks are.

    Parameters
    ----------
    scale : float
        Factor of all numbers of points; 1 for the sizes that the thresholds are about.
    budget : float
        Seconds for one group of contenders, where they are quick enough.
    repeats : int or None
        Number of rounds, instead of as many as the budget allows.
    long : bool
        Whether contenders and data sets that take minutes are included.
    """

    scale: float = 1.0
    budget: float = 3.0
    repeats: int | None = None
    long: bool = False

    def points(self, full: int, least: int = 200) -> int:
        """Return a number of points at the scale of this run."""
        return max(round(full * self.scale), min(full, least))

    def alternate(self, contenders: Mapping[str, Contender], once: Collection[str] = ()) -> Times:
        """Time the contenders alternately.

        Those in ``once`` are too slow to repeat: there is a single round, without a warm-up for
        them, and the others are called several times around them.
        """
        estimates = {
            name: _clocked(function)[0] for name, function in contenders.items() if name not in once
        }
        slowest = float("inf") if once else max(estimates.values())
        calls = {
            name: 1
            if name in once
            else int(min(max(SHARE * slowest / max(estimates[name], 1e-9), 1), MOST_CALLS))
            for name in contenders
        }
        if once:
            rounds = 1
        elif self.repeats is not None:
            rounds = self.repeats
        else:
            length = sum(calls[name] * estimate for name, estimate in estimates.items())
            rounds = int(min(max(self.budget / length, LEAST_ROUNDS), MOST_ROUNDS))
        return _in_rounds(contenders, calls, rounds)


def _clocked(function: Contender) -> tuple[float, float, Any]:
    """Return wall time, CPU time of all threads, and the result of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = function()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def _in_rounds(contenders: Mapping[str, Contender], calls: Mapping[str, int], rounds: int) -> Times:
    wall: dict[str, list[float]] = {name: [] for name in contenders}
    cpu: dict[str, list[float]] = {name: [] for name in contenders}
    results: dict[str, Any] = {}
    order = list(contenders)
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name in order:
                taken = []
                for _ in range(calls[name]):
                    results.pop(name, None)  # or two results would be held at once
                    *seconds, results[name] = _clocked(contenders[name])
                    taken.append(seconds)
                wall[name].append(statistics.median(seconds[0] for seconds in taken))
                cpu[name].append(statistics.median(seconds[1] for seconds in taken))
            order.reverse()
    finally:
        if collecting:
            gc.enable()
    return Times(
        {name: tuple(values) for name, values in wall.items()},
        {name: tuple(values) for name, values in cpu.items()},
        results,
    )
