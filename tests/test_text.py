"""Text of others, escaped."""

import pytest

from sparseksc._text import escaped, escaped_errors


def test_every_control_character_is_escaped_and_nothing_else():
    controls = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F]
    controls += [*range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xD800, 0xDCFF]
    for code in controls:
        assert escaped(chr(code)) == chr(code).encode("unicode_escape").decode()
    text = "Größe [m²] ไทย עברית 👩‍🚀 C:\\new =1+1"
    assert escaped(text) == text


def test_some_can_be_kept():
    assert escaped("a\tb\nc", keep="\n") == "a\\tb\nc"


def test_errors_that_leave_a_block_are_escaped_with_their_kind():
    with pytest.raises(FileNotFoundError, match=r"^no \\x1b\.$"), escaped_errors():
        raise FileNotFoundError("no \x1b.")
    with pytest.raises(OSError, match="the file") as caught, escaped_errors():
        raise OSError(28, "the file\x07")
    assert caught.value.args == (28, r"the file\x07")
