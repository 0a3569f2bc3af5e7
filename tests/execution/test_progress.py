"""Progress bars: only on a terminal, and only where tqdm is."""

import sys

import pytest

from sparseksc.execution.progress import map_with_progress, observed, progress_bar


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


class Notes:
    """What a bar is told."""

    def __init__(self):
        self.done, self.closed = 0, 0

    def update(self, count=1):
        self.done += count

    def close(self):
        self.closed += 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_bar_of_a_map_is_closed_after_an_error_too(n_jobs):
    bars = []

    def observer(*about):
        bars.append(Notes())
        return bars[-1]

    def work(item):
        if item == 3:
            raise ValueError("the fourth")
        return item * item

    with observed(observer):
        assert map_with_progress(work, [0, 1, 2], n_jobs, "row", False) == [0, 1, 4]
        with pytest.raises(ValueError, match="the fourth"):
            map_with_progress(work, range(6), n_jobs, "row", False)
    assert [bar.closed for bar in bars] == [1, 1]
    assert bars[0].done == 3 >= bars[1].done
