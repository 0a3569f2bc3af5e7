"""Sources of which some rows count nothing."""

from functools import partial
from operator import add

import numpy as np
import pytest

from sparseksc import open_dataset
from sparseksc.data.source import ArraySource, MaskedSource, masked_sample

X = np.random.default_rng(0).normal(size=(500, 2))


def is_right(rows):
    return rows[:, 0] > 0.0


def mass(rows, weights):
    return np.append(weights @ rows, weights.sum())


def labelled(rows, weights):
    return np.arange(len(rows)), float(weights.sum())


@pytest.mark.parametrize("kind", ["array", "stream", "dask"])
def test_sums_are_those_of_the_other_rows(kind):
    source = ArraySource(X) if kind == "array" else open_dataset([X[:300], X[300:]])
    source = source.to_dask() if kind == "dask" else source
    masked = MaskedSource(source, is_right)
    left = X[~is_right(X)]
    total = masked.sum(mass, add, 2, 1)
    np.testing.assert_allclose(total, [*left.sum(axis=0), len(left)])
    assert masked.in_memory == (kind == "array")
    assert masked.runs_here == (kind != "dask")
    weights = np.concatenate([weights for _, weights in masked.blocks()])
    assert np.array_equal(weights == 0.0, is_right(X))
    labels, count = masked.label(labelled, add, 2, 1)
    assert count == len(left)
    assert (labels is not None) == (kind == "array")


def test_a_sample_has_no_weight_where_rows_are_left_out():
    sample = MaskedSource(open_dataset([X]), is_right).sample(100, 0)
    assert len(sample.rows) == 100
    assert np.array_equal(sample.weights == 0.0, is_right(sample.X))
    assert np.array_equal(masked_sample(sample, is_right).weights, sample.weights)


def test_it_cannot_be_scaled_afterwards():
    with pytest.raises(NotImplementedError, match="before"):
        MaskedSource(ArraySource(X), partial(is_right)).scaled(None)
