"""KernelSpectralClustering: the method as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from sparseksc.checkpoint import CheckpointedSource
from sparseksc.fitted_model import FittedModel
from sparseksc.incremental import Reservoir
from sparseksc.inputs import is_external
from sparseksc.outputs import require_place
from sparseksc.parameters import (
    check_forgetting,
    check_validation,
)
from sparseksc.planning import closer_recipe, look_closer, make_plan, search_sample
from sparseksc.scaling import Scaling, measure_scaling
from sparseksc.settings import Settings
from sparseksc.sources import ArraySource, Source
from sparseksc.training import Recipe, Training
from sparseksc.tuning import TuningResult


def _sees_rows_one_by_one(estimator: Any) -> bool:
    """Whether every row can be used without the others, as ``partial_fit`` does."""
    if estimator.kernel == "precomputed" or estimator.icd_bandwidth is not None:
        raise AttributeError(
            "partial_fit sees every row once; a precomputed kernel and icd_bandwidth need all "
            "rows at once."
        )
    return True


class KernelSpectralClustering(FittedModel):
    r"""Sparse kernel spectral clustering.

    Finds clusters of any shape as the leading components of a weighted kernel PCA, from
    sums over the data and a reduced set of R pivots, so that time grows linearly with the
    number of points, and new points can be labelled. The score variables of a point are
    :math:`z(x) = \sum_r k(x, p_r)\, \xi_r + b`; points of one cluster lie on one line in
    score space.

    Parameters
    ----------
    n_clusters : int, list of int or "auto", default="auto"
        Number of clusters; several candidates or "auto" (2 to 10) start a search.
    kernel : str or callable, default="rbf"
        "rbf", "laplacian", "chi2", "cosine", "linear", "polynomial", "precomputed", or a
        function ``k(X, Y, **kernel_params)`` that returns the matrix of kernel values.
        "precomputed" takes the kernel matrix of all training points in ``fit`` and the
        kernel values between new and training points afterwards.
    bandwidth : float, array of shape (n_features,), list or "auto", default="auto"
        The bandwidth h divides: :math:`\exp(-\|x-y\|^2/h)`. An array gives one value per
        feature, a list several candidates for a search; "auto" takes candidates from the
        data. Kernels without a bandwidth (cosine, linear, precomputed, functions) ignore it.
    icd_bandwidth : float or array of shape (n_features,), default=None
        Bandwidth of the kernel that selects the pivots and gives the eigenvectors, if it is
        to differ from the one of the scores, as in the paper's experiments.
    kernel_params : dict, default=None
        ``degree`` and ``coef0`` of the polynomial kernel, or the arguments of a function.
    scale : bool, default=False
        Whether to standardise every feature: subtract its mean over all training rows, divide
        by its standard deviation, before anything else, and for new points alike. Sparse data
        is divided only. Costs one more pass over the data, and a copy of arrays (which
        ``memory_limit`` does not count).
    max_rank : int or "auto", default="auto"
        Largest number of pivots R. Memory grows with R squared, and so does the time, unless the
        kernel is narrow. "auto" is 200, or 1,000 where the search had to look closer to find
        clusters.
    tol : float, default=0.001
        Stop at the first pivot that brings the trace of the residual kernel matrix of the
        selection sample to this share of the trace of the kernel matrix.
    pivoting : {"greedy", "weighted", "block", "random", "uniform", "renyi"}, default="greedy"
        How pivots are chosen. "greedy" spreads them evenly over a shape; "block" does
        nearly the same faster where the rank is in the hundreds; "weighted" heeds the sample
        weights, for points that stand for many.
    selection_size : int, "auto" or None, default="auto"
        Number of points, drawn uniformly, among which pivots are looked for; None takes
        all. "auto" takes 2,000, or ten for each pivot if that is more.
    encoding : {"auto", "sign", "direction", "angular", "qr"}, default="auto"
        How clusters are read off the scores. "auto" is "qr", the steadiest over the
        bandwidth.
    criterion : {"auto", "ams", "blf", "bas"}, default="auto"
        How the search chooses: "auto" by the clusters whose separation in the graph of nearest
        neighbours stands out (:func:`sparseksc.tune`), the others by the largest value of that
        criterion. ``score`` is the criterion, and the AMS for "auto".
    balance : float, default=0.1
        Weight of the balance of cluster sizes in the criterion, between 0 and 1.
    outlier_threshold : int, default=1
        Clusters of at most this many points add nothing to the criterion.
    random_state : int, RandomState instance or None, default=None
        Seed of the selection sample and of the rules that draw pivots. Without an integer,
        two fits of large data may differ.
    n_jobs : int or None, default=None
        Number of threads, all cores for None. The result does not depend on it.
    memory_limit : int, str or None, default=None
        Bytes that ``fit`` may use beside the data, such as "2GB"; half of the free memory for
        None. Fewer threads run where they would not fit, what cannot fit is refused, and a search
        warns where it cannot look closer. See :func:`sparseksc.estimate_memory`.
    verbose : int, default=0
        Print what the search does where it is positive.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each training point; cluster 0 is the largest. Only after a fit on data in
        memory; for other data use ``predict``.
    n_clusters_ : int
        Number of clusters found.
    bandwidth_ : float, tuple of float or None
        Bandwidth of the kernel of the scores.
    reduced_set_ : array of shape (R, n_features)
        The pivots (their row numbers for a precomputed kernel), standardised where ``scale``
        is; ``scaling_.undo`` brings them back.
    reduced_set_indices_ : array of shape (R,)
        Row numbers of the pivots in the training data.
    coef_ : array of shape (R, n_clusters_ - 1)
        Coefficients of the score variables.
    bias_ : array of shape (n_clusters_ - 1,)
        Bias of the score variables.
    eigenvalues_ : array of shape (n_clusters_ - 1,)
        Leading eigenvalues; close to 1 where clusters are well apart.
    prototypes_ : array of shape (n_clusters_, n_clusters_ - 1)
        Cluster prototypes of the encoding, in score space.
    residual_ : float
        Relative trace residual of the selection sample.
    n_outliers_ : int
        Training points that are out of the reach of the reduced set, and so were left out
        of the statistics. See :meth:`outliers`.
    cluster_sizes_ : array of shape (n_clusters_,)
        Sum of the sample weights of the training points in each cluster.
    n_samples_seen_ : int
        Number of training points.
    scaling_ : Scaling or None
        Mean and standard deviation of the features, where ``scale`` is.
    timings_ : dict of str to float
        Seconds that each step of the training took.
    model_ : SparseModel
        The fitted model without the estimator around it.
    tuning_ : TuningResult
        What the search found, where there was one.
    n_features_in_ : int
    feature_names_in_ : array of str

    See Also
    --------
    sklearn.cluster.SpectralClustering : Needs the whole affinity matrix, has no ``predict``.
    sparseksc.reference : Dense KSC and the published sparse routes.

    References
    ----------
    .. [1] Novak, Langone, Alzate, Suykens, "Accelerated sparse Kernel Spectral Clustering
       for large scale data clustering problems", arXiv:2310.13381, 2023.
    .. [2] Alzate, Suykens, "Multiway spectral clustering with out-of-sample extensions
       through weighted kernel PCA", IEEE TPAMI 32(2), 2010.

    Examples
    --------
    >>> from sparseksc import KernelSpectralClustering
    >>> from sparseksc.datasets import make_spirals
    >>> from sklearn.metrics import adjusted_rand_score
    >>> X, y = make_spirals(20_000, random_state=0)
    >>> ksc = KernelSpectralClustering(n_clusters=2, bandwidth=0.006, random_state=0).fit(X)
    >>> adjusted_rand_score(y, ksc.labels_)
    1.0
    >>> ksc.reduced_set_.shape
    (200, 2)
    >>> ksc.predict(X[:5]).shape, ksc.transform(X[:5]).shape, ksc.membership(X[:5]).shape
    ((5,), (5, 1), (5, 2))
    """

    def __init__(
        self,
        n_clusters: int | Iterable[int] | str = "auto",
        *,
        kernel: str | Callable[..., Any] = "rbf",
        bandwidth: float | ArrayLike | str = "auto",
        icd_bandwidth: float | ArrayLike | None = None,
        kernel_params: dict[str, Any] | None = None,
        scale: bool = False,
        max_rank: int | str = "auto",
        tol: float = 1e-3,
        pivoting: str = "greedy",
        selection_size: int | str | None = "auto",
        encoding: str = "auto",
        criterion: str = "auto",
        balance: float = 0.1,
        outlier_threshold: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.icd_bandwidth = icd_bandwidth
        self.kernel_params = kernel_params
        self.scale = scale
        self.max_rank = max_rank
        self.tol = tol
        self.pivoting = pivoting
        self.selection_size = selection_size
        self.encoding = encoding
        self.criterion = criterion
        self.balance = balance
        self.outlier_threshold = outlier_threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> KernelSpectralClustering:
        """Cluster the rows of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Source, or Dask collection
            Array, data frame, memory map, or a CSR matrix (rbf, cosine, linear and
            polynomial kernels); the kernel matrix for ``kernel="precomputed"``. Or data that
            does not fit in memory: from :func:`sparseksc.open_dataset`, or a Dask array or
            data frame, which is computed on the active cluster.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts like two copies of the row, a weight of 0 like none. Only for
            data in memory.
        checkpoint : path, optional
            File in which the state of a long run is saved every minute. The same call goes on
            from there after an interruption and ends with the same bits; the file is removed
            at the end.

        Returns
        -------
        self
        """
        settings = Settings(self.get_params(deep=False))
        if checkpoint is not None:
            require_place(checkpoint)  # before any work
        source, scaling = self._training_source(X, sample_weight)
        plan = make_plan(settings, source)
        if checkpoint is None:
            training = plan.train(source)
        else:
            saved = CheckpointedSource(source, checkpoint, plan.purpose)
            training = plan.train(saved)
            saved.discard()
        self._keep_tuning(plan.tuning)
        self._keep(training, scaling)
        self.__dict__.pop("_reservoir", None)
        return self

    def fit_predict(self, X: Any, y: Any = None, **parameters: Any) -> Any:
        """Cluster the rows of ``X`` and return their labels.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        **parameters
            ``sample_weight`` and ``checkpoint``, as for :meth:`fit`.

        Returns
        -------
        array of shape (n_samples,)
            ``labels_``; for data that is not in memory, what :meth:`predict` returns.
        """
        self.fit(X, y, **parameters)
        return self.predict(X) if is_external(X) else self.labels_

    @available_if(_sees_rows_one_by_one)
    def partial_fit(
        self,
        X: ArrayLike,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        forgetting: float = 1.0,
    ) -> KernelSpectralClustering:
        """Update the model with a chunk of rows that will not be seen again.

        The first chunk selects the pivots (and, where they are not given, the number of
        clusters and the bandwidth), and with ``scale`` its spread standardises all chunks.
        Later chunks join a uniform sample of all rows so far, on which the model is trained
        again; where the pivots do not represent a chunk to the tolerance, new ones are added.
        ``residual_`` is the share of the last chunk that the pivots before it did not
        represent: near 1, the data has moved. The first call starts anew, also after ``fit``,
        and its parameters hold for all that follow. There is no ``labels_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        forgetting : float, default=1.0
            What earlier rows count after this chunk, greater than 0 and at most 1.

        Returns
        -------
        self
        """
        settings = Settings(self.get_params(deep=False))
        factor = check_forgetting(forgetting)
        known: tuple[Reservoir, int, Recipe, dict[str, Any]] | None = self.__dict__.get(
            "_reservoir"
        )
        if known is None:
            source, scaling = self._training_source(X, sample_weight)
        else:
            source, scaling = self._source(X, sample_weight), self.scaling_
        if not isinstance(source, ArraySource):
            raise ValueError("partial_fit takes arrays; pass sources and Dask arrays to fit.")
        if known is None:
            plan = make_plan(settings, source)
            recipe, n_clusters, purpose = plan.recipe, plan.n_clusters, settings.purpose
            reservoir = Reservoir.start(source.X, source.weights, recipe)
            self._keep_tuning(plan.tuning)
        else:
            reservoir, n_clusters, recipe, purpose = known
            if settings.purpose != purpose:
                raise ValueError(
                    "The parameters of partial_fit are those of the first chunk, and cannot be "
                    "changed: call fit, or start again with a new estimator."
                )
            reservoir = reservoir.update(source.X, source.weights, recipe, factor)
        self._keep(replace(reservoir.train(n_clusters, recipe), labels=None), scaling)
        self.residual_ = reservoir.residual
        self.n_samples_seen_ = reservoir.n_rows
        self._reservoir = reservoir, n_clusters, recipe, purpose
        return self

    def _training_source(
        self, X: Any, sample_weight: ArrayLike | None
    ) -> tuple[Source, Scaling | None]:
        """Rows to train on, standardised where that is asked for, and how."""
        source = self._source(X, sample_weight, reset=True)
        if not self.scale:
            return source, None
        scaling = measure_scaling(source, self.n_jobs)
        return scaling.scaled(source), scaling

    def _tuned(
        self, X: Any, sample_weight: ArrayLike | None, validation: Any, progress: bool
    ) -> TuningResult:
        """Search without fitting a model on all the data."""
        settings = Settings(self.get_params(deep=False))
        source, scaling = self._training_source(X, sample_weight)
        sample = look_closer(settings, source)
        bandwidths = settings.bandwidths(sample.X, sample.weights, sample.rows)
        recipe = settings.recipe(bandwidths[0], source.n_features, self.n_jobs)
        closer = closer_recipe(recipe, settings, source)
        if validation is not None:
            validation = check_validation(validation, self.kernel, sample.X)
            if scaling is not None and not isinstance(validation, int):
                validation = scaling.apply(validation)
        found = search_sample(settings, sample, bandwidths, recipe, closer, validation, progress)
        return found.result

    def _keep_tuning(self, tuning: TuningResult | None) -> None:
        self.__dict__.pop("tuning_", None)
        if tuning is not None:
            self.tuning_ = tuning

    def _keep(self, training: Training, scaling: Scaling | None) -> None:
        """Take over what a training found."""
        self.__dict__.pop("labels_", None)
        if training.labels is not None:
            self.labels_ = training.labels
        self._set_fitted(
            training.model,
            scaling,
            indices=training.reduced_set.indices,
            residual=training.reduced_set.residual,
            cluster_sizes=training.sizes.sizes,
            n_samples=training.sizes.n_points,
            n_outliers=training.n_outliers,
            timings=training.timings,
        )
