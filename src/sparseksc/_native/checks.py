"""What the functions of this package refuse, in words: compiled or not, they refuse the same."""

from __future__ import annotations

from numbers import Real
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

KERNELS = ("rbf", "laplacian", "chi2")

#: Rows and pivots are numbered in 32 bits.
MOST_ROWS = 2**32 - 1


def require(name: str, array: NDArray[Any], dtype: Any, shape: tuple[int | None, ...]) -> None:
    """Raise an error unless the array has this type and shape (None: any size), in C order."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, got {type(array).__name__}.")
    if array.dtype != dtype:
        raise TypeError(f"{name} must be {np.dtype(dtype).name}, got {array.dtype}.")
    fits = array.ndim == len(shape)
    for size, expected in zip(array.shape, shape, strict=False):
        fits = fits and (expected is None or size == expected)
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have the shape ({wanted}), got {array.shape}.")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} must be C-contiguous; pass numpy.ascontiguousarray({name}).")
    if not array.flags.aligned:
        raise ValueError(f"{name} must be aligned in memory; pass {name}.copy().")


def require_output(
    name: str, array: NDArray[Any], dtype: Any, shape: tuple[int | None, ...]
) -> None:
    """Raise an error unless the array can be written, and is what :func:`require` asks for."""
    require(name, array, dtype, shape)
    if not array.flags.writeable:
        raise ValueError(f"{name} must be writable, got a read-only array.")


def require_apart(outputs: dict[str, NDArray[Any]], inputs: dict[str, NDArray[Any]]) -> None:
    """Raise an error where an output shares memory with an input or with another output."""
    names = list(outputs)
    for place, name in enumerate(names):
        others = {other: outputs[other] for other in names[place + 1 :]} | inputs
        for other, array in others.items():
            if np.may_share_memory(outputs[name], array):
                raise ValueError(f"{name} must not share memory with {other}; pass a copy.")


def require_whole(name: str, value: int, least: int, most: int) -> int:
    """Return a whole number between ``least`` and ``most``, or raise an error."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}.") from None
    if not least <= number <= most:
        raise ValueError(f"{name} must be between {least} and {most}, got {value}.")
    return number


def require_real(name: str, value: float) -> None:
    """Raise an error unless the value is a number."""
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")


def require_floor(floor: float) -> None:
    """Raise an error unless the floor is a number that is not negative."""
    require_real("floor", floor)
    if not floor >= 0:
        raise ValueError(f"floor must not be negative, got {floor}.")


def require_kernel(
    name: str, X: NDArray[Any], P: NDArray[Any], inverse_bandwidth: NDArray[Any]
) -> tuple[int, int]:
    """Check what all kernel functions share, and return the numbers of rows and of pivots."""
    if name not in KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, got {name!r}.")
    if not isinstance(X, np.ndarray) or X.dtype not in (np.float32, np.float64):
        got = X.dtype if isinstance(X, np.ndarray) else type(X).__name__
        raise TypeError(f"X must be float32 or float64, got {got}.")
    require("X", X, X.dtype, (None, None))
    require("P", P, X.dtype, (None, X.shape[1]))
    require("inverse_bandwidth", inverse_bandwidth, np.float64, (X.shape[1],))
    if X.shape[1] == 0 or P.shape[0] == 0:
        raise ValueError(f"P must have at least one row and one column, got {P.shape}.")
    if max(len(X), len(P)) > MOST_ROWS:
        raise ValueError(f"X and P must have fewer than 2**32 rows, got {len(X)} and {len(P)}.")
    if not (inverse_bandwidth.min() > 0.0 and inverse_bandwidth.max() < np.inf):
        raise ValueError(f"inverse_bandwidth must be positive and finite, got {inverse_bandwidth}.")
    return X.shape[0], P.shape[0]


def require_labels(labels: NDArray[np.int64], n_clusters: int) -> None:
    """Raise an error unless all labels are between 0 and ``n_clusters - 1``."""
    if len(labels) and not (labels.min() >= 0 and labels.max() < n_clusters):
        raise ValueError(f"a label is out of range: they go from 0 to {n_clusters - 1}.")
