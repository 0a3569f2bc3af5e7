"""Progress bars: on a terminal, for what takes more than two seconds, if tqdm is there."""

from __future__ import annotations

from typing import Any


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
