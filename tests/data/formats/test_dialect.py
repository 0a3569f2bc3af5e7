"""Separators and decimal marks are seen in the first lines."""

import pytest

from sparseksc.data.formats.base import Request
from sparseksc.data.formats.dialect import Dialect, find_dialect


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "a,b\n1,2\n", Dialect()),
        ("a.csv", "a;b\n1,5;2,5\n", Dialect(delimiter=";", decimal=",")),
        ("a.csv", "1,5;2,5\n3,5;4,5\n", Dialect(delimiter=";", decimal=",")),
        ("a.csv", "a;b\n1.5;2.5\n", Dialect(delimiter=";")),
        ("a.csv", "a|b\n1|2\n", Dialect(delimiter="|")),
        ("a.tsv", "a\tb, c\n1\t2\n", Dialect(delimiter="\t")),
        ("a.csv", 'a,"x;y"\n1,"2;3"\n', Dialect()),
        ("a.csv", "a\n1\n", Dialect()),
        ("a.csv", "sep=;\na;b\n1;2\n", Dialect(delimiter=";", skipped=1)),
        ("a.csv", "# by hand\n# twice\na,b\n1,2\n", Dialect(skipped=2)),
        ("a.txt", "a   b\n1   2\n 3  4\n", Dialect(delimiter="\t", blanks=True)),
        ("a.txt", "a   b\n1,5   2\n", Dialect(delimiter="\t", decimal=",", blanks=True)),
        ("a.csv", "name\nNew York\nLos Angeles\n", Dialect()),
    ],
)
def test_a_dialect_is_found_by_looking(name, text, expected, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert find_dialect(path, Request()) == expected


def test_what_is_said_is_not_looked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("ä;b\n1,5;2\n".encode("cp850"))
    request = Request(delimiter=";", decimal=".", encoding="cp850")
    assert find_dialect(path, request) == Dialect("cp850", ";", ".")
    with pytest.raises(ValueError, match="both between fields and in numbers"):
        find_dialect(path, Request(delimiter=",", decimal=","))
