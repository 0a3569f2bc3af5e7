"""One line about a table."""

from sparseksc.preprocessing.columns import EncodedColumn
from sparseksc.preprocessing.words import summarise


def test_every_kind_is_named_and_long_lists_end():
    columns = [EncodedColumn(f"n{number}", "number") for number in range(14)]
    columns += [
        EncodedColumn("flag", "boolean"),
        EncodedColumn("when", "date"),
        EncodedColumn("c", "category", levels=("a", "b"), pooled=True),
        EncodedColumn("id", "left out", "all different"),
    ]
    text = summarise(columns, {"n1": 2, "c": 1}, "impute")
    assert text.startswith("14 numbers (n0, ")
    assert "n11, 2 more; 2 missing values filled in)" in text
    assert "1 truth value (flag), 1 date (when)" in text
    assert "1 category (c: 2 levels, rare ones together; 1 missing value)" in text
    assert text.endswith("; left out: id (all different)")
    assert "2 missing values left out with their rows" in summarise(columns, {"n1": 2}, "drop")
