"""The compiled loops of each instruction set, and their NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest

from sparseksc import _native
from sparseksc._native import twin

DTYPES = (np.float64, np.float32)

#: From 32 features on, the rbf kernel is computed from inner products.
DIMENSIONS = (1, 2, 3, 8, 33, 300)

try:
    from sparseksc._native import _core
except ImportError:
    _core = None

VARIANTS = ("none",) if _core is None else tuple(_core.variants())


def use(name, monkeypatch):
    """Make the public functions use the twin or the compiled loops of one instruction set."""
    if name == "twin":
        monkeypatch.setattr(_native, "_backend", twin)
        yield twin
    elif _core is None:
        pytest.skip("the extension module is not built")
    else:
        before = _core.active_variant()
        _core.use_variant(name)
        monkeypatch.setattr(_native, "_backend", _core)
        yield _core
        _core.use_variant(before)


@pytest.fixture(params=VARIANTS)
def core(request, monkeypatch):
    yield from use(request.param, monkeypatch)


@pytest.fixture
def numpy_twin(monkeypatch):
    yield from use("twin", monkeypatch)


@pytest.fixture(params=("twin", *VARIANTS))
def backend(request, monkeypatch):
    yield from use(request.param, monkeypatch)


def problem(rows, pivots, features, dtype, seed=0):
    """Non-negative data with some exact zeros, and a bandwidth that spreads the exponents."""
    rng = np.random.default_rng([seed, rows, pivots, features])
    X, P = (rng.random((size, features)) * (rng.random((size, features)) > 0.2)
            for size in (rows, pivots))  # fmt: skip
    factors = rng.uniform(0.5, 20.0, features) / features
    return X.astype(dtype), P.astype(dtype), factors
