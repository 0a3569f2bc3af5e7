"""Headers of model files: every entry is checked before it is used."""

import pytest

from sparseksc.core.encoding import Encoding
from sparseksc.persistence.schema import ENCODING_NAMES
from tests.persistence.conftest import edited, refused


@pytest.mark.parametrize(
    ("entries", "match"),
    [
        ({"n_clusters": 0}, "n_clusters in its header must be an integer from 1"),
        ({"n_clusters": 4}, r"training.cluster_sizes .* a list of 4 entries"),
        ({"n_features": 10**15}, "its array 'points' has the wrong type or shape"),
        ({"n_pivots": 11}, "has the wrong type or shape"),
        ({"n_pivots": True}, "n_pivots in its header must be an integer"),
        ({"dtype": "float16"}, "dtype in its header must be one of float64, float32"),
        ({"dtype": "float32"}, "has the wrong type or shape"),
        ({"sparse": True}, "n_stored .* sparse pivots only"),
        ({"scaled": True}, "parameters.scale .* what scaled is"),
        ({"kernel__name": "os.system"}, "kernel.name in its header must be one of rbf"),
        ({"kernel__name": "linear"}, "kernel.bandwidth in its header must be null"),
        ({"kernel__bandwidth": 0.0}, "kernel.bandwidth in its header must be a positive number"),
        ({"kernel__bandwidth": [1.0]}, "kernel.bandwidth .* a positive number or 2 of them"),
        ({"degree_kernel__name": "laplacian"}, "degree_kernel .* must be the kernel"),
        ({"encoding": "pickle"}, "encoding in its header must be one of signs"),
        ({"encoding": "sides"}, "n_clusters in its header must be 2"),
        ({"feature_names": ["a"]}, "feature_names in its header must be a list of 2 entries"),
        ({"feature_names": ["a", 1]}, r"feature_names\[1\] in its header must be text"),
        ({"training__residual": "0"}, "training.residual in its header must be a finite number"),
        ({"training__residual": 10**400}, "training.residual"),
        ({"training__cluster_sizes": [1, -1, 1]}, r"cluster_sizes\[1\] .* at least 0"),
        ({"training__surprise": 1}, "training in its header must be an object with the entries"),
        ({"surprise": 1}, "all in its header must be an object with the entries"),
        ({"parameters__kernel": "linear"}, "parameters.kernel in its header must be rbf"),
        ({"parameters__n_jobs": 10**9}, "parameters in its header must be an object"),
        ({"degree_floor": None}, "degree_floor in its header must be a finite number"),
    ],
)
def test_headers_that_make_no_sense(path, entries, match):
    edited(path, **entries)
    refused(path, match)


def test_every_encoding_has_a_name_in_files():
    kinds = {kind for kind in Encoding.__subclasses__() if kind.__module__.startswith("sparseksc")}
    assert kinds == set(ENCODING_NAMES.values())
