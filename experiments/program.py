"""What the tests of the authors' own program have in common."""

from __future__ import annotations

from experiments.spirals import Floats

TITLE = (
    "The three tests that come with the authors' own C++ program (`leuven`, applications of KSC), "
    "from their [published description](https://github.com/mnovak42/leuven/tree/master/apps/"
    "examples/KSC/docs/source/tests): our own data, the published route of `sparseksc.reference` "
    "for the first two, and figures of our own."
)


def standardised(X: Floats) -> Floats:
    """Zero mean and unit variance in every column, as the program's data has."""
    return (X - X.mean(axis=0)) / X.std(axis=0)
