"""Commands, their help and their completion; a wrong line is one sentence."""

import os

import pytest


@pytest.mark.filterwarnings("default")
def test_the_demonstration_runs(ksc, tmp_path):
    pytest.importorskip("matplotlib")
    done = ksc("demo", "--points", "2000", "-o", "figures")
    assert (done.code, done.err) == (0, "")
    assert "ARI of the new points" in done.out
    assert (tmp_path / "figures" / "spirals.png").exists()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["fit"], "Missing argument 'DATA...'"),
        (["fit", "x.npy"], "Nothing would be kept: give -o, --labels or --report."),
        (["fit", "x.npy", "-o", "m.ksc", "--membership"], "--membership is written with --labels"),
        (["fit", "x.npy", "-o", "-"], "cannot go to standard output"),
        (["fit", "x.npy", "--labels", "-", "--json"], "both want standard output"),
        (["fit", "x.npy", "--labels", "labels.xls"], "must end in one of .parquet"),
        (["fit", "x.npy", "--labels", "x.npy"], "x.npy is one of the files that are read"),
        (["fit", ".", "--labels", "y.npy"], "y.npy would be one of the files that are read"),
        (["fit", "x.csv", "--labels", "y.npy", "--id", "name"], "can hold numbers alone"),
        (
            ["fit", "x.csv", "--labels", "y.csv", "--id", "label"],
            "'label' is a column",
        ),
        (["fit", "x.npy", "--report", "page.doc"], "must end in .html"),
        (["fit", "x.npy", "-o", "m.ksc", "-k", "many"], "must be a number of clusters"),
        (["fit", "x.npy", "-o", "m.ksc", "--kernel", "rbff"], "'rbff' is not one of 'auto', 'rbf'"),
        (["fit", "x.npy", "-o", "m.ksc", "--degree", "3"], "--degree is for --kernel polynomial"),
        (["fit", "x.npy", "-o", "m.ksc", "--bandwith", "3"], "No such option '--bandwith'"),
        (["predict", "m.ksc", "x.npy", "--json"], "both want standard output"),
        (["predict", "m.ksc", "x.npy", "-o", "m.ksc"], "m.ksc is one of the files that are read"),
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


def test_completion_knows_commands_options_and_choices(program):
    for shell in ("bash", "zsh", "fish"):
        assert "_KSC_COMPLETE" in program("completion", shell).out

    def complete(*words):
        environment = {
            **os.environ,
            "_KSC_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["ksc", *words]),
            "COMP_CWORD": str(len(words)),
        }
        done = program(env=environment)
        return [line.partition(",")[2] for line in done.out.splitlines()]

    assert complete("pre") == ["predict"]
    assert complete("fit", "--kernel", "l") == ["laplacian", "linear", "landmarks"]
    assert "--max-rank" in complete("fit", "--m")
