"""The rules that propose pivots, and the loop that lets one of them complete a decomposition.

========== ================================================================================
greedy     the largest residual diagonal, one at a time (the paper's rule)
weighted   the largest squared residual diagonal times weight, for points that stand for many
block      greedy in a random pool of points with large residuals, many at once
random     drawn with probability proportional to the residual diagonal
uniform    drawn uniformly
renyi      the subset of largest quadratic Rényi entropy
========== ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sparseksc._typing import Floats, Integers
from sparseksc.core.cholesky import PartialCholesky
from sparseksc.execution.blas import single_threaded_blas
from sparseksc.kernels import Exponential

#: "block": a candidate is accepted while its residual is at least this share of the largest.
BLOCK_THRESHOLD = 0.8
#: "block": pivots that are chosen one at a time before the first block.
FIRST_ONE_BY_ONE = 64
#: "block" and "random": candidates looked at in one round.
POOL_SIZE = 1024

Proposals = Iterator[Integers]


def _greedy(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    while True:
        yield np.array([np.argmax(state.residual)])


def _weighted(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    # Squared, or pivots would crowd where the weight is, and be nearly the same points.
    while True:
        yield np.array([np.argmax(state.residual**2 * state.weights)])


def _block(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    # The first pivots decide most and cost least.
    while state.rank < FIRST_ONE_BY_ONE:
        yield np.array([np.argmax(state.residual)])
    while True:
        best = np.argmax(state.residual)
        least = max(BLOCK_THRESHOLD * state.residual[best], state.floor)
        pool = state.canonical_order[state.residual[state.canonical_order] >= least]
        if len(pool) > POOL_SIZE:
            pool = np.append(rng.choice(pool, POOL_SIZE, replace=False), best)
        # In the order of the rows, so that ties are broken as in the greedy rule; with all
        # large residuals in the pool, the pivots are the greedy ones.
        pool = np.unique(pool)
        yield pool[_greedy_order(state.residual_rows(pool, pool), least)]


def _greedy_order(matrix: Floats, least: float) -> Integers:
    """Greedy pivots of a small matrix while the pivot is at least ``least``."""
    residual = np.diagonal(matrix).copy()
    factor = np.empty_like(matrix)
    order: list[int] = []
    while len(order) < len(matrix):
        best = int(np.argmax(residual))
        if residual[best] < least and order:
            break
        column = len(order)
        done = factor[:column]
        factor[column] = (matrix[best] - done[:, best] @ done) / np.sqrt(residual[best])
        residual -= factor[column] ** 2
        residual[best] = -np.inf
        order.append(best)
    return np.array(order, dtype=np.intp)


def _random(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    order = state.canonical_order
    while True:
        mass = (state.residual * state.weights)[order]
        pool = order[rng.choice(len(mass), POOL_SIZE, p=mass / mass.sum())]
        yield pool[_accepted(state.residual_rows(pool, pool), rng, state.floor)]


def _accepted(matrix: Floats, rng: np.random.Generator, floor: float) -> Integers:
    """Rejection step of randomly pivoted Cholesky.

    A proposal drawn from the residuals at the start of the round survives with the
    probability that its residual has kept, so that the accepted ones are distributed
    as if each had been drawn from the current residuals.
    """
    before = np.diagonal(matrix).copy()
    residual = before.copy()
    factor = np.empty_like(matrix)
    order: list[int] = []
    for i, luck in enumerate(rng.random(len(matrix))):
        if residual[i] <= floor or luck * before[i] >= residual[i]:
            continue
        done = factor[: len(order)]
        factor[len(order)] = (matrix[i] - done[:, i] @ done) / np.sqrt(residual[i])
        residual -= factor[len(order)] ** 2
        residual[i] = 0.0
        order.append(i)
    return np.array(order, dtype=np.intp)


def _uniform(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    drawn = state.canonical_order
    arrival = rng.exponential(size=len(drawn)) / state.weights[drawn]
    drawn = drawn[np.argsort(arrival, kind="stable")]
    for start in range(0, len(drawn), POOL_SIZE):
        yield drawn[start : start + POOL_SIZE]


def _renyi(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    r"""Forward selection of the subset S of largest entropy :math:`-\log \sum_{S,S} k / |S|^2`.

    The next point is the one that adds least to the sum: twice its similarity to S plus
    its own diagonal. Ties, frequent with narrow kernels, go to a random one.
    """
    kernel, X = state.kernel, state.X
    cost = kernel.diagonal(X)
    shuffled = rng.permutation(state.canonical_order)
    while True:
        best = shuffled[np.argmin(cost[shuffled])]
        cost += 2.0 * kernel.tile(X, kernel.pivots(X, np.array([best])))[:, 0]
        cost[best] = np.inf
        yield np.array([best])


RULES: dict[str, Callable[[PartialCholesky, np.random.Generator], Proposals]] = {
    "greedy": _greedy,
    "weighted": _weighted,
    "block": _block,
    "random": _random,
    "uniform": _uniform,
    "renyi": _renyi,
}


def complete(state: PartialCholesky, pivoting: str, seed: int) -> None:
    """Add pivots until the decomposition is finished."""
    if state.finished:
        return
    if pivoting == "greedy" and isinstance(state.kernel, Exponential):
        if isinstance(state.X, np.ndarray):
            state.extend_greedily(state.kernel, state.X)
            return
    with single_threaded_blas():
        for candidates in RULES[pivoting](state, np.random.default_rng(seed)):
            state.extend(candidates)
            if state.finished:
                break
