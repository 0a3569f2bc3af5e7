"""Table 2: the least rank that separates the spirals without a mistake, and its speed."""

from __future__ import annotations

from functools import partial
from statistics import median

from benchmarks.measure import Times
from benchmarks.report import Table, Threshold
from experiments import paper, spirals
from experiments.options import Options
from experiments.section import Section
from experiments.store import Compute, Row, Store, read

BANDWIDTHS = (paper.ORIGINAL_BANDWIDTH, paper.BANDWIDTH)
#: Ranks that are tried, and how many of them at a time.
RANKS, GROUP = range(100, 301, 5), 4
#: Alternate rounds of the timed calls.
ROUNDS = 3
MODELS = {
    "original": "original bias",
    "proposed": "proposed bias",
    "ours": "ours",
}


def sizes(options: Options) -> tuple[int, ...]:
    return (5_000,) if options.quick else tuple(paper.TABLE_2)


def run(options: Options) -> None:
    n_points = 5_000 if options.quick else paper.N_POINTS
    seeds = options.seeds(paper.RUNS)
    ranks = Store(
        options.out / "table2_ranks.csv",
        ("n_train", "bandwidth", "model", "n_points", "first_seed", "runs"),
    )
    tasks: list[tuple[Compute, Row]] = [
        (
            partial(least_rank, model, n_train, n_points, bandwidth, seeds),
            {
                "n_train": n_train,
                "bandwidth": bandwidth,
                "model": model,
                "n_points": n_points,
                "first_seed": seeds[0],
                "runs": len(seeds),
            },
        )
        # The long ones first, so that no process is left alone with one.
        for n_train in reversed(sizes(options))
        for model in MODELS
        for bandwidth in BANDWIDTHS
    ]
    ranks.fill(tasks, options.jobs)
    times = Store(options.out / "table2_times.csv", ("n_train", "bandwidth", "n_points", "seed"))
    for n_train in sizes(options):
        for bandwidth in BANDWIDTHS:
            found = {
                str(row["model"]): row["rank"]
                for row in ranks.rows
                if (row["n_train"], row["bandwidth"]) == (n_train, bandwidth)
            }
            times.get(
                partial(race, options, n_train, n_points, bandwidth, found),
                n_train=n_train,
                bandwidth=bandwidth,
                n_points=n_points,
                seed=options.seed,
            )


def least_rank(model: str, n_train: int, n_points: int, bandwidth: float, seeds: range) -> Row:
    """Return the smallest rank with an ARI of 1 in all runs; None if no rank of the grid has."""
    for start in range(0, len(RANKS), GROUP):
        alive = list(RANKS[start : start + GROUP])
        for seed in seeds:
            problem = spirals.Problem.make(n_train, n_points, seed)
            if model == "ours":
                alive = [
                    R
                    for R in alive
                    if problem.perfect(
                        spirals.train_ours(problem.X, R, bandwidth, seed).predict(problem.points)
                        == 1
                    )
                ]
            else:
                perfect = spirals.perfect_ranks(problem, bandwidth, alive)
                alive = [R for R in alive if perfect[model, R]]
            if not alive:
                break
        if alive:
            return {"rank": alive[0]}
    return {"rank": None}


def race(
    options: Options, n_train: int, n_points: int, bandwidth: float, ranks: dict[str, object]
) -> Row:
    """Time the paper's route and ours alternately, each at its own least rank."""
    problem = spirals.Problem.make(n_train, n_points, options.seed)
    theirs, own = (int(str(ranks[name] or RANKS[-1])) for name in ("proposed", "ours"))
    published = partial(spirals.clocked_reference, "paper", problem, theirs, bandwidth)
    contenders = {
        "paper": partial(published, spirals.plain_kernel),
        "compiled": partial(published, spirals.compiled_kernel),
        "ours": partial(spirals.clocked_ours, problem, own, bandwidth, options.seed),
    }
    contenders["ours"]()  # the first call of a process finds the BLAS libraries
    rounds = [
        {name: contender() for name, contender in contenders.items()}
        for _ in range(1 if options.quick else ROUNDS)
    ]
    found: Row = {"paper_rank": theirs, "our_rank": own}
    for stage in ("icd_s", "training_s", "test_s"):
        found[f"paper_{stage}"] = median(getattr(one["paper"], stage) for one in rounds)
    found["ours_s"] = median(one["ours"].seconds for one in rounds)
    for name in ("paper", "compiled"):
        found[f"ratio_{name}"] = median(one[name].seconds / one["ours"].seconds for one in rounds)
    return found


def ratio(times: Times, slow: str, quick: str) -> float:
    """Median of the ratios of neighbouring CPU times."""
    return median(a / b for a, b in zip(times.cpu[slow], times.cpu[quick], strict=True))


