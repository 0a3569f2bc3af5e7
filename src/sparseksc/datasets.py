"""Seeded synthetic data for examples, tests and experiments.

Every generator returns ``(X, y)``: points in random order and the class of each. The classes are
as equal in size as possible; where the number of points does not divide evenly, the first
classes get one point more. Two half moons are in ``sklearn.datasets.make_moons``.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["make_gaussians", "make_rings", "make_spirals"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

_CENTRE_CANDIDATES = 32


def make_spirals(
    n_samples: int,
    *,
    n_arms: int = 2,
    noise: float = 0.0089,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray]:
    """Intertwined spirals, by default the pair of the sparse KSC experiments.

    With t uniform on (0, 1), arm c of ``n_arms`` holds the points

        r = 0.081 + 0.919 t,    θ = 2π c / n_arms + 2π · 2.58 t,    x = (r sin θ, r cos θ) + ε,

    where both coordinates of ε are uniform on ±noise·√3, so that ``noise`` is their standard
    deviation. The points are then shuffled and both columns are standardised to zero mean and
    unit variance.

    Parameters
    ----------
    n_samples : int
        Number of points, at least ``n_arms``.
    n_arms : int, default=2
        Number of spirals, turned evenly around the origin. The gap between neighbouring arms
        shrinks as ``1 / n_arms``; four arms are still well apart.
    noise : float, default=0.0089
        Standard deviation of the noise, before the columns are standardised.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness; an int gives the same points on every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        The arm of each point, from 0 to ``n_arms - 1``.

    Examples
    --------
    >>> from sparseksc.datasets import make_spirals
    >>> X, y = make_spirals(501, random_state=0)
    >>> X.shape
    (501, 2)
    >>> [int((y == arm).sum()) for arm in (0, 1)]
    [251, 250]
    """
    _check_count("n_arms", n_arms)
    _check_count("n_samples", n_samples, at_least=n_arms, reason="one point for each spiral")
    _check_real("noise", noise, allow_zero=True)
    rng = as_generator(random_state)

    y = _balanced_classes(n_samples, n_arms)
    t = rng.uniform(size=n_samples)
    radius = 0.081 + 0.919 * t
    theta = 2 * np.pi * y / n_arms + 2 * np.pi * 2.58 * t
    X = np.column_stack([radius * np.sin(theta), radius * np.cos(theta)])
    half_width = noise * np.sqrt(3.0)
    X += rng.uniform(-half_width, half_width, size=X.shape)
    return _shuffled(_standardised(X), y, rng)


def make_rings(
    n_samples: int,
    *,
    n_rings: int = 3,
    noise: float = 0.08,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray]:
    """Concentric rings, which no straight line separates.

    Ring c has radius ``c + 1``; the angle is uniform and normal noise is added to both
    coordinates. The points are then shuffled and both columns are standardised to zero mean and
    unit variance.

    Parameters
    ----------
    n_samples : int
        Number of points, at least ``n_rings``.
    n_rings : int, default=3
        Number of rings.
    noise : float, default=0.08
        Standard deviation of the noise, relative to the gap of 1 between neighbouring rings.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness; an int gives the same points on every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        The ring of each point, 0 for the innermost.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.datasets import make_rings
    >>> X, y = make_rings(600, random_state=0)
    >>> radius = np.hypot(X[:, 0], X[:, 1])
    >>> bool(radius[y == 0].mean() < radius[y == 1].mean() < radius[y == 2].mean())
    True
    """
    _check_count("n_rings", n_rings)
    _check_count("n_samples", n_samples, at_least=n_rings, reason="one point for each ring")
    _check_real("noise", noise, allow_zero=True)
    rng = as_generator(random_state)

    y = _balanced_classes(n_samples, n_rings)
    theta = rng.uniform(0.0, 2 * np.pi, size=n_samples)
    X = (y + 1.0)[:, None] * np.column_stack([np.cos(theta), np.sin(theta)])
    X += rng.normal(scale=noise, size=X.shape)
    return _shuffled(_standardised(X), y, rng)


def make_gaussians(
    n_samples: int,
    *,
    n_clusters: int = 3,
    n_features: int = 2,
    overlap: float = 0.3,
    width_ratio: float = 1.0,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray]:
    """Spherical normal clusters with a stated overlap.

    Cluster a is normal around its centre c_a with standard deviation σ_a in every direction. The
    overlap is that of the closest pair,

        overlap = max over pairs a ≠ b of (σ_a + σ_b) / ‖c_a − c_b‖,

    so that between the closest two centres there is a point ``1 / overlap`` standard deviations
    away from both. For equal widths this is the standard deviation over half the distance, and
    for two clusters of equal width the smallest possible error rate is Φ(−1 / overlap) with the
    normal distribution function Φ: 0.04 % at an overlap of 0.3, 2.3 % at 0.5, 16 % at 1.

    The columns are not standardised, which would stretch the clusters; instead the geometric mean
    of the standard deviations is 1 and the distances follow from the overlap.

    Parameters
    ----------
    n_samples : int
        Number of points, at least ``n_clusters``.
    n_clusters : int, default=3
        Number of clusters. The overlap is without meaning for a single one.
    n_features : int, default=2
        Dimension of the points.
    overlap : float, default=0.3
        Overlap of the closest pair, positive.
    width_ratio : float, default=1.0
        Largest over smallest standard deviation, at least 1. The standard deviations are spaced
        geometrically in between and dealt to the clusters at random.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness; an int gives the same points on every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The points.
    y : ndarray of shape (n_samples,)
        The cluster of each point.

    Examples
    --------
    >>> from sparseksc.datasets import make_gaussians
    >>> X, y = make_gaussians(1000, n_clusters=4, n_features=5, overlap=0.2, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 5), [0, 1, 2, 3])
    """
    _check_count("n_clusters", n_clusters)
    _check_count("n_features", n_features)
    _check_count("n_samples", n_samples, at_least=n_clusters, reason="one point for each cluster")
    _check_real("overlap", overlap)
    _check_real("width_ratio", width_ratio)
    if width_ratio < 1:
        raise ValueError(f"width_ratio must be at least 1, got {width_ratio!r}.")
    rng = as_generator(random_state)

    widths = rng.permutation(np.geomspace(width_ratio**-0.5, width_ratio**0.5, n_clusters))
    if n_clusters == 1:
        widths = np.ones(1)
    centres = _spread_centres(n_clusters, n_features, rng)
    centres *= _pairwise_overlap(centres, widths) / overlap
    y = _balanced_classes(n_samples, n_clusters)
    X = centres[y] + widths[y, None] * rng.normal(size=(n_samples, n_features))
    return _shuffled(X, y, rng)


def _spread_centres(n_centres: int, n_features: int, rng: np.random.Generator) -> FloatArray:
    """Draw centres in the unit cube, each the candidate farthest from those before it.

    Plain uniform centres would often have one very close pair; scaling by that pair would push all
    the others far apart.
    """
    centres = np.empty((n_centres, n_features))
    for k in range(n_centres):
        candidates = rng.uniform(size=(_CENTRE_CANDIDATES, n_features))
        gaps = np.linalg.norm(candidates[:, None] - centres[None, :k], axis=2)
        centres[k] = candidates[np.argmax(gaps.min(axis=1, initial=np.inf))]
    return centres


def _pairwise_overlap(centres: FloatArray, widths: FloatArray) -> float:
    """Return the largest (σ_a + σ_b) / ‖c_a − c_b‖ of all pairs, 1 for a single centre."""
    first, second = np.triu_indices(len(centres), k=1)
    distances = np.linalg.norm(centres[first] - centres[second], axis=1)
    ratios = (widths[first] + widths[second]) / distances
    return float(ratios.max()) if len(ratios) else 1.0


def _balanced_classes(n_samples: int, n_classes: int) -> IntArray:
    """Return sorted class numbers, the first classes one larger where it does not divide."""
    return np.sort(np.arange(n_samples, dtype=np.int64) % n_classes)


def _standardised(X: FloatArray) -> FloatArray:
    """Return X with zero mean and unit variance per column; constant columns become zero."""
    centred = X - X.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0), dtype=np.float64)


def _shuffled(X: FloatArray, y: IntArray, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    order = rng.permutation(len(y))
    return X[order], y[order]


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return a Generator; a legacy RandomState is advanced and seeds a new one."""
    if isinstance(random_state, np.random.RandomState):
        seed = random_state.randint(0, 2**32, size=4, dtype=np.uint32)
        return np.random.default_rng(seed)
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, Integral) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(
        "random_state must be a non-negative integer, a numpy Generator, a RandomState or None, "
        f"got {random_state!r}."
    )


def _check_count(name: str, value: int, *, at_least: int = 1, reason: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}.")
    if value < at_least:
        raise ValueError(f"{name} must be at least {at_least} ({reason}), got {value!r}.")


def _check_real(name: str, value: float, *, allow_zero: bool = False) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(value)
    if not is_number or value < 0 or (value == 0 and not allow_zero):
        wanted = "zero or positive" if allow_zero else "positive"
        raise ValueError(f"{name} must be {wanted} and finite, got {value!r}.")
