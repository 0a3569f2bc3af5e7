"""The table of parameters is that of the estimator."""

import ast
import inspect
import re
import subprocess
import sys

import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.config.parameters import PARAMETERS
from sparseksc.core.criteria import CRITERIA
from sparseksc.core.encoding import ENCODINGS
from sparseksc.core.pivoting import RULES
from sparseksc.kernels import KERNELS


def test_the_constructor_has_the_parameters_of_the_table_in_its_order():
    signature = inspect.signature(KernelSpectralClustering).parameters
    assert list(signature) == list(PARAMETERS)
    assert {name: one.default for name, one in signature.items()} == {
        name: one.default for name, one in PARAMETERS.items()
    }


def test_the_docstring_describes_every_parameter_and_its_default():
    text = inspect.getdoc(KernelSpectralClustering)
    described = dict(re.findall(r"^(\w+) : .*default=(.+)$", text, re.MULTILINE))
    assert list(described) == list(PARAMETERS)
    for name, default in described.items():
        assert ast.literal_eval(default) == PARAMETERS[name].default


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("kernel", {"auto", *KERNELS}),
        ("pivoting", set(RULES)),
        ("encoding", {"auto", *ENCODINGS}),
        ("criterion", {"auto", *CRITERIA}),
    ],
)
def test_the_names_in_the_table_are_those_that_are_implemented(name, known):
    assert set(PARAMETERS[name].domain.names) == known


def test_the_table_can_be_read_without_numpy():
    code = "import sys, sparseksc.config.parameters; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
