"""What a fitted model does with rows, as methods of the estimator."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from sparseksc.inputs import external_source, files_of, is_external
from sparseksc.kernels import KERNELS, Array, make_kernel
from sparseksc.model import SparseModel
from sparseksc.outputs import column_writer, require_unread
from sparseksc.parameters import check_weights
from sparseksc.scaling import Scaling
from sparseksc.settings import Settings
from sparseksc.sources import ArraySource, Source


class FittedModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Base of the estimator: everything but training."""

    kernel: str | Callable[..., Any]
    n_jobs: int | None

    def predict(
        self, X: Any, *, out: str | os.PathLike[str] | None = None, with_membership: bool = False
    ) -> Any:
        """Cluster of each row of ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Source, or Dask collection
            For a precomputed kernel: kernel values between these points and all training
            points, shape (n_samples, n_training_samples).
        out : path, optional
            Parquet, Arrow, CSV or NPY file to write the labels to, block by block and in the
            order of the rows, instead of returning them.
        with_membership : bool, default=False
            Whether to write the memberships too, beside the labels; needs ``out``.

        Returns
        -------
        array of shape (n_samples,), or None
            A Dask array that is not computed yet for a Dask collection; None with ``out``.
        """
        check_is_fitted(self)
        if out is None and with_membership:
            raise ValueError("with_membership is for files: give out, or call membership(X).")
        if out is None:
            return self._apply(self.model_.labels, X, None, np.intp)
        require_unread(out, files_of(X))
        names = ["label"]
        if with_membership:
            names += [f"membership_{cluster}" for cluster in range(self.n_clusters_)]
        with column_writer(out, names) as writer:
            for block, _ in self._source(X).blocks():
                columns = [self.model_.labels(block, self.n_jobs)]
                if with_membership:
                    columns += list(self.model_.membership(block, self.n_jobs).T)
                writer.write(columns)
        return None

    def transform(self, X: Any) -> Any:
        """Score variables of each row of ``X``.

        Returns
        -------
        array of shape (n_samples, n_clusters_ - 1)
            In the precision of ``X``.
        """
        check_is_fitted(self)

        model = self.model_  # what travels to a cluster: not the labels of the training rows

        def scores(rows: Array, n_jobs: int | None) -> Array:
            return model.scores(rows, n_jobs).astype(rows.dtype, copy=False)

        return self._apply(scores, X, self._n_features_out, None)

    def membership(self, X: Any) -> Any:
        """Soft membership of each row of ``X`` in each cluster; rows sum to 1.

        Returns
        -------
        array of shape (n_samples, n_clusters_)
        """
        check_is_fitted(self)
        return self._apply(self.model_.membership, X, self.n_clusters_, np.float64)

    def outliers(self, X: Any) -> Any:
        """Whether a row of ``X`` is out of the reach of the reduced set.

        Such a point is similar to hardly any training point, or to no pivot; its label says
        little.

        Returns
        -------
        array of bool of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self.model_.outliers, X, None, np.bool_)

    def score(self, X: Any, y: Any = None) -> float:
        """Model selection criterion on ``X``, which should not be the training data.

        Returns
        -------
        float
            At most 1, the larger the better.
        """
        check_is_fitted(self)
        model = self.model_
        objective = Settings(self.get_params(deep=False)).objective
        scores = self._apply(model.scores, X, self._n_features_out, np.float64)
        kernel_sums = None
        if objective.criterion == "blf" and self.n_clusters_ == 2:
            sums = self._apply(model.projection.kernel_sums, X, None, np.float64)
            kernel_sums = np.asarray(sums) + self.bias_[0]
        return objective.value(model.encoding, np.asarray(scores), kernel_sums)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that :func:`sparseksc.load` reads.

        The file holds numbers and text, no code. It is a few times the size of the reduced set;
        ``labels_`` and the state of ``partial_fit`` are not in it. It appears under its name
        when it is complete: what was there before stays if something fails.

        Parameters
        ----------
        path : path
            By custom it ends in ".ksc".
        """
        from sparseksc.persistence import save_model

        check_is_fitted(self)
        save_model(self, path)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as an ONNX graph, for runtimes without this library.

        The input ``X`` has the precision of the training data; the outputs are ``labels`` and,
        in float64, ``scores``. Kernels that are functions or precomputed have no such form.
        Needs the extra ``onnx``.

        Parameters
        ----------
        path : path
        """
        from sparseksc.onnx import export

        check_is_fitted(self)
        export(self.model_, self.scaling_, path)

    @property
    def _n_features_out(self) -> int:
        return len(self.bias_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kind = KERNELS.get(self.kernel) if isinstance(self.kernel, str) else None
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = self.kernel == "chi2"
        tags.input_tags.sparse = kind is not None and kind.accepts_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked_data(self, X: ArrayLike, *, reset: bool = False) -> Array:
        """2-D float array or CSR matrix with finite entries, converted only if necessary."""
        sparse = self.__sklearn_tags__().input_tags.sparse
        data: Array = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if sparse else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )
        if reset or self.kernel != "precomputed":
            make_kernel(self.kernel).check(data)
        return data

    def _source(
        self, X: Any, sample_weight: ArrayLike | None = None, *, reset: bool = False
    ) -> Source:
        """Rows to be read in blocks, whatever ``X`` is; as they are with ``reset``, else scaled."""
        if is_external(X):
            if sample_weight is not None:
                raise ValueError("sample_weight needs data in memory.")
            if self.kernel == "precomputed":
                raise ValueError("A precomputed kernel needs its matrix in memory.")
            source = external_source(X, self, reset)
        else:
            data = self._checked_data(X, reset=reset)
            source = ArraySource(data, check_weights(sample_weight, data.shape[0]))
        return source if reset or self.scaling_ is None else self.scaling_.scaled(source)

    def _apply(
        self,
        work: Callable[[Array, int | None], Array],
        X: Any,
        n_columns: int | None,
        dtype: Any,
    ) -> Any:
        """Apply a method of the model to all rows: at once, block by block, or lazily."""
        return self._source(X).apply(work, n_columns, dtype, self.n_jobs)

    def _set_fitted(
        self,
        model: SparseModel,
        scaling: Scaling | None,
        *,
        indices: Array,
        residual: float,
        cluster_sizes: Array,
        n_samples: int,
        n_outliers: int,
        timings: dict[str, float],
    ) -> None:
        """Set the fitted attributes, after training or loading."""
        self.model_ = model
        self.scaling_ = scaling
        self.n_clusters_ = model.encoding.n_clusters
        self.bandwidth_ = getattr(model.projection.kernel, "bandwidth", None)
        self.reduced_set_ = model.projection.points
        self.reduced_set_indices_ = indices
        self.coef_ = model.projection.coef
        self.bias_ = model.projection.bias
        self.eigenvalues_ = model.eigenvalues
        self.prototypes_ = model.encoding.prototypes
        self.residual_ = residual
        self.cluster_sizes_ = cluster_sizes
        self.n_samples_seen_ = n_samples
        self.n_outliers_ = n_outliers
        self.timings_ = timings
