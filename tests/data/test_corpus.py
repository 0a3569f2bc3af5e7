"""A corpus of files as people save them: each gives the right table, or the right sentence.

Every file is written here, by a few lines, and read as ``ksc fit`` reads it.
"""

import bz2
import gzip
import io
import lzma
import zipfile
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest

from sparseksc.data.formats.base import Request

pa = pytest.importorskip("pyarrow", reason="reading files needs pyarrow")
pytest.importorskip("click", reason="the command line needs click")
pytest.importorskip("python_calamine", reason="spreadsheets need python-calamine")
openpyxl = pytest.importorskip("openpyxl", reason="writing spreadsheets needs openpyxl")

from sparseksc.cli.inputs import Opened  # noqa: E402 - needs click

TABLE = {"drop_columns": [], "categorical": [], "missing": "impute", "numeric_only": False}
X, CITY = [1.5, 2.25, 3.5, 4.0], ["Köln", "Köln", "Ulm", "Ulm"]
TOWNS = {"x": X, "city": CITY}
POINTS = {"x": X, "y": [4.0, 3.0, 2.0, 1.0]}
HOLES = {"x": [1.5, None, 3.5, 4.0], "city": ["Köln", None, "Ulm", "Ulm"]}
DAYS = [date(2024, 1, 31), date(2024, 2, 29), date(2024, 3, 31), date(2024, 4, 30)]
MOMENTS = [datetime(2024, 1, day, 12, 30) for day in (1, 2, 3, 4)]


def lines(columns, sep=",", decimal=".", end="\n", header=True, missing="", quote=""):
    """Write a table as text, plainly."""

    def cell(value):
        if value is None:
            return missing
        text = str(value)
        return text.replace(".", decimal) if isinstance(value, float) else f"{quote}{text}{quote}"

    rows = [[f"{quote}{name}{quote}" for name in columns]] if header else []
    rows += [[cell(value) for value in row] for row in zip(*columns.values(), strict=True)]
    return end.join(sep.join(row) for row in rows) + end


def towns(**how):
    return lines(TOWNS, **how)


def zstd(content):
    return bytes(pa.compress(content, "zstd", asbytes=True))


