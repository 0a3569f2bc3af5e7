"""Figure 2: how the adjusted Rand index depends on the rank and on the bias."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from statistics import fmean

from benchmarks.report import Table
from experiments import spirals
from experiments.drawing import COLOURS, save, subplots
from experiments.options import Options
from experiments.section import Section
from experiments.store import Row, Store, read
from experiments.table1 import BANDWIDTH

MODELS = {"original": "original bias", "proposed": "proposed bias", "ours": "ours"}


def ranks(options: Options) -> range:
    return range(100, 261, 80 if options.quick else 10)


def run(options: Options) -> None:
    n_train, n_test = (5_000, 2_000) if options.quick else (20_000, 20_000)
    store = Store(options.out / "figure2.csv", ("n_train", "rank", "n_test", "seed"))
    for seed in options.seeds(10):
        problem = spirals.Problem.make(n_train, n_test, seed)
        published = cache(partial(spirals.published_aris, problem, BANDWIDTH, ranks(options)))
        for rank in ranks(options):
            store.get(
                partial(one_rank, problem, published, rank, seed),
                n_train=n_train,
                rank=rank,
                n_test=n_test,
                seed=seed,
            )
    draw(options, store.rows)


def one_rank(
    problem: spirals.Problem,
    published: Callable[[], dict[int, dict[str, float]]],
    rank: int,
    seed: int,
) -> Row:
    ours = spirals.train_ours(problem.X, rank, BANDWIDTH, seed)
    return {**published()[rank], "ours": problem.ari(ours.predict(problem.new))}


def curves(rows: list[Row]) -> dict[int, dict[str, float]]:
    """Mean over the runs by rank and model."""
    found = sorted({int(str(row["rank"])) for row in rows})
    return {
        rank: {
            model: fmean(float(str(row[model])) for row in rows if row["rank"] == rank)
            for model in MODELS
        }
        for rank in found
    }


def draw(options: Options, rows: list[Row]) -> None:
    means = curves(rows)
    figure, (ax,) = subplots(1, width=6.0, height=3.6)
    for (model, name), colour, marker in zip(MODELS.items(), COLOURS, "sov", strict=False):
        values = [mean[model] for mean in means.values()]
        ax.plot(list(means), values, color=colour, marker=marker, markersize=4, label=name)
    ax.set(xlabel="rank R", ylabel="mean adjusted Rand index", ylim=(-0.03, 1.03))
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right")
    save(figure, options.out / "figure2.png")


def section(options: Options) -> Section:
    rows = read(options.out / "figure2.csv")
    means = curves(rows)
    table = Table(
        "Figure 2. Mean adjusted Rand index on new points",
        ("R", *MODELS.values()),
        [(rank, *(f"{mean[model]:.3f}" for model in MODELS)) for rank, mean in means.items()],
    )
    runs = len({row["seed"] for row in rows})
    text = (
        "The text of the paper was not at hand when this page was made, so its second figure "
        "could not be looked up. This one shows what tables 1 and 2 are about, the gain in "
        "sparsity: the ARI against the rank for the original bias, which is estimated on the "
        "reduced set alone, for the proposed one, and for our route with pivots from a sample. "
        f"N_tr = {rows[0]['n_train']:,}, bandwidth {BANDWIDTH:g}, {rows[0]['n_test']:,} new "
        f"points, means of {runs} runs."
    )
    return Section("Figure 2: rank and bias (our reading)", text, [table], figure="figure2.png")
