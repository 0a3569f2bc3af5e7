"""Spreadsheets as tables."""

from datetime import datetime

import numpy as np
import pytest

from sparseksc.data.files import open_dataset

pytest.importorskip("pyarrow", reason="reading files needs pyarrow")
pytest.importorskip("python_calamine", reason="reading spreadsheets needs python-calamine")
openpyxl = pytest.importorskip("openpyxl", reason="writing spreadsheets needs openpyxl")


def write(rows, path):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def rows_of(source):
    return np.concatenate([block for block, _ in source.blocks()])


def test_the_first_filled_row_has_the_names(tmp_path):
    rows = [[], ["name", "a", "b", "flag"], ["x", 1, 2.5, True], [], ["y", 3, 4, False]]
    path = write(rows, tmp_path / "points.xlsx")
    source = open_dataset(path, ids=["name"])
    assert source.feature_names == ["a", "b", "flag"]
    assert source.n_rows == 2
    assert rows_of(source).tolist() == [[1.0, 2.5, 1.0], [3.0, 4.0, 0.0]]
    ((_, (ids,)),) = source.records()
    assert ids.to_pylist() == ["x", "y"]


def test_without_a_header_columns_have_numbers(tmp_path):
    path = write([[1, 2], [3, 4]], tmp_path / "points.xlsx")
    with pytest.raises(ValueError, match=r"first row .* holds numbers alone"):
        open_dataset(path)
    assert rows_of(open_dataset(path, header=False)).tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "has nothing in its first sheet"),
        ([["a", "b"]], "has no rows"),
        ([["a", "b"], [1, "two"]], "has 'two' in row 1, column 'b', which is not a number"),
        ([["a", "b"], [1, 2], [3, "two"]], "has 'two' in row 2, column 'b'"),
        ([["a", "b"], [1, datetime(2024, 5, 1)]], "has '2024-05-01.*' in row 1, column 'b'"),
        ([["a", "b"], [1, 2], [3, None]], "nan in row 2, column 'b'"),
        ([["a", "a"], [1, 2]], "more than one column 'a'"),
    ],
)
def test_faults_have_a_place(rows, sentence, tmp_path):
    path = write(rows, tmp_path / "points.xlsx")
    with pytest.raises(ValueError, match=sentence):
        rows_of(open_dataset(path))


def test_another_file_under_the_name_is_refused(tmp_path):
    (tmp_path / "points.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="cannot be read as a spreadsheet"):
        open_dataset(tmp_path / "points.xlsx")
