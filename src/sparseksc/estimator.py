"""KernelSpectralClustering: the method as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from sparseksc._typing import StrPath
from sparseksc.comparison import aligned
from sparseksc.config.domains import Fraction, check_value
from sparseksc.config.inputs import chunk_source, require_fitted, training_source
from sparseksc.config.labels import given_classes
from sparseksc.config.pairs import paired_rows, read_pairs
from sparseksc.config.planning import make_plan
from sparseksc.config.settings import Settings
from sparseksc.config.streaming import Stream, extended_history, names_of
from sparseksc.core.incremental import sees_rows_one_by_one
from sparseksc.core.training import SUMMANDS
from sparseksc.data.adapters import is_external, origins_of
from sparseksc.data.checkpoint import checkpointed
from sparseksc.data.lock import sole_use
from sparseksc.data.source import Source
from sparseksc.execution.callbacks import (
    CallbackSupportMixin,
    reported_to_callbacks,
    with_callbacks,
)
from sparseksc.execution.notices import collected_warnings
from sparseksc.fitted import FittedClusters
from sparseksc.kernels import KERNELS, RBF


class KernelSpectralClustering(CallbackSupportMixin, FittedClusters):
    r"""Sparse kernel spectral clustering.

    Finds clusters of any shape as the leading components of a weighted kernel PCA, from sums over
    the data and a reduced set of R pivots: time grows linearly with the number of points, and new
    points can be labelled. The score variables of a point are
    :math:`z(x) = \sum_r k(x, p_r)\, \xi_r + b`; points of one cluster lie on one line.

    Parameters
    ----------
    n_clusters : int, list of int or "auto", default="auto"
        Number of clusters; several candidates or "auto" (any number) start a search.
    kernel : str or callable, default="auto"
        "auto" lets "landmarks" and "rbf" compete at several scales; "rbf", "laplacian", "chi2",
        "cosine", "linear", "polynomial"; "landmarks" for many features or clusters; "precomputed"
        for the kernel matrix of the training points, and of new and training points afterwards;
        or a function ``k(X, Y, **kernel_params)`` that returns the matrix of kernel values.
    bandwidth : float, array of shape (n_features,), list or "auto", default="auto"
        The bandwidth h divides: :math:`\exp(-\|x-y\|^2/h)`; for the rbf kernel it is 1/gamma. An
        array gives one value per feature, a list several candidates; "auto" takes some itself.
    icd_bandwidth : float or array of shape (n_features,), default=None
        Bandwidth of the pivots and eigenvectors, where it is not that of the scores (paper).
    kernel_params : dict, default=None
        ``degree`` and ``coef0`` of the polynomial kernel, or the arguments of a function.
    n_neighbors : int or "auto", default="auto"
        Nearest landmarks that describe a point, for ``kernel="landmarks"``, at most half of them;
        "auto" is 6, or up to 16 where few clusters, a known number, have many landmarks each.
    metric : {"euclidean", "cosine", "haversine", "jaccard"}, default="euclidean"
        Distance between points and landmarks: "cosine" for text and embeddings, "haversine" for
        rows of latitude and longitude in degrees, "jaccard" for sets as rows of 0 and 1.
    scale : bool, default=False
        Whether to standardise every feature, in one more pass; sparse data is divided only.
    max_rank : int or "auto", default="auto"
        Largest number of pivots R: 200 for "auto", or 1,000 after a second look of the search;
        of landmarks, 2,000, and at most half of the points.
    tol : float, default=0.001
        Share of the trace of the kernel matrix that the pivots may leave unrepresented.
    pivoting : {"greedy", "weighted", "block", "random", "uniform", "renyi"}, default="greedy"
        How pivots are selected: "greedy" evenly over a shape, "block" faster, nearly so.
    selection_size : int, "auto" or None, default="auto"
        Points that pivots are selected in; None takes all, "auto" 2,000, or ten for each pivot.
    encoding : {"auto", "sign", "direction", "angular", "qr"}, default="auto"
        How clusters are read off the scores. "auto" is "qr", the steadiest.
    criterion : {"auto", "ams", "blf", "bas"}, default="auto"
        How the search selects: "auto" by how well clusters are separated (:func:`sparseksc.tune`),
        the others by the largest value. ``score`` is the criterion, and the AMS for "auto".
    balance : float, default=0.1
        Weight of the balance of cluster sizes in the criterion, between 0 and 1.
    outlier_threshold : int, default=1
        Clusters of at most this many points add nothing to the criterion.
    noise : float, "auto" or None, default=None
        Share of the points, those of least density, that are in no cluster: they are not trained
        with, and labelled -1, new ones too. "auto" finds the share; None gives all a cluster, but
        a search may leave bridges between clusters out of the training.
    random_state : int, RandomState instance or None, default=None
        Seed of all samples.
    n_jobs : int or None, default=None
        Number of threads, all cores for None. The result does not depend on it.
    memory_limit : int, str or None, default=None
        Bytes that ``fit`` may use beside the data, such as "2GB"; half of the free memory for None.
        See :func:`sparseksc.estimate_memory`.
    verbose : int, default=0
        Show the progress of the search; scikit-learn's callbacks need no more than to be set.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of each training point, 0 the largest, -1 noise; lazy for Dask, none for streams.
    n_clusters_, bandwidth_ : int; float, tuple of float or None
        Number of clusters found, and bandwidth of the kernel of the scores.
    reduced_set_ : array of shape (R, n_features)
        Pivots or landmarks (row numbers for a precomputed kernel), scaled by ``scaling_``.
    reduced_set_indices_ : array of shape (R,)
        Row numbers of the pivots in the training data; none for landmarks, which are means.
    coef_, bias_ : arrays of shape (R, n_clusters_ - 1) and (n_clusters_ - 1,)
        Coefficients and bias of the score variables.
    eigenvalues_ : array of shape (n_clusters_ - 1,)
        Leading eigenvalues; close to 1 where clusters are well apart.
    prototypes_ : array of shape (n_clusters_, n_clusters_ - 1)
        Cluster prototypes of the encoding, in score space.
    residual_ : float
        Relative trace residual of the selection sample.
    n_outliers_, noise_share_ : int, float
        Training points that the reduced set does not represent (:meth:`outliers`); share of noise.
    cluster_sizes_ : array of shape (n_clusters_,)
        Sum of the sample weights of the training points in each cluster.
    n_samples_seen_, n_features_in_ : int
        Number of training points, and of features.
    feature_names_in_, scaling_ : array of str, Scaling or None
        Where ``X`` had names; mean and standard deviation of the features, where ``scale`` is.
    timings_, model_, table_encoder_ : dict of str to float, SparseModel, TableEncoder
        Seconds of each step of the training, the fitted model, and what encodes mixed tables.
    classes_ : array of shape (n_clusters_,)
        Names of the clusters, where they are not 0 to K - 1: classes of ``y``, numbers kept.
    tree_, children_, distances_ : arrays of shape (n_clusters_ - 1, 4), (..., 2) and (...,)
        Which clusters merge into coarser ones, and at which height: SciPy's linkage (:meth:`cut`).
    history_ : list of dict
        For each chunk of ``partial_fit``: rows so far, ``residual_``, share of outliers and rows of
        each cluster in the chunk. A residual or share that grows says that the data has moved.
    tuning_, warnings_ : TuningResult, list of str
        What the search found, where there was one, and the warnings of the training.

    See Also
    --------
    sklearn.cluster.SpectralClustering : Needs the whole affinity matrix, has no ``predict``.

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
    >>> ksc.reduced_set_.shape, ksc.predict(X[:5]).shape, ksc.membership(X[:5]).shape
    ((200, 2), (5,), (5, 2))
    """

    def __init__(
        self,
        n_clusters: int | Iterable[int] | str = "auto",
        *,
        kernel: str | Callable[..., Any] = "auto",
        bandwidth: float | ArrayLike | str = "auto",
        icd_bandwidth: float | ArrayLike | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_neighbors: int | str = "auto",
        metric: str = "euclidean",
        scale: bool = False,
        max_rank: int | str = "auto",
        tol: float = 1e-3,
        pivoting: str = "greedy",
        selection_size: int | str | None = "auto",
        encoding: str = "auto",
        criterion: str = "auto",
        balance: float = 0.1,
        outlier_threshold: int = 1,
        noise: float | str | None = None,
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
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.scale = scale
        self.max_rank = max_rank
        self.tol = tol
        self.pivoting = pivoting
        self.selection_size = selection_size
        self.encoding = encoding
        self.criterion = criterion
        self.balance = balance
        self.outlier_threshold = outlier_threshold
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        checkpoint: StrPath | None = None,
        align_to: FittedClusters | None = None,
        close_gaps: bool = False,
    ) -> KernelSpectralClustering:
        """Cluster the rows of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Source, or Dask collection
            Array, data frame, memory map, or a CSR matrix (rbf, cosine, linear, polynomial and
            landmarks kernels); the kernel matrix for ``kernel="precomputed"``; data from
            :func:`sparseksc.open_dataset`, a Dask collection, or objects for a kernel function.
        y : array-like of shape (n_samples,), optional
            Classes of some rows, integers or text; -1, NaN or None for the others. The clusters
            are these classes, and those that have no labels: as many as ``n_clusters`` leaves, or
            those that so many labels would hardly miss. Where no class is unknown, ``y`` is the
            target of another step of a pipeline, and not used. Files have a column instead
            (``open_dataset(label=...)``).
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios matter: twice the weight of the other rows counts like two copies of
            the row, a weight of 0 like none. Only for data in memory.
        must_link, cannot_link : array-like of shape (n_pairs, 2), optional
            Pairs of row numbers that belong to one cluster, or to two. A warning tells how many
            pairs the clusters do not keep to. Not together with ``y``.
        checkpoint : path, optional
            File in which a long run is saved every minute, until it is done. The same call, with an
            integer ``random_state``, goes on from there and ends with the same bits.
        align_to : KernelSpectralClustering, optional
            An earlier model: a cluster that is one of its clusters has the number, or name, of
            that; others get new ones. What has changed is told by :func:`sparseksc.compare`.
        close_gaps : bool, default=False
            Whether clusters that have vanished leave no gap in the numbers.

        Returns
        -------
        self
        """
        settings = Settings(self.get_params(deep=False))
        classes = given_classes(X, y)
        must, cannot = read_pairs("must_link", must_link), read_pairs("cannot_link", cannot_link)
        paired = len(must) + len(cannot) > 0
        if paired and classes is not None:
            raise ValueError("Labels and pairs of rows cannot be combined: give y or pairs.")
        if align_to is not None:
            if not isinstance(align_to, FittedClusters):
                kind = type(align_to).__name__
                raise TypeError(f"align_to must be a fitted model, got {kind}: load files first.")
            require_fitted(align_to)
            if classes is not None:
                raise ValueError("y names the clusters, and so does align_to: give one of the two.")
        alone = nullcontext() if checkpoint is None else sole_use(checkpoint, origins_of(X))
        asked = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        reported = reported_to_callbacks(self, **asked)
        with alone, collected_warnings() as messages, reported:
            source, scaling = training_source(self, X, sample_weight)
            plan = make_plan(settings, source, every_row=paired)
            if classes is not None:
                plan = plan.with_classes(classes, source, settings)
            if paired:
                plan = replace(plan, pairs=paired_rows(must, cannot, source))
            saved: AbstractContextManager[Source] = nullcontext(source)
            if checkpoint is not None:
                saved = checkpointed(source, checkpoint, plan.purpose, SUMMANDS)
            with saved as rows:
                training = plan.train(rows)
            plan.warn_of_doubts()
            if align_to is not None:
                self._set_fitted(training, scaling, plan.tuning, messages)
                training = aligned(self, training, align_to, X, source, close_gaps)
            self._set_fitted(training, scaling, plan.tuning, messages)
            for name in ("_stream", "history_"):
                self.__dict__.pop(name, None)
        return self

    def fit_predict(self, X: Any, y: Any = None, **parameters: Any) -> Any:
        """Cluster the rows of ``X`` and return their labels.

        The arguments are those of :meth:`fit`.

        Returns
        -------
        array of shape (n_samples,)
        """
        self.fit(X, y, **parameters)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    @available_if(sees_rows_one_by_one)
    def partial_fit(
        self,
        X: ArrayLike,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        forgetting: float = 1.0,
    ) -> KernelSpectralClustering:
        """Update the model with a chunk of rows that will not be seen again.

        The first chunk decides what is not given: pivots, number of clusters, bandwidth, scaling.
        Later chunks join a uniform sample of all rows so far, on which the model is trained again,
        with more pivots where they are needed; sums over landmarks add up exactly instead. A
        cluster keeps its number, also where another one is the largest now.
        ``residual_`` is the share of the chunk that was not represented: near 1, the data has
        moved. The first call starts anew, also after ``fit``. There is no ``labels_``.

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
        factor = check_value("forgetting", forgetting, Fraction(positive=True))
        if is_external(X):
            raise ValueError("partial_fit takes arrays; pass sources and Dask arrays to fit.")
        known: Stream | None = self.__dict__.get("_stream")
        with collected_warnings() as messages:
            if known is None:
                source, scaling = training_source(self, X, sample_weight)
                plan = make_plan(settings, source, every_row=True)
                step, tuning = Stream.start(source, plan, settings), plan.tuning
                plan.warn_of_doubts()
            elif settings.purpose != known.purpose:
                raise ValueError(
                    "The parameters of partial_fit are those of the first chunk, and cannot be "
                    "changed: call fit, or start again with a new estimator."
                )
            else:
                step = known.update(chunk_source(self, X, sample_weight), self.model_, factor)
                scaling, tuning = self.scaling_, getattr(self, "tuning_", None)
            self._set_fitted(step.training, scaling, tuning, messages)
            self._stream = step.stream
            before: list[dict[str, Any]] = [] if known is None else vars(self)["history_"]
            self.history_ = extended_history(before, self._chunk_record(X), step.events)
        return self

    def _chunk_record(self, X: ArrayLike) -> dict[str, Any]:
        """Return what the model says of the chunk that it has just seen."""
        labels = np.asarray(self._apply(self.model_.labels, X, None, np.intp))
        return {
            "n_samples_seen": self.n_samples_seen_,
            "residual": float(self.residual_),
            "outlier_share": float(np.mean(np.asarray(self.outliers(X)))),
            "clusters": names_of(self.model_),
            "cluster_sizes": np.bincount(labels, minlength=self.n_clusters_).tolist(),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kind = KERNELS.get(self.kernel, RBF) if isinstance(self.kernel, str) else None
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel == "chi2"
        tags.input_tags.sparse = kind is not None and kind.accepts_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
