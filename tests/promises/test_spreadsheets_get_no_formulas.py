"""Ids are written as they are, and on request so that a spreadsheet does not compute them."""

import csv
import gzip

import pytest

from tests.promises.running import FAST, needs_program, run, two_groups, write_csv

pytest.importorskip("pyarrow", reason="reading CSV files needs pyarrow")
pytestmark = needs_program

IDS = ["=1+1", "+1", "-1", "@SUM(A1)", "\ttab", "plain", "a=b", "007"]
CHANGED = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\ttab", "plain", "a=b", "007"]


@pytest.fixture
def folder(tmp_path):
    X = two_groups(len(IDS) * 4)
    write_csv(tmp_path / "x.csv", X, "=name,a,b", IDS * 4)
    done = run(tmp_path, "fit", "x.csv", "--id", "=name", *FAST, "-o", "m.ksc")
    assert done.returncode == 0, done.stderr
    return tmp_path


def read(text):
    header, *rows = csv.reader(text.splitlines())
    return header[0], [row[0] for row in rows[: len(IDS)]], {row[1] for row in rows}


def test_ids_are_copied_as_they_are_by_default(folder):
    done = run(folder, "predict", "m.ksc", "x.csv", "--id", "=name")
    assert read(done.stdout.decode()) == ("=name", IDS, {"0", "1"})


def test_an_apostrophe_is_put_before_formulas_on_request(folder):
    line = ("predict", "m.ksc", "x.csv", "--id", "=name", "--spreadsheet")
    done = run(folder, *line)
    assert read(done.stdout.decode()) == ("'=name", CHANGED, {"0", "1"})
    assert run(folder, *line, "-o", "labels.csv.gz").returncode == 0
    with gzip.open(folder / "labels.csv.gz", "rt") as file:
        assert read(file.read()) == ("'=name", CHANGED, {"0", "1"})
    done = run(folder, "fit", "x.csv", "--id", "=name", *FAST, "--labels", "l.csv", "--spreadsheet")
    assert done.returncode == 0
    assert read((folder / "l.csv").read_text()) == ("'=name", CHANGED, {"0", "1"})


def test_the_option_is_for_csv_with_labels(folder):
    line = ("predict", "m.ksc", "x.csv", "--spreadsheet", "-o", "labels.parquet")
    done = run(folder, *line)
    assert done.returncode == 2
    assert b"--spreadsheet is for labels as CSV" in done.stderr
    done = run(folder, "fit", "x.csv", "--spreadsheet", "-o", "n.ksc")
    assert done.returncode == 2
    assert b"--spreadsheet is for --labels" in done.stderr
