"""From a fitted estimator to a model file and back."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn

import sparseksc
from sparseksc import model_file
from sparseksc.encoding import AngularDirections, Encoding
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.kernels import Array, CallableKernel, Kernel, Polynomial, make_kernel
from sparseksc.model import Projection, SparseModel
from sparseksc.model_header import (
    CALLABLE,
    COMPARED_PIVOTS,
    ENCODING_NAMES,
    HeaderError,
    ModelFileError,
    check_header,
)
from sparseksc.plain_values import (
    meant_bandwidth,
    meant_parameters,
    meant_tuning,
    plain,
    plain_bandwidth,
    plain_parameters,
    plain_tuning,
)
from sparseksc.scaling import Scaling
from sparseksc.settings import Settings
from sparseksc.tuning import TuningResult

#: Characters of a sentence that may repeat what is in a file.
LONGEST_REASON = 200


def save_model(estimator: KernelSpectralClustering, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a model file."""
    header, arrays = describe(estimator)
    try:
        check_header(header)
        _check_finite(arrays)
    except HeaderError as error:
        wrong = f"{error.name} must be {error.allowed}"
    except ModelFileError as error:
        wrong = str(error).removeprefix("is damaged: ")
    else:
        model_file.write(path, header, arrays)
        return
    raise ValueError(f"This model cannot be saved: {wrong}.")


def load(
    path: str | os.PathLike[str], *, kernel: Callable[..., Any] | None = None
) -> KernelSpectralClustering:
    """Read a model that :meth:`KernelSpectralClustering.save` has written.

    The file holds numbers and text only: nothing in it is executed, and all of it is checked
    before it is used.

    Parameters
    ----------
    path : path
    kernel : callable, optional
        The kernel of a model that was trained with a function, which is not in the file.

    Returns
    -------
    KernelSpectralClustering
        Fitted, with the labels, scores and memberships of the one that was saved, bit for bit.
        ``labels_`` is not in the file, and neither are ``n_jobs``, ``memory_limit`` and
        ``verbose``, which have their defaults.

    Raises
    ------
    ModelFileError
        If it is not a model file, is damaged, was written by a newer version, or needs a
        kernel.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparseksc import KernelSpectralClustering, load
    >>> from sparseksc.datasets import make_spirals
    >>> X, _ = make_spirals(500, random_state=0)
    >>> ksc = KernelSpectralClustering(2, bandwidth=0.01, max_rank=50, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "spirals.ksc"
    ...     ksc.save(path)
    ...     again = load(path)
    >>> bool((again.predict(X) == ksc.labels_).all())
    True
    """
    header, arrays = model_file.read(path)
    is_function = header["kernel"]["name"] == CALLABLE
    if kernel is not None and not is_function:
        raise ValueError(
            f"{os.fspath(path)} has the {header['kernel']['name']} kernel; kernel= is for models "
            "that were trained with a function."
        )
    with model_file.naming(path):
        if is_function and not callable(kernel):
            raise ModelFileError(
                "was trained with a kernel function, which is not in the file: hand it over as "
                "load(path, kernel=function)"
            )
        return build(header, arrays, kernel)


