"""The native functions in NumPy and SciPy: the same signatures, the same results up to rounding.

Used where the extension module is not built, and in the tests as its measure. All sums are taken
in float64 and rounded once, to the type of ``out``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist


def _chi2_exponents(X: NDArray[Any], P: NDArray[Any], factors: NDArray[Any]) -> NDArray[Any]:
    """½ Σ_f (x_f - p_f)² / (x_f + p_f) · factors_f, without overflow before its time."""
    total = np.zeros((len(X), len(P)))
    quotient = np.empty_like(total)
    with np.errstate(over="ignore"):
        for x, p, factor in zip(X.T, P.T, factors, strict=True):
            difference = x[:, None] - p
            half_sum = 0.5 * x[:, None] + 0.5 * p
            quotient.fill(0.0)
            np.divide(difference, half_sum, out=quotient, where=half_sum != 0)
            total += difference * quotient * (0.25 * factor)
    return total


def _tile(
    name: str, X: NDArray[Any], P: NDArray[Any], inverse_bandwidth: NDArray[Any]
) -> NDArray[Any]:
    X, P = X.astype(np.float64, copy=False), P.astype(np.float64, copy=False)
    if name == "chi2":
        exponents = _chi2_exponents(X, P, inverse_bandwidth)
    elif X.shape[0] == 0:
        exponents = np.empty((0, len(P)))  # cdist refuses a matrix without rows
    elif name == "rbf":
        exponents = cdist(X, P, "sqeuclidean", w=inverse_bandwidth)
    else:
        exponents = cdist(X, P, "cityblock", w=inverse_bandwidth)
    exponential_into(exponents, exponents)
    return exponents


def tile_into(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Write k(x_i, p_r) to ``out[i, r]``."""
    out[...] = _tile(name, X, P, inverse_bandwidth)


def scores_into(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    coef: NDArray[Any],
    bias: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Write Σ_r k(x_i, p_r) coef[r, k] + bias[k] to ``out[i, k]``."""
    out[...] = _tile(name, X, P, inverse_bandwidth) @ coef + bias


def column_sums_into(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    weights: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Write Σ_i weights[i] k(x_i, p_r) to ``out[r]``."""
    out[...] = weights @ _tile(name, X, P, inverse_bandwidth)


def moments_of(
    features: NDArray[np.float64],
    weights: NDArray[np.float64],
    q: NDArray[np.float64],
    floor: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, int, float]:
    """Return what :func:`sparseksc._native.moments` does, for any ``features`` in place of k.

    ``features``, of shape (n, R), is overwritten.
    """
    degrees = features @ q
    trusted = degrees > floor
    shares = np.divide(weights, degrees, out=np.zeros_like(degrees), where=trusted)
    mean = shares @ features
    features *= np.sqrt(shares)[:, None]
    left_out = ~trusted & (weights > 0.0)
    return (
        features.T @ features,  # NumPy sees the symmetry and computes half of it
        mean,
        float(shares.sum()),
        int(np.count_nonzero(left_out)),
        float(weights[left_out].sum()),
    )


def moments_into(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    weights: NDArray[Any],
    q: NDArray[Any],
    floor: float,
    moment: NDArray[Any],
    mean: NDArray[Any],
    totals: NDArray[Any],
) -> None:
    """Write the sums of :func:`moments_of`, the last three of them to ``totals``."""
    block = _tile(name, X, P, inverse_bandwidth)
    moment[...], mean[...], *numbers = moments_of(block, weights, q, floor)
    totals[...] = numbers


def exponential_into(values: NDArray[Any], out: NDArray[Any]) -> None:
    """Write exp(-values) to ``out``."""
    np.negative(values, out=out)
    with np.errstate(under="ignore"):
        np.exp(out, out=out)