def section(options: Options) -> Section:
    found = {
        (row["n_train"], row["bandwidth"], row["model"]): row
        for row in read(options.out / "table2_ranks.csv")
    }
    times = read(options.out / "table2_times.csv")
    least, speed, thresholds = [], [], []
    for row in times:
        n_train, bandwidth = int(str(row["n_train"])), float(str(row["bandwidth"]))
        printed = paper.TABLE_2[n_train]
        ranks = {model: found[n_train, bandwidth, model]["rank"] for model in MODELS}
        proposed = bandwidth == paper.BANDWIDTH
        least.append(
            (
                n_train,
                f"{bandwidth:g}",
                "not printed"
                if proposed
                else f"{printed.original} ({printed.original_sparsity:.2f} %)",
                with_sparsity(ranks["original"], n_train),
                f"{printed.proposed} ({printed.proposed_sparsity:.2f} %)"
                if proposed
                else "not printed",
                with_sparsity(ranks["proposed"], n_train),
                with_sparsity(ranks["ours"], n_train),
            )
        )
        training, test = (float(str(row[f"paper_{name}_s"])) for name in ("training", "test"))
        speed.append(
            (
                n_train,
                f"{bandwidth:g}",
                f"{printed.training_s:.3f} + {printed.test_s:.3f}" if proposed else "not printed",
                f"{training:.3f} + {test:.3f}",
                f"{training / printed.training_s:.1f}, {test / printed.test_s:.1f}"
                if proposed
                else "not printed",
                row["paper_icd_s"],
                row["ours_s"],
                row["ratio_paper"],
                row["ratio_compiled"],
            )
        )
        if proposed:
            thresholds.append(
                Threshold(
                    f"table 2, N_tr = {n_train:,}: least rank, ours",
                    float(str(ranks["ours"] or "inf")),
                    at_most=printed.proposed,
                )
            )
        thresholds.append(
            Threshold(
                f"table 2, N_tr = {n_train:,}, bandwidth {bandwidth:g}: paper's route / ours",
                float(str(row["ratio_paper"])),
                at_least=10,
            )
        )
    tables = [
        Table(
            "Table 2. Least rank for an ARI of 1 (sparsity in per cent)",
            (
                "N_tr",
                "bandwidth",
                "original bias, printed",
                "original bias, here",
                "proposed bias, printed",
                "proposed bias, here",
                "ours",
            ),
            least,
        ),
        Table(
            "Table 2. Seconds at the least rank (training + test)",
            (
                "N_tr",
                "bandwidth",
                "printed",
                "paper's route here",
                "here / printed",
                "ICD, paper's route",
                "ours, all",
                "paper's route with ICD / ours",
                "the same, compiled kernel for both",
            ),
            speed,
        ),
    ]
    first = next(iter(found.values()))
    text = (
        f"The least rank is the smallest R among {RANKS[0]}, {RANKS[1]}, …, {RANKS[-1]} with an "
        f"ARI of exactly 1 on all {first['n_points']:,} points in each of {first['runs']} runs. "
        f"The paper prints the original bias at the bandwidth {BANDWIDTHS[0]:g} and the proposed "
        f"one at {BANDWIDTHS[1]:g}; both stand here at both. "
        "It is not the last one that can fail: with few training points the clusters fall apart "
        "again at larger ranks, because a better approximation of a kernel that is too narrow for "
        f"them shows their gaps. The times are medians of {ROUNDS} alternate calls in one process, "
        "each route at its own least rank; the last column gives the published route this "
        "library's kernel."
    )
    return Section("Table 2: least rank", text, tables, thresholds, why(found))


def why(found: dict[tuple[object, object, object], Row]) -> str:
    """Say where the least ranks differ, and why; the numbers decide on what."""

    def none_at(bandwidth: float) -> str:
        return ", ".join(
            f"{n_train:,}"
            for (n_train, one, model), row in reversed(found.items())
            if (one, model) == (bandwidth, "original") and row["rank"] is None
        )

    runs = next(iter(found.values()))["runs"]
    wide, narrow = none_at(paper.ORIGINAL_BANDWIDTH), none_at(paper.BANDWIDTH)
    told = (
        "The paper shows its spirals in a figure only, so the data is not the same: the generator "
        "`make_spirals` was fitted to the proposed bias at large N_tr, where the least ranks agree "
        "to ten. At small N_tr, and for the original bias"
        f"{' where it has one' if wide else ' everywhere'}, they are smaller here. What "
        "the paper concludes from them is the same: the bias estimated on the reduced set alone "
        "needs far more pivots at its bandwidth than the proposed one at its own, and gains little "
        f"from more training points. A rank must be right in {runs} runs here"
    )
    told += f", in {paper.RUNS} in the paper." if runs != paper.RUNS else ", as in the paper."
    if wide:
        told += (
            f" At N_tr = {wide} the original bias has no such rank up to {RANKS[-1]} with the "
            "paper's bandwidth either: with few training points the data sets differ, and every "
            "run has one of its own."
        )
    if narrow:
        told += (
            f" With the narrower bandwidth, which the paper does not print for it, the original "
            f"bias has no perfect rank up to {RANKS[-1]} at N_tr = {narrow}."
        )
    return told + (
        f" Our route looks for pivots among {spirals.SELECTION_SIZE:,} points. How much of the "
        "speed-up is the compiled kernel, the last column shows."
    )


def with_sparsity(rank: object, n_train: int) -> str:
    if rank is None:
        return f"> {RANKS[-1]}"
    return f"{rank} ({100 * (1 - int(str(rank)) / n_train):.2f} %)"
