"""Figure 2: computation time and adjusted Rand index against the number of training points."""

from __future__ import annotations

from statistics import fmean, pstdev

from experiments import paper, table1
from experiments.drawing import COLOURS, save, subplots
from experiments.options import Options
from experiments.section import Section
from experiments.store import Row, read

ROUTES = {"paper": "paper's route here", "ours": "ours"}


def run(options: Options) -> None:
    table1.run(options)  # the figure shows its numbers
    draw(options, read(options.out / "table1.csv"))


def draw(options: Options, rows: list[Row]) -> None:
    sizes = [int(str(n)) for n in dict.fromkeys(row["n_train"] for row in rows)]
    figure, (times, accuracy) = subplots(2, height=3.8)
    printed = [paper.TABLE_1[n] for n in sizes]
    times.plot(
        sizes, [row.training_s + row.test_s for row in printed], "k--s", label="paper, printed"
    )
    for (route, name), colour, marker in zip(ROUTES.items(), COLOURS, "ov", strict=False):
        seconds = [
            fmean(
                a + b
                for a, b in zip(
                    table1.of(rows, route, "training_s", n),
                    table1.of(rows, route, "test_s", n),
                    strict=True,
                )
            )
            for n in sizes
        ]
        times.plot(sizes, seconds, color=colour, marker=marker, label=name)
    hours = paper.ORIGINAL_HOURS * 3600
    times.plot(paper.N_POINTS, hours, "k*", label="original algorithm, as reported (8 h)")
    times.set(xscale="log", yscale="log", xlabel="training points", ylabel="training + test [s]")
    accuracy.errorbar(
        sizes,
        [row.ari for row in printed],
        [row.spread for row in printed],
        color="black",
        linestyle="--",
        marker="s",
        capsize=4,
        label="paper, printed",
    )
    for (route, name), colour, marker in zip(ROUTES.items(), COLOURS, "ov", strict=False):
        values = [table1.of(rows, route, "ari", n) for n in sizes]
        accuracy.errorbar(
            sizes,
            [fmean(one) for one in values],
            [pstdev(one) for one in values],
            color=colour,
            marker=marker,
            capsize=4,
            label=name,
        )
    accuracy.set(xscale="log", xlabel="training points", ylabel="adjusted Rand index")
    for ax, place in ((times, "upper left"), (accuracy, "lower right")):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8, loc=place)
    save(figure, options.out / "figure2.png")


def section(options: Options) -> Section:
    rows = read(options.out / "table1.csv")
    runs = len({row["seed"] for row in rows})
    text = (
        f"Mean computation time and ARI of {runs} runs against the number of training points, as "
        "in the paper; the numbers are those of table 1. Of the original algorithm the paper "
        f"prints in words that it took about {paper.ORIGINAL_HOURS} hours at the largest size."
    )
    return Section("Figure 2: time and accuracy", text, figure="figure2.png")
