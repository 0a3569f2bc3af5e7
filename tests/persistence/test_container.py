"""The bytes of model files: what is written, and what is refused."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sparseksc import KernelSpectralClustering, ModelFileError, load
from sparseksc.datasets import make_gaussians
from sparseksc.persistence.container import LARGEST_HEADER, read_header
from sparseksc.persistence.schema import layout
from tests.fuzz_model_files import canonical, framed, joined, split
from tests.persistence.conftest import edited, refused


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_safetensors_package_reads_the_file(dtype, model, tmp_path):
    safetensors = pytest.importorskip("safetensors")
    model = clone(model).fit(model.reduced_set_.astype(dtype))
    path = tmp_path / "model.ksc"
    model.save(path)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert file.metadata()["format"] == "sparseksc-model"
        assert set(file.keys()) == set(layout(read_header(path)))
        np.testing.assert_array_equal(file.get_tensor("coef"), model.coef_)
        np.testing.assert_array_equal(file.get_tensor("points"), model.reduced_set_)
        assert file.get_tensor("points").dtype == dtype


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_numbers_are_aligned(dtype, model, tmp_path):
    clone(model).fit(model.reduced_set_[:9].astype(dtype)).save(tmp_path / "model.ksc")
    content = (tmp_path / "model.ksc").read_bytes()
    outer, _, data = split(content)
    for name, entry in outer.items():
        if name != "__metadata__":
            place = len(content) - len(data) + entry["data_offsets"][0]
            assert place % (4 if entry["dtype"] == "F32" else 8) == 0


def test_equal_models_have_equal_files(model, path, tmp_path):
    model.save(tmp_path / "again.ksc")
    load(path).save(tmp_path / "third.ksc")
    assert path.read_bytes() == (tmp_path / "again.ksc").read_bytes()
    assert path.read_bytes() == (tmp_path / "third.ksc").read_bytes()


def test_a_disk_that_is_full_leaves_what_was_there(model, tmp_path):
    resource = pytest.importorskip("resource")
    target = tmp_path / "model.ksc"
    target.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            model.save(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert target.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["model.ksc"]


def test_a_folder_that_is_missing(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.save(tmp_path / "missing" / "model.ksc")


def test_files_that_are_not_there_or_not_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.ksc")
    refused(tmp_path, "is not a file")
    if not hasattr(os, "mkfifo"):
        return
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "is not a file")
    refused(Path("/dev/zero"), "is not a file")


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"PK\x03\x04" + bytes(100), b"a,b\n1,2\n" * 9, b"\x80\x05" + bytes(50)]
)
def test_other_files_are_not_models(content, tmp_path):
    (tmp_path / "other").write_bytes(content)
    refused(tmp_path / "other", "is not a model file of sparseksc")


def test_other_safetensors_files_are_not_models(tmp_path):
    table = {"x": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}
    (tmp_path / "other").write_bytes(framed(canonical(table).encode(), bytes(8)))
    refused(tmp_path / "other", "but not a model file of sparseksc")


def test_a_header_of_ten_gigabytes(path):
    content = path.read_bytes()
    path.write_bytes((10 * 2**30).to_bytes(8, "little") + content[8:])
    refused(path, "claims a header of 10,737,418,240 bytes")


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"{} {}", b"{\xff}", b"{1"])
def test_headers_that_are_not_json(path, text):
    path.write_bytes(framed(b"{" + text, b""))
    refused(path, "is damaged: its header is not (JSON|text)")


def test_names_that_are_given_twice(path):
    outer, inner, data = split(path.read_bytes())
    text = joined(outer, inner, b"", signed=False)[8:].replace(b'{"__m', b'{"bias":0,"__m', 1)
    path.write_bytes(framed(text, data))
    refused(path, "is not JSON")


def test_every_cut_is_noticed(path):
    content = path.read_bytes()
    for size in range(0, len(content), 37):
        path.write_bytes(content[:size])
        refused(path, "is not a model file|cut off")


def test_every_flipped_bit_is_noticed_or_harmless(model, path):
    X = model.reduced_set_ + 0.1
    content, expected = path.read_bytes(), model.transform(X).tobytes()
    for place in range(0, len(content), 11):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        try:
            assert load(path).transform(X).tobytes() == expected
        except ModelFileError:
            pass


def test_a_newer_version(path):
    edited(path, outer=lambda whole: whole["__metadata__"].update(version="6"))
    refused(path, "has the format version 6, and this sparseksc reads versions up to 5: update")


@pytest.mark.parametrize("version", ["0", "-1", "1.5", "", "\u0661", 1, None])
def test_versions_that_are_none(path, version):
    edited(path, outer=lambda whole: whole["__metadata__"].update(version=version))
    refused(path, "is damaged")


def test_a_changed_entry_is_found_by_the_checksum(path):
    edited(path, signed=False, training__residual=0.123)
    refused(path, "its checksum is wrong")


def test_offsets_must_tile_the_file(path):
    def shifted(whole):
        whole["bias"]["data_offsets"][0] += 8

    edited(path, outer=shifted)
    refused(path, "its array 'bias' is not where it should be")


@pytest.mark.parametrize("shape", [[10.0, 2], [10, True], [10], "10", None, [[10], 2]])
def test_shapes_are_lists_of_integers(path, shape):
    edited(path, outer=lambda whole: whole["coef"].update(shape=shape))
    refused(path, "its array 'coef' has the wrong type or shape")


def test_bytes_after_the_end(path):
    path.write_bytes(path.read_bytes() + bytes(8))
    refused(path, "is cut off or damaged: its arrays need")


def test_names_that_are_too_long_for_a_file(tmp_path):
    X, _ = make_gaussians(60, n_clusters=2, n_features=2, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b" * LARGEST_HEADER])
    model = KernelSpectralClustering(2, bandwidth=3.0, max_rank=10, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="cannot be saved: its names and parameters need"):
        model.save(tmp_path / "model.ksc")
    assert not any(tmp_path.iterdir())
