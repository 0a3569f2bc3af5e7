"""Rows from standard input, from many files, and from CSV files of other shapes."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_standard_input_and_output_are_csv(ksc, files, points, monkeypatch):
    content = (files / "points.csv").read_bytes()
    outs = []
    for stream in (content, gzip.compress(content)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stream)))
        done = ksc("predict", files / "model.ksc", "-", "--id", "name")
        assert (done.code, done.err) == (0, "")
        outs.append(done.out)
    head, *rows = outs[0].splitlines()
    assert head == "name,label"
    assert [row.split(",")[0] for row in rows] == points[1]
    assert outs[0] == outs[1]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n1,x\n")))
    done = ksc("predict", files / "model.ksc", "-")
    assert done.code == 1
    assert done.err.startswith("ksc: standard input has 'x' in row 2 (line 3), column 'b'")


def test_several_files_folders_and_patterns_are_read_as_one(ksc, files, points, fast, tmp_path):
    X, _ = points
    (tmp_path / "parts").mkdir()
    for number in range(3):
        np.save(tmp_path / "parts" / f"part{number}.npy", X[100 * number : 100 * (number + 1)])
    whole = ksc("fit", files / "points.npy", *fast, "--labels", "-").out
    for data in (["parts"], ["parts/*.npy"], [f"parts/part{number}.npy" for number in range(3)]):
        assert ksc("fit", *data, *fast, "--labels", "-").out == whole


def test_headers_and_delimiters_of_csv_files(ksc, points, fast, tmp_path):
    X, _ = points
    (tmp_path / "bare.csv").write_text("".join(f"{a};{b}\n" for a, b in X))
    done = ksc("fit", "bare.csv", *fast, "-o", "model.ksc")
    assert done.code == 1
    assert "--no-header" in done.err
    line = ("fit", "bare.csv", *fast, "-o", "model.ksc", "--no-header", "--separator", ";")
    assert ksc(*line).code == 0
    assert json.loads(ksc("info", "model.ksc", "--json").out)["training"]["n_samples"] == 300
