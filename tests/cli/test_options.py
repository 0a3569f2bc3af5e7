"""What is written on the line is understood, or refused with a sentence."""

import click
import pytest

from sparseksc.cli import options
from sparseksc.cli.options import bandwidths, cluster_numbers, column_names, delimiter
from sparseksc.cli.program import fit
from sparseksc.config.domains import OneOf
from sparseksc.config.parameters import PARAMETERS


def test_options_have_the_defaults_names_and_help_of_the_table_of_parameters():
    shown = {option.name: option for option in fit.params}
    for name in (*options.MODEL_PARAMETERS, "n_jobs", "memory_limit"):
        assert shown[name].help == PARAMETERS[name].help
        assert shown[name].default == PARAMETERS[name].default
        if isinstance(PARAMETERS[name].domain, OneOf):
            names = set(PARAMETERS[name].domain.names) - {"precomputed"}
            assert set(shown[name].type.choices) == names


@pytest.mark.parametrize(
    ("text", "value"),
    [("auto", "auto"), ("3", 3), ("2..4", [2, 3, 4]), ("7..7", 7), ("8,2,4", [8, 2, 4])],
)
def test_numbers_of_clusters(text, value):
    assert cluster_numbers(text) == value


@pytest.mark.parametrize("text", ["", "three", "2..", "..5", "5..2", "0", "-3", "2,,3", "1e3"])
def test_what_is_not_a_number_of_clusters_is_refused(text):
    with pytest.raises(click.BadParameter, match="must be a number of clusters"):
        cluster_numbers(text)


def test_an_endless_range_is_refused():
    with pytest.raises(click.BadParameter, match="more than 1000 numbers"):
        cluster_numbers("2..999999999999")


def test_bandwidths():
    assert bandwidths("auto") == "auto"
    assert bandwidths("0.5") == 0.5
    assert bandwidths("0.1,1,1e1") == [0.1, 1.0, 10.0]
    for text in ("", "wide", "-1", "0", "nan", "inf", "1,,2"):
        with pytest.raises(click.BadParameter, match="must be a positive number"):
            bandwidths(text)


def test_names_of_columns():
    assert column_names("a,b , c") == ["a", "b", "c"]
    assert column_names('"x,y",z') == ["x,y", "z"]
    for text in ("", ",", "a,,b"):
        with pytest.raises(click.BadParameter, match="names separated by commas"):
            column_names(text)


def test_delimiters():
    assert [delimiter(text) for text in (";", "tab", r"\t")] == [";", "\t", "\t"]
    for text in ("", ";;", '"'):
        with pytest.raises(click.BadParameter, match="one character"):
            delimiter(text)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["fit"], "Missing argument 'DATA...'"),
        (["fit", "x.npy"], "Nothing would be kept: give -o, --labels or --report."),
        (["fit", "x.npy", "-o", "m.ksc", "--membership"], "--membership is written with --labels"),
        (["fit", "x.npy", "-o", "-"], "cannot go to standard output"),
        (["fit", "x.npy", "--labels", "-", "--json"], "both want standard output"),
        (["fit", "x.npy", "--labels", "labels.xls"], "must end in one of .parquet"),
        (["fit", "x.npy", "--labels", "x.npy"], "x.npy is read by this command"),
        (["fit", ".", "--labels", "y.npy"], "y.npy would be one of the files that are read"),
        (["fit", "x.csv", "--labels", "y.npy", "--id", "name"], "can hold numbers alone"),
        (
            ["fit", "x.csv", "--labels", "y.csv", "--id", "label"],
            "'label' is a column",
        ),
        (["fit", "x.npy", "--report", "page.doc"], "must end in .html"),
        (["fit", "x.npy", "-o", "m.ksc", "-k", "many"], "must be a number of clusters"),
        (["fit", "x.npy", "-o", "m.ksc", "--kernel", "rbff"], "'rbff' is not one of 'rbf'"),
        (["fit", "x.npy", "-o", "m.ksc", "--degree", "3"], "--degree is for --kernel polynomial"),
        (["fit", "x.npy", "-o", "m.ksc", "--bandwith", "3"], "No such option '--bandwith'"),
        (["predict", "m.ksc", "x.npy", "--json"], "both want standard output"),
        (["predict", "m.ksc", "x.npy", "-o", "m.ksc"], "m.ksc is read by this command"),
        (["tune", "x.npy", "--plot", "search.gif"], "must end in one of .png, .svg, .pdf"),
        (["tune", "-", "more.csv"], "cannot be read together with files"),
        (["report", "m.ksc", "x.npy"], "Missing option '-o'"),
        (["fit", "-", "-o", "m.ksc", "--checkpoint", "run.ckpt"], "--checkpoint needs files"),
        (["predikt"], "Did you mean 'predict'?"),
        (["dance"], "There are fit, predict, tune, segment, info"),
    ],
)
def test_a_wrong_line_is_one_sentence_and_exit_code_2(ksc, line, sentence):
    done = ksc(*line)
    assert done.code == 2
    assert done.out == ""
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_every_command_has_help_with_examples(ksc):
    commands = ksc("--help")
    assert commands.code == 0
    for command in ("fit", "predict", "tune", "info", "report", "demo", "segment", "completion"):
        assert f"\n  {command} " in commands.out
        shown = ksc(command, "--help")
        assert shown.code == 0
        assert "Examples:\n  " in shown.out
        assert f"ksc {command}" in shown.out.partition("Examples:")[2]
    assert ksc("--version").out.startswith("ksc ")
    nothing = ksc()
    assert nothing.code == 2
    assert "Commands:" in nothing.err
