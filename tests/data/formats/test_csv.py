"""CSV files as people write them, and the place of the first fault."""

import gzip
from time import process_time

import numpy as np
import pytest

from sparseksc.data.files import open_dataset
from sparseksc.data.formats import csv


@pytest.fixture(params=[csv.MANY_COLUMNS, 0], ids=["few columns", "many columns"], autouse=True)
def many_columns(request, monkeypatch):
    """Read every file by Arrow, and line by line as those with many columns are."""
    monkeypatch.setattr(csv, "MANY_COLUMNS", request.param)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(1000, 3))


def rows_of(source):
    return np.concatenate([block for block, _ in source.blocks()])


def test_csv_is_read_as_people_write_it(tmp_path):
    path = tmp_path / "points.csv"
    # Whole numbers first and fractions a megabyte later, spaces, a quoted line break, true.
    rows = ["1, 2,true"] * 300_000 + ['"1.5",2.5,false', "", '"3",4,true']
    path.write_bytes(b"\xef\xbb\xbf" + b'a ,"b\nb", c\n' + "\n".join(rows).encode())
    source = open_dataset(path, block_rows=1000)
    assert source.feature_names == ["a", "b\nb", "c"]
    X = rows_of(source)
    np.testing.assert_array_equal(X[-2:], [[1.5, 2.5, 0.0], [3.0, 4.0, 1.0]])
    assert len(X) == 300_002


def test_the_first_line_of_a_csv_file_is_a_header_or_is_asked_about(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("1,2\n3,4\n")
    with pytest.raises(ValueError, match="holds numbers alone"):
        open_dataset(path)
    assert rows_of(open_dataset(path, header=True)).tolist() == [[3.0, 4.0]]
    source = open_dataset(path, header=False)
    assert source.feature_names == ["column1", "column2"]
    assert rows_of(source).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    path.write_text("a;b\n1;2\n")
    assert rows_of(open_dataset(path)).tolist() == [[1.0, 2.0]]
    assert rows_of(open_dataset(path, delimiter=";")).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n", "has no rows"),
        (b"a,a\n1,2\n", "more than one column 'a'"),
        (b"a,b\n1,2\n3,4,5\n", r"has 3 fields in row 2 \(line 3\) where 2 are expected"),
        (b"a,b\n\n1,2\n3,inf\n", r"the value inf in row 2 \(line 4\), column 'b'"),
        (b"a,b\n1,NA\n", r"the missing value NA in row 1 \(line 2\), column 'b'"),
        (b"a,b\n1,caf\xe9\n", "has 'café' in row 1"),
        (b"a,b\n" + b"1,2\n" * 300_000 + b"1,caf\xe9\n", "not text in UTF-8: say which"),
        ("дом,двор\n1,небо\n".encode("cp1251"), "not text in UTF-8: say which"),
        ("a,b\n1,two\n".encode("utf-16"), "has 'two' in row 1"),
        (b"a,b\n" + b"1,2\n" * 300_000 + b"1,two\n", r"has 'two' in row 300,001 \(line 300,002\)"),
        (b"a,b\n" + b"1,2\n" * 300_000 + b"1,\n", "has no value in row 300,001"),
        (b"a\n" + b"1" * 40_000_000, "cannot be read as CSV|has no rows"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_first_fault_of_a_csv_file_has_a_place(content, sentence, packed, tmp_path):
    path = tmp_path / ("points.csv.gz" if packed else "points.csv")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    with pytest.raises(ValueError, match=sentence):
        rows_of(open_dataset(path, block_rows=1000))


def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path):
    path = tmp_path / "points.csv.gz"
    rows = "".join(f"{number},{number * number}\n" for number in range(20_000))
    whole = gzip.compress(f"a,b\n{rows}".encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"points\.csv\.gz"):
        rows_of(open_dataset(path))


def test_thousands_of_columns_cost_no_more_than_their_fields(tmp_path):
    path, rng = tmp_path / "points.csv", np.random.default_rng(0)
    X = rng.normal(size=(20, 6000))
    names = [f"c{number}" for number in range(6000)]
    lines = [",".join(["id", *names])]
    lines += [",".join([f"row {number}", *map(repr, row.tolist())]) for number, row in enumerate(X)]
    path.write_text("\n".join(lines), encoding="utf-8")
    chosen = names[::-7]
    started = process_time()
    source = open_dataset(path, columns=chosen, ids=["id"], block_rows=8)
    blocks = list(source.records())
    assert csv.MANY_COLUMNS > 0 or process_time() - started < 2.0
    np.testing.assert_array_equal(np.concatenate([block for block, _ in blocks]), X[:, ::-7])
    assert [str(mark) for _, (ids,) in blocks for mark in ids][-1] == "row 19"
