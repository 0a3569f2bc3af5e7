r"""What tells the clusters apart: features, ranked and put in words.

A feature tells as much as the share of its variance that lies between the clusters,
:math:`\eta^2 = \sum_k n_k (m_k - m)^2 / \sum_i (x_i - m)^2`. For one cluster against the rest it
is the standardised difference of means (Cohen's d), with the pooled standard deviation of both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparseksc._typing import Array, Floats, Integers
from sparseksc.report.survey import Survey
from sparseksc.report.view import dense

#: Features times clusters in the tables of a page, and features at most.
MOST_CELLS, LEAST_FEATURES, MOST_FEATURES = 1200, 3, 100
#: Effects beyond this are shown as this: the cluster and the rest do not overlap.
LARGEST_EFFECT = 10.0
#: Differences below this share of a feature's size are rounding errors.
ROUNDING = 1e-9
#: How large a standardised difference is, in words (after Cohen).
WORDS = ((2.0, "far"), (0.8, "clearly"), (0.5, "somewhat"), (0.2, "slightly"))
#: From here on a feature is worth naming.
TELLING = 0.5


@dataclass(frozen=True)
class Profile:
    """Features by cluster, the most telling feature first.

    Attributes
    ----------
    features : array of shape (m,)
        Column numbers.
    names : list of str
    means, deviations, effects : arrays of shape (K, m)
        Exact; the effect is the standardised difference between a cluster and the rest.
    medians, lower, upper : arrays of shape (K, m)
        Median and quartiles in the sample, NaN for clusters that are not in it.
    overall_means, overall_deviations : arrays of shape (m,)
    explained : array of shape (m,)
        Share of the variance between the clusters.
    n_features : int
        All features, of which m are here.
    """

    features: Integers
    names: list[str]
    means: Floats
    deviations: Floats
    effects: Floats
    medians: Floats
    lower: Floats
    upper: Floats
    overall_means: Floats
    overall_deviations: Floats
    explained: Floats
    n_features: int

    def rest_means(self, cluster: int, sizes: Integers) -> Floats:
        """Mean of every feature in all other clusters."""
        others = sizes.sum() - sizes[cluster]
        total = sizes.sum() * self.overall_means - sizes[cluster] * self.means[cluster]
        return total / max(others, 1)

    def telling(self, cluster: int, count: int = 3) -> list[int]:
        """Places of the features that set a cluster apart, the largest effect first."""
        strength = np.abs(self.effects[cluster])
        order = np.argsort(-strength, kind="stable")[:count]
        return [int(place) for place in order if strength[place] >= TELLING]


def describe_effect(effect: float) -> str:
    """Say how a cluster differs from the rest.

    Examples
    --------
    >>> from sparseksc.report.profile import describe_effect
    >>> describe_effect(1.1), describe_effect(-0.3), describe_effect(0.0)
    ('clearly higher', 'slightly lower', 'about the same')
    """
    for least, word in WORDS:
        if abs(effect) >= least:
            return f"{word} {'higher' if effect > 0 else 'lower'}"
    return "about the same"


def make_profile(survey: Survey, names: list[str], sample: Array, labels: Integers) -> Profile:
    """Rank the features and describe each cluster by them.

    Parameters
    ----------
    survey : Survey
    names : list of str
        Of all features.
    sample : array or CSR matrix of shape (n, d)
        Rows for the medians.
    labels : array of shape (n,)
        Their clusters.
    """
    K, d = survey.means.shape
    overall_means, within, total = _variances(survey)
    explained = np.where(total > 0.0, 1.0 - within / np.where(total > 0.0, total, 1.0), 0.0)
    explained = np.clip(explained, 0.0, 1.0)
    count = min(d, MOST_FEATURES, max(LEAST_FEATURES, MOST_CELLS // K))
    kept = np.argsort(-explained, kind="stable")[:count]
    effects = np.array([_effects(survey, cluster, overall_means, total) for cluster in range(K)])
    values = dense(sample[:, kept])
    quartiles = np.full((3, K, len(kept)), np.nan)
    for cluster in np.unique(labels):
        quartiles[:, cluster] = np.percentile(values[labels == cluster], [25, 50, 75], axis=0)
    return Profile(
        features=kept,
        names=[names[place] for place in kept],
        means=survey.means[:, kept],
        deviations=survey.deviations[:, kept],
        effects=effects[:, kept],
        lower=quartiles[0],
        medians=quartiles[1],
        upper=quartiles[2],
        overall_means=overall_means[kept],
        overall_deviations=np.sqrt(total[kept]),
        explained=explained[kept],
        n_features=d,
    )


def _variances(survey: Survey) -> tuple[Floats, Floats, Floats]:
    """Means of all rows, variances within the clusters, and variances of all rows."""
    shares = (survey.sizes / survey.n_rows)[:, None]
    means = (shares * survey.means).sum(axis=0)
    within = (shares * survey.deviations**2).sum(axis=0)
    total = within + (shares * (survey.means - means) ** 2).sum(axis=0)
    size = np.abs(survey.means).max(axis=0)
    constant = total <= (ROUNDING * size) ** 2
    return means, np.where(constant, 0.0, within), np.where(constant, 0.0, total)


def _effects(survey: Survey, cluster: int, means: Floats, total: Floats) -> Floats:
    """Standardised difference between one cluster and the rest, for each feature."""
    n = survey.n_rows
    inside = int(survey.sizes[cluster])
    if inside in (0, n):
        return np.zeros(len(means))
    share = inside / n
    # The rest has what the whole has and the cluster has not.
    difference = (survey.means[cluster] - means) / (1.0 - share)
    between = share * (1.0 - share) * difference**2
    pooled = np.maximum(total - between, 0.0)
    deviation = np.sqrt(pooled)
    least = ROUNDING * np.sqrt(total)
    effect = difference / np.maximum(deviation, np.where(least > 0.0, least, 1.0))
    effect = np.where(total > 0.0, effect, 0.0)
    return np.clip(effect, -LARGEST_EFFECT, LARGEST_EFFECT)
