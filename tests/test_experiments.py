"""The experiments run at their quick sizes, and the page shows what they found."""

import csv
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from experiments import __main__ as command
from experiments import images, page, paper, spirals, table1, table2, table3, table4
from experiments.options import DATA, REPOSITORY, Options
from experiments.store import Store, as_csv, read
from sparseksc.reference import original_ksc, paper_ksc

FILES = {
    "figure1.csv": {"n_train", "rank", "ari"},
    "table1.csv": {"n_train", "rank", "route", "seed", "icd_s", "training_s", "test_s", "ari"},
    "table2_ranks.csv": {"n_train", "bandwidth", "model", "runs", "rank"},
    "table2_times.csv": {"n_train", "bandwidth", "paper_icd_s", "ours_s", "ratio_paper"},
    "gaussians.csv": {"rank", "n_clusters", "bandwidth", "ams", "ari"},
    "encodings.csv": {"clusters", "features", "overlap", "rank", "bas_clusters", "qr_0"},
    "shapes.csv": {"shape", "rank", "ari"},
}
REPRODUCTION = "reproduction.md"
IMAGE_FILES = {
    "rules.csv": {
        "image",
        "runs",
        "single_mean",
        "criterion_spread",
        "agreement_worst",
        "single_same",
    },
    "table3.csv": {"image", "seed", "rank", "icd_s", "n_clusters", "bandwidth", "bas"},
    "table4.csv": {"image", "route", "seed", "f"},
    "table4_times.csv": {"image", "icd_s", "training_s", "test_s", "ours_s", "ratio"},
}


def columns(path):
    with path.open(newline="", encoding="utf-8") as file:
        return set(next(csv.reader(file)))


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory):
    """Output folder of ``python -m experiments all --quick`` without images, and what it said."""
    folder = tmp_path_factory.mktemp("experiments")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "experiments", "all", "--quick"),
            *("--out", str(folder), "--data", str(folder / "nowhere")),
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_a_quick_run_writes_tables_figures_and_page(quick_run):
    folder, _ = quick_run
    for name, expected in FILES.items():
        assert expected <= columns(folder / name), name
    for name in page.FIGURES:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    written = {path.name for path in folder.iterdir()}
    assert written == {*FILES, *page.FIGURES, *page.PAGES, page.SECONDS}


def test_without_images_the_run_says_where_they_are(quick_run):
    folder, said = quick_run
    for part in command.IMAGES:
        assert f"{part}: skipped. There is no BSDS500 in {folder / 'nowhere'}" in said.replace(
            "-more", ""
        )
    assert images.SOURCE in said


def test_the_page_has_every_row(quick_run):
    folder, _ = quick_run
    text = (folder / REPRODUCTION).read_text(encoding="utf-8")
    options = Options(quick=True, out=folder)
    for n_train in table1.sizes(options):
        printed = paper.TABLE_1[n_train]
        assert (
            f"| {n_train:,} | {printed.rank} | {printed.ari:.3f} ± {printed.spread:.3f} |" in text
        )
        assert f"| {n_train:,} | {printed.training_s:.3f} + {printed.test_s:.3f} |" in text
    for n_train in table2.sizes(options):
        for bandwidth in table2.BANDWIDTHS:
            assert f"| {n_train:,} | {bandwidth:g} |" in text
    assert "Quick sizes" in text
    assert "This page took" in text
    assert text.count("figure1.png") == text.count("figure2.png") == 1


def test_a_second_run_computes_nothing_again(quick_run, capsys):
    folder, _ = quick_run
    before = {name: (folder / name).read_bytes() for name in FILES}
    command.main(["table1", "table2", "--quick", "--out", str(folder)])
    assert {name: (folder / name).read_bytes() for name in FILES} == before
    assert "seed=" not in capsys.readouterr().out


def test_a_fresh_run_computes_all_again(tmp_path):
    out = ["--quick", "--out", str(tmp_path)]
    command.main(["figure1", *out])
    (tmp_path / "figure1.csv").write_text("n_train\n3\n", encoding="utf-8")
    (tmp_path / "figure1.png").unlink()
    command.main(["figure1", "--fresh", *out])
    costs = (tmp_path / page.SECONDS).read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[0] for row in costs] == ["figure1"]
    assert read(tmp_path / "figure1.csv")[0]["n_train"] == 5_000
    assert (tmp_path / "figure1.png").exists()


def test_a_part_that_was_stopped_is_left_out_of_the_page(tmp_path, capsys):
    (tmp_path / "table2_ranks.csv").write_text("n_train,bandwidth,model,rank\n", encoding="utf-8")
    command.main(["page", "--quick", "--out", str(tmp_path)])
    assert "table2: not finished" in capsys.readouterr().out
    assert not (tmp_path / REPRODUCTION).exists()  # nothing else was computed


@pytest.mark.data
@pytest.mark.skipif(bool(images.missing(DATA)), reason="needs ../shared/data/bsds500")
def test_a_quick_run_on_images(tmp_path):
    command.main(["table3", "rules", "table4", "--quick", "--out", str(tmp_path)])
    for name, expected in IMAGE_FILES.items():
        assert expected <= columns(tmp_path / name), name
    rows = read(tmp_path / "table4.csv")
    assert {row["route"] for row in rows} == set(table4.RUN)
    assert all(0.0 <= row["f"] <= 1.0 for row in rows)
    assert all(
        (row["f_criterion"] is None) == (row["route"] != "ours") for row in rows
    )  # two rules, one run
    text = (tmp_path / REPRODUCTION).read_text(encoding="utf-8")
    for name in table3.QUICK:
        assert table4_row(name) in text


