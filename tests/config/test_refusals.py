"""An X that cannot be clustered is refused with what it is, where, and what to do."""

import numpy as np
import pandas as pd
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.config.refusals import sentence_for


@pytest.mark.parametrize(
    ("X", "reason", "words"),
    [
        (np.array([[1.0, 2.0], [3.0, np.nan]]), "Input X contains NaN.", "row 1, column 1"),
        (np.array([[1.0, -np.inf]]), "Input X contains infinity", "row 0, column 1"),
        (np.ones((2, 2), dtype=complex), "", "real and imaginary parts"),
        (np.ma.masked_equal([[1.0, 2.0]], 2.0), "", "masked values"),
        (None, "", "got None"),
        (
            pd.DataFrame({"x": [1, None]}, dtype="Int64"),
            "Input X contains NaN.",
            "row 1, column 'x'",
        ),
    ],
)
def test_the_sentence_names_the_place_or_the_remedy(X, reason, words):
    assert words in sentence_for(X, reason)


def test_what_scikit_learn_says_well_is_left_as_it_is():
    reason = "X has 2 features, but KernelSpectralClustering is expecting 3 features as input."
    assert sentence_for(np.ones((4, 2)), reason) == reason


def test_a_category_beside_missing_integers_is_named():
    kinds = pd.Categorical(["a", "b"] * 20)
    table = pd.DataFrame({"kind": kinds, "n": pd.array([1, None] * 20, dtype="Int64")})
    with pytest.raises(ValueError, match="got 'a' in column 'kind'"):
        KernelSpectralClustering(2).fit(table)
