"""scikit-learn's callbacks, which came with its version 1.9.

Their tasks are a fit and, in it, whatever has a progress bar: the models that a search compares,
the passes over a file. What a callback returns stops nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from sparseksc.execution.notices import collected_warnings
from sparseksc.execution.progress import observed

F = TypeVar("F", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:
    _with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this version of scikit-learn has no callbacks."""


__all__ = ["CallbackSupportMixin", "reported_to_callbacks", "with_callbacks"]


def with_callbacks(fit: F) -> F:
    """Let the callbacks of an estimator end when its method does, also by an error."""
    if _with_callbacks is None:
        return fit
    managed = _with_callbacks(fit)

    # Warnings are issued here: inside, the next line out of the package is scikit-learn's.
    @wraps(fit)
    def fit_with_callbacks(*args: Any, **kwargs: Any) -> Any:
        with collected_warnings():
            return managed(*args, **kwargs)

    return fit_with_callbacks  # type: ignore[return-value]


class _Task:
    """A task of a fit; each of its steps is one of its subtasks."""

    def __init__(self, estimator: Any, context: Any, step: str) -> None:
        self.estimator, self.context, self.step = estimator, context, step
        context.call_on_fit_task_begin(estimator=estimator)

    def update(self, count: int = 1) -> None:
        step = self.context.subcontext(task_name=self.step)
        step.call_on_fit_task_begin(estimator=self.estimator)
        step.call_on_fit_task_end(estimator=self.estimator)

    def close(self) -> None:
        self.context.call_on_fit_task_end(estimator=self.estimator)


@contextmanager
def reported_to_callbacks(estimator: Any, **arguments: Any) -> Iterator[None]:
    """Call the callbacks of an estimator while it is fitted in this block.

    ``arguments`` are those of ``fit`` as callbacks ask for them: X, y, metadata. When the block
    ends, the estimator is fitted.
    """
    if not vars(estimator).get("_skl_callbacks"):
        yield
        return
    fit = estimator._init_callback_context(max_subtasks=None)

    def begin(total: int | None, what: str, unit: str) -> _Task:
        # A step of a pass over rows is a block of them: how many there will be is not known.
        steps = None if unit == "row" else total
        return _Task(estimator, fit.subcontext(task_name=what, max_subtasks=steps), unit)

    fit.call_on_fit_task_begin(estimator=estimator, **arguments)
    with observed(begin):
        yield
    fit.call_on_fit_task_end(estimator=estimator, **arguments, reconstruction_attributes={})