def archive(files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return file.getvalue()


def saved(method, columns, **how):
    """The bytes that pandas writes."""
    file = io.BytesIO()
    getattr(pd.DataFrame(columns), method)(file, **how)
    return file.getvalue()


def feather(columns):
    file = io.BytesIO()
    with pa.ipc.new_file(file, (table := pa.table(columns)).schema) as writer:
        writer.write_table(table)
    return file.getvalue()


JSON = [{"x": x, "city": city} for x, city in zip(X, CITY, strict=True)]
JSONL = pd.DataFrame(TOWNS).to_json(orient="records", lines=True, force_ascii=False)
INDEXED = pd.Index([30, 10, 20, 40], name="customer")

#: Files that are read: name, content, and the table.
GOOD = {
    "plain": ("a.csv", towns().encode(), TOWNS),
    "numbers": ("a.csv", lines(POINTS).encode(), POINTS),
    "windows line ends": ("a.csv", towns(end="\r\n").encode(), TOWNS),
    "old mac line ends": ("a.csv", towns(end="\r").encode(), TOWNS),
    "no line end at the end": ("a.csv", towns().rstrip("\n").encode(), TOWNS),
    "blank lines": ("a.csv", towns(end="\n\n").encode(), TOWNS),
    "quotes": ("a.csv", towns(quote='"').encode(), TOWNS),
    "quoted separators": (
        "a.csv",
        b'x,t\n1,"a,b"\n2,"a;b"\n3,"a,b"\n',
        {"x": [1, 2, 3], "t": ["a,b", "a;b", "a,b"]},
    ),
    "quoted line breaks": ("a.csv", b'x,t\n1,"a\nb"\n2,c\n', {"x": [1, 2], "t": ["a\nb", "c"]}),
    "doubled quotes": ("a.csv", b'x,t\n1,"say ""a"""\n2,c\n', {"x": [1, 2], "t": ['say "a"', "c"]}),
    "semicolons": ("a.csv", towns(sep=";").encode(), TOWNS),
    "semicolons and decimal commas": ("a.csv", towns(sep=";", decimal=",").encode(), TOWNS),
    "semicolons, commas, quotes": ("a.csv", towns(sep=";", decimal=",", quote='"').encode(), TOWNS),
    "semicolons as excel names them": ("a.csv", ("sep=;\n" + towns(sep=";")).encode(), TOWNS),
    "tabs": ("a.tsv", towns(sep="\t").encode(), TOWNS),
    "tabs in a csv": ("a.csv", towns(sep="\t").encode(), TOWNS),
    "tabs and decimal commas": ("a.tsv", towns(sep="\t", decimal=",").encode(), TOWNS),
    "pipes": ("a.txt", towns(sep="|").encode(), TOWNS),
    "commas in a tsv": ("a.tsv", towns().encode(), TOWNS),
    "blanks": ("a.txt", lines(POINTS, sep="   ").encode(), POINTS),
    "one blank": ("a.txt", towns(sep=" ").encode(), TOWNS),
    "blanks and decimal commas": ("a.txt", lines(POINTS, sep="  ", decimal=",").encode(), POINTS),
    "remarks on top": ("a.csv", ("# by hand\n#\n" + towns()).encode(), TOWNS),
    "utf-8 with a mark": ("a.csv", towns().encode("utf-8-sig"), TOWNS),
    "utf-16": ("a.csv", towns().encode("utf-16"), TOWNS),
    "utf-16 of excel": ("a.txt", towns(sep="\t", end="\r\n").encode("utf-16"), TOWNS),
    "utf-16 without a mark": ("a.csv", towns().encode("utf-16-le"), TOWNS),
    "utf-16, the other order": ("a.csv", towns().encode("utf-16-be"), TOWNS),
    "utf-32": ("a.csv", towns().encode("utf-32"), TOWNS),
    "latin-1": ("a.csv", towns().encode("latin-1"), TOWNS),
    "cp1252": ("a.csv", towns(sep=";", decimal=",").encode("cp1252"), TOWNS),
    "gzip": ("a.csv.gz", gzip.compress(towns().encode()), TOWNS),
    "bzip2": ("a.csv.bz2", bz2.compress(towns().encode()), TOWNS),
    "xz": ("a.csv.xz", lzma.compress(towns().encode()), TOWNS),
    "zstandard": ("a.csv.zst", zstd(towns().encode()), TOWNS),
    "packed utf-16": ("a.csv.gz", gzip.compress(towns().encode("utf-16")), TOWNS),
    "packed cp1252": ("a.csv.xz", lzma.compress(towns().encode("cp1252")), TOWNS),
    "packed tabs": ("a.tsv.zst", zstd(towns(sep="\t").encode()), TOWNS),
    "packed blanks": ("a.txt.gz", gzip.compress(lines(POINTS, sep="  ").encode()), POINTS),
    "empty fields": ("a.csv", lines(HOLES).encode(), HOLES),
    "NA": ("a.csv", lines(HOLES, missing="NA").encode(), HOLES),
    "NaN": ("a.csv", lines(HOLES, missing="NaN").encode(), HOLES),
    "null": ("a.csv", lines(HOLES, missing="null").encode(), HOLES),
    "a dash": ("a.csv", lines(HOLES, missing="-").encode(), HOLES),
    "a question mark": ("a.csv", lines(HOLES, missing="?").encode(), HOLES),
    "a point, of SAS": ("a.csv", lines(HOLES, missing=".").encode(), HOLES),
    "None, of Python": ("a.csv", lines(HOLES, missing="None").encode(), HOLES),
    "a fault of a spreadsheet": ("a.csv", lines(HOLES, missing="#DIV/0!").encode(), HOLES),
    "zip": ("a.csv.zip", archive({"folder/": "", "a.csv": towns()}), TOWNS),
    "zip of a Mac": ("a.csv.zip", archive({"a.csv": towns(), "__MACOSX/a.csv": "x"}), TOWNS),
    "packed blanks in a zip": ("a.txt.zip", archive({"a.txt": lines(POINTS, sep="  ")}), POINTS),
    "text over lines": (
        "a.csv",
        b'x,t\n1,"one\ntwo"\n2,"one\ntwo"\n3,b\n4,b\n',
        {"x": [1, 2, 3, 4], "t": ["one\ntwo", "one\ntwo", "b", "b"]},
    ),
    "names of columns that are no words": (
        "a.csv",
        "x,😀\n1,a\n2,b\n3,a\n4,b\n".encode(),
        {"x": [1, 2, 3, 4], "😀": ["a", "b", "a", "b"]},
    ),
    "numbers and a word": (
        "a.csv",
        b"x,cylinders\n" + b"1,4\n2,6\n3,8\n4,6\n" * 3 + b"5,rotary\n6,rotary\n",
        {"x": [1, 2, 3, 4] * 3 + [5, 6], "cylinders": ["4", "6", "8", "6"] * 3 + ["rotary"] * 2},
    ),
    "#N/A": ("a.csv", lines(HOLES, missing="#N/A").encode(), HOLES),
    "dates": ("a.csv", lines({"x": X, "day": DAYS}).encode(), {"x": X, "day": DAYS}),
    "dates with points": (
        "a.csv",
        b"x;day\n1;31.01.2024\n2;29.02.2024\n",
        {"x": [1, 2], "day": [datetime(2024, 1, 31), datetime(2024, 2, 29)]},
    ),
    "moments": ("a.csv", lines({"x": X, "at": MOMENTS}).encode(), {"x": X, "at": MOMENTS}),
    "truth values": (
        "a.csv",
        b"x,ok\n1,true\n2,false\n3,True\n",
        {"x": [1, 2, 3], "ok": [True, False, True]},
    ),
    "scientific": ("a.csv", b"x,y\n1e3,-2E-2\n+3,4.\n", {"x": [1e3, 3], "y": [-0.02, 4.0]}),
    "spaces around": ("a.csv", b"x , y\n1, 2\n3, 4\n", {"x": [1, 3], "y": [2, 4]}),
    "a column without a name": ("a.csv", b",x\n0,1.5\n1,2.5\n", {"": [0, 1], "x": [1.5, 2.5]}),
    "separators at the ends": (
        "a.csv",
        b"x;y;\n1;2;\n3;4;\n",
        {"x": [1, 3], "y": [2, 4], "": [None, None]},
    ),
    "json lines": ("a.jsonl", JSONL.encode(), TOWNS),
    "json lines under the other name": ("a.ndjson", JSONL.encode(), TOWNS),
    "packed json lines": ("a.jsonl.gz", gzip.compress(JSONL.encode()), TOWNS),
    "json lines with holes": (
        "a.jsonl",
        b'{"x": 1.5, "city": "K"}\n{"city": null}\n\n{"x": 2.5}\n',
        {"x": [1.5, None, 2.5], "city": ["K", None, None]},
    ),
    "parquet": ("a.parquet", saved("to_parquet", TOWNS), TOWNS),
    "parquet with an index": (
        "a.parquet",
        saved("to_parquet", pd.DataFrame(TOWNS, index=INDEXED)),
        {**TOWNS, "customer": INDEXED.tolist()},
    ),
    "parquet with holes": ("a.pq", saved("to_parquet", HOLES), HOLES),
    "parquet of categories": (
        "a.parquet",
        saved("to_parquet", pd.DataFrame(TOWNS).astype({"city": "category"})),
        TOWNS,
    ),
    "feather": ("a.feather", feather(TOWNS), TOWNS),
    "arrow": ("a.arrow", feather({"x": X, "at": MOMENTS}), {"x": X, "at": MOMENTS}),
    "excel": ("a.xlsx", saved("to_excel", TOWNS, index=False), TOWNS),
    "excel with holes": (
        "a.xlsx",
        saved("to_excel", {**HOLES, "y": X}, index=False),
        {**HOLES, "y": X},
    ),
    "excel with dates": (
        "a.xlsx",
        saved("to_excel", {"x": X, "day": DAYS}, index=False),
        {"x": X, "day": DAYS},
    ),
    "excel with blank rows on top": (
        "a.xlsx",
        saved("to_excel", TOWNS, index=False, startrow=3),
        TOWNS,
    ),
}

#: Files that are refused: name, content, and the sentence without the name of the file.
BAD = {
    "nothing": ("a.csv", b"", "is empty"),
    "blank lines alone": ("a.csv", b"\n\n\n", "is empty"),
    "a header alone": ("a.csv", b"x,y\n", "has no rows"),
    "a ragged line": ("a.csv", b"x,y\n1,2\n3\n4,5\n", r"has 1 field in row 2 \(line 3\) where 2"),
    "a line too long": ("a.csv", b"x;y\n1;2;3\n", r"has 3 fields in row 1 \(line 2\) where 2"),
    "one text among numbers": (
        "a.csv",
        "x,y\n{}1,l5\n".format("".join(f"{n % 7},{n}\n" for n in range(20))).encode(),
        r"has 'l5' in row 21 \(line 22\), column 'y', which is not a number: correct it, leave",
    ),
    "a total at the end": (
        "a.csv",
        "x,y\n{}Total,190\n".format("".join(f"{n},{n % 7}\n" for n in range(20))).encode(),
        r"has 'Total' in row 21 \(line 22\), column 'x', which is not a number",
    ),
    "a short line under texts": (
        "a.csv",
        b"x,c\n1,a\n2,b\n3\n",
        r"has 1 field in row 3 \(line 4\)",
    ),
    "a title on top": ("a.csv", b"Report,,\nx,y,z\n1,2,3\n", "such as a title"),
    "a page of the web": ("a.csv", b"<!DOCTYPE html>\n<html>\n", "holds HTML or XML, not a table"),
    "two files in a zip": (
        "a.csv.zip",
        archive({"a.csv": towns(), "b.csv": towns()}),
        "holds 2 files, not one: unpack it first",
    ),
    "half a zip": (
        "a.csv.zip",
        archive({"a.csv": towns()})[:60],
        "cannot be read as CSV",
    ),
    "no header": ("a.csv", b"1,2\n3,4\n", r"first line of .* holds numbers alone: add a line"),
    "no header, decimal commas": ("a.csv", b"1,5;2,5\n3,5;4,5\n", "holds numbers alone"),
    "two names alike": ("a.csv", b"x,x\n1,2\n", "more than one column 'x': rename one of them"),
    "infinity": ("a.csv", b"x,y\n1,2\n3,inf\n", r"the value inf in row 2 \(line 3\), column 'y'"),
    "cyrillic of old": ("a.csv", "имя,дом\nда,нет\n".encode("cp1251"), "say which encoding it has"),
    "bytes, not text": ("a.csv", bytes(range(256)) * 4, "is not text"),
    "excel under another name": ("a.csv", saved("to_excel", TOWNS), r"give it the ending \.xlsx"),
    "parquet under another name": ("a.csv", saved("to_parquet", TOWNS), r"ending \.parquet"),
    "gzip under another name": ("a.csv", gzip.compress(b"x,y\n1,2\n"), r"ending \.gz"),
    "text under the name of gzip": ("a.csv.gz", b"x,y\n1,2\n", "is not compressed, or not by gzip"),
    "half a gzip": ("a.csv.gz", gzip.compress(towns().encode() * 99)[:60], "cannot be read as CSV"),
    "half an xz": ("a.csv.xz", lzma.compress(towns().encode() * 99)[:60], "cannot be read as CSV"),
    "half a parquet": ("a.parquet", saved("to_parquet", TOWNS)[:99], "cannot be read as Parquet"),
    "text as a spreadsheet": ("a.xlsx", b"x,y\n1,2\n", "cannot be read as a spreadsheet"),
    "an empty sheet": ("a.xlsx", saved("to_excel", {}, index=False), "has nothing in its first"),
    "json that is a list": ("a.jsonl", b'[{"x": 1}]\n', "has no JSON object in line 1"),
    "json cut off": ("a.jsonl", b'{"x": 1}\n{"x": \n', "has no JSON object in line 2"),
    "json of two types": ("a.jsonl", b'{"x": 1}\n{"x": "a"}\n', "has 'a' in line 2, column 'x'"),
    "names alone": (
        "a.csv",
        b"who\nAnn\nBo\nCy\n",
        r"a\.csv: No column .* used, who \(all different\): add",
    ),
    "one value": (
        "a.csv",
        b"x,y\n1,a\n1,a\n",
        r"No column .* used, x \(constant\), y \(constant\): add",
    ),
    "an unknown ending": ("a.doc", b"x,y\n1,2\n", r"has an ending that is not known; known are"),
}


#: Numbers, texts and dates of thirty rows, of which some come twice.
PAY = [1513.48 + 47.5 * (n // 2) if n < 6 else 1200.25 + 91.75 * n for n in range(30)]
WHEN = [date(2024, 1 + n // 3, 1 + n % 3) for n in range(30)]
FORMS = ("%d/%m/%Y", "%Y-%m-%d", "%b %d, %Y")


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def thirty(name, values, end="\n", sep=","):
    """A number, a text and a column of thirty values."""
    rows = (sep.join((f"{n % 7}", "Köln Ulm".split()[n % 2], one)) for n, one in enumerate(values))
    return end.join([sep.join(("x", "city", name)), *rows, ""])


def sheet_with_a_title():
    """A spreadsheet with merged cells on top, and blank rows."""
    file, book = io.BytesIO(), openpyxl.Workbook()
    book.active["A1"] = "Sales of 2024"
    book.active.merge_cells("A1:C1")
    for row in ([], ["x", "city", "y"], [1.5, "Ulm", 2], [], [2.5, "Köln", 3]):
        book.active.append(row)
    book.save(file)
    return file.getvalue()


#: Files of which a part is used: name, content, features, and what is said about the rest.
PARTLY = {
    "a German export": (
        "a.csv",
        thirty("Umsatz", map(german, PAY), "\r\n", ";").encode("cp1252"),
        ["x", "city_Köln", "city_Ulm"],
        "left out: Umsatz (numbers that are written as texts, such as '1.513,48')",
    ),
    "thousands": (
        "a.csv",
        thirty("pay", (f'"{one:,.2f}"' for one in PAY)).encode(),
        ["x", "city_Köln", "city_Ulm"],
        "left out: pay (numbers that are written as texts, such as '1,513.48')",
    ),
    "money, in UTF-16": (
        "a.tsv",
        thirty("pay", (f"${one:,.2f}" for one in PAY), sep="\t").encode("utf-16"),
        ["x", "city_Köln", "city_Ulm"],
        "left out: pay (numbers that are written as texts, such as '$1,513.48')",
    ),
    "percent": (
        "a.csv",
        thirty("share", (f"{one / 100:.1f}%" for one in PAY)).encode(),
        ["x", "city_Köln", "city_Ulm"],
        "left out: share (numbers that are written as texts, such as '15.1%')",
    ),
    "dates that all differ": (
        "a.csv",
        thirty("day", (f'"{WHEN[n].strftime(FORMS[n % 3])}"' for n in range(30))).encode(),
        ["x", "city_Köln", "city_Ulm"],
        "left out: day (all different, such as '01/",
    ),
    "nested json": (
        "a.jsonl",
        "\n".join(
            f'{{"x": {n % 7}, "y": {n * n % 5}, "who": {{"age": {n}}}, "tags": ["a"]}}'
            for n in range(30)
        ).encode(),
        ["x", "y"],
        "left out: who (holds struct<age: int64>), tags (holds list<item: string>)",
    ),
    "a blank column, and one without a name": (
        "a.csv",
        ("x,blank,y,\n" + "".join(f"{n % 7},,{n * n % 5},\n" for n in range(30))).encode(),
        ["x", "y"],
        "left out: blank (empty), a column without a name (empty)",
    ),
    "blanks and words for missing": (
        "a.csv",
        thirty("kg", (str(one) if n % 5 else "n/a" for n, one in enumerate(PAY))).encode(),
        ["x", "city_Köln", "city_Ulm", "kg", "kg_missing"],
        "6 missing values filled in",
    ),
}
BAD["a sheet with a title in merged cells"] = (
    "a.xlsx",
    sheet_with_a_title(),
    "has columns without a name in its first line: .* such as a title",
)


def opened(folder, name, content):
    (folder / name).write_bytes(content)
    return Opened([str(folder / name)], Request(), TABLE)


def test_the_corpus_is_large():
    assert len(GOOD) + len(BAD) + len(PARTLY) >= 60


@pytest.mark.parametrize("case", PARTLY)
def test_a_file_of_which_a_part_is_used_says_so(case, tmp_path):
    name, content, features, words = PARTLY[case]
    rows = opened(tmp_path, name, content)
    blocks = rows.use(lambda source: [block for block, _ in source.blocks()])
    assert len(np.concatenate(blocks)) == 30
    assert sorted(rows.source.feature_names) == sorted(features)
    assert words in rows.notes[0]


@pytest.mark.parametrize("case", GOOD)
def test_a_file_gives_its_table(case, tmp_path):
    name, content, expected = GOOD[case]
    rows = opened(tmp_path, name, content)
    found = pa.Table.from_batches(rows.files.batches(list(expected))).to_pydict()
    assert found == expected
    # Whatever it is, it becomes numbers.
    blocks = rows.use(lambda source: [block for block, _ in source.blocks()])
    assert np.isfinite(np.concatenate(blocks)).all()
    assert len(np.concatenate(blocks)) == len(next(iter(expected.values())))
    assert not {"customer", ""} & set(rows.source.feature_names)


@pytest.mark.parametrize("case", BAD)
def test_a_file_gives_its_sentence(case, tmp_path):
    name, content, sentence = BAD[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        opened(tmp_path, name, content).use(lambda source: list(source.blocks()))
    text = str(caught.value)
    # What another library says ends as it likes.
    assert text.endswith(".") or "cannot be read as" in text
    assert "\n" not in text
    assert len(text) < 500
