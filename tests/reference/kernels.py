"""Kernel values one pair of points at a time."""

import math

import numpy as np


def kernel_value(name, x, y, bandwidth=1.0, degree=3, coef0=1.0):
    """k(x, y) of two vectors; the bandwidth is a number or one number per feature."""
    h = np.broadcast_to(bandwidth, np.shape(x))
    pairs = list(zip(x, y, h, strict=True))
    if name == "rbf":
        return math.exp(-sum((a - b) ** 2 / c for a, b, c in pairs))
    if name == "laplacian":
        return math.exp(-sum(abs(a - b) / c for a, b, c in pairs))
    if name == "chi2":
        return math.exp(-sum((a - b) ** 2 / (2 * (a + b) * c) for a, b, c in pairs if a + b > 0))
    if name == "linear":
        return math.fsum(a * b for a, b, _ in pairs)
    if name == "polynomial":
        return (math.fsum(a * b / c for a, b, c in pairs) + coef0) ** degree
    if name == "cosine":
        lengths = math.hypot(*x) * math.hypot(*y)
        return math.fsum(a * b for a, b, _ in pairs) / lengths if lengths > 0 else 0.0
    raise KeyError(name)


def kernel_matrix(name, X, Y, **parameters):
    """The matrix of all k(x_i, y_j)."""
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    return np.array([[kernel_value(name, x, y, **parameters) for y in Y] for x in X])
