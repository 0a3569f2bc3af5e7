"""The printed numbers are those of the paper's LaTeX source, which is read where it is there."""

import re

import pytest

from experiments import paper
from experiments.options import REPOSITORY

SOURCE = REPOSITORY.parent / "shared" / "paper" / "arXiv-2310.13381.tex"


@pytest.fixture(scope="module")
def source():
    if not SOURCE.exists():
        pytest.skip("needs ../shared/paper")
    return SOURCE.read_text(encoding="utf-8")


def rows(source, label):
    """Rows of a table whose first cell is a number, as lists of numbers."""
    (table,) = [
        part for part in source.split(r"\begin{table}")[1:] if rf"\label{{{label}}}" in part
    ]
    body = table.partition(r"\begin{tabular}")[2].partition(r"\end{tabular}")[0]
    found = {}
    for line in body.split(r"\\"):
        cells = [numbers(cell) for cell in line.replace(r"\hline", "").split("&")]
        if len(cells) > 4 and all(cells):
            (first,), *others = cells
            found[first] = [number for cell in others for number in cell]
    return found


def numbers(cell):
    cell = re.sub(r"\\textbf\{([\d.]+)\}", r"\1", cell)
    cell = re.sub(r"\$(\d+)\\times10\^\{(\d)\}\$", r"\1e\2", cell)
    return [float(number) for number in re.findall(r"(?<![A-Za-z{])\d+(?:\.\d+)?(?:e\d)?", cell)]


def without_zero_spread(row):
    return list(row) if row.spread else list(row)[:-1]


@pytest.mark.parametrize(
    ("label", "table", "cells"),
    [
        ("tb:table1", paper.TABLE_1, without_zero_spread),
        ("tb:table2", paper.TABLE_2, list),
        ("tb:table3", paper.TABLE_3, list),
        ("tb:table4", paper.TABLE_4, list),
    ],
)
def test_the_tables_are_the_printed_ones(source, label, table, cells):
    assert rows(source, label) == {float(key): cells(row) for key, row in table.items()}


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        (r"$N=10^{5}$, $d=2$ dimensional", (paper.N_POINTS, paper.N_FEATURES) == (10**5, 2)),
        ("(based on 10 independent runs)", paper.RUNS == 10),
        (r"\textit{original}($\gamma_{\text{opt}}=0.0102$)", paper.ORIGINAL_BANDWIDTH == 0.0102),
        (r"\textit{proposed}($\gamma_{\text{opt}}=0.006$)", paper.BANDWIDTH == 0.006),
        ("the $R=115$ reduced set points", paper.FIGURE_1_RANK == 115),
        ("only approximately two seconds", paper.SECONDS_AT_FIXED_RANK == 2),
        ("that requires only a second", paper.SECONDS_AT_LEAST_RANK == 1),
        ("was reported to take about 8 hours", paper.ORIGINAL_HOURS == 8),
        (r"$321 \times 481$ pixels", paper.IMAGE_SHAPE == (321, 481)),
        (r"$N=154\;401$", paper.IMAGE_SHAPE[0] * paper.IMAGE_SHAPE[1] == paper.N_PIXELS == 154_401),
        (r"taking a $5 \times 5$ window", paper.WINDOW == 5),
        ("quantisation of eight levels", paper.N_COLOURS == 8),
        (r"ICD (R$_{\text{max}}=500$)", paper.MAX_RANK == 500),
        (r"\mathcal{K}\in\{3,\dotsc,10\}", list(paper.CLUSTERS) == list(range(3, 11))),
        (r"\sigma_{\chi^2}\in [0.001,1.0]", paper.BANDWIDTHS == (0.001, 1.0)),
        (r"$\mathcal{K}=2,3$ whenever", paper.BLF_CLUSTERS == (2, 3)),
        (r"$N_{tr}=10\;000$ training data points", paper.TRAINING_SIZE == 10_000),
        (r"$N_{v}=20\;000$ independent validation", paper.VALIDATION_SIZE == 20_000),
        ("$N_{tr}=2000$ only randomly selected", paper.DENSE_SIZE == 2_000),
    ],
)
def test_the_text_says_so(source, printed, value):
    assert printed in " ".join(source.split())
    assert value


def test_the_sparsities_follow_from_the_ranks():
    for n_train, row in paper.TABLE_2.items():
        assert row.original_sparsity == pytest.approx(100 * (1 - row.original / n_train), abs=0.01)
        assert row.proposed_sparsity == pytest.approx(100 * (1 - row.proposed / n_train), abs=0.01)
