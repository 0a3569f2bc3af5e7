"""From what the user passes as ``X`` to a source of checked rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from sparseksc.config.checks import check_weights, rescale_weights
from sparseksc.config.refusals import sentence_for
from sparseksc.data.adapters import external_source, is_external
from sparseksc.data.source import ArraySource, Source
from sparseksc.kernels import KERNELS, make_kernel
from sparseksc.scaling import Scaling, measure_scaling


def training_source(
    estimator: Any, X: Any, sample_weight: ArrayLike | None = None
) -> tuple[Source, Scaling | None]:
    """Rows to train on, standardised where that is asked for, and how."""
    source = _checked_source(estimator, X, sample_weight, reset=True)
    if not estimator.scale:
        return source, None
    scaling = measure_scaling(source, estimator.n_jobs)
    return source.scaled(scaling), scaling


def model_source(estimator: Any, X: Any, sample_weight: ArrayLike | None = None) -> Source:
    """Rows for a fitted model, with its features and in its units."""
    source = _checked_source(estimator, X, sample_weight, reset=False)
    return source if estimator.scaling_ is None else source.scaled(estimator.scaling_)


def _checked_source(
    estimator: Any, X: Any, sample_weight: ArrayLike | None, *, reset: bool
) -> Source:
    """Rows with finite entries; their features are kept (``reset``) or compared."""
    kernel = estimator.kernel
    if is_external(X):
        if sample_weight is not None:
            raise ValueError("sample_weight needs data in memory.")
        if kernel == "precomputed":
            raise ValueError("A precomputed kernel needs its matrix in memory.")
        return external_source(X, estimator, reset)
    kind = KERNELS.get(kernel) if isinstance(kernel, str) else None
    if getattr(getattr(X, "dtype", None), "kind", "f") in "cmMV" or np.ma.is_masked(X):
        raise ValueError(sentence_for(X, ""))
    try:
        data = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr" if kind is not None and kind.accepts_sparse else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )
    except (ValueError, TypeError, OverflowError) as error:
        refusal = TypeError if isinstance(error, TypeError) else ValueError
        raise refusal(sentence_for(X, str(error))) from None
    if reset or kernel != "precomputed":
        make_kernel(kernel).check(data)
    if sample_weight is None:
        return ArraySource(data)
    return ArraySource(data, *rescale_weights(check_weights(sample_weight, data.shape[0])))
