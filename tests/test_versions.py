"""What is installed, printed."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import sparseksc
from sparseksc import _native, versions


def test_versions_the_module_threads_and_blas_are_named(capsys):
    sparseksc.show_versions()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["sparseksc"] == sparseksc.__version__
    assert lines["numpy"] == version("numpy")
    assert lines["scikit-learn"] == version("scikit-learn")
    assert int(lines["processors"]) >= 1
    assert any(name == "BLAS" and "threads" in fact for name, fact in lines.items())


def test_a_package_that_is_not_there_is_named(monkeypatch, capsys):
    monkeypatch.setattr(versions, "PACKAGES", ("numpy", "no-such-package"))
    sparseksc.show_versions()
    assert "no-such-package  not installed" in capsys.readouterr().out


@pytest.mark.skipif(not _native.IS_NATIVE, reason="the extension module is not built")
def test_the_native_module_has_a_vector_level():
    from sparseksc._native import _core

    assert versions.native_module().startswith(f"compiled, {_core.active_variant()}")


def test_without_the_native_module_that_is_said(monkeypatch):
    monkeypatch.setattr(_native, "IS_NATIVE", False)
    monkeypatch.delenv("SPARSEKSC_NATIVE", raising=False)
    assert "not compiled" in versions.native_module()


def test_a_module_that_is_switched_off_is_told_from_one_that_is_not_there():
    code = "from sparseksc.versions import native_module; print(native_module())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"SPARSEKSC_NATIVE": "0"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "switched off by SPARSEKSC_NATIVE=0\n"
