"""Progress bars: only on a terminal, and only where tqdm is."""

import sys

import pytest

from sparseksc.execution.progress import progress_bar


def advance(bar):
    bar.update()
    bar.update(5)
    bar.close()


@pytest.mark.parametrize("shown", [False, True])
def test_nothing_is_printed_where_there_is_no_terminal(shown, capsys):
    advance(progress_bar(10, "rows", "row", shown))
    assert capsys.readouterr() == ("", "")


def test_a_bar_that_is_not_wanted_needs_no_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    advance(progress_bar(None, "rows", "row", shown=False))
    advance(progress_bar(None, "rows", "row"))


def test_a_terminal_sees_the_bar_after_two_seconds(monkeypatch):
    tqdm = pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = progress_bar(10, "rows", "row")
    assert isinstance(bar, tqdm.tqdm)
    assert (bar.desc, bar.unit, bar.total, bar.delay) == ("rows", "row", 10, 2.0)
    advance(bar)
