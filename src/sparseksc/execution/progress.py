"""Progress bars: on a terminal, for what takes more than two seconds, if tqdm is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sparseksc.execution.threads import ordered_map

C = TypeVar("C")
T = TypeVar("T")


class _Silent:
    def update(self, count: int = 1) -> None:
        pass

    def close(self) -> None:
        pass


def progress_bar(total: int | None, what: str, unit: str, shown: bool = True) -> Any:
    """Return something with ``update`` and ``close``."""
    if not shown:
        return _Silent()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Silent()
    # disable=None: only on a terminal (and in notebooks).
    return tqdm(
        total=total, desc=what, unit=unit, unit_scale=True, delay=2.0, disable=None, leave=False
    )


def map_with_progress(
    work: Callable[[C], T], items: Sequence[C], n_jobs: int | None, what: str, shown: bool
) -> list[T]:
    """Work on all items in threads, with a progress bar if that is wanted and takes long."""
    bar = progress_bar(len(items), f"{what}s", what, shown=shown)
    results = []
    for result in ordered_map(work, items, n_jobs):
        results.append(result)
        bar.update()
    bar.close()
    return results
