"""From what the user passes as ``X`` to a source of checked rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from sparseksc.config.checks import check_weights, rescale_weights
from sparseksc.config.refusals import sentence_for
from sparseksc.data.adapters import external_source, is_external, origins_of
from sparseksc.data.source import ArraySource, Source
from sparseksc.data.sparse import checked_csr
from sparseksc.kernels import KERNELS, make_kernel
from sparseksc.scaling import Scaling, measure_scaling

#: Entries of an array up to which its check is not left to scikit-learn, which takes longer than
#: the labels of a few rows do.
FEW_ENTRIES = 4096


def training_source(
    estimator: Any, X: Any, sample_weight: ArrayLike | None = None
) -> tuple[Source, Scaling | None]:
    """Rows to train on, standardised where that is asked for, and how."""
    # An array that owns its memory is no map of a file.
    in_memory = type(X) is np.ndarray and X.base is None
    estimator._origins = () if in_memory else tuple(origins_of(X))
    source = _checked_source(estimator, X, sample_weight, reset=True)
    estimator.__dict__.pop("table_encoder_", None)
    scaling = None
    # Files of several types of columns have an encoder, also where a cluster reads them.
    encoder = getattr(source, "encoder", None)
    if encoder is not None:
        estimator.table_encoder_, scaling = encoder, encoder.scaling_
    if not estimator.scale:
        if source.in_memory and hasattr(estimator, "feature_names_in_"):
            source.feature_names = [str(name) for name in estimator.feature_names_in_]
        return source, None
    scaling = scaling or measure_scaling(source, estimator.n_jobs)
    return source.scaled(scaling), scaling


def model_source(estimator: Any, X: Any, sample_weight: ArrayLike | None = None) -> Source:
    """Rows for a fitted model, with its features and in its units."""
    X = encoded_rows(estimator, X)
    source = _checked_source(estimator, X, sample_weight, reset=False)
    return source if estimator.scaling_ is None else source.scaled(estimator.scaling_)


def encoded_rows(estimator: Any, X: Any) -> Any:
    """Rows of a table as a model of encoded files takes them; anything else stays as it is."""
    encoder = getattr(estimator, "table_encoder_", None)
    if encoder is None or not hasattr(X, "columns"):
        return X
    names = getattr(X, "column_names", X.columns)
    if [str(name) for name in names] == encoder.get_feature_names_out().tolist():
        return X
    rows = encoder.transform(X)
    return rows if is_external(rows) else ArraySource(np.asarray(rows))


def chunk_source(estimator: Any, X: Any, sample_weight: ArrayLike | None) -> Source:
    """More rows to train a fitted model on."""
    estimator._origins = tuple({*getattr(estimator, "_origins", ()), *origins_of(X)})
    return model_source(estimator, X, sample_weight)


def _checked_source(
    estimator: Any, X: Any, sample_weight: ArrayLike | None, *, reset: bool
) -> Source:
    """Rows with finite entries; their features are kept (``reset``) or compared."""
    kernel = estimator.kernel
    if isinstance(kernel, str) and kernel == "auto":  # rbf takes whatever landmarks take
        kernel = "rbf" if estimator.metric == "euclidean" else "landmarks"
    if is_external(X):
        if sample_weight is not None:
            raise ValueError("sample_weight needs data in memory.")
        if kernel == "precomputed":
            raise ValueError("A precomputed kernel needs its matrix in memory.")
        return external_source(X, estimator, reset)
    objects = None if isinstance(kernel, str) else rows_of_objects(X)
    if objects is not None:
        data = _checked_objects(estimator, objects, reset)
    elif not reset and _is_small_and_sound(estimator, X):
        data = X
    else:
        if getattr(getattr(X, "dtype", None), "kind", "f") in "cmMV" or np.ma.is_masked(X):
            raise ValueError(sentence_for(X, ""))
        kind = KERNELS.get(kernel) if isinstance(kernel, str) else None
        sparse = kind is not None and kind.accepts_sparse
        rows = checked_csr(X) if sparse and issparse(X) else X
        try:
            data = validate_data(
                estimator,
                rows,
                reset=reset,
                accept_sparse="csr" if sparse else False,
                dtype=[np.float64, np.float32],
                ensure_min_samples=2 if reset else 1,
            )
        except (ValueError, TypeError, OverflowError) as error:
            refusal = TypeError if isinstance(error, TypeError) else ValueError
            raise refusal(sentence_for(X, str(error))) from None
    if reset or kernel != "precomputed":
        params = {"metric": estimator.metric} if kernel == "landmarks" else None
        make_kernel(kernel, params=params).check(data)
    if sample_weight is None:
        return ArraySource(data)
    return ArraySource(data, *rescale_weights(check_weights(sample_weight, data.shape[0])))


def rows_of_objects(X: Any) -> Any:
    """Return rows that a kernel function takes as they are, if they are no numbers; or None.

    A sequence of objects, such as texts or series of different lengths, becomes one column.

    Examples
    --------
    >>> from sparseksc.config.inputs import rows_of_objects
    >>> rows_of_objects(["some", "words"])
    array([['some'],
           ['words']], dtype=object)
    >>> rows_of_objects([[1.0, 2.0], [3.0, 4.0]]) is None
    True
    """
    if not (isinstance(X, np.ndarray | list | tuple) or hasattr(X, "to_numpy")):
        return None
    try:
        rows = np.asarray(X)
    except ValueError:  # of different lengths
        rows = np.empty(len(X), object)
        for place, row in enumerate(X):
            rows[place] = row
    if rows.dtype.kind not in "OUS" or rows.ndim not in (1, 2) or np.ma.is_masked(X):
        return None
    if rows.dtype.kind == "O":
        try:
            rows.astype(np.float64)
        except (TypeError, ValueError):
            pass
        else:
            return None
    return rows.astype(object).reshape(len(rows), -1)


def _checked_objects(estimator: Any, rows: Any, reset: bool) -> Any:
    """Rows of objects, as many and as wide as they must be."""
    if len(rows) < (2 if reset else 1):
        raise ValueError(f"X must have at least {2 if reset else 1} rows, got {len(rows)}.")
    if reset and estimator.scale:
        raise ValueError("scale=True needs numbers, and X holds objects.")
    if reset:
        estimator.n_features_in_ = rows.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
    elif rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {rows.shape[1]} columns of objects, but this model was trained with "
            f"{estimator.n_features_in_}."
        )
    return rows


def _is_small_and_sound(estimator: Any, X: Any) -> bool:
    """Whether this is a small array in which scikit-learn would find nothing to do."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and X.shape[1] == estimator.n_features_in_
        and 0 < X.size <= FEW_ENTRIES
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


def require_fitted(estimator: Any) -> None:
    """Raise scikit-learn's error where there is no model yet."""
    if "model_" not in vars(estimator):
        check_is_fitted(estimator)
