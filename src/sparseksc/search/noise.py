r"""How much of the data is noise: points of low density, which bridge clusters.

Searches with and without the least dense rows give different answers, and all are judged on the
same graphs, from which more and more of the least dense rows are left out. Where clusters are
bridged by noise, the quality of the right answer rises until the last bridges are gone, and hardly
afterwards: that is the share of the noise. Where clusters have tails instead, it rises slowly and
goes on rising, and nothing is noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sparseksc._typing import Floats, Integers
from sparseksc.core.density import Density
from sparseksc.core.recipe import Recipe
from sparseksc.core.training import train
from sparseksc.data.sampling import Sample
from sparseksc.data.source import ArraySource
from sparseksc.execution.notices import without_warnings
from sparseksc.execution.progress import map_with_progress
from sparseksc.search.constants import (
    CLEAR,
    CLOUD,
    GRAPH_SIZE,
    HALVINGS,
    LEAST_NOISE,
    NOISE_GAIN,
    NOISE_LEVELS,
    NOISE_SHARES,
    TRAINING_SIZE,
)
from sparseksc.search.quality import Judge


class Trial(NamedTuple):
    """A model to try: how to train it, and the rows to train it on, others with a weight of 0.

    These are below the density ``floor``.
    """

    n_clusters: int
    recipe: Recipe
    sample: Sample
    floor: float


class Finding(NamedTuple):
    """Which of the trials is best, and the density with the floor of the noise; 0 for none."""

    place: int
    density: Density


def trial_floors(density: Density, values: Floats, weights: Floats) -> list[float]:
    """Densities below which rows are left out of a trial: none, and shares of the median.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.density import Density
    >>> from sparseksc.search.noise import trial_floors
    >>> density = Density(np.zeros((1, 1)), np.ones(1), 1.0)
    >>> trial_floors(density, np.repeat([1.0, 5.0, 9.0], [10, 10, 80]), np.ones(100))
    [0.0, 3.0, 6.0]
    """
    most = density.with_share(max(NOISE_SHARES), values, weights).floor
    middle = density.with_share(0.5, values, weights).floor
    found = [0.0]
    for level in NOISE_LEVELS:
        floor = min(level * middle, most)
        between = weights[(values >= found[-1]) & (values < floor)].sum()
        if between >= LEAST_NOISE * weights.sum():
            found.append(floor)
    return found


def find_noise(
    sample: Sample,
    density: Density,
    trials: Sequence[Trial],
    landmarks: Recipe,
    *,
    progress: bool = False,
) -> Finding:
    """Select among answers from more and more dense rows, and find the floor of the noise.

    Parameters
    ----------
    sample : Sample
        The rows, or enough of them.
    density : Density
        Of these rows.
    trials : list of Trial
        The first with all rows.
    landmarks : Recipe
        With landmarks, whose metric is that of the judging graphs.
    progress : bool
        Show a progress bar if this takes long.
    """
    judged = sample.drawn(GRAPH_SIZE, landmarks.seed)
    values = density.values(judged.X, landmarks.n_jobs)
    answers = [_labels(trial, judged, landmarks.seed) for trial in trials]
    numbers = [trial.n_clusters for trial in trials]

    def floor_of(share: float) -> float:
        return density.with_share(share, values, judged.weights).floor if share > 0.0 else 0.0

    def qualities(share: float) -> list[float]:
        kept = values >= floor_of(share)
        rows = Sample(judged.rows[kept], judged.X[kept], judged.weights[kept])
        judge = Judge.of_landmarks(rows, replace(landmarks, n_jobs=1))
        return [
            _quality(judge, labels[kept], K) for labels, K in zip(answers, numbers, strict=True)
        ]

    table = np.array(
        map_with_progress(qualities, NOISE_SHARES, landmarks.n_jobs, "share", progress)
    )
    best, end = 0, _end(table[:, 0])
    if end > 0 and not has_bend(table[:, 0], end):
        end = 0
    for place in range(1, len(trials)):
        curve = table[:, place]
        clear = curve.max() >= max(table[:, best].max() + NOISE_GAIN, CLEAR)
        kept = np.where(values >= floor_of(NOISE_SHARES[_end(curve)]), judged.weights, 0.0)
        known = _survivors(answers[0], judged.weights, kept)
        if clear and (table[0, 0] < CLOUD or numbers[place] >= known):
            best, end = place, _end(curve)
    low, high = NOISE_SHARES[max(end - 1, 0)], NOISE_SHARES[end]
    enough = table[:, best].max() - NOISE_GAIN
    for _ in range(HALVINGS if end > 0 else 0):
        middle = (low + high) / 2.0
        low, high = (low, middle) if qualities(middle)[best] >= enough else (middle, high)
    floor = floor_of(high)
    # The same answer, from rows without the noise where there is one.
    alike = [
        place
        for place in range(best, len(trials))
        if numbers[place] == numbers[best]
        and table[:, place].max() >= enough
        and trials[place].floor >= floor
    ]
    return Finding(alike[0] if alike else best, replace(density, floor=floor))


def _end(qualities: Floats) -> int:
    """Place of the first share that is nearly as good as the best."""
    return int(np.argmax(qualities >= qualities.max() - NOISE_GAIN))


def has_bend(qualities: Floats, end: int) -> bool:
    """Whether the quality rises up to a place, and hardly after it: the end of noise, not of tails.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.noise import has_bend
    >>> has_bend(np.array([1.6, 1.9, 2.8, 3.8, 4.0, 4.0]), 3)
    True
    >>> has_bend(np.array([2.0, 2.4, 2.8, 3.2, 3.5, 3.7]), 3)
    False
    """
    before = qualities[end] - qualities[max(end - 2, 0)]
    after = qualities[min(end + 2, len(qualities) - 1)] - qualities[end]
    return bool(before - max(after, 0.0) >= CLEAR)


def _labels(trial: Trial, judged: Sample, seed: int) -> Integers:
    """Train a model on the rows of a trial, and label the judged rows."""
    rows = trial.sample.first(TRAINING_SIZE, seed)
    with without_warnings():
        source = ArraySource(rows.X, rows.weights)
        model = train(source, trial.n_clusters, trial.recipe, rows).model
    return model.labels(judged.X, trial.recipe.n_jobs)


def _quality(judge: Judge, labels: Integers, n_clusters: int) -> float:
    """Quality of an answer; one cluster, or one that has lost all its rows, has none."""
    if len(np.unique(labels)) < max(n_clusters, 2):
        return -np.inf
    return judge.separation(labels, n_clusters).value


def _survivors(labels: Integers, weights: Floats, kept: Floats) -> int:
    """Count the clusters that keep more than half of their weight."""
    return int(np.count_nonzero(2.0 * np.bincount(labels, kept) > np.bincount(labels, weights)))
