"""From a fitted estimator to a model file, and from a file to all that an estimator is made of."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn

from sparseksc._text import escaped
from sparseksc._typing import Array, StrPath
from sparseksc._version import __version__
from sparseksc.config.parameters import PARAMETERS
from sparseksc.config.settings import Settings
from sparseksc.core.density import Density
from sparseksc.core.encoding import AngularDirections, Encoding
from sparseksc.core.model import Projection, SparseModel
from sparseksc.core.training import Training
from sparseksc.kernels import CallableKernel, Kernel, Landmarks, Polynomial, make_kernel
from sparseksc.persistence import container
from sparseksc.persistence.plain_values import (
    meant_bandwidth,
    meant_parameters,
    meant_tuning,
    plain,
    plain_bandwidth,
    plain_parameters,
    plain_tuning,
)
from sparseksc.persistence.schema import (
    CALLABLE,
    COMPARED_PIVOTS,
    ENCODING_NAMES,
    HeaderError,
    ModelFileError,
    check_header,
)
from sparseksc.preprocessing import TableEncoder
from sparseksc.scaling import Scaling
from sparseksc.search.result import TuningResult

#: Characters of a sentence that may repeat what is in a file.
LONGEST_REASON = 200


def save_model(estimator: Any, path: StrPath) -> None:
    """Write a fitted estimator to a model file."""
    if estimator.reduced_set_.dtype.hasobject:
        raise ValueError(
            "This model cannot be saved: its pivots are objects, and a model file holds numbers."
        )
    header, arrays = describe(estimator)
    try:
        check_header(header)
        _check_finite(arrays)
    except HeaderError as error:
        wrong = f"{error.name} must be {error.allowed}"
    except ModelFileError as error:
        wrong = str(error).removeprefix("is damaged: ")
    else:
        container.write(path, header, arrays)
        return
    raise ValueError(f"This model cannot be saved: {wrong}.")


class SavedModel(NamedTuple):
    """What a model file holds: all that an estimator is made of."""

    parameters: dict[str, Any]
    training: Training
    n_features: int
    feature_names: Array | None
    scaling: Scaling | None
    tuning: TuningResult | None
    warnings: list[str]
    encoder: TableEncoder | None = None


def load_model(path: StrPath, kernel: Callable[..., Any] | None) -> SavedModel:
    """Read a model file; ``kernel`` is the function that the model was trained with, if any."""
    header, arrays = container.read(path)
    is_function = header["kernel"]["name"] == CALLABLE
    if kernel is not None and not is_function:
        raise ValueError(
            f"{escaped(os.fspath(path))} has the {header['kernel']['name']} kernel; kernel= is for "
            "models that were trained with a function."
        )
    with container.naming(path):
        if is_function and not callable(kernel):
            raise ModelFileError(
                "was trained with a kernel function, which is not in the file: hand it over as "
                "load(path, kernel=function)"
            )
        return build(header, arrays, kernel)


def describe(estimator: Any) -> tuple[dict[str, Any], dict[str, Array]]:
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
    if kernel.name == "precomputed":
        arrays["points"] = points.astype(np.int64)
    else:
        arrays |= _arrays_of_rows("points", points)
    if model.noise is not None:
        arrays |= _arrays_of_rows("noise.points", model.noise.points)
        arrays["noise.mass"] = model.noise.mass
    tree = getattr(estimator, "tree_", None)
    if tree is not None:
        arrays["tree"] = tree
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
        "noise": None if model.noise is None else _noise_entry(model.noise, estimator.noise_share_),
        "classes": None if model.classes is None else model.classes.tolist(),
        "tree": tree is not None,
        "feature_names": None if names is None else [str(name) for name in names],
        "parameters": plain_parameters(estimator.get_params(deep=False), kernel.has_bandwidth),
        "training": {
            "n_samples": int(estimator.n_samples_seen_),
            "cluster_sizes": estimator.cluster_sizes_.tolist(),
            "eigenvalues": model.eigenvalues.tolist(),
            "residual": float(estimator.residual_),
            "n_outliers": int(estimator.n_outliers_),
            "timings": dict(estimator.timings_),
            "warnings": list(estimator.warnings_),
        },
        "tuning": None if tuning is None else plain_tuning(tuning),
        "libraries": {
            "sparseksc": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
    }
    encoder = getattr(estimator, "table_encoder_", None)
    if encoder is not None:
        header["table"] = encoder.plain()
    return header, arrays


def build(
    header: Mapping[str, Any], arrays: Mapping[str, Array], function: Callable[..., Any] | None
) -> SavedModel:
    """Build the model of a header that has been checked, and check the rest."""
    _check_finite(arrays)
    parameters = meant_parameters(header["parameters"], function)
    _check_parameters(parameters, header["n_features"])
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
    model = SparseModel(
        projection,
        eigenvalues,
        _encoding(header, arrays),
        header["degree_floor"],
        _noise(header, arrays),
        _classes(header),
    )
    names, tuning = header["feature_names"], header["tuning"]
    return SavedModel(
        parameters,
        Training(
            model=model,
            indices=arrays["indices"].astype(np.intp),
            residual=training["residual"],
            cluster_sizes=np.array(training["cluster_sizes"], dtype=np.float64),
            n_samples=training["n_samples"],
            n_outliers=training["n_outliers"],
            timings=training["timings"],
            noise_share=(header.get("noise") or {"share": 0.0})["share"],
            tree=_tree(arrays) if header.get("tree") else None,
        ),
        header["n_features"],
        None if names is None else np.array(names, dtype=object),
        scaling,
        None if tuning is None else meant_tuning(tuning, arrays),
        training.get("warnings", []),
        TableEncoder.meant(header["table"]) if header.get("table") else None,
    )


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


def _check_unchanged(estimator: Any) -> None:
    """Refuse parameters that are wrong, or that the model was not trained with."""
    settings = Settings(estimator.get_params(deep=False))
    kernel = estimator.model_.projection.kernel
    same = (
        estimator.kernel is kernel.function
        if isinstance(kernel, CallableKernel)
        else estimator.kernel in ("auto", kernel.name)
    )
    if not same or estimator.scale != (estimator.scaling_ is not None):
        raise ValueError("kernel or scale was changed after fit: fit again before saving.")
    settings.check_bandwidths(estimator.n_features_in_)


def _check_parameters(parameters: Mapping[str, Any], n_features: int) -> None:
    """Check parameters from a file as those of a user are."""
    given = {name: one.default for name, one in PARAMETERS.items()} | dict(parameters)
    try:
        Settings(given).check_bandwidths(n_features)
    except (ValueError, OverflowError) as error:
        reason = str(error).rstrip(".")[:LONGEST_REASON]
        raise ModelFileError(f"has a wrong parameter: {reason}") from None


def _kernel_entry(kernel: Kernel) -> dict[str, Any]:
    bandwidth = plain_bandwidth(getattr(kernel, "bandwidth", None))
    entry: dict[str, Any] = {"name": kernel.name, "bandwidth": bandwidth}
    if isinstance(kernel, Polynomial):
        entry |= {"degree": int(kernel.degree), "coef0": float(kernel.coef0)}
    if isinstance(kernel, Landmarks):
        entry |= {"n_neighbors": int(kernel.n_neighbors), "metric": str(kernel.metric)}
    if isinstance(kernel, CallableKernel):
        entry["params"] = plain(kernel.params)
    return entry


def _kernel(entry: Mapping[str, Any], function: Callable[..., Any] | None) -> Kernel:
    if function is not None:
        return make_kernel(function, None, entry["params"])
    names = ("degree", "coef0", "n_neighbors", "metric")
    params = {name: entry[name] for name in names if name in entry}
    return make_kernel(entry["name"], meant_bandwidth(entry["bandwidth"]), params)


def _points(header: Mapping[str, Any], arrays: Mapping[str, Array], kernel: Kernel) -> Any:
    """Pivots, as the kernel takes them."""
    points = _rows("points", header, arrays)
    if kernel.name == "precomputed":
        _check_range("points", points, header["n_features"])
        return points.astype(np.intp)
    if kernel.name == "chi2" and points.min() < 0.0:
        raise _damaged("points", "numbers that are not negative")
    return points


def _arrays_of_rows(name: str, rows: Any) -> dict[str, Array]:
    """Arrays that hold rows, which may be sparse."""
    if isinstance(rows, np.ndarray):
        return {name: rows}
    return {
        f"{name}.data": rows.data,
        f"{name}.indices": rows.indices.astype(np.int64),
        f"{name}.indptr": rows.indptr.astype(np.int64),
    }


def _rows(name: str, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Any:
    """Rows from the arrays that hold them."""
    if not header["sparse"]:
        return arrays[name]
    data, columns, starts = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    _check_range(f"{name}.indices", columns, header["n_features"])
    steps = np.diff(starts)
    if starts[0] != 0 or starts[-1] != len(data) or (steps < 0).any():
        raise _damaged(f"{name}.indptr", "the ends of the rows")
    return sp.csr_array((data, columns, starts), shape=(len(starts) - 1, header["n_features"]))


def _noise_entry(noise: Density, share: float) -> dict[str, Any]:
    points: Any = noise.points
    return {
        "n_points": int(points.shape[0]),
        "n_stored": None if isinstance(points, np.ndarray) else int(points.nnz),
        "bandwidth": float(noise.bandwidth),
        "by_angle": bool(noise.by_angle),
        "floor": float(noise.floor),
        "share": float(share),
    }


def _noise(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Density | None:
    entry = header.get("noise")
    if entry is None:
        return None
    if not (arrays["noise.mass"] >= 0.0).all():
        raise _damaged("noise.mass", "numbers that are not negative")
    points = _rows("noise.points", header, arrays)
    return Density(
        points, arrays["noise.mass"], entry["bandwidth"], entry["by_angle"], entry["floor"]
    )


def _classes(header: Mapping[str, Any]) -> Any:
    """Names of the clusters, all of them different; None where they are numbered."""
    names = header.get("classes")
    if names is None:
        return None
    if len(set(names)) < len(names):
        raise ModelFileError("is damaged: two clusters in its header have the same name")
    return np.array(names, dtype=np.str_ if isinstance(names[0], str) else np.int64)


def _tree(arrays: Mapping[str, Array]) -> Array:
    """Return the merges: each of two clusters that are there, at heights that do not decrease."""
    tree = arrays["tree"]
    merged = np.sort(tree[:, :2].ravel())
    later = (tree[:, :2] < len(tree) + 1 + np.arange(len(tree))[:, None]).all()
    heights = tree[:, 2]
    if not (
        later
        and np.array_equal(merged, np.arange(2 * len(tree)))
        and (np.diff(heights, prepend=0.0) >= 0.0).all()
    ):
        raise _damaged("tree", "merges of two clusters, one above the other")
    return tree


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
