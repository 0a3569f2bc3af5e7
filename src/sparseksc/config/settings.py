"""Settings: what the user wrote, checked before any work, and turned into a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sparseksc._typing import Array
from sparseksc.config.checks import candidates_of_bandwidth, check_bandwidth, check_kernel_params
from sparseksc.config.domains import check_value
from sparseksc.config.parameters import (
    AUTO_LANDMARKS,
    AUTO_RANK,
    AUTO_SELECTION,
    NON_MODEL_PARAMETERS,
    PARAMETERS,
    POINTS_PER_PIVOT,
)
from sparseksc.core.criteria import Objective
from sparseksc.core.recipe import Recipe
from sparseksc.data.fingerprint import fingerprint_of
from sparseksc.execution.memory import parse_bytes
from sparseksc.kernels import KERNELS, Kernel, Landmarks, Precomputed, make_kernel
from sparseksc.kernels.landmarks import most_neighbors
from sparseksc.kernels.metrics import METRICS
from sparseksc.search.candidates import automatic_bandwidths, spaced
from sparseksc.search.constants import (
    BANDWIDTHS_OF_ONE_NUMBER,
    COMPETING_BANDWIDTHS,
    LANDMARK_SCALES,
    SECOND_LOOK_RANK,
)

#: Metrics of rows that are not points in a space of any units, and what these are.
OWN_UNITS = {"haversine": "latitudes and longitudes", "jaccard": "sets"}


class Settings:
    """The parameters of an estimator after everything that can be said without the data.

    Attributes
    ----------
    n_clusters : list of int
        Candidates, ascending.
    n_clusters_is_auto, bandwidth_is_auto : bool
    competes : bool
        Whether the kernel is to be found, too; ``kind`` is rbf then.
    kind : type of Kernel, or None
        Class of the kernel; None for a function.
    seed : int
        One for the whole run.
    rule : {"auto", "ams", "blf", "bas"}
        How a search selects.
    objective : Objective
        What ``score`` returns.
    max_rank : int
        Most pivots.
    selection_size : int or None
        Points that pivots are selected in; None for all.
    noise : float, "auto" or None
        Share of the rows that are noise.
    by_angle : bool
        Whether rows are compared by their directions.
    depends_on_scales : bool
        Whether features count by their scales, and nobody has said that they should.
    n_jobs, verbose
        As given.
    memory_limit : int
        In bytes.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        given = self._given = dict(parameters)
        checked: dict[str, Any] = {}
        for name, value in given.items():
            checked[name] = check_value(name, value, PARAMETERS[name].domain)
        self.n_clusters: list[int] = checked["n_clusters"]
        self.n_clusters_is_auto = isinstance(given["n_clusters"], str)
        bandwidth = given["bandwidth"]
        self.bandwidth_is_auto = isinstance(bandwidth, str) and bandwidth == "auto"
        kernel = checked["kernel"]
        self.competes = False
        if isinstance(kernel, str) and kernel == "auto":
            # What only one of them has names the kernel.
            of_landmarks = given["n_neighbors"] != "auto" or given["metric"] != "euclidean"
            of_rbf = (
                not self.bandwidth_is_auto
                or given["icd_bandwidth"] is not None
                or bool(given["kernel_params"])
                or given["criterion"] != "auto"
                or given["encoding"] not in ("auto", "qr")
                or self.n_clusters == [1]
            )
            self.competes = not of_landmarks and not of_rbf
            kernel = "landmarks" if of_landmarks else "rbf"
        self._named_kernel = kernel
        self.kind: type[Kernel] | None = KERNELS[kernel] if isinstance(kernel, str) else None
        self._kernel_params = check_kernel_params(kernel, given["kernel_params"])
        if kernel == "landmarks":
            self._kernel_params["metric"] = given["metric"]
            if given["n_neighbors"] != "auto":
                self._kernel_params["n_neighbors"] = checked["n_neighbors"]
        self._kernel = make_kernel(kernel, None, self._kernel_params)
        self.by_angle = kernel == "cosine" or given["metric"] == "cosine"
        self.depends_on_scales = (
            kernel in ("rbf", "laplacian", "landmarks")
            and not (given["scale"] or self.by_angle or given["metric"] in OWN_UNITS)
            and self.bandwidth_is_auto
        )
        self._check_together()
        self.seed = _seed(checked["random_state"])
        self.rule: str = checked["criterion"]
        criterion = "ams" if self.rule == "auto" else self.rule
        self.objective = Objective(criterion, checked["balance"], checked["outlier_threshold"])
        rank = checked["max_rank"]
        most = AUTO_LANDMARKS if kernel == "landmarks" else AUTO_RANK
        self.max_rank: int = max(most, *self.n_clusters) if rank == "auto" else rank
        size: int | str | None = checked["selection_size"]
        enough = max(AUTO_SELECTION, POINTS_PER_PIVOT * self.max_rank)
        self.selection_size = enough if isinstance(size, str) else size
        self.noise: float | str | None = checked["noise"]
        self.n_jobs: int | None = checked["n_jobs"]
        self.memory_limit = parse_bytes(checked["memory_limit"])
        self.verbose = bool(checked["verbose"])

    @property
    def purpose(self) -> dict[str, Any]:
        """What was given and says which model is wanted, to tell whether it has changed."""
        names = self._given.keys() - NON_MODEL_PARAMETERS
        return {name: _as_plain(self._given[name]) for name in sorted(names)}

    def finer(self, recipe: Recipe) -> Recipe:
        """Return the recipe for a second look of the search, with more pivots."""
        rank, size = self.max_rank, self._given["selection_size"]
        if self._given["max_rank"] == "auto":
            rank = max(SECOND_LOOK_RANK, rank)
        if isinstance(size, str):
            size = max(AUTO_SELECTION, POINTS_PER_PIVOT * rank)
        return replace(recipe, max_rank=rank, selection_size=size)

    def check_rows(self, X: Array) -> None:
        """Raise an error where the kernel is not defined on ``X``."""
        self._kernel.check(X)

    def doubt_of_rows(self, X: Array, names: list[str] | None) -> str:
        """Say why the metric may not be meant for these rows; nothing where it may."""
        metric = METRICS[getattr(self._kernel, "metric", "euclidean")]
        return metric.doubt(X, names)

    def bandwidths(self, X: Array, weights: Array, rows: Array) -> list[Any]:
        """Candidates for the bandwidth; a single None for kernels without one.

        ``rows`` are the row numbers of ``X`` in the data.
        """
        if self.kind is None or not self.kind.has_bandwidth:
            return [None]
        if self.bandwidth_is_auto:
            return automatic_bandwidths(self.kind, X, self.seed, weights, rows)
        return candidates_of_bandwidth(self._given["bandwidth"], X.shape[1])

    def check_bandwidths(self, n_features: int) -> None:
        """Raise an error where bandwidths are given that the features cannot have."""
        if self._kernel.has_bandwidth and not self.bandwidth_is_auto:
            candidates_of_bandwidth(self._given["bandwidth"], n_features)
        self.recipe(None, n_features)

    def recipe(self, bandwidth: Any, n_features: int) -> Recipe:
        """How to train at one bandwidth."""
        given = self._given
        kernel = icd_kernel = make_kernel(self._named_kernel, bandwidth, self._kernel_params)
        if given["icd_bandwidth"] is not None:
            icd_kernel = kernel.with_bandwidth(
                check_bandwidth("icd_bandwidth", given["icd_bandwidth"], n_features)
            )
        return Recipe(
            kernel=kernel,
            icd_kernel=icd_kernel,
            max_rank=self.max_rank,
            tol=float(given["tol"]),
            pivoting=given["pivoting"],
            selection_size=self.selection_size,
            encoding="qr" if given["encoding"] == "auto" else given["encoding"],
            seed=self.seed,
            n_jobs=self.n_jobs,
            two_bandwidths=given["icd_bandwidth"] is not None,
            auto_neighbors=self._named_kernel == "landmarks"
            and given["n_neighbors"] == "auto"
            and len(self.n_clusters) == 1,
            given_neighbors=given["n_neighbors"] != "auto",
        )

    def models(self, bandwidths: list[Any], n_features: int) -> list[Recipe]:
        """How to train the models that compete, at some of the candidates for the bandwidth.

        At all of them, where the user has given them.
        """
        single = len(self.n_clusters) == 1
        if self.bandwidth_is_auto:
            count = BANDWIDTHS_OF_ONE_NUMBER if single else COMPETING_BANDWIDTHS
            bandwidths = spaced(bandwidths, count)
        models = [self.recipe(bandwidth, n_features) for bandwidth in bandwidths]
        if self.competes:
            return [*self._scales(models[0]), *models]
        several = self.kind is Landmarks and self._given["max_rank"] == "auto" and not single
        return self._scales(models[0]) if several else models

    def _scales(self, recipe: Recipe) -> list[Recipe]:
        """How to train with landmarks, more and more of them."""
        kernel = self._kernel
        if not isinstance(kernel, Landmarks):
            kernel = Landmarks(metric=self._given["metric"])
        recipe = replace(recipe, kernel=kernel, icd_kernel=kernel)
        most = self._given["max_rank"]
        scales = LANDMARK_SCALES if most == "auto" else {min(R, most) for R in LANDMARK_SCALES}
        return [recipe.with_landmarks(R) for R in sorted(scales)]

    def _check_together(self) -> None:
        """Check what depends on more than one parameter."""
        given, most = self._given, max(self.n_clusters)
        if given["noise"] is not None and self.kind in (None, Precomputed):
            raise ValueError(
                "noise needs features, in which the density of the points is estimated; a function "
                "and a precomputed kernel have none."
            )
        if given["noise"] == "auto" and given["criterion"] != "auto":
            raise ValueError(
                "noise='auto' compares separations, which "
                f"criterion={given['criterion']!r} has not: use criterion='auto', or give the "
                "share of the noise."
            )
        if given["scale"] and given["kernel"] == "precomputed":
            raise ValueError("scale=True needs features, which a precomputed kernel does not have.")
        if given["scale"] and given["kernel"] == "chi2":
            raise ValueError(
                "scale=True gives negative features, on which the chi2 kernel is not defined."
            )
        for name in ("max_rank", "selection_size"):
            limit = given[name]
            if isinstance(limit, Integral) and int(limit) < most and not self.n_clusters_is_auto:
                raise ValueError(
                    f"{name} must be at least n_clusters, got {name}={limit} for {most} clusters."
                )
        if most < 3 and given["encoding"] == "angular":
            raise ValueError(f"The angular encoding needs n_clusters > 2, got {most}.")
        if most < 3 and given["criterion"] == "bas":
            raise ValueError(f"The bas criterion needs n_clusters > 2, got {most}.")
        if self._named_kernel == "landmarks":
            self._check_landmarks()
        if given["icd_bandwidth"] is not None and not self._kernel.has_bandwidth:
            raise ValueError(
                f"icd_bandwidth needs a kernel with a bandwidth, got kernel={given['kernel']!r}."
            )

    def _check_landmarks(self) -> None:
        """Check what the landmarks kernel needs, and what it has no use for."""
        given, neighbors = self._given, self._given["n_neighbors"]
        if not self.bandwidth_is_auto:
            raise ValueError(
                "The landmarks kernel has no bandwidth: leave it out, and set n_neighbors."
            )
        if given["metric"] in OWN_UNITS:
            for name in ("scale", "noise"):
                if given[name] not in (None, False):
                    raise ValueError(
                        f"The metric {given['metric']!r} takes {OWN_UNITS[given['metric']]} as "
                        f"they are: leave {name} out."
                    )
        most = None if given["max_rank"] == "auto" else given["max_rank"]
        if neighbors != "auto" and most is not None and neighbors > most_neighbors(most):
            raise ValueError(
                f"n_neighbors must be at most half of max_rank, the number of landmarks, got "
                f"n_neighbors={neighbors} and max_rank={most}."
            )


def _as_plain(value: Any) -> Any:
    """Return equal values for what is equal: lists for arrays, fingerprints for functions."""
    if callable(value):
        return fingerprint_of(value).value
    if isinstance(value, Mapping):
        return {name: _as_plain(one) for name, one in value.items()}
    return value if value is None or isinstance(value, str) else np.asarray(value).tolist()


def _seed(random_state: Any) -> int:
    """One integer; an integer given by the user is taken as it is."""
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31))
