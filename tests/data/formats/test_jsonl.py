"""JSON lines as tables."""

import gzip

import numpy as np
import pytest

from sparseksc.data.files import open_dataset

pytest.importorskip("pyarrow", reason="reading files needs pyarrow")


def rows_of(source):
    return np.concatenate([block for block, _ in source.blocks()])


def test_entries_are_columns_in_whatever_order(tmp_path):
    path = tmp_path / "points.jsonl.gz"
    first = '{"a": 1, "b": 2.5, "name": "x"}\n\n{"b": 4, "a": 3, "name": null}\n' * 15_000
    path.write_bytes(gzip.compress((first + '{"a": 0.5, "b": 1, "more": [1]}\n').encode()))
    source = open_dataset(path, columns=["b", "a"], ids=["name"])
    rows = rows_of(source)
    assert rows[:2].tolist() == [[2.5, 1.0], [4.0, 3.0]]
    assert rows[-1].tolist() == [1.0, 0.5]
    assert len(rows) == 30_001


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1}\n[2]\n', "no JSON object in line 2: write one object in each line"),
        ('{"a": 1}\n{"a":\n', "no JSON object in line 2"),
        ('{"a": 1}\n{"a": "two"}\n', "has 'two' in line 2, column 'a', where 1 was before"),
        ('{"a": "x", "b": 1}\n', "has 'x' in row 1, column 'a', which is not a number"),
        ('{"a": 1}\n{"b": 1}\n', "nan in row 1, column 'b'"),
        ("\n\n", "is empty"),
    ],
)
def test_faults_have_a_line(text, sentence, tmp_path):
    path = tmp_path / "points.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        rows_of(open_dataset(path))
