"""Texts in any encoding, packed in any way."""

import bz2
import gzip
import lzma

import pytest

from sparseksc.data.formats.text import LONGEST_LINE, encoding_of, head_of, open_bytes, open_lines

pa = pytest.importorskip("pyarrow", reason="unpacking zstandard needs pyarrow")

TEXT = "name;größe\nÄnne;1,5\n"


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("latin-1", "cp1252"),
        ("cp1252", "cp1252"),
    ],
)
@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_the_encoding_is_found_and_the_lines_are_read(encoding, found, ending, tmp_path):
    pack = {
        "": bytes,
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": lambda content: bytes(pa.compress(content, "zstd", asbytes=True)),
    }[ending]
    path = tmp_path / f"names.csv{ending}"
    path.write_bytes(pack(TEXT.encode(encoding)))
    assert encoding_of(path, head_of(path)) == found
    with open_lines(path, found) as lines:
        assert "".join(lines) == TEXT
    with open_bytes(path) as file:
        assert file.read() == TEXT.encode(encoding)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"PK\x03\x04....", "is a zip archive or a spreadsheet, not text: give .* .xlsx"),
        ("a.csv", b"PAR1....", "is Parquet, not text"),
        ("a.csv", gzip.compress(b"a,b", mtime=0), "compressed by gzip, not text: give .* .gz"),
        ("a.csv.xz", b"a,b\n", "is not compressed, or not by xz"),
        ("a.csv.bz2", b"a,b\n", "is not compressed, or not by bzip2"),
        ("a.csv.zst", b"a,b\n", "is not compressed, or not by zstandard"),
        ("a.csv", b"a,b\n1,\x00\x01\x02\n", "is not text: it holds zero bytes"),
        ("a.csv", "имя,дом\n".encode("cp1251"), "say which encoding it has"),
    ],
)
def test_what_is_no_text_is_said(name, content, sentence, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        encoding_of(path, head_of(path))


def test_a_line_without_end_is_no_table(tmp_path):
    from csv import Error

    path = tmp_path / "a.csv"
    path.write_bytes(b"1" * LONGEST_LINE)
    with open_lines(path, "utf-8") as lines, pytest.raises(Error, match="too long"):
        list(lines)
