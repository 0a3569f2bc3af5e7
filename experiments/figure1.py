"""Figure 1: the two spirals, the reduced set, and the clusters found."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.report import Table, Threshold, write
from experiments import paper, spirals
from experiments.drawing import COLOURS, save, subplots
from experiments.options import Options
from experiments.section import Section
from experiments.store import as_csv, read
from experiments.table1 import BANDWIDTH
from sparseksc.datasets import make_spirals

RANK = paper.FIGURE_1_RANK
SHOWN = 5_000


def run(options: Options) -> None:
    n = 5_000 if options.quick else 100_000
    X, y = make_spirals(n, random_state=options.seed)
    model = spirals.train_ours(X, RANK, BANDWIDTH, options.seed)
    ari = float(adjusted_rand_score(y, model.labels_))
    write(
        options.out / "figure1.csv",
        as_csv(
            [
                {
                    "n_train": n,
                    "rank": len(model.reduced_set_),
                    "bandwidth": BANDWIDTH,
                    "seed": options.seed,
                    "ari": ari,
                }
            ]
        ),
    )
    shown = np.linspace(0, n - 1, min(n, SHOWN)).astype(int)
    figure, axes = subplots(3)
    axes[0].scatter(*X[shown].T, s=0.5, color="#777777")
    axes[0].set_title(f"{n:,} points")
    axes[1].scatter(*X[shown].T, s=0.5, color="#dddddd")
    axes[1].scatter(*model.reduced_set_.T, s=9, color="black")
    axes[1].set_title(f"reduced set: {len(model.reduced_set_)} pivots")
    axes[2].scatter(*X[shown].T, s=0.4, color=COLOURS[model.labels_[shown]])
    axes[2].set_title(f"clusters found, ARI {ari:.3f}")
    for ax in axes:
        ax.set(xticks=[], yticks=[], aspect="equal")
    save(figure, options.out / "figure1.png")


def section(options: Options) -> Section:
    (row,) = read(options.out / "figure1.csv")
    table = Table(
        "Figure 1. What was drawn",
        ("N_tr", "R", "ARI"),
        [(row["n_train"], row["rank"], row["ari"])],
    )
    text = (
        "The paper's first figure shows two intertwined spirals. The generator `make_spirals` was "
        "fitted to the tables that go with it, as the points themselves are not published. Drawn "
        "here: the data, the reduced set, and the clusters that our route finds."
    )
    thresholds = [Threshold("figure 1: ARI, ours", float(str(row["ari"])), at_least=1.0)]
    return Section("Figure 1: the spirals", text, [table], thresholds, figure="figure1.png")