def describe(estimator: KernelSpectralClustering) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of a fitted estimator."""
    model = estimator.model_
    projection, encoding = model.projection, model.encoding
    points: Any = projection.points
    kernel, sparse = projection.kernel, bool(sp.issparse(projection.points))
    _check_unchanged(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    arrays: dict[str, Array] = {
        "coef": projection.coef,
        "bias": projection.bias,
        "degree_coef": projection.degree_coef,
        "prototypes": encoding.prototypes,
        "indices": estimator.reduced_set_indices_.astype(np.int64),
    }
    if sparse:
        arrays["points.data"] = points.data
        arrays["points.indices"] = points.indices.astype(np.int64)
        arrays["points.indptr"] = points.indptr.astype(np.int64)
    else:
        arrays["points"] = points.astype(np.int64) if kernel.name == "precomputed" else points
    if isinstance(encoding, AngularDirections):
        arrays["encoding.bias"] = encoding.bias
    if estimator.scaling_ is not None:
        arrays["scaling.mean"] = estimator.scaling_.mean
        arrays["scaling.scale"] = estimator.scaling_.scale
    if kernel.name == CALLABLE:
        arrays["kernel.values"] = _values_among_pivots(kernel, points)
    tuning: TuningResult | None = getattr(estimator, "tuning_", None)
    if tuning is not None:
        arrays |= {f"tuning.{name}": values for name, values in tuning.surfaces.values.items()}
        arrays["tuning.eigenvalues"] = tuning.eigenvalues
    header = {
        "n_clusters": encoding.n_clusters,
        "n_pivots": projection.rank,
        "n_features": int(estimator.n_features_in_),
        "n_stored": int(points.nnz) if sparse else None,
        "dtype": "float32" if points.dtype == np.float32 else "float64",
        "sparse": sparse,
        "scaled": estimator.scaling_ is not None,
        "kernel": _kernel_entry(kernel),
        "degree_kernel": _kernel_entry(projection.degree_kernel),
        "encoding": _encoding_name(encoding),
        "degree_floor": float(model.degree_floor),
        "feature_names": None if names is None else [str(name) for name in names],
        "parameters": plain_parameters(estimator.get_params(deep=False), kernel.has_bandwidth),
        "training": {
            "n_samples": int(estimator.n_samples_seen_),
            "cluster_sizes": estimator.cluster_sizes_.tolist(),
            "eigenvalues": model.eigenvalues.tolist(),
            "residual": float(estimator.residual_),
            "n_outliers": int(estimator.n_outliers_),
            "timings": dict(estimator.timings_),
        },
        "tuning": None if tuning is None else plain_tuning(tuning),
        "libraries": {
            "sparseksc": sparseksc.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
    }
    return header, arrays


def build(
    header: Mapping[str, Any], arrays: Mapping[str, Array], function: Callable[..., Any] | None
) -> KernelSpectralClustering:
    """Build the estimator of a header that has been checked, and check the rest."""
    _check_finite(arrays)
    estimator = KernelSpectralClustering(**meant_parameters(header["parameters"], function))
    _check_parameters(estimator, header)
    training = header["training"]
    scaling = None
    if header["scaled"]:
        scaling = Scaling(arrays["scaling.mean"], arrays["scaling.scale"])
        if not (scaling.scale >= np.finfo(np.float64).tiny).all():
            raise _damaged("scaling.scale", "positive numbers")
    _check_range("indices", arrays["indices"], training["n_samples"])
    kernel = _kernel(header["kernel"], function)
    points = _points(header, arrays, kernel)
    projection = Projection(
        kernel=kernel,
        points=points,
        coef=arrays["coef"],
        bias=arrays["bias"],
        degree_kernel=_kernel(header["degree_kernel"], function),
        degree_coef=arrays["degree_coef"],
    )
    if kernel.name == CALLABLE:
        _check_function(kernel, points, arrays["kernel.values"])
    eigenvalues = np.array(training["eigenvalues"], dtype=np.float64)
    estimator.n_features_in_ = header["n_features"]
    if header["feature_names"] is not None:
        estimator.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    if header["tuning"] is not None:
        estimator.tuning_ = meant_tuning(header["tuning"], arrays)
    estimator._set_fitted(
        SparseModel(projection, eigenvalues, _encoding(header, arrays), header["degree_floor"]),
        scaling,
        indices=arrays["indices"].astype(np.intp),
        residual=training["residual"],
        cluster_sizes=np.array(training["cluster_sizes"], dtype=np.float64),
        n_samples=training["n_samples"],
        n_outliers=training["n_outliers"],
        timings=training["timings"],
    )
    return estimator


def _damaged(name: str, allowed: str) -> ModelFileError:
    return ModelFileError(f"is damaged: its array {name!r} must hold {allowed}")


def _check_finite(arrays: Mapping[str, Array]) -> None:
    for name, array in arrays.items():
        # A search marks what is not available as NaN, and its results do not enter the model.
        if not name.startswith("tuning.") and not np.isfinite(array).all():
            raise _damaged(name, "finite numbers")


def _check_range(name: str, values: Array, stop: int) -> None:
    if values.size and not (values.min() >= 0 and values.max() < stop):
        raise _damaged(name, f"numbers from 0 to {stop - 1}")


def _check_unchanged(estimator: KernelSpectralClustering) -> None:
    """Refuse parameters that are wrong, or that the model was not trained with."""
    settings = Settings(estimator.get_params(deep=False))
    kernel = estimator.model_.projection.kernel
    same = (
        estimator.kernel is kernel.function
        if isinstance(kernel, CallableKernel)
        else estimator.kernel == kernel.name
    )
    if not same or estimator.scale != (estimator.scaling_ is not None):
        raise ValueError("kernel or scale was changed after fit: fit again before saving.")
    settings.recipe(None, estimator.n_features_in_, None)
    settings.check_bandwidths(estimator.n_features_in_)


def _check_parameters(estimator: KernelSpectralClustering, header: Mapping[str, Any]) -> None:
    """Check parameters from a file as those of a user are."""
    try:
        settings = Settings(estimator.get_params(deep=False))
        settings.recipe(None, header["n_features"], None)
        settings.check_bandwidths(header["n_features"])
    except (ValueError, OverflowError) as error:
        reason = str(error).rstrip(".")[:LONGEST_REASON]
        raise ModelFileError(f"has a wrong parameter: {reason}") from None


def _kernel_entry(kernel: Kernel) -> dict[str, Any]:
    bandwidth = plain_bandwidth(getattr(kernel, "bandwidth", None))
    entry: dict[str, Any] = {"name": kernel.name, "bandwidth": bandwidth}
    if isinstance(kernel, Polynomial):
        entry |= {"degree": int(kernel.degree), "coef0": float(kernel.coef0)}
    if isinstance(kernel, CallableKernel):
        entry["params"] = plain(kernel.params)
    return entry


def _kernel(entry: Mapping[str, Any], function: Callable[..., Any] | None) -> Kernel:
    if function is not None:
        return make_kernel(function, None, entry["params"])
    params = {name: entry[name] for name in ("degree", "coef0") if name in entry}
    return make_kernel(entry["name"], meant_bandwidth(entry["bandwidth"]), params)


def _points(header: Mapping[str, Any], arrays: Mapping[str, Array], kernel: Kernel) -> Any:
    """Pivots, as the kernel takes them."""
    if header["sparse"]:
        return _sparse_points(header, arrays)
    points = arrays["points"]
    if kernel.name == "precomputed":
        _check_range("points", points, header["n_features"])
        return points.astype(np.intp)
    if kernel.name == "chi2" and points.min() < 0.0:
        raise _damaged("points", "numbers that are not negative")
    return points


def _sparse_points(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Any:
    data, columns, starts = (arrays[f"points.{name}"] for name in ("data", "indices", "indptr"))
    _check_range("points.indices", columns, header["n_features"])
    steps = np.diff(starts)
    if starts[0] != 0 or starts[-1] != len(data) or (steps < 0).any():
        raise _damaged("points.indptr", "the ends of the rows")
    return sp.csr_array((data, columns, starts), shape=(len(starts) - 1, header["n_features"]))


def _values_among_pivots(kernel: Kernel, points: Array) -> Array:
    some = points[:COMPARED_PIVOTS]
    return kernel.tile(some, some).astype(np.float64)


def _check_function(kernel: Kernel, points: Array, expected: Array) -> None:
    """Refuse a function that is not the one that the model was trained with."""
    try:
        values = _values_among_pivots(kernel, points)
    except ValueError as error:
        raise ModelFileError(f"cannot be used with this kernel: {str(error).rstrip('.')}") from None
    if not np.allclose(values, expected, rtol=1e-5, atol=1e-8 * np.abs(expected).max()):
        raise ModelFileError("was trained with another kernel function than this one")


def _encoding_name(encoding: Encoding) -> str:
    return next(name for name, kind in ENCODING_NAMES.items() if type(encoding) is kind)


def _encoding(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Encoding:
    prototypes = arrays["prototypes"]
    if header["encoding"] == "signs" and not (np.abs(prototypes) == 1.0).all():
        raise _damaged("prototypes", "the signs 1 and -1")
    if header["encoding"] in ("angles", "directions") and (np.abs(prototypes) > 1.0 + 1e-9).any():
        raise _damaged("prototypes", "directions of length 1")
    if header["encoding"] == "angles":
        return AngularDirections(prototypes, arrays["encoding.bias"])
    return ENCODING_NAMES[header["encoding"]](prototypes)
