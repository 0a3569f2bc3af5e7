"""Compare numbers of clusters and bandwidths without fitting a model: :func:`tune`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sparseksc.config.checks import check_validation
from sparseksc.config.inputs import training_source
from sparseksc.config.planning import make_plan
from sparseksc.config.settings import Settings
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.execution.notices import collected_warnings
from sparseksc.search.result import DoubtWarning, TuningResult

__all__ = ["DoubtWarning", "TuningResult", "tune"]


def tune(
    X: Any,
    n_clusters: int | Iterable[int] | str = range(2, 11),
    bandwidth: float | ArrayLike | str = "auto",
    *,
    criterion: str = "auto",
    validation: int | ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: bool = True,
    **parameters: Any,
) -> TuningResult:
    """Compare numbers of clusters and bandwidths without fitting a model on all the data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), Source, or Dask collection
        As for :meth:`~sparseksc.KernelSpectralClustering.fit`.
    n_clusters : int, list of int or "auto", default=range(2, 11)
        Candidates. "auto" is any number, one cluster among them; for the criteria of the literature
        2 to 10.
    bandwidth : float, list or "auto", default="auto"
        Candidates; "auto" takes them from the data.
    criterion : {"auto", "ams", "blf", "bas"}, default="auto"
        "auto" looks for clusters that are harder to divide than to cut off, in graphs that are
        the same for all models. The others are the criteria of the literature, maximised as they
        are.
    validation : int or array of shape (n, n_features), optional
        Number of points that models are compared on, or the points themselves. By default they are
        5,000 of the 10,000 points of training. For the criteria of the literature they are 20,000
        others; data that is not large enough for that is evaluated on itself.
    sample_weight : array-like of shape (n_samples,), optional
    n_jobs : int or None, default=None
        Threads, all cores for None. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples.
    progress : bool, default=True
        Show a progress bar, on a terminal and if the search takes more than two seconds
        (needs tqdm).
    **parameters
        Any other parameter of :class:`~sparseksc.KernelSpectralClustering`.

    Returns
    -------
    TuningResult

    Warns
    -----
    DoubtWarning
        If the clusters overlap, or the data is one cluster.

    Examples
    --------
    >>> from sparseksc import tune
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(500, noise=0.05, random_state=0)
    >>> result = tune(X, random_state=0)
    >>> result.best_n_clusters
    2
    """
    estimator = KernelSpectralClustering(
        n_clusters,
        bandwidth=bandwidth,
        criterion=criterion,
        n_jobs=n_jobs,
        random_state=random_state,
        **parameters,
    )
    settings = Settings(estimator.get_params(deep=False))
    with collected_warnings():
        source, scaling = training_source(estimator, X, sample_weight)
        checked = check_validation(validation, estimator.kernel, source)
        if scaling is not None and isinstance(checked, np.ndarray):
            checked = scaling.apply(checked)
        plan = make_plan(
            settings, source, always_search=True, validation=checked, progress=progress
        )
        plan.warn_of_doubts()
    assert plan.tuning is not None  # a search was asked for
    return plan.tuning