def table4_row(name):
    row = paper.TABLE_4[name]
    return f"| {name} | {row.nystrom:.2f} | {row.dense:.2f} | {row.proposed:.2f} |"


def test_the_committed_page_has_every_part():
    text = (REPOSITORY / "docs" / REPRODUCTION).read_text(encoding="utf-8")
    for part in page.PAGES[REPRODUCTION]:
        title = "Samples" if part == "rules" else f"{part[:-1].capitalize()} {part[-1]}"
        assert f"## {title}" in text
    for n_train in table1.sizes(Options()):
        assert f"| {n_train:,} |" in text
    for name in paper.TABLE_4:
        assert table4_row(name) in text
    assert "None" not in text
    assert "CPU minutes" in text
    assert "|  |" not in text  # an empty cell
    for name in ("figure1.png", "figure2.png"):
        image = REPOSITORY / "docs" / "figures" / name
        assert f"figures/{name}" in text
        assert image.stat().st_size < 150_000


@pytest.mark.parametrize("rank", [60, 130])
def test_the_sweep_over_ranks_agrees_with_the_published_routes(rank):
    problem = spirals.Problem.make(2_000, 2_500, 3)
    kernel = spirals.compiled_kernel(0.0102)
    ((_, scores),) = spirals.published_scores(problem, 0.0102, [rank])
    for bias, route in (("proposed", paper_ksc), ("original", original_ksc)):
        expected = route(problem.X, 2, kernel, max_rank=rank).transform(problem.points)[:, 0]
        found = scores[bias] * np.sign(scores[bias] @ expected)
        np.testing.assert_allclose(
            found / np.abs(found).max(), expected / np.abs(expected).max(), atol=1e-7
        )


def test_perfect_means_an_ari_of_one():
    problem = spirals.Problem.make(10, 60, 0)
    right = problem.truth == 1
    assert problem.perfect(right)
    assert problem.perfect(~right)
    almost = right.copy()
    almost[5] ^= True
    assert not problem.perfect(almost)
    assert problem.ari(right) == 1.0 > problem.ari(almost)


def test_the_published_route_finds_the_regions_of_an_image():
    rng = np.random.default_rng(0)
    region = np.repeat([0, 1, 2], 400)
    histograms = 0.05 * rng.random((1_200, 8))
    histograms[np.arange(1_200), region] += 1.0
    histograms /= histograms.sum(axis=1, keepdims=True)
    image = images.Picture("", (30, 40), histograms, None, [])
    parameters = images.Parameters(3, 0.1, 40, 0.2)
    for route in images.ROUTES.values():
        labels = route(image, parameters, 0)
        assert len(np.unique(labels)) == 3
        assert len({(a, b) for a, b in zip(labels, region, strict=True)}) == 3


def test_rows_survive_a_file(tmp_path):
    rows = [{"a": 1, "b": 0.1, "c": "x", "d": None, "e": True}, {"a": 2, "f": -3.5e-7}]
    path = tmp_path / "rows.csv"
    path.write_text(as_csv(rows), encoding="utf-8")
    first, second = read(path)
    assert first == {**rows[0], "f": None}
    assert (second["a"], second["b"], second["f"]) == (2, None, -3.5e-7)


def test_a_store_computes_a_row_once(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"value": 0.25}

    for _ in range(2):
        row = Store(tmp_path / "rows.csv", ("name", "seed")).get(compute, name="3096", seed=0)
        assert (str(row["name"]), row["seed"], row["value"]) == ("3096", 0, 0.25)
    assert len(calls) == 1
    with pytest.raises(ValueError, match=r"other columns than name, n_train"):
        Store(tmp_path / "rows.csv", ("name", "n_train"))


def test_rows_from_several_processes_are_those_from_one(tmp_path):
    tasks = [(partial(dict, value=n * n), {"n": n}) for n in range(5)]
    stores = [Store(tmp_path / f"{jobs}.csv", ("n",)) for jobs in (1, 2)]
    for jobs, store in enumerate(stores, start=1):
        store.get(partial(dict, value=-1), n=3)
        store.fill(tasks, jobs)
        store.fill(tasks, jobs)
    assert stores[0].rows == stores[1].rows
    assert {row["n"]: row["value"] for row in stores[1].rows} == {0: 0, 1: 1, 2: 4, 3: -1, 4: 16}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table9"], "no part is named 'table9'"),
        (["all", "--runs", "0"], "--runs must be at least 1"),
        (["all", "--jobs", "0"], "--jobs must be at least 1"),
        (["all", "--seed", "-1"], "--seed must not be negative"),
        (["all", "--quick", "--docs"], "--docs needs the full sizes"),
    ],
)
def test_wrong_arguments_are_named(arguments, message, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert message in capsys.readouterr().err


def test_runs_and_seeds_are_options():
    assert list(Options().seeds(10)) == list(range(10))
    assert list(Options(quick=True, seed=5).seeds(10)) == [5, 6]
    assert list(Options(seed=1, runs=3).seeds(10)) == [1, 2, 3]
