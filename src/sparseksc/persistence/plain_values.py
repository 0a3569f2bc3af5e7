"""Parameters and results of a search as plain values, which JSON has, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from sparseksc._typing import Array
from sparseksc.config.parameters import PARAMETERS
from sparseksc.persistence.schema import CALLABLE, RANKED_VALUES
from sparseksc.search.result import TuningResult
from sparseksc.search.surfaces import RankedModel, Surfaces


def plain_parameters(given: Mapping[str, Any], has_bandwidth: bool) -> dict[str, Any]:
    """Parameters of an estimator as plain values."""
    entry = {name: plain(value) for name, value in given.items() if PARAMETERS[name].stored}
    if isinstance(given["n_clusters"], np.ndarray):
        entry["n_clusters"] = given["n_clusters"].tolist()
    if callable(given["kernel"]):
        entry["kernel"] = CALLABLE
    seed = given["random_state"]
    entry["random_state"] = int(seed) if isinstance(seed, Integral) else None
    if not has_bandwidth:
        entry["bandwidth"] = "auto"  # ignored, so it can be anything
    return entry


def plain(value: Any) -> Any:
    """Return a parameter as JSON has it; an array has a meaning that a list does not have."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain_scalar(key, one) for key, one in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray) or hasattr(value, "to_numpy"):
        return {"per_feature": np.asarray(value).astype(float).tolist()}
    return value


def _plain_scalar(name: Any, value: Any) -> Any:
    if value is None or isinstance(value, str | bool | np.bool_ | Integral | Real):
        return plain(value)
    raise ValueError(
        f"kernel_params[{name!r}] must be a number, a text or None to be saved, got {value!r}; "
        "bind it to the function with functools.partial instead."
    )


def meant_parameters(
    entry: Mapping[str, Any], function: Callable[..., Any] | None
) -> dict[str, Any]:
    """Parameters of an estimator from plain values."""
    values = {name: _meant(value) for name, value in entry.items()}
    if values["kernel"] == CALLABLE:
        values["kernel"] = function
    return values


def _meant(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"per_feature"}:
        return np.array(value["per_feature"], dtype=np.float64)
    return [_meant(one) for one in value] if isinstance(value, list) else value


def plain_bandwidth(value: Any) -> Any:
    """Return the bandwidth of a kernel as JSON has it."""
    if value is None:
        return None
    return [float(one) for one in value] if isinstance(value, tuple) else float(value)


def meant_bandwidth(value: Any) -> Any:
    """Return a bandwidth as kernels have it: one number, or a tuple."""
    return tuple(map(float, value)) if isinstance(value, list) else value


def plain_tuning(tuning: TuningResult) -> dict[str, Any]:
    """Return what a search found, but for its surfaces."""
    return {
        "best_n_clusters": int(tuning.best_n_clusters),
        "best_bandwidth": plain_bandwidth(tuning.best_bandwidth),
        "criterion": tuning.criterion,
        "doubt": tuning.doubt,
        "max_rank": tuning.max_rank,
        "best_kernel": tuning.best_kernel,
        "left_out": float(tuning.left_out),
        "kernels": list(tuning.surfaces.kernels),
        "ranks": [int(rank) for rank in tuning.surfaces.ranks],
        "bandwidths": [plain_bandwidth(one) for one in tuning.surfaces.bandwidths],
        "n_clusters": [int(K) for K in tuning.surfaces.n_clusters],
        "surfaces": list(tuning.surfaces.values),
        "n_eigenvalues": tuning.eigenvalues.shape[1],
        "ranking": [
            {
                **{name: _spelt(getattr(model, field)) for name, field in RANKED_VALUES.items()},
                "n_clusters": int(model.n_clusters),
                "bandwidth": plain_bandwidth(model.bandwidth),
                "kernel": model.kernel,
                "max_rank": int(model.max_rank),
            }
            for model in tuning.ranking
        ],
    }


def meant_tuning(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> TuningResult:
    """Return what a search found, with its surfaces."""
    surfaces = Surfaces(
        bandwidths=[meant_bandwidth(value) for value in entry["bandwidths"]],
        n_clusters=entry["n_clusters"],
        values={
            name.removeprefix("tuning."): array
            for name, array in arrays.items()
            if name.startswith("tuning.") and name != "tuning.eigenvalues"
        },
        kernels=entry.get("kernels", []),
        ranks=entry.get("ranks", []),
    )
    ranking = [
        RankedModel(
            one["n_clusters"],
            meant_bandwidth(one["bandwidth"]),
            **{field: float(one[name]) for name, field in RANKED_VALUES.items()},
            kernel=one.get("kernel", ""),
            max_rank=one.get("max_rank", 0),
        )
        for one in entry["ranking"]
    ]
    return TuningResult(
        entry["best_n_clusters"],
        meant_bandwidth(entry["best_bandwidth"]),
        entry["criterion"],
        ranking,
        surfaces,
        arrays["tuning.eigenvalues"],
        entry["doubt"],
        entry.get("max_rank"),
        entry.get("best_kernel", ""),
        entry.get("left_out", 0.0),
    )


def _spelt(value: float) -> float | str:
    """Return a number, or the name of one that JSON does not have."""
    return float(value) if np.isfinite(value) else str(float(value))
