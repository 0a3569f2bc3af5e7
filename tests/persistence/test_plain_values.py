"""Parameters and results of a search as values that JSON has."""

from functools import partial

import numpy as np
import pytest

from tests.persistence.conftest import assert_same, fitted, points, round_trip, similarity


def test_arguments_of_a_function_that_are_not_plain_are_refused(tmp_path):
    model = fitted(points(), kernel=similarity, kernel_params={"mode": {1, 2}})
    with pytest.raises(ValueError, match=r"kernel_params\['mode'\] must be a number.*partial"):
        model.save(tmp_path / "model.ksc")
    assert not any(tmp_path.iterdir())
    bound = fitted(points(), kernel=partial(similarity, mode={1, 2}))
    assert_same(round_trip(bound, tmp_path, kernel=bound.kernel), bound, points())


def test_the_parameters_of_the_machine_stay_there(tmp_path):
    rng = np.random.RandomState(0)
    model = fitted(points(), n_jobs=1, memory_limit="1GB", verbose=0, random_state=rng)
    again = round_trip(model, tmp_path)
    assert again.n_jobs is None and again.memory_limit is None
    assert again.random_state is None
