"""Strange files go through all commands, or end in one sentence; the corpus has more of them."""

import gzip
import io
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

pa = pytest.importorskip("pyarrow", reason="reading files needs pyarrow")
pytest.importorskip("python_calamine", reason="spreadsheets need python-calamine")
openpyxl = pytest.importorskip("openpyxl", reason="writing spreadsheets needs openpyxl")
pq = pytest.importorskip("pyarrow.parquet")

N = 120
GROUP = np.arange(N) % 3
X = np.round(np.random.default_rng(0).normal(size=N) + 8 * GROUP, 3)
COLOUR = np.array(["red", "green", "blue"])[GROUP]
TABLE = pd.DataFrame({"x": X, "colour": COLOUR})
NUMBERS = range(N)


def text(frame, **how):
    return frame.to_csv(index=False, **how).encode()


def parquet(columns):
    file = io.BytesIO()
    pq.write_table(pa.table({"x": X, **columns}), file)
    return file.getvalue()


def frame_as_parquet(frame):
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def array(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def sheet(rows, more=()):
    file, book = io.BytesIO(), openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name in more:
        book.create_sheet(name)
    book.save(file)
    return file.getvalue()


TEXT = text(TABLE)
MOMENTS = [datetime(2024, 3, 1 + n % 28, n % 24, tzinfo=UTC) for n in NUMBERS]
FORMULAS = [["x", "colour", "twice"], *([*row, "=A2*2"] for row in TABLE.to_numpy().tolist())]

#: Files that are read: name, content, and what is said of their columns.
READ = {
    "breaks of lines in fields": (
        "a.csv",
        text(TABLE.assign(colour=TABLE.colour + "\r\nand more"), lineterminator="\r\n"),
        "1 number (x), 1 category (colour: 3 levels).",
    ),
    "breaks of lines in names": (
        "a.csv",
        text(TABLE.rename(columns={"x": "x\n(cm)"})),
        r"1 number (x\n(cm)), 1 category (colour: 3 levels).",
    ),
    "years as names": (
        "a.csv",
        text(TABLE.rename(columns={"x": "2019"})),
        "1 number (2019), 1 category (colour: 3 levels).",
    ),
    "names that differ in case": (
        "a.csv",
        text(TABLE.assign(X=-X)),
        "2 numbers (x, X), 1 category (colour: 3 levels).",
    ),
    "moments in several zones": (
        "a.csv",
        text(TABLE.assign(at=[f"2024-03-{1 + n % 28:02d}T12:00:00+0{n % 3}:00" for n in NUMBERS])),
        "1 number (x), 1 date (at), 1 category (colour: 3 levels).",
    ),
    "booleans as text": (
        "a.csv",
        text(TABLE.assign(ok=np.where(GROUP, "yes", "no"), new=np.where(GROUP, "TRUE", "FALSE"))),
        "1 number (x), 1 truth value (new), 2 categories (colour: 3 levels, ok: 2 levels).",
    ),
    "numbers beyond float64": (
        "a.csv",
        text(TABLE.assign(key=[2**60 + n for n in NUMBERS])),
        "left out: key (constant once rounded, beyond 2^53).",
    ),
    "the sign of minus of printers": (
        "a.csv",
        text(TABLE.assign(y=[f"{n / 7 - 9:.3f}".replace("-", "−") for n in NUMBERS])),
        "left out: y (all different, such as '−",
    ),
    "two archives in one file": (
        "a.csv.gz",
        gzip.compress(TEXT[:400]) + gzip.compress(TEXT[400:]),
        "1 number (x), 1 category (colour: 3 levels).",
    ),
    "decimals, times and durations": (
        "a.parquet",
        parquet(
            {
                "price": pa.array([Decimal(f"{one:.3f}") for one in X], pa.decimal256(50, 3)),
                "at": pa.array(MOMENTS, pa.timestamp("ns", tz="Europe/Berlin")),
                "hour": [time(n % 24) for n in NUMBERS],
                "for": [timedelta(seconds=n * n) for n in NUMBERS],
            }
        ),
        "2 numbers (x, price), 1 date (at), 2 durations (hour, for).",
    ),
    "nested columns": (
        "a.parquet",
        parquet(
            {"list": [[1, 2]] * N, "map": pa.array([[("a", 1)]] * N, pa.map_("string", "int8"))}
        ),
        "left out: list (holds list<element: int64>), map (holds map<string, int8 ('map')>).",
    ),
    "a column of nothing": (
        "a.parquet",
        parquet({"none": pa.nulls(N)}),
        "1 number (x); left out: none (empty).",
    ),
    "categories of numbers": (
        "a.parquet",
        frame_as_parquet(TABLE[["x"]].assign(team=pd.Categorical(GROUP))),
        "1 number (x), 1 category (team: 3 levels).",
    ),
    "half precision": (
        "a.parquet",
        parquet({"half": X.astype(np.float16), "byte": GROUP.astype(np.int8)}),
        None,
    ),
    "bytes and large texts": (
        "a.parquet",
        parquet({"raw": [b"a"] * N, "colour": pa.array(COLOUR, pa.large_string())}),
        "1 number (x), 1 category (colour: 3 levels); left out: raw (holds binary).",
    ),
    "two levels of the index": (
        "a.parquet",
        frame_as_parquet(TABLE.set_index([pd.Index(COLOUR, name="k"), pd.Index(X, name="v")])),
        "1 number (x), 1 category (colour: 3 levels).",
    ),
    "formulas without values": (
        "a.xlsx",
        sheet(FORMULAS),
        "1 number (x), 1 category (colour: 3 levels); left out: twice (empty).",
    ),
    "one column": ("a.csv", text(TABLE[["colour"]]), "1 category (colour: 3 levels)."),
}

#: Files that are refused, by all commands that read them, in the same sentence.
REFUSED = {
    "zero bytes": ("a.csv", TEXT.replace(b"red", b"r\0d"), "a.csv is not text: it holds zero"),
    "a quote that stays open": (
        "a.csv",
        TEXT.replace(b"red", b'"red', 1) + b"1,blue\n",
        "a.csv has a quote in line 2 that is never closed: close it.",
    ),
    "a separator of its own": (
        "a.csv",
        text(TABLE, sep="~"),
        "If 'x~colour' are several columns, say what separates them (--separator).",
    ),
    "blanks in names": ("a.csv", b"x,x ,y\n1,2,3\n", "a.csv has more than one column 'x'"),
    "commas at the ends of rows": (
        "a.csv",
        TEXT.replace(b"red\n", b"red,\n"),
        "a.csv has 3 fields in row 1 (line 2) where 2 are expected",
    ),
    "a remark at the end": (
        "a.csv",
        TEXT + b"\n(120 rows affected)\n",
        "a.csv has 1 field in row 121 (line 123)",
    ),
    "one row": ("a.csv", text(TABLE[:1]), "a.csv: The table has one row: clusters need at least"),
    "all equal": ("a.csv", text(TABLE[:1]) + b"0.126,red\n" * 9, "No column of the table can be"),
    "names twice in an object": (
        "a.jsonl",
        b'{"x": 1, "x": 2, "y": "a"}\n',
        "a.jsonl cannot be read as JSON lines: ",
    ),
    "a damaged archive": (
        "a.csv.gz",
        gzip.compress(TEXT)[:-40],
        "a.csv.gz cannot be read as CSV: ",
    ),
    "half a spreadsheet": ("a.xlsx", sheet(FORMULAS)[:-800], "cannot be read as a spreadsheet: "),
    "a second sheet": (
        "a.xlsx",
        sheet([["remarks"]], ["data"]),
        "has no rows below the names in its first sheet; the others (data) are not read.",
    ),
    "nothing at all": ("a.parquet", parquet({"x": pa.nulls(N)}), "can be used, x (empty): add"),
    "a table without rows": (
        "a.parquet",
        parquet({"x": pa.array([], pa.float64()), "c": pa.array([], pa.string())}),
        "a.parquet: The table has no rows.",
    ),
    "an array of one dimension": (
        "a.npy",
        array(X),
        "a.npy must hold a 2-D array, got 1 dimension.",
    ),
}

SEARCH = ("-k", "3", "--kernel", "landmarks")


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
@pytest.mark.parametrize("case", READ)
def test_a_strange_file_goes_through_all_commands(case, ksc, tmp_path):
    name, content, said = READ[case]
    (tmp_path / name).write_bytes(content)
    fitted = ksc("fit", name, *SEARCH, "-o", "m.ksc", "--labels", "l.parquet", "--append")
    assert fitted.code == 0, fitted.err
    assert said is None or said in fitted.out + fitted.err
    for command in (
        ("tune", name, *SEARCH),
        ("info", "m.ksc"),
        ("predict", "m.ksc", name, "--append", "-o", "p.parquet"),
        ("report", "m.ksc", name, "-o", "r.html"),
    ):
        outcome = ksc(*command)
        assert outcome.code == 0, outcome.err
    labelled = pq.read_table("l.parquet")
    assert labelled.equals(pq.read_table("p.parquet"))
    assert labelled.num_rows == N
    assert set(labelled.column("label").to_pylist()) == {0, 1, 2}
    if name.endswith(".parquet"):
        written = pq.read_table(name)
        assert labelled.column_names == [*written.column_names, "label"]
        assert labelled.column("x").equals(written.column("x"))


@pytest.mark.parametrize("case", REFUSED)
def test_a_strange_file_ends_in_one_sentence(case, ksc, tmp_path):
    name, content, sentence = REFUSED[case]
    (tmp_path / name).write_bytes(content)
    fitted = ksc("fit", name, *SEARCH, "-o", "m.ksc", "--labels", "l.csv", "--append")
    assert fitted.code == 1
    assert sentence in " ".join(fitted.err.split())
    assert ksc("tune", name, *SEARCH).err == fitted.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_name_of_the_labels_is_refused_before_the_work(ksc, tmp_path, monkeypatch):
    def fit(*_, **__):
        raise AssertionError("the model was trained")

    monkeypatch.setattr("sparseksc.cli.commands.fit._fit", fit)
    (tmp_path / "a.csv").write_bytes(text(TABLE.rename(columns={"x": "label"})))
    outcome = ksc("fit", "a.csv", "--labels", "l.csv", "--append")
    assert outcome.code == 1
    assert "a.csv has a column 'label', which the labels have too: rename it" in outcome.err


def test_zeros_before_whole_numbers_stay_in_the_labelled_table(ksc, tmp_path):
    codes = [f"{n % 7:05d}" for n in NUMBERS]
    (tmp_path / "a.csv").write_bytes(text(TABLE.assign(zip=codes, year=2000 + GROUP)))
    assert ksc("fit", "a.csv", *SEARCH, "--labels", "l.parquet", "--append").code == 0
    labelled = pq.read_table("l.parquet")
    assert labelled.column("zip").to_pylist() == codes
    assert labelled.schema.field("year").type == pa.int64()
