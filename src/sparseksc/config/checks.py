"""Checks of what can be told only with the data at hand: each error says what to do."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sparseksc._typing import Array, Bandwidth, Floats
from sparseksc.config.domains import check_integer
from sparseksc.data.distinct import distinct_rows
from sparseksc.data.sampling import NEGLIGIBLE_WEIGHT, weight_unit
from sparseksc.data.source import Source


def check_bandwidth(name: str, value: Any, n_features: int, also: str = "") -> Bandwidth:
    """Return a positive finite number, or one for each feature."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            values = np.array(float(value))
        except OverflowError:
            values = np.array(np.inf)
    elif isinstance(value, np.ndarray) or hasattr(value, "to_numpy"):
        values = np.asarray(value)
        if values.ndim != 1 or values.dtype.kind not in "fiu":
            raise ValueError(f"{name} as an array must hold one number per feature, got {value!r}.")
        if len(values) != n_features:
            raise ValueError(
                f"{name} as an array means one value per feature: {n_features} expected, got "
                f"{len(values)}. For a search over candidates pass a list."
            )
    else:
        raise ValueError(
            f"{name} must be a positive number or an array with one per feature{also}, "
            f"got {value!r}."
        )
    # A denormal number has no finite inverse.
    if not (np.isfinite(values).all() and (values >= np.finfo(float).tiny).all()):
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    return float(values) if values.ndim == 0 else tuple(values.astype(float).tolist())


def candidates_of_bandwidth(value: Any, n_features: int) -> list[Bandwidth]:
    """One bandwidth, or a list of candidates."""
    if isinstance(value, list | tuple | range):
        if not value:
            raise ValueError("bandwidth must not be an empty list of candidates.")
        return [check_bandwidth("bandwidth", one, n_features) for one in value]
    return [check_bandwidth("bandwidth", value, n_features, ", a list of candidates or 'auto'")]


def check_kernel_params(kernel: Any, params: Any) -> dict[str, Any]:
    """Parameters that this kernel takes."""
    if params is None:
        return {}
    if isinstance(kernel, str):
        known = ["degree", "coef0"] if kernel == "polynomial" else []
        for key in params:
            if key not in known:
                takes = " and ".join(repr(name) for name in known) or "none"
                raise ValueError(
                    f"kernel_params has the unknown key {key!r}; the {kernel} kernel takes {takes}."
                )
    return dict(params)


def check_weights(weights: Any, n_rows: int) -> Floats:
    """Non-negative sample weights in float64, ones by default."""
    if weights is None:
        return np.ones(n_rows)
    if isinstance(weights, Real):
        weights = np.full(n_rows, float(weights))
    try:
        if np.asarray(weights).dtype.kind not in "fiubO" or np.ma.is_masked(weights):
            raise TypeError
        values = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("sample_weight must be an array of numbers.") from None
    if values.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {values.shape}.")
    if not np.isfinite(values).all() or values.min(initial=0.0) < 0.0:
        raise ValueError("sample_weight must be finite and not negative.")
    if not values.any():
        raise ValueError("sample_weight must be positive for at least one point, all are zero.")
    with np.errstate(over="ignore"):
        total = values.sum()
    if not np.isfinite(total):
        raise ValueError("The sum of sample_weight is too large for float64: use smaller weights.")
    return values


def rescale_weights(weights: Floats) -> tuple[Floats, float]:
    """Return weights whose products are numbers, and the unit that gives the former ones back.

    Only relative weights matter. The unit is 1 unless the largest weight is far from it, and a
    power of two, so that no digit is lost. Negligible weights become 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.config.checks import rescale_weights
    >>> rescale_weights(np.array([1.0, 3.0]))
    (array([1., 3.]), 1.0)
    >>> weights, unit = rescale_weights(np.array([2e200, 1e200, 1e-200]))
    >>> bool(weights[0] == 2.0 * weights[1]), float(weights[2]), bool(weights[0] * unit == 2e200)
    (True, 0.0, True)
    """
    unit = weight_unit(weights.max())
    scaled = weights / unit
    return np.where(scaled <= NEGLIGIBLE_WEIGHT * scaled.max(), 0.0, scaled), unit


def check_distinct_rows(X: Any, n_clusters: int) -> None:
    """Refuse more clusters than there are different points."""
    n_rows = X.shape[0]
    size = min(n_rows, max(64, 4 * n_clusters))
    plain = isinstance(X, np.ndarray) and not X.dtype.hasobject
    if plain and len(np.unique(X[:size, 0])) >= n_clusters:
        return  # rows that differ in one feature differ
    while True:
        distinct = len(distinct_rows(X[:size])[0])
        if distinct >= n_clusters:
            return
        if size == n_rows:
            raise ValueError(
                f"{n_clusters} clusters asked for, but the data has {distinct} distinct "
                f"row{'s' * (distinct != 1)}."
            )
        size = min(n_rows, 4 * size)


def check_validation(value: Any, kernel: Any, source: Source) -> int | Array | None:
    """Return the number of points to evaluate models on, the points, or None for the default."""
    if value is None:
        return None
    if isinstance(value, Integral):
        return check_integer("validation", value, 1, ", or an array of points")
    if kernel == "precomputed":
        raise ValueError("validation must be a number of points for a precomputed kernel.")
    if issparse(value):
        raise ValueError("validation must be an array: pass validation.toarray().")
    try:
        points = np.asarray(value, dtype=source.dtype)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("validation must be an integer or an array of numbers.") from None
    if points.ndim != 2 or points.shape[1] != source.n_features or not np.isfinite(points).all():
        raise ValueError(
            f"validation must be an integer or an array of finite numbers with {source.n_features} "
            f"columns, got shape {points.shape}."
        )
    if len(points) == 0:
        raise ValueError("validation has no points: pass some, or leave it out.")
    return points
