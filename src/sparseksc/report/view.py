"""Two coordinates for each row: of the data, and of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA

from sparseksc._typing import Array, Floats, Integers

#: Names of the score variables on axes.
SCORES = ("first score z₁", "second score z₂")
#: Spreads of two features within this factor look like those of one unit.
COMPARABLE = 3.0
#: Widest figure: its width over its height.
WIDE = 1.9


@dataclass(frozen=True)
class View:
    """A figure of points in the plane.

    Attributes
    ----------
    x, y : arrays of shape (n,)
    x_name, y_name : str
        Of the axes; the second is empty where the height means nothing.
    about : str
        What is shown, in a sentence or two.
    same_units : bool
        Whether one unit should be as long on both axes.
    """

    x: Floats
    y: Floats
    x_name: str
    y_name: str
    about: str
    same_units: bool = False

    @property
    def aspect(self) -> float:
        """Width of a figure over its height."""
        height = float(np.ptp(self.y))
        if not self.same_units or height == 0.0:
            return WIDE
        return float(np.clip(np.ptp(self.x) / height, 1.0, WIDE))


def view_of_data(sample: Array, labels: Integers, names: list[str], scaling: Any) -> View:
    """Show rows by their one or two features, or by two principal components."""
    d = sample.shape[1]
    if d == 1:
        values = dense(sample)[:, 0]
        about = (
            "Every point is a row. Each cluster has a lane of its own; the height within it means "
            "nothing."
        )
        return View(values, _lanes(labels), names[0], "", about)
    if d == 2:
        values = dense(sample)
        spread = np.ptp(values, axis=0)
        comparable = bool(spread.max() <= COMPARABLE * spread.min())
        return View(
            values[:, 0], values[:, 1], names[0], names[1], "Every point is a row.", comparable
        )
    seen = sample if scaling is None else scaling.apply(sample)
    coordinates, explained = _principal_components(seen)
    x_name, y_name = (
        f"{which} principal component ({share:.0%} of the variance)"
        for which, share in zip(("first", "second"), explained, strict=True)
    )
    about = (
        f"Every point is a row. The {d:,} features are projected to the two directions in which "
        f"the rows differ most, which keep {explained.sum():.0%} of their variance: clusters that "
        "overlap here may be apart in other directions."
    )
    return View(coordinates[:, 0], coordinates[:, 1], x_name, y_name, about, same_units=True)


def view_of_scores(scores: Floats, labels: Integers) -> View | None:
    """Show the scores of rows; None for a single cluster, which has none."""
    n_scores = scores.shape[1]
    if n_scores == 0:
        return None
    if n_scores == 1:
        about = (
            "The model gives every row one score, and the sign of the score decides: the two "
            "clusters lie on two sides of zero. The height within a lane means nothing."
        )
        return View(scores[:, 0], _lanes(labels), SCORES[0], "", about)
    about = (
        f"The model gives every row {n_scores} scores. Rows of one cluster lie along one line "
        "from the centre, and different clusters along different lines."
    )
    if n_scores > 2:
        about += f" Only the first two of {n_scores} scores are drawn here, so lines may coincide."
    return View(scores[:, 0], scores[:, 1], SCORES[0], SCORES[1], about, same_units=True)


def dense(rows: Any) -> Floats:
    """Return rows as a plain array."""
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)


def _lanes(labels: Integers) -> Floats:
    """Heights for points on a line: a lane per cluster, spread evenly so that none hides."""
    golden = 0.6180339887498949
    return -labels + 0.7 * (np.arange(1, len(labels) + 1) * golden % 1.0 - 0.5)


def _principal_components(rows: Array) -> tuple[Floats, Floats]:
    """Two coordinates of each row, and the shares of the variance that they keep."""
    unit = 1.0
    if not sp.issparse(rows):
        rows = np.asarray(rows, dtype=np.float64)
        # A unit near the data's own size: squares can neither overflow nor vanish.
        unit = float(np.abs(rows).max()) or 1.0
        rows = rows / unit
        if rows.shape[0] < 3 or np.all(rows == rows[0]):
            return np.zeros((rows.shape[0], 2)), np.zeros(2)
    elif min(rows.shape) < 4 or abs(rows - rows[[0] * rows.shape[0]]).max() == 0.0:
        return np.zeros((rows.shape[0], 2)), np.zeros(2)
    solver = "arpack" if sp.issparse(rows) else "auto"
    pca = PCA(2, svd_solver=solver, random_state=0)
    coordinates = unit * np.asarray(pca.fit_transform(rows), dtype=np.float64)
    return coordinates, np.asarray(pca.explained_variance_ratio_, dtype=np.float64)
