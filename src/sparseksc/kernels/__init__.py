"""Kernels: small immutable objects that evaluate blocks of a kernel matrix.

A kernel never sees the whole data set. It is asked for a *tile*, the block
``k(x_i, p_r)`` between some rows ``X`` and the reduced set ``P``, and for the
diagonal ``k(x_i, x_i)``. Adding a kernel means adding one class and one
line in :data:`KERNELS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sparseksc._typing import Bandwidth
from sparseksc.kernels.base import Kernel
from sparseksc.kernels.exponential import RBF, Chi2, Exponential, Laplacian
from sparseksc.kernels.given import CallableKernel, Precomputed
from sparseksc.kernels.landmarks import Landmarks
from sparseksc.kernels.products import Cosine, Linear, Polynomial

__all__ = [
    "KERNELS",
    "RBF",
    "CallableKernel",
    "Chi2",
    "Cosine",
    "Exponential",
    "Kernel",
    "Landmarks",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "make_kernel",
]

KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel
    for kernel in (RBF, Laplacian, Chi2, Cosine, Linear, Polynomial, Landmarks, Precomputed)
}


def make_kernel(
    kernel: str | Callable[..., Any],
    bandwidth: Bandwidth | None = None,
    params: Mapping[str, Any] | None = None,
) -> Kernel:
    """Build a kernel from what the user wrote.

    Parameters
    ----------
    kernel : str or callable
        A name of :data:`KERNELS`, or a function ``k(X, Y, **params) -> matrix``.
    bandwidth : float or tuple of float, optional
        For the kernels that have one.
    params : mapping, optional
        ``degree`` and ``coef0`` of the polynomial kernel, ``n_neighbors`` and ``metric`` of
        "landmarks", or the arguments of a function.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.kernels import make_kernel
    >>> rbf = make_kernel("rbf", 2.0)
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> rbf.tile(X, X).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    params = dict(params or {})
    if not isinstance(kernel, str):
        return CallableKernel(kernel, params)
    kind = KERNELS[kernel]
    if kind.has_bandwidth and bandwidth is not None:
        params["bandwidth"] = bandwidth
    return kind(**params)
