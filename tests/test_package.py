"""The package gives its public names on demand."""

import subprocess
import sys

import pytest

import sparseksc


def test_every_public_name_is_there_and_listed():
    for name in sparseksc.__all__:
        assert getattr(sparseksc, name) is not None
        assert name in dir(sparseksc)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        sparseksc.nothing  # noqa: B018


def test_importing_the_package_loads_no_library():
    code = "import sys, sparseksc; print([m for m in ('numpy', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_star_import_gives_all_public_names():
    names: dict[str, object] = {}
    exec("from sparseksc import *", names)
    assert set(sparseksc.__all__) <= set(names)
