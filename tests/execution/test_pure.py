"""A pure installation says so, once, at the first large fit."""

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, _native
from sparseksc.execution import pure


@pytest.fixture
def not_compiled(monkeypatch):
    monkeypatch.setattr(_native, "IS_NATIVE", False)
    monkeypatch.setattr(pure, "_said", False)
    monkeypatch.delenv("SPARSEKSC_NATIVE", raising=False)


def test_the_first_large_fit_warns_and_the_next_does_not(not_compiled, monkeypatch):
    monkeypatch.setattr(pure, "LARGE_FIT", 200)
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 2)), rng.normal(9.0, 1.0, (100, 2))])
    model = KernelSpectralClustering(2, kernel="rbf", bandwidth=4.0, random_state=0)
    model.fit(X[::2])
    with pytest.warns(RuntimeWarning, match="was not compiled") as issued:
        model.fit(X)
    assert issued[0].filename == __file__
    model.fit(X)


def test_rows_that_nobody_has_counted_are_many(not_compiled):
    with pytest.warns(RuntimeWarning, match="show_versions"):
        pure.warn_of_slow_fit(None)


def test_a_module_that_was_switched_off_is_no_surprise(not_compiled, monkeypatch):
    monkeypatch.setenv("SPARSEKSC_NATIVE", "0")
    pure.warn_of_slow_fit(10**9)


def test_a_compiled_module_says_nothing(not_compiled, monkeypatch):
    monkeypatch.setattr(_native, "IS_NATIVE", True)
    pure.warn_of_slow_fit(10**9)
