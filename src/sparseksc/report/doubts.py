"""What a reader should know before trusting the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparseksc.report.numbers import listed, number, percent, plural
from sparseksc.report.profile import Profile
from sparseksc.report.reading import Rows
from sparseksc.report.survey import BINS, Survey
from sparseksc.search.constants import MIN_CLUSTER_SHARE

#: A membership below this is weak: for two clusters, one to two.
WEAK = 2 / 3
#: Share of weak memberships, or of outliers, that is worth a word.
MANY_WEAK, MANY_OUTLIERS = 0.1, 0.01
#: Spreads of features that differ by more than this factor let one feature decide alone.
UNEVEN = 10.0


def weak_share(survey: Survey) -> float:
    """Share of the rows of two clusters with a weak membership."""
    weak = survey.strengths[:, : int(WEAK * BINS)].sum()
    return float(weak / survey.n_rows)


def doubts(rows: Rows, survey: Survey, profile: Profile | None, names: list[str]) -> list[str]:
    """Sentences, the gravest first; none where nothing is wrong."""
    estimator = rows.estimator
    warned = list(getattr(estimator, "warnings_", ()))
    doubt = _tuning(estimator)
    found = [
        *warned,
        None if doubt and any(doubt in sentence for sentence in warned) else doubt,
        _fewer_clusters(estimator),
        _other_rows(estimator, survey),
        _empty(survey, names),
        _small(survey, names),
        _outliers(survey),
        _weak(survey),
        _uneven(rows, profile),
    ]
    return list(dict.fromkeys(sentence for sentence in found if sentence))


def _tuning(estimator: Any) -> str | None:
    tuning = getattr(estimator, "tuning_", None)
    return None if tuning is None else tuning.doubt


def _fewer_clusters(estimator: Any) -> str | None:
    asked, found = estimator.n_clusters, estimator.n_clusters_
    if not isinstance(asked, int | np.integer) or int(asked) == found:
        return None
    return f"{asked} clusters were asked for, but the data shows only {found}."


def _other_rows(estimator: Any, survey: Survey) -> str | None:
    trained = getattr(estimator, "n_samples_seen_", None)
    if trained is None:
        trained = len(getattr(estimator, "labels_", ())) or survey.n_rows + survey.n_noise
    if trained == survey.n_rows + survey.n_noise:
        return None
    return (
        f"The model was trained on {plural(trained, 'row')}; this page describes "
        f"{plural(survey.n_rows + survey.n_noise, 'row')}, which are not the same ones."
    )


def _empty(survey: Survey, names: list[str]) -> str | None:
    empty = [names[cluster] for cluster in np.flatnonzero(survey.sizes == 0)]
    if not empty:
        return None
    named = f"Cluster {empty[0]} has" if len(empty) == 1 else f"Clusters {listed(empty)} have"
    return f"{named} no rows in this data."


def _small(survey: Survey, names: list[str]) -> str | None:
    limit = max(1.0, MIN_CLUSTER_SHARE * survey.n_rows)
    small = np.flatnonzero((survey.sizes > 0) & (survey.sizes <= limit))
    if len(small) == 0 or len(survey.sizes) == 1 or survey.n_rows < 20:
        return None
    named = [names[cluster] for cluster in small]
    which = f"Cluster {named[0]} is" if len(named) == 1 else f"Clusters {listed(named)} are"
    return f"{which} very small: a few outliers rather than a group."


def _outliers(survey: Survey) -> str | None:
    share = survey.n_outliers / survey.n_rows
    if share == 0.0:
        return None
    how = "Many rows" if share >= MANY_OUTLIERS else "A few rows"
    return (
        f"{how} ({survey.n_outliers:,}, {percent(share)}) are unlike everything the model was "
        "built from, so their cluster says little."
    )


def _weak(survey: Survey) -> str | None:
    if len(survey.sizes) != 2 or weak_share(survey) < MANY_WEAK:
        return None
    return (
        f"{percent(weak_share(survey))} of the rows have a membership below {number(WEAK)} in "
        "their own cluster: the clusters are not clearly apart."
    )


def _uneven(rows: Rows, profile: Profile | None) -> str | None:
    """Features of very different spread, where nothing makes up for it."""
    estimator = rows.estimator
    scaled = getattr(estimator, "scaling_", None) is not None
    each_its_own = np.ndim(getattr(estimator, "bandwidth_", None) or 0.0) > 0
    sparse = sp.issparse(getattr(rows.source, "X", None))
    if profile is None or scaled or each_its_own or sparse or callable(estimator.kernel):
        return None
    spread = profile.overall_deviations
    widest = int(np.argmax(spread))
    rest = np.delete(spread, widest)
    rest = rest[rest > 0.0]
    if len(rest) == 0 or spread[widest] < UNEVEN * np.median(rest):
        return None
    return (
        f"“{profile.names[widest]}” varies far more than the other features (a standard "
        f"deviation of {number(float(spread[widest]))} against {number(float(np.median(rest)))}), "
        "so it decides almost alone. Standardise the features (scale=True) if that is not meant."
    )
