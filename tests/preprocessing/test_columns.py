"""One column as features."""

from datetime import date, datetime, timedelta

import numpy as np
import pytest

from sparseksc.preprocessing.columns import EncodedColumn, kind_of, levels_of, numbers_of

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow")


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (pa.int8(), "number"),
        (pa.float32(), "number"),
        (pa.decimal128(5, 2), "number"),
        (pa.bool_(), "boolean"),
        (pa.string(), "category"),
        (pa.large_string(), "category"),
        (pa.dictionary(pa.int8(), pa.int64()), "category"),
        (pa.date32(), "date"),
        (pa.timestamp("ns", tz="UTC"), "date"),
        (pa.duration("s"), "duration"),
        (pa.time32("s"), "duration"),
        (pa.list_(pa.int8()), "left out"),
        (pa.struct([("a", pa.int8())]), "left out"),
        (pa.binary(), "left out"),
    ],
)
def test_types_have_kinds(of, kind):
    assert kind_of(of) == kind


def test_dates_are_days_and_durations_seconds():
    days = pa.array([date(1970, 1, 2), None])
    np.testing.assert_array_equal(numbers_of(days, "date"), [1.0, np.nan])
    for unit in ("s", "ms", "us", "ns"):
        moments = pa.array([datetime(1970, 1, 2, 12), None], pa.timestamp(unit))
        np.testing.assert_array_equal(numbers_of(moments, "date"), [1.5, np.nan])
        spans = pa.array([timedelta(minutes=2)], pa.duration(unit))
        assert numbers_of(spans, "duration").tolist() == [120.0]


def test_levels_of_codes_do_not_depend_on_how_numbers_are_written():
    for array in (pa.array([3, 1, None, 3]), pa.array([3.0, 1.0, float("nan"), 3.0])):
        codes, levels = levels_of(array)
        assert (codes.tolist(), levels) == ([0, 1, -1, 0], ["3", "1"])
    codes, levels = levels_of(pa.array(["a ", "", "a", None]).dictionary_encode())
    assert (codes.tolist(), levels) == ([0, -1, 0, -1], ["a"])


def test_rare_unknown_and_missing_levels_have_their_place():
    column = EncodedColumn("c", "category", levels=("x", "y"), pooled=True, indicator=True)
    assert column.feature_names == ["c_x", "c_y", "c_infrequent", "c_missing"]
    out = np.empty((4, 4))
    missing = column.encode(pa.array(["y", "new", None, "x"]), out)
    assert missing.tolist() == [False, False, True, False]
    assert out.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    plain = EncodedColumn("c", "category", levels=("x", "y"))
    out = np.empty((2, 2))
    plain.encode(pa.array(["new", None]), out)
    assert not out.any()
    assert EncodedColumn.meant(column.plain()) == column


def test_missing_numbers_are_filled_and_marked():
    column = EncodedColumn("n", "number", fill=7.0, indicator=True)
    out = np.empty((2, 2))
    column.encode(pa.array([1, None]), out)
    assert out.tolist() == [[1.0, 0.0], [7.0, 1.0]]
