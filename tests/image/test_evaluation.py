"""Boundaries along edges have more support than others."""

import numpy as np

from sparseksc.image import (
    boundaries,
)
from sparseksc.image.evaluation import Edges
from tests.image.conftest import landscape


def test_boundaries_along_edges_have_more_support():
    image, truth = landscape(noise=5)
    edges = Edges(image)
    right = boundaries(truth)
    assert edges.support(right) > 2 * edges.support(np.roll(right, 15, axis=1))
    assert edges.support(right) > edges.support(boundaries(truth == 2))
    noise = np.random.default_rng(0).random(truth.shape) < 0.3
    assert edges.support(right) > edges.support(right | noise)
    assert edges.support(np.zeros_like(right)) == 0.0
