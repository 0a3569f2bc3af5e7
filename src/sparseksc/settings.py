"""Settings: what the user wrote, checked before any work, and turned into a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sparseksc.bandwidths import automatic_bandwidths
from sparseksc.criteria import CRITERIA, Objective
from sparseksc.encoding import ENCODINGS
from sparseksc.kernels import KERNELS, Array, Kernel, make_kernel
from sparseksc.memory import parse_bytes
from sparseksc.parameters import (
    candidates_of_bandwidth,
    candidates_of_n_clusters,
    check_bandwidth,
    check_choice,
    check_fraction,
    check_integer,
    check_kernel_params,
    check_seed,
)
from sparseksc.pivoting import RULES
from sparseksc.training import Recipe

#: Points that the pivots are looked for in, where the user leaves it to us: enough to
#: cover a shape evenly, and at least ten for each pivot.
SELECTION_SIZE, POINTS_PER_PIVOT = 2000, 10
#: Most pivots where the user leaves it to us.
MAX_RANK = 200
#: The same for a closer look. Its pivots have to cover long and thin shapes without a gap.
CLOSER_RANK, CLOSER_POINTS_PER_PIVOT = 1000, 15
#: Parameters that say how, not what.
BESIDE_THE_MODEL = {"memory_limit", "n_jobs", "random_state", "verbose"}


class Settings:
    """The parameters of an estimator after everything that can be said without the data.

    Attributes
    ----------
    n_clusters : list of int
        Candidates, ascending.
    n_clusters_is_auto, bandwidth_is_auto : bool
    seed : int
        One for the whole run.
    rule : {"auto", "ams", "blf", "bas"}
        How a search chooses.
    objective : Objective
        What ``score`` returns.
    max_rank : int
        Most pivots.
    n_jobs, memory_limit, verbose
        As given.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._given = dict(parameters)
        self._check()
        self.n_clusters = candidates_of_n_clusters(self._given["n_clusters"])
        self.n_clusters_is_auto = _is_auto(self._given["n_clusters"])
        self.bandwidth_is_auto = _is_auto(self._given["bandwidth"])
        self.seed = _seed(self._given["random_state"])
        self.rule: str = self._given["criterion"]
        self.objective = Objective(
            "ams" if self.rule == "auto" else self.rule,
            self._given["balance"],
            self._given["outlier_threshold"],
        )
        rank = self._given["max_rank"]
        self.max_rank = max(MAX_RANK, *self.n_clusters) if _is_auto(rank) else int(rank)
        self.n_jobs: int | None = self._given["n_jobs"]
        self.memory_limit = self._given["memory_limit"]
        self.verbose = bool(self._given["verbose"])

    @property
    def purpose(self) -> dict[str, Any]:
        """What was given and says which model is wanted, to tell whether it has changed."""
        names = self._given.keys() - BESIDE_THE_MODEL
        return {name: _as_plain(self._given[name]) for name in sorted(names)}

    @property
    def kind(self) -> type[Kernel] | None:
        """The kernel's class; None for a function."""
        kernel = self._given["kernel"]
        return KERNELS[kernel] if isinstance(kernel, str) else None

    @property
    def selection_size(self) -> int | None:
        """Points that pivots are looked for in; None for all."""
        return self._selection_size(POINTS_PER_PIVOT * self.max_rank)

    def _selection_size(self, enough: int) -> int | None:
        size = self._given["selection_size"]
        if _is_auto(size):
            return max(SELECTION_SIZE, enough)
        return None if size is None else int(size)

    def closer(self, recipe: Recipe) -> Recipe:
        """Return the recipe of a closer look."""
        automatic = _is_auto(self._given["max_rank"])
        rank = max(CLOSER_RANK, self.max_rank) if automatic else self.max_rank
        size = self._selection_size(CLOSER_POINTS_PER_PIVOT * rank)
        return replace(recipe, max_rank=rank, selection_size=size)

    def check_rows(self, X: Array) -> None:
        """Raise an error where the kernel is not defined on ``X``."""
        make_kernel(self._given["kernel"]).check(X)

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
        if self.kind is not None and self.kind.has_bandwidth and not self.bandwidth_is_auto:
            candidates_of_bandwidth(self._given["bandwidth"], n_features)

    def recipe(self, bandwidth: Any, n_features: int, n_jobs: int | None) -> Recipe:
        """How to train at one bandwidth."""
        given = self._given
        params = check_kernel_params(given["kernel"], given["kernel_params"])
        kernel = icd_kernel = make_kernel(given["kernel"], bandwidth, params)
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
            n_jobs=n_jobs,
            two_bandwidths=given["icd_bandwidth"] is not None,
        )

    def _check(self) -> None:
        given = self._given
        if not callable(given["kernel"]):
            check_choice("kernel", given["kernel"], KERNELS)
        make_kernel(
            given["kernel"], None, check_kernel_params(given["kernel"], given["kernel_params"])
        )
        check_choice("pivoting", given["pivoting"], RULES)
        check_choice("encoding", given["encoding"], ["auto", *ENCODINGS])
        check_choice("criterion", given["criterion"], ["auto", *CRITERIA])
        check_fraction("balance", given["balance"])
        check_fraction("tol", given["tol"])
        check_integer("outlier_threshold", given["outlier_threshold"], 0)
        check_integer("verbose", given["verbose"], 0)
        if not _is_auto(given["max_rank"]):
            check_integer("max_rank", given["max_rank"], 1, " (or 'auto')")
        check_seed(given["random_state"])
        self._check_scale()
        parse_bytes(given["memory_limit"])
        if given["n_jobs"] is not None and given["n_jobs"] != -1:
            check_integer("n_jobs", given["n_jobs"], 1, " (or -1 or None for all cores)")
        size = given["selection_size"]
        if isinstance(size, str):
            check_choice("selection_size", size, ["auto"])
        elif size is not None:
            check_integer("selection_size", size, 1, " ('auto', or None for all)")
        self._check_together()

    def _check_scale(self) -> None:
        scale, kernel = self._given["scale"], self._given["kernel"]
        if not isinstance(scale, bool | np.bool_):
            raise ValueError(f"scale must be True or False, got {scale!r}.")
        if scale and kernel == "precomputed":
            raise ValueError("scale=True needs features, which a precomputed kernel does not have.")
        if scale and kernel == "chi2":
            raise ValueError(
                "scale=True gives negative features, on which the chi2 kernel is not defined."
            )

    def _check_together(self) -> None:
        """Check what depends on more than one parameter."""
        given = self._given
        most = max(candidates_of_n_clusters(given["n_clusters"]))
        for name in ("max_rank", "selection_size"):
            limit = given[name]
            if isinstance(limit, Integral) and int(limit) < most:
                if not _is_auto(given["n_clusters"]):
                    raise ValueError(
                        f"{name} must be at least n_clusters, got {name}={limit} for {most} "
                        "clusters."
                    )
        if most < 3 and given["encoding"] == "angular":
            raise ValueError(f"The angular encoding needs n_clusters > 2, got {most}.")
        if most < 3 and given["criterion"] == "bas":
            raise ValueError(f"The bas criterion needs n_clusters > 2, got {most}.")
        if given["icd_bandwidth"] is not None and not (self.kind and self.kind.has_bandwidth):
            raise ValueError(
                f"icd_bandwidth needs a kernel with a bandwidth, got kernel={given['kernel']!r}."
            )


def _as_plain(value: Any) -> Any:
    """Return equal values for what is equal: lists for arrays, names for functions."""
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, Mapping):
        return {name: _as_plain(one) for name, one in value.items()}
    return value if value is None or isinstance(value, str) else np.asarray(value).tolist()


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _seed(random_state: Any) -> int:
    """One integer; an integer given by the user is taken as it is."""
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31))
