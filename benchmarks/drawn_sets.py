"""Labelled sets that are drawn anew for every number: no constant was chosen on them.

They are of the kinds that people test clustering on: many even or overlapping clusters, unequal
sizes and densities, thin and bent shapes, background noise, dozens of features. A label of 0 is
noise, which is not scored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn import datasets

Points = NDArray[np.float64]
Labels = NDArray[np.int64]
Drawn = tuple[Points, Labels]
Maker = Callable[[np.random.Generator], Drawn]


def _joined(*parts: Points) -> Drawn:
    """Stack the points of clusters, and number them from 1."""
    return np.vstack(parts), np.repeat(np.arange(1, len(parts) + 1), [len(one) for one in parts])


def _along(curve: Callable[[Points], tuple[Points, ...]], width: float, n: int) -> Maker:
    """One cluster: ``n`` points along a curve that is given from 0 to 1."""

    def make(rng: np.random.Generator) -> Drawn:
        X = np.column_stack(curve(rng.uniform(size=n)))
        return X + rng.normal(scale=width, size=X.shape), np.ones(n, np.int64)

    return make


def _curves(rng: np.random.Generator, *makers: Maker) -> Drawn:
    return _joined(*(make(rng)[0] for make in makers))


def _ring(radius: float, width: float, n: int, share: float = 1.0, turn: float = 0.0) -> Maker:
    def circle(t: Points) -> tuple[Points, ...]:
        angle = 2.0 * np.pi * (share * t + turn)
        return radius * np.cos(angle), radius * np.sin(angle)

    return _along(circle, width, n)


def _blobs(rng: np.random.Generator, centres: Points, widths: Any, sizes: Any) -> Drawn:
    K, d = centres.shape
    each = zip(centres, np.broadcast_to(widths, K), np.broadcast_to(sizes, K), strict=True)
    return _joined(*(centre + width * rng.normal(size=(n, d)) for centre, width, n in each))


def _apart(rng: np.random.Generator, K: int, d: int, least: float) -> Points:
    """Centres in a box with an edge of 1, none nearer to another than ``least``."""
    kept = [rng.uniform(size=d)]
    while len(kept) < K:
        one = rng.uniform(size=d)
        if np.linalg.norm(np.array(kept) - one, axis=1).min() >= least:
            kept.append(one)
    return np.array(kept)


def _with_noise(rng: np.random.Generator, X: Points, y: Labels, share: float) -> Drawn:
    low, high = X.min(axis=0), X.max(axis=0)
    n, margin = int(share * len(X)), 0.1 * (high - low)
    noise = rng.uniform(low - margin, high + margin, size=(n, X.shape[1]))
    return np.vstack([X, noise]), np.append(y, np.zeros(n, np.int64))


def many_35(rng: np.random.Generator) -> Drawn:
    return _blobs(rng, _apart(rng, 35, 2, 0.12), 0.025, 150)


def many_50(rng: np.random.Generator) -> Drawn:
    return _blobs(rng, _apart(rng, 50, 2, 0.1), 0.022, 150)


def overlapping_15(rng: np.random.Generator) -> Drawn:
    return _blobs(rng, _apart(rng, 15, 2, 0.16), 0.04, 333)


def touching_15(rng: np.random.Generator) -> Drawn:
    return _blobs(rng, _apart(rng, 15, 2, 0.19), 0.055, 333)


def unbalanced(rng: np.random.Generator) -> Drawn:
    centres = np.array([[0, 0], [1, 1], [1, -1], [5, 0], [5, 1], [6, 0], [6, 1], [5.5, -1]], float)
    return _blobs(rng, centres, [0.12] * 3 + [0.2] * 5, [2000] * 3 + [100] * 5)


def rosette_15(rng: np.random.Generator) -> Drawn:
    angle = np.arange(7) * 2.0 * np.pi / 7.0
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return _blobs(rng, np.vstack([np.zeros((1, 2)), circle, 2.6 * circle]), 0.16, 40)


def seven_shapes(rng: np.random.Generator) -> Drawn:
    parts = [
        rng.normal([0, 0], [1.5, 1.5], (170, 2)),
        rng.normal([6, 0.3], [0.7, 0.7], (35, 2)),
        rng.normal([5.5, 5], [1.6, 0.9], (130, 2)),
        rng.normal([-6, 1], [0.9, 2.0], (270, 2)),
        rng.normal([0.5, 7], [0.8, 0.8], (45, 2)),
        rng.normal([11, 1], [0.7, 1.5], (100, 2)),
        rng.normal([-1, -6], [0.7, 0.7], (40, 2)),
    ]
    return _joined(*parts)


def crescents(rng: np.random.Generator) -> Drawn:
    def upper(t: Points) -> tuple[Points, ...]:
        return np.cos(np.pi * t), np.sin(np.pi * t)

    def lower(t: Points) -> tuple[Points, ...]:
        return 1.0 - np.cos(np.pi * t), 0.35 - np.sin(np.pi * t)

    return _curves(rng, _along(upper, 0.07, 100), _along(lower, 0.05, 280))


def bowl_and_ball(rng: np.random.Generator) -> Drawn:
    def bowl(t: Points) -> tuple[Points, ...]:
        return 2.0 * (2.0 * t - 1.0), 1.5 * (2.0 * t - 1.0) ** 2

    return _joined(_along(bowl, 0.16, 150)(rng)[0], rng.normal([0, 2.1], [0.45, 0.4], (90, 2)))


def open_ring(rng: np.random.Generator) -> Drawn:
    ring = _ring(1.0, 0.04, 110, share=0.8, turn=-0.15)(rng)[0]
    balls = [rng.normal([x, 0.0], 0.15, (95, 2)) for x in (-0.42, 0.42)]
    return _joined(ring, *balls)


def three_arms(rng: np.random.Generator) -> Drawn:
    def arm(k: int) -> Maker:
        def curve(t: Points) -> tuple[Points, ...]:
            angle = 4.5 * t + 2.0 * np.pi * k / 3.0
            return (0.15 + t) * np.cos(angle), (0.15 + t) * np.sin(angle)

        return _along(curve, 0.015, 105)

    return _curves(rng, arm(0), arm(1), arm(2))


def worms(rng: np.random.Generator) -> Drawn:
    parts: list[Points] = []
    t = np.linspace(0, 0.2, 60)
    while len(parts) < 12:
        heading, bend = rng.uniform(0, 2 * np.pi), rng.uniform(-6, 6)
        steps = np.column_stack([np.cos(heading + bend * t), np.sin(heading + bend * t)])
        path = rng.uniform(size=2) + np.cumsum(steps, axis=0) * (t[1] - t[0])
        worm = path[rng.integers(60, size=150)] + rng.normal(scale=0.01, size=(150, 2))
        if all(cdist(worm, other).min() > 0.03 for other in parts):
            parts.append(worm)
    return _joined(*parts)


def grid_100(rng: np.random.Generator) -> Drawn:
    centres = np.array([[i, j] for i in range(10) for j in range(10)], float)
    return _blobs(rng, centres, 0.17, 80)


def wave_100(rng: np.random.Generator) -> Drawn:
    x = np.linspace(0, 1, 100)
    return _blobs(rng, np.column_stack([100.0 * x, 15.0 * np.sin(12.0 * x)]), 0.2, 60)


def rings(rng: np.random.Generator) -> Drawn:
    return _curves(rng, _ring(1.0, 0.06, 500), _ring(0.35, 0.1, 300))


def noisy_rings(rng: np.random.Generator) -> Drawn:
    X, y = _curves(rng, _ring(1.0, 0.04, 600), _ring(0.45, 0.04, 400))
    return _with_noise(rng, X, y, 0.1)


def zigzags(rng: np.random.Generator) -> Drawn:
    def line(k: int) -> Maker:
        def curve(t: Points) -> tuple[Points, ...]:
            return 8.0 * t, np.abs((4.0 * t) % 2.0 - 1.0) + 0.75 * k

        return _along(curve, 0.05, 250)

    return _curves(rng, *(line(k) for k in range(3)))


def parabolas(rng: np.random.Generator) -> Drawn:
    def up(t: Points) -> tuple[Points, ...]:
        return 2.0 * t - 1.0, (2.0 * t - 1.0) ** 2

    def down(t: Points) -> tuple[Points, ...]:
        return 2.0 * t - 0.2, 0.75 - (2.0 * t - 1.0) ** 2

    return _curves(rng, _along(up, 0.05, 500), _along(down, 0.05, 500))


def dense_and_sparse(rng: np.random.Generator) -> Drawn:
    return _joined(rng.normal([0, 0], 0.2, (300, 2)), rng.normal([4, 0], 1.0, (300, 2)))


def five_as_a_cross(rng: np.random.Generator) -> Drawn:
    centres = np.array([[0, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]], float)
    return _blobs(rng, centres, 0.22, 200)


def line_and_blobs(rng: np.random.Generator) -> Drawn:
    line = np.column_stack([rng.uniform(-3, 3, 300), rng.normal(scale=0.04, size=300)])
    return _joined(
        line, rng.normal([-1, 1.3], 0.25, (150, 2)), rng.normal([1.2, -1.3], 0.25, (150, 2))
    )


def moons(rng: np.random.Generator) -> Drawn:
    X, y = datasets.make_moons(600, noise=0.07, random_state=int(rng.integers(2**31)))
    return X, y + 1


def circles(rng: np.random.Generator) -> Drawn:
    X, y = datasets.make_circles(600, factor=0.5, noise=0.06, random_state=int(rng.integers(2**31)))
    return X, y + 1


def noisy_moons(rng: np.random.Generator) -> Drawn:
    return _with_noise(rng, *moons(rng), 0.08)


def stretched(rng: np.random.Generator) -> Drawn:
    X, y = _blobs(rng, np.array([[0, 0], [2.2, 2.2], [-1.5, 3.0]]), 0.5, 300)
    return X @ np.array([[0.6, -0.64], [-0.41, 0.85]]), y


def unequal_widths(rng: np.random.Generator) -> Drawn:
    return _blobs(rng, np.array([[0, 0], [7, 1], [3, 7.0]]), [1.0, 2.2, 0.5], 250)


def blobs_20_in_10(rng: np.random.Generator) -> Drawn:
    return _blobs(rng, rng.uniform(-10, 10, (20, 10)), 1.0, 100)


def stretched_8_in_16(rng: np.random.Generator) -> Drawn:
    parts = []
    for centre in rng.normal(scale=2.2, size=(8, 16)):
        parts.append(centre + rng.normal(size=(250, 16)) * rng.uniform(0.3, 1.5, 16))
    return _joined(*parts)


def subspaces_5_in_64(rng: np.random.Generator) -> Drawn:
    parts = []
    for _ in range(5):
        centre = np.zeros(64)
        centre[rng.choice(64, 6, replace=False)] = rng.choice([-3.0, 3.0], 6)
        parts.append(centre + rng.normal(size=(300, 64)))
    return _joined(*parts)


def heavy_tails_6_in_10(rng: np.random.Generator) -> Drawn:
    return _joined(*(c + rng.standard_t(4, size=(250, 10)) for c in rng.uniform(-8, 8, (6, 10))))


def pair_in_32(rng: np.random.Generator) -> Drawn:
    return _blobs(rng, np.array([np.zeros(32), np.full(32, 1.1)]), 1.0, 500)


def unequal_4_in_5(rng: np.random.Generator) -> Drawn:
    return _blobs(rng, rng.uniform(-6, 6, (4, 5)), [0.7, 1.0, 1.3, 1.0], [1500, 500, 150, 60])


def shells(rng: np.random.Generator) -> Drawn:
    def shell(radius: float, width: float, n: int) -> Points:
        X = rng.normal(size=(n, 3))
        X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
        return X + rng.normal(scale=width, size=(n, 3))

    return _joined(shell(1.0, 0.03, 900), shell(0.4, 0.05, 300))


def links(rng: np.random.Generator) -> Drawn:
    first, second = _ring(1.0, 0.06, 400)(rng)[0], _ring(1.0, 0.06, 400)(rng)[0]
    zeros = rng.normal(scale=0.06, size=(400, 1))
    return _joined(
        np.hstack([first, zeros]), np.hstack([second[:, :1] + 1.0, zeros, second[:, 1:]])
    )


DRAWN: dict[str, Maker] = {
    make.__name__: make
    for make in (
        many_35,
        many_50,
        overlapping_15,
        touching_15,
        unbalanced,
        rosette_15,
        seven_shapes,
        crescents,
        bowl_and_ball,
        open_ring,
        three_arms,
        worms,
        grid_100,
        wave_100,
        rings,
        noisy_rings,
        zigzags,
        parabolas,
        dense_and_sparse,
        five_as_a_cross,
        line_and_blobs,
        moons,
        circles,
        noisy_moons,
        stretched,
        unequal_widths,
        blobs_20_in_10,
        stretched_8_in_16,
        subspaces_5_in_64,
        heavy_tails_6_in_10,
        pair_in_32,
        unequal_4_in_5,
        shells,
        links,
    )
}
