"""What a fitted model does: label, score, cut into coarser clusters, be kept in a file."""

from __future__ import annotations

from html import escape
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import base

from sparseksc._typing import Floats, Integers, StrPath
from sparseksc.config.inputs import model_source, require_fitted
from sparseksc.config.settings import Settings
from sparseksc.core.clusters.hierarchy import Level, groups_below, groups_of
from sparseksc.core.model import SparseModel
from sparseksc.core.training import Training
from sparseksc.data.adapters import require_output
from sparseksc.data.source import RowWork
from sparseksc.data.writers import write_label_file
from sparseksc.persistence import convert
from sparseksc.scaling import Scaling
from sparseksc.search.result import TuningResult


class FittedClusters(
    base.ClassNamePrefixFeaturesOutMixin,
    base.TransformerMixin,
    base.ClusterMixin,
    base.BaseEstimator,
):
    """Methods of an estimator that has a model; its attributes are documented there."""

    model_: SparseModel
    tree_: Floats
    cluster_sizes_: Floats
    bias_: Floats
    n_clusters_: int
    coef_: Floats
    noise_share_: float
    n_samples_seen_: int
    n_jobs: int | None
    scaling_: Scaling | None

    def predict(
        self,
        X: Any,
        *,
        n_clusters: int | None = None,
        out: StrPath | None = None,
        with_membership: bool = False,
    ) -> Any:
        """Cluster of each row of ``X``, or -1 for noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Source, or Dask collection
            For a precomputed kernel: kernel values between these points and all training
            points, shape (n_samples, n_training_samples).
        n_clusters : int, optional
            Label by this many coarser clusters, as :meth:`cut` numbers them.
        out : path, optional
            Parquet, Arrow, CSV or NPY file to write the labels to, block by block and in the
            order of the rows, instead of returning them.
        with_membership : bool, default=False
            Whether to write the memberships too, beside the labels; needs ``out``.

        Returns
        -------
        array of shape (n_samples,), or None
            Names, where the clusters have any (``classes_``). A Dask array that is not computed
            yet for a Dask collection; None with ``out``.
        """
        require_fitted(self)
        level: SparseModel | Level = self.model_
        if n_clusters is not None:
            level = Level(self.model_, self.cut(n_clusters))
        if out is None:
            if with_membership:
                raise ValueError("with_membership is for files: give out, or call membership(X).")
            names = level.model.classes if isinstance(level, Level) else level.classes
            kind = np.intp if names is None or n_clusters is not None else names.dtype
            return self._apply(level.named_labels, X, None, kind)
        require_output(out, X, self)
        blocks, count = model_source(self, X).blocks(), n_clusters or self.n_clusters_
        write_label_file(out, level, blocks, count, with_membership, self.n_jobs)
        return None

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> Integers:
        """Coarser clusters: merge those that are most similar, along ``tree_``.

        Parameters
        ----------
        n_clusters : int, optional
            How many groups are left, from 1 to ``n_clusters_``.
        height : float, optional
            Make all merges up to this height instead.

        Returns
        -------
        array of shape (n_clusters_,)
            Group of each cluster; group 0 is the largest. Groups of one cut are parts of those of
            any coarser one.

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> from sparseksc import KernelSpectralClustering
        >>> X, _ = make_blobs(300, centers=[[0, 0], [0, 4], [30, 0]], random_state=0)
        >>> ksc = KernelSpectralClustering(3, bandwidth=4.0, random_state=0).fit(X)
        >>> groups = ksc.cut(2)
        >>> int(groups[ksc.predict([[0, 0]])[0]]) == int(groups[ksc.predict([[0, 4]])[0]])
        True
        """
        require_fitted(self)
        if not hasattr(self, "tree_"):
            raise AttributeError("This model has no tree: it was saved before there were any.")
        if (n_clusters is None) == (height is None):
            raise ValueError("Give n_clusters or height, one of the two.")
        if height is not None:
            n_clusters = groups_below(self.tree_, float(height))
        assert n_clusters is not None
        if not isinstance(n_clusters, Integral) or not 1 <= n_clusters <= self.n_clusters_:
            raise ValueError(
                f"n_clusters must be an integer from 1 to {self.n_clusters_}, the clusters of the "
                f"model, got {n_clusters!r}."
            )
        return groups_of(self.tree_, int(n_clusters), self.cluster_sizes_)

    @property
    def children_(self) -> Integers:
        """The two clusters of each merge, as in scikit-learn's AgglomerativeClustering."""
        children: Integers = self.tree_[:, :2].astype(np.intp)
        return children

    @property
    def distances_(self) -> Floats:
        """Height of each merge."""
        heights: Floats = self.tree_[:, 2]
        return heights

    def transform(self, X: Any) -> Any:
        """Score variables of each row of ``X``.

        Returns
        -------
        array of shape (n_samples, n_clusters_ - 1)
            In the precision of ``X``.
        """
        require_fitted(self)
        return self._apply(self.model_.scores_in_precision, X, self._n_features_out, None)

    def membership(self, X: Any) -> Any:
        """Soft membership of each row of ``X`` in each cluster; rows sum to 1.

        Returns
        -------
        array of shape (n_samples, n_clusters_)
        """
        require_fitted(self)
        return self._apply(self.model_.membership, X, self.n_clusters_, np.float64)

    def predict_proba(self, X: Any) -> Any:
        """Return :meth:`membership`, by its usual name."""
        return self.membership(X)

    def outliers(self, X: Any) -> Any:
        """Whether a row of ``X`` is out of the reach of the reduced set.

        Such a point is similar to hardly any training point; its label says little.

        Returns
        -------
        array of bool of shape (n_samples,)
        """
        require_fitted(self)
        return self._apply(self.model_.outliers, X, None, np.bool_)

    def score(self, X: Any, y: Any = None) -> float:
        """Model selection criterion on ``X``, which should not be the training data.

        Returns
        -------
        float
            At most 1, the larger the better.
        """
        require_fitted(self)
        objective = Settings(self.get_params(deep=False)).objective
        scores = self._apply(self.model_.scores, X, self._n_features_out, np.float64)
        kernel_sums = None
        if objective.needs_kernel_sums(self.n_clusters_):
            sums = self._apply(self.model_.projection.kernel_sums, X, None, np.float64)
            kernel_sums = np.asarray(sums) + self.bias_[0]
        return objective.value(self.model_.encoding, np.asarray(scores), kernel_sums)

    def save(self, path: StrPath) -> None:
        """Write the fitted model to a file that :func:`sparseksc.load` reads.

        The file, by custom ``.ksc``, holds numbers and text, no code; ``labels_`` and the state of
        ``partial_fit`` are not in it. What was there before stays if something fails.
        """
        require_fitted(self)
        require_output(path, self)
        convert.save_model(self, path)

    def to_onnx(self, path: StrPath) -> None:
        """Write the fitted model as an ONNX graph, for runtimes without this library.

        The input ``X`` has the precision of the training data; the outputs are ``labels``, as
        :meth:`predict` returns them (whole numbers, or texts where ``classes_`` are texts), and, in
        float64, ``scores``.
        A model of a table of several types, as ``ksc fit`` makes it, has an input of shape (n, 1)
        for each column, by its name: texts, empty where missing, and float64, NaN where missing,
        for all others (truth values 0 and 1, dates in days since 1970, durations in seconds). Where
        missing values are not filled in, rows with any have the label of noise.
        Functions and precomputed kernels have no such form. Needs ``onnx``.
        """
        require_fitted(self)
        require_output(path, self)
        from sparseksc.persistence.onnx import export

        export(self.model_, self.scaling_, path, getattr(self, "table_encoder_", None))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters, and for a fitted model a line on its clusters."""
        parameters: str = super().__repr__(N_CHAR_MAX)
        return f"{parameters}\n{self._in_words()}" if hasattr(self, "model_") else parameters

    def _in_words(self) -> str:
        """Return number of clusters, kernel and quality of a fitted model."""
        kernel = getattr(self.model_.projection.kernel, "name", "function")
        pieces = "landmarks" if kernel == "landmarks" else "pivots"
        words = [f"{self.n_clusters_} cluster{'s' if self.n_clusters_ != 1 else ''}"]
        words += [f"{kernel} kernel", f"{len(self.coef_):,} {pieces}"]
        tuning = getattr(self, "tuning_", None)
        if tuning is not None and tuning.by_quality and tuning.best_n_clusters > 1:
            words.append(f"quality {tuning.ranking[0].value:.2f}")
        if self.noise_share_:
            words.append(f"{self.noise_share_:.1%} noise")
        return f"# {', '.join(words)}; {self.n_samples_seen_:,} rows"

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()
        return diagram + self._html_in_words()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._html_in_words()
        return bundle

    def _html_in_words(self) -> str:
        words = escape(self._in_words().removeprefix("# ")) if hasattr(self, "model_") else ""
        return f"<p>{words}</p>" if words else ""

    @property
    def _n_features_out(self) -> int:
        return len(self.bias_)

    def _apply(self, work: RowWork, X: Any, n_columns: int | None, dtype: Any) -> Any:
        """Apply a method of the model to all rows: at once, block by block, or lazily."""
        return model_source(self, X).apply(work, n_columns, dtype, self.n_jobs)

    def _set_fitted(
        self,
        training: Training,
        scaling: Scaling | None,
        tuning: TuningResult | None,
        warnings: list[str],
    ) -> None:
        """Set the fitted attributes, after training or loading."""
        optional = {
            "labels_": training.labels,
            "tuning_": tuning,
            "tree_": training.tree,
            "classes_": training.model.classes,
        }
        for name, value in optional.items():
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        self.scaling_, self.warnings_ = scaling, warnings
        model, projection = training.model, training.model.projection
        self.model_ = model
        self.bandwidth_ = getattr(projection.kernel, "bandwidth", None)
        self.reduced_set_, self.reduced_set_indices_ = projection.points, training.indices
        self.coef_, self.bias_ = projection.coef, projection.bias
        self.eigenvalues_, self.prototypes_ = model.eigenvalues, model.encoding.prototypes
        self.n_clusters_ = len(self.prototypes_)
        self.residual_, self.timings_ = training.residual, training.timings
        self.cluster_sizes_, self.n_samples_seen_ = training.cluster_sizes, training.n_samples
        self.n_outliers_, self.noise_share_ = training.n_outliers, training.noise_share
