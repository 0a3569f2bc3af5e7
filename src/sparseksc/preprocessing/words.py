"""What became of the columns of a table, in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sparseksc.preprocessing.columns import EncodedColumn

#: Columns of a kind that are named.
NAMED = 12
ONE_AND_MANY = {
    "number": ("number", "numbers"),
    "boolean": ("truth value", "truth values"),
    "date": ("date", "dates"),
    "duration": ("duration", "durations"),
    "category": ("category", "categories"),
}
FILLED = {
    "impute": " filled in",
    "drop": " left out with {their} rows",
}


def summarise(columns: Sequence[EncodedColumn], n_missing: Mapping[str, int], missing: str) -> str:
    """Say what became of which column.

    Examples
    --------
    >>> from sparseksc.preprocessing.columns import EncodedColumn
    >>> from sparseksc.preprocessing.words import summarise
    >>> mass, tag = EncodedColumn("mass", "number"), EncodedColumn("tag", "left out", "constant")
    >>> summarise([mass, tag], {"mass": 0}, "impute")
    '1 number (mass); left out: tag (constant)'
    """
    parts = []
    for kind, (one, many) in ONE_AND_MANY.items():
        found = [column for column in columns if column.kind == kind]
        if not found:
            continue
        shown = [_described(column) for column in found[:NAMED]]
        shown += [f"{len(found) - NAMED:,} more"] * (len(found) > NAMED)
        lacking = sum(n_missing.get(column.name, 0) for column in found)
        note = ""
        if lacking:
            # A missing level is none, or one of its own.
            how = "" if (kind, missing) == ("category", "impute") else FILLED.get(missing, "")
            how = how.format(their="its" if lacking == 1 else "their")
            note = f"; {lacking:,} missing value{'s' * (lacking != 1)}{how}"
        parts.append(
            f"{len(found):,} {one if len(found) == 1 else many} ({', '.join(shown)}{note})"
        )
    text = ", ".join(parts) or "nothing is used"
    out = [
        f"{column.name or 'a column without a name'} ({column.reason})"
        for column in columns
        if column.kind == "left out"
    ]
    if len(out) > NAMED:
        out = [*out[:NAMED], f"{len(out) - NAMED:,} more"]
    return text + (f"; left out: {', '.join(out)}" if out else "")


def _described(column: EncodedColumn) -> str:
    if column.kind != "category":
        return column.name
    levels = len(column.levels)
    rest = ", rare ones together" if column.pooled else ""
    return f"{column.name}: {levels:,} level{'s' * (levels != 1)}{rest}"
