"""The package gives its public names on demand, and imports little."""

import subprocess
import sys
from functools import cache

import pytest

import sparseksc

OPTIONAL = ("pandas", "polars", "matplotlib", "dask", "tqdm", "pyarrow", "torch", "cupy", "PIL")


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


@cache
def modules_after(*statements):
    code = "\n".join([*statements, "import sys", "print(*sorted(sys.modules))"])
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    return set(output.split())


def test_importing_sparseksc_needs_no_optional_package():
    # scikit-learn imports pandas where it is installed, but does without.
    absent = f"""
import sys
class Absent:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent)
from sparseksc import *
"""
    assert "sparseksc.estimator" in modules_after(absent)


def test_importing_sparseksc_imports_no_optional_package_that_scikit_learn_does_not():
    added = modules_after("from sparseksc import *") - modules_after("import sklearn.cluster")
    assert not {name.partition(".")[0] for name in added} & set(OPTIONAL)


def test_importing_sparseksc_adds_few_modules_to_scikit_learn():
    before = modules_after("import sklearn.cluster")
    added = modules_after("import sklearn.cluster", "from sparseksc import *") - before
    foreign = {name for name in added if name.partition(".")[0] != "sparseksc"}
    assert len(foreign) <= 10, sorted(foreign)
