"""The search of "auto": models compete, and where that leaves doubt, finer ones do again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparseksc._typing import Array
from sparseksc.core.recipe import Recipe
from sparseksc.data.sampling import Sample
from sparseksc.search.competition import Numbers, compete
from sparseksc.search.constants import CLEAR, GRAPH_SIZE, SECOND_LOOK_TIMES, TRAINING_SIZE
from sparseksc.search.ranking import best_separation
from sparseksc.search.result import SearchOutcome


def search(
    sample: Sample,
    n_clusters: Numbers,
    recipes: Sequence[Recipe],
    finer: Sequence[Recipe] = (),
    *,
    validation: int | Array | None = None,
    progress: bool = False,
) -> SearchOutcome:
    """Find the best of some models.

    Long, thin shapes that lie close to each other need narrow bandwidths, hundreds of pivots to
    cover them, and enough rows not to fall apart. What these find counts where it is clearly better
    separated, by ``CLEAR``: halves of a cloud have a larger separation among more rows, too.

    Parameters
    ----------
    sample : Sample
        The rows, or enough of them.
    n_clusters : list of int or None
        Numbers of clusters to choose from; None is any.
    recipes : list of Recipe
        The models that compete (:func:`sparseksc.search.competition.compete`).
    finer : list of Recipe
        Models for a second look with more rows, where the first leaves doubt and there are any.
    validation, progress
        As in :func:`sparseksc.tune`.
    """
    first = compete(sample, n_clusters, recipes, validation=validation, progress=progress)
    separation = best_separation(first.result)
    if not finer or separation >= CLEAR:
        return first
    times = min(np.count_nonzero(sample.weights) / (TRAINING_SIZE + GRAPH_SIZE), SECOND_LOOK_TIMES)
    second = compete(sample, n_clusters, finer, times=times, progress=progress)
    return second if best_separation(second.result) >= separation + CLEAR else first
