"""The facts of a report, gathered once and then only written down and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparseksc._typing import Floats, Integers
from sparseksc.report.doubts import doubts
from sparseksc.report.levels import Level, levels_of
from sparseksc.report.numbers import listed, number, percent, plural
from sparseksc.report.profile import Profile, make_profile
from sparseksc.report.reading import Rows, read_rows
from sparseksc.report.survey import Survey, survey_rows
from sparseksc.report.view import View, dense, view_of_data, view_of_scores

#: Rows that medians come from, and rows in the figures.
SAMPLE_ROWS, DRAWN_ROWS = 20_000, 3_000
#: Seed of the sample: a page about the same data is the same page.
SEED = 0
#: Share of a feature's variance between the clusters that makes it worth naming.
TELLING_SHARE = 0.25


@dataclass(frozen=True)
class Points:
    """The rows that are drawn.

    Attributes
    ----------
    rows, labels : arrays of shape (n,)
        Row numbers and clusters.
    membership : array of shape (n, K)
    values : array of shape (n, m)
        Of the features of the profile.
    data, scores : View or None
    """

    rows: Integers
    labels: Integers
    membership: Floats
    values: Floats
    data: View | None
    scores: View | None

    def strengths(self, level: Level) -> Floats:
        """Membership of each row in its own group, shape (n,)."""
        membership = self.membership @ level.indicator
        strengths: Floats = membership[np.arange(len(self.labels)), level.groups[self.labels]]
        return strengths


@dataclass(frozen=True)
class Facts:
    """Everything that a page says.

    Attributes
    ----------
    rows : Rows
    level : Level
        The clusters that the numbers are about.
    survey : Survey
        From all rows.
    profile : Profile or None
        None for a kernel matrix.
    points : Points
    sample_size : int
        Rows that the medians come from.
    doubts : list of str
    coarser : list of Facts
        The same for 2, 3, ... groups of clusters, where the model has a tree.
    """

    rows: Rows
    level: Level
    survey: Survey
    profile: Profile | None
    points: Points
    sample_size: int
    doubts: list[str]
    coarser: list[Facts] = field(default_factory=list)

    @property
    def levels(self) -> list[Facts]:
        """The facts of all levels, these first."""
        return [self, *self.coarser]

    @property
    def estimator(self) -> Any:
        """The fitted model."""
        return self.rows.estimator

    @property
    def n_clusters(self) -> int:
        """K, with clusters that have no rows here."""
        return len(self.survey.sizes)

    @property
    def tuning(self) -> Any:
        """What the search found, or None."""
        tuning = getattr(self.estimator, "tuning_", None)
        return None if tuning is None or tuning.n_models == 0 else tuning

    @property
    def spectrum(self) -> Floats:
        """Eigenvalues of the model, and the next ones where a search has computed them."""
        used = np.asarray(self.estimator.eigenvalues_, dtype=np.float64)
        tuning = self.tuning
        return used if tuning is None else tuning.with_next_eigenvalues(used)

    @property
    def answer(self) -> str:
        """The result in a sentence."""
        present = np.flatnonzero(self.survey.sizes)
        total = plural(self.survey.n_rows, "row")
        if len(present) == 1:
            return f"The {total} form a single cluster.{self._noise}"
        sizes = sorted((int(size) for size in self.survey.sizes[present]), reverse=True)
        if sizes[0] == sizes[-1]:
            of = f"of {plural(sizes[0], 'row')} each"
        elif len(sizes) <= 6:
            of = f"of {listed([f'{size:,}' for size in sizes])} rows"
        else:
            of = f"of {sizes[-1]:,} to {sizes[0]:,} rows"
        return f"The {total} fall into {len(sizes)} clusters {of}.{self._noise}"

    @property
    def _noise(self) -> str:
        """How many rows are in no cluster, in a sentence."""
        noise = self.survey.n_noise
        if noise == 0:
            return ""
        share = percent(noise / (self.survey.n_rows + noise))
        return f" {plural(noise, 'more row')} ({share}) {'is' if noise == 1 else 'are'} noise."

    @property
    def explanation(self) -> str:
        """What tells the clusters apart and how firmly, in a sentence or two."""
        if self.n_clusters == 1 or self.profile is None:
            return "" if self.n_clusters == 1 else self._firmness
        telling = [
            name
            for name, share in zip(self.profile.names, self.profile.explained, strict=True)
            if share >= TELLING_SHARE
        ]
        if telling:
            text = f"They differ most in {listed(telling[:3])}. "
        elif self.profile.n_features == 1:
            text = ""
        else:
            text = "No single feature tells them apart: it is the shape that does. "
        return text + self._firmness

    @property
    def _firmness(self) -> str:
        return (
            f"On average a row belongs to its cluster with a strength of "
            f"{number(self.survey.mean_strength, 2)} (1 is certain, "
            f"{number(1 / self.n_clusters, 2)} is undecided)."
        )

    @property
    def sampling(self) -> str:
        """What was computed from a sample, in a sentence."""
        total, drawn = self.survey.n_rows, len(self.points.rows)
        if self.sample_size == total + self.survey.n_noise and drawn == total:
            return f"All numbers and figures show all {plural(total, 'row')}."
        exact = "Cluster sizes, means, standard deviations and memberships are exact, from all "
        text = f"{exact}{plural(total, 'row')}. "
        if self.sample_size < total:
            text += (
                f"Medians and quartiles come from a uniform random sample of "
                f"{self.sample_size:,} rows ({percent(self.sample_size / total)}). "
            )
        return text + f"The figures show {drawn:,} rows, drawn uniformly at random."


def gather(estimator: Any, X: Any, ids: Sequence[Any] | None) -> Facts:
    """Read the data twice, once for a sample and once for everything, and ask the model."""
    rows = read_rows(estimator, X, ids)
    sample = rows.sample(SAMPLE_ROWS, SEED)
    levels = levels_of(estimator)
    surveys = survey_rows(rows, levels)
    profiles: list[Profile | None] = [None] * len(levels)
    if rows.has_features:
        shown, answers = rows.answers(sample.X).in_clusters(sample.X)
        profiles = [
            make_profile(survey, rows.names, shown, level.groups[answers.labels])
            for level, survey in zip(levels, surveys, strict=True)
        ]
    drawn = sample.first(DRAWN_ROWS, SEED)
    points = _points(rows, drawn.rows, drawn.X, profiles[0])
    finest, *coarser = (
        Facts(rows, level, survey, profile, points, len(sample.rows), [])
        for level, survey, profile in zip(levels, surveys, profiles, strict=True)
    )
    found = doubts(rows, finest.survey, finest.profile, finest.level.names)
    return replace(finest, doubts=found, coarser=coarser)


def _points(rows: Rows, numbers: Integers, X: Any, profile: Profile | None) -> Points:
    answers = rows.answers(X)
    numbers = numbers[answers.labels >= 0]
    X, answers = answers.in_clusters(X)
    labels = answers.labels
    data, values = None, np.zeros((len(labels), 0))
    if profile is not None:
        scaling = getattr(rows.estimator, "scaling_", None)
        data = view_of_data(X, labels, rows.names, scaling)
        columns = X[:, profile.features]
        values = dense(columns)
    scores = view_of_scores(rows.scores(X), labels)
    return Points(numbers, labels, answers.membership, values, data, scores)
