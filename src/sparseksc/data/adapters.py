"""Data that scikit-learn does not know as sources, with the checks that it would make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import StrPath
from sparseksc.data.atomic import require_place
from sparseksc.data.files import require_separate
from sparseksc.data.source import Source, files_behind


def is_dask(X: Any) -> bool:
    """Whether this is a Dask collection, without importing Dask."""
    return type(X).__module__.partition(".")[0].startswith("dask")


def is_external(X: Any) -> bool:
    """Whether the rows are somewhere else than in the memory of this process."""
    return not isinstance(X, np.ndarray) and (isinstance(X, Source) or is_dask(X))


def origins_of(X: Any) -> Sequence[str]:
    """Return what data is read from, or was for the training of a model, as far as it is known."""
    known = X.origins if isinstance(X, Source) else getattr(X, "_origins", None)
    return known if isinstance(known, list | tuple) else files_behind(X)


def require_output(path: StrPath, *read: Any) -> None:
    """Refuse, before any work, a file that cannot be written or that data or a model came from."""
    require_place(path)
    require_separate([name for X in read for name in origins_of(X)], [path])


def external_source(X: Any, estimator: Any, reset: bool) -> Source:
    """Return the rows as a source, and check (or keep, with ``reset``) its columns."""
    if not isinstance(X, Source):
        from sparseksc.data.dask_source import DaskSource

        X = DaskSource(X)
    if reset:
        estimator.n_features_in_ = X.n_features
        estimator.__dict__.pop("feature_names_in_", None)
        if X.feature_names is not None:
            estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)
        return X
    if X.n_features != estimator.n_features_in_:
        raise ValueError(
            f"The source has {X.n_features} features, but this model was trained with "
            f"{estimator.n_features_in_} features."
        )
    trained = getattr(estimator, "feature_names_in_", None)
    if X.feature_names is not None and trained is not None and X.feature_names != list(trained):
        raise ValueError(
            escaped(
                f"The source has the columns {', '.join(X.feature_names)}, but this model was "
                f"trained with {', '.join(trained)}."
            )
        )
    return X
