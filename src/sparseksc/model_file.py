"""Model files: read a fitted model (:func:`load`) or only what the file says (``read_header``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparseksc._typing import StrPath
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.persistence import convert
from sparseksc.persistence.container import read_header
from sparseksc.persistence.schema import ModelFileError

__all__ = ["ModelFileError", "load", "read_header"]


def load(path: StrPath, *, kernel: Callable[..., Any] | None = None) -> KernelSpectralClustering:
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
    saved = convert.load_model(path, kernel)
    estimator = KernelSpectralClustering(**saved.parameters)
    estimator.n_features_in_ = saved.n_features
    if saved.feature_names is not None:
        estimator.feature_names_in_ = saved.feature_names
    if saved.encoder is not None:
        estimator.table_encoder_ = saved.encoder
    estimator._set_fitted(saved.training, saved.scaling, saved.tuning, saved.warnings)
    return estimator
