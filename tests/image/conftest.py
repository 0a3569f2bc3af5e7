"""An image with three regions, and its segments."""

import numpy as np
import pytest

from sparseksc.image import (
    segment,
)


def landscape(height=90, width=120, noise=12, seed=0):
    """A sky, a hill and a house, with noise: (image, truth)."""
    y, x = np.mgrid[0:height, 0:width]
    truth = (y > 0.6 * height + 0.1 * height * np.sin(6.3 * x / width)).astype(int)
    truth[int(0.3 * height) : int(0.7 * height), int(0.4 * width) : int(0.6 * width)] = 2
    colours = np.array([[120, 170, 230], [60, 140, 50], [180, 60, 40]])
    rng = np.random.default_rng(seed)
    image = colours[truth] + rng.normal(0, noise, (height, width, 3))
    return np.clip(image, 0, 255).astype(np.uint8), truth


@pytest.fixture(scope="session")
def scene():
    image, truth = landscape()
    return image, truth, segment(image, random_state=0)
