"""Table 4: agreement with human segmentations on ten Berkeley images, and speed."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import pairwise
from statistics import fmean, median, pstdev
from time import process_time
from typing import Any

from benchmarks.report import Table, Threshold
from experiments import images, paper, table3
from experiments.options import Options
from experiments.section import Section
from experiments.store import Compute, Row, Store, read
from sparseksc import image as pictures
from sparseksc.core.encoding import TooFewCodeWords
from sparseksc.image.features import distinct_rows
from sparseksc.reference import incomplete_cholesky, paper_ksc

#: Runs of each route, and alternate rounds of the timed calls.
RUNS, ROUNDS = 5, 3
NAMES = {
    "paper": "paper's route",
    "ours": "ours",
    "criterion": "ours, by criterion",
    "all_pixels": "ours, all pixels",
    "tuned": "paper's tuning",
    "unattended": "unattended",
    "dense": "dense KSC",
    "nystrom": "Nyström",
}
#: Routes that are run; the two rules of ours choose among the same models.
RUN = tuple(route for route in NAMES if route != "criterion")
#: The paper's route with the bias, for the images with two clusters.
WITH_BIAS = "with_bias"
#: Images whose published result depends on the sample.
UNSTEADY = ("167062", "3096", "42049")
#: On how many images the printed F is to be reproduced.
LEAST_NEAR = 6

Found = dict[tuple[str, str], list[float]]


def run(options: Options) -> None:
    table3.run(options)  # one route takes what the search finds
    # Seeds come before images, so that a run which is stopped has all images.
    tasks: list[tuple[Compute, Row]] = [
        (
            partial(one_run, options, route, name, seed),
            {"image": name, "route": route, "seed": seed, "quick": options.quick},
        )
        for seed in options.seeds(RUNS, quick=1)
        for name in table3.chosen(options)
        for route in (*RUN, WITH_BIAS)
        if route != WITH_BIAS or paper.TABLE_3[name].n_clusters == 2
        if route != "unattended" or seed == options.seed  # it draws nothing
    ]
    store = Store(options.out / "table4.csv", ("image", "route", "seed", "quick"))
    store.fill(tasks, options.jobs)
    times = Store(options.out / "table4_times.csv", ("image", "seed", "quick"))
    for name in table3.chosen(options):
        times.get(partial(race, options, name), image=name, seed=options.seed, quick=options.quick)


def one_run(options: Options, route: str, name: str, seed: int) -> Row:
    picture = images.load(options.data, name, quick=options.quick)
    with warnings.catch_warnings():
        # A bandwidth that shows fewer clusters than asked for is part of the experiment.
        warnings.simplefilter("ignore")
        try:
            found = segmentations(options, route, picture, seed)
        except TooFewCodeWords:
            # Without as many clusters as asked for there is no segmentation, and no agreement.
            return {"f": 0.0, **({"f_criterion": 0.0} if route == "ours" else {})}
    return {name: picture.f_measure(labels) for name, labels in found.items()}


def segmentations(
    options: Options, route: str, picture: images.Picture, seed: int
) -> dict[str, Any]:
    """Labels of a route by the column that their F goes to."""
    parameters = images.printed(picture.name)
    if route == "ours":
        found = images.our_candidates(picture, parameters, seed)
        both = {"f": found.by_agreement(), "f_criterion": found.by_criterion()}
        return {column: labels[found.pixels.inverse] for column, labels in both.items()}
    if route == "unattended":
        labels = pictures.segment(picture.image, n_jobs=1).labels
    elif route == "tuned":
        labels = images.paper_labels(picture, table3.tuned(options, picture.name, seed), seed)
    elif route == WITH_BIAS:
        labels = images.paper_labels(picture, parameters, seed, "sign")
    else:
        labels = images.ROUTES[route](picture, parameters, seed)
    return {"f": labels}


def race(options: Options, name: str) -> Row:
    """Time the stages of the paper's route, and ours, alternately, from the histograms on."""
    picture = images.load(options.data, name, quick=options.quick)
    parameters = images.printed(name)
    rounds = []
    for _ in range(1 if options.quick else ROUNDS):
        row = paper_stages(picture, parameters, options.seed)
        started = process_time()
        with warnings.catch_warnings():  # of a sample that shows fewer clusters
            warnings.simplefilter("ignore")
            images.our_labels(picture, parameters, options.seed)
        row["ours_s"] = process_time() - started
        row["ratio"] = (row["icd_s"] + row["training_s"] + row["test_s"]) / row["ours_s"]
        rounds.append(row)
    return {
        "histograms": len(distinct_rows(picture.histograms).rows),
        **{stage: median(row[stage] for row in rounds) for stage in rounds[0]},
    }


def paper_stages(
    picture: images.Picture, parameters: images.Parameters, seed: int
) -> dict[str, float]:
    """CPU seconds of the decomposition, the training and the labels of all pixels."""
    X = picture.sample(paper.TRAINING_SIZE, seed)
    kernel, scores = (
        images.plain_kernel(h) for h in (parameters.icd_bandwidth, parameters.bandwidth)
    )
    clock = [process_time()]
    factor = incomplete_cholesky(X, kernel, max_rank=parameters.rank)
    clock.append(process_time())
    model = paper_ksc(X, parameters.n_clusters, kernel, factor=factor, reduced_kernel=scores)
    clock.append(process_time())
    images.label(model, model.transform(picture.histograms), parameters.n_clusters, "angular")
    clock.append(process_time())
    stages = [after - before for before, after in pairwise(clock)]
    return dict(zip(("icd_s", "training_s", "test_s"), stages, strict=True))


def section(options: Options) -> Section:
    rows = read(options.out / "table4.csv")
    names = list(dict.fromkeys(str(row["image"]) for row in rows))
    found: Found = {(route, name): [] for route in (*NAMES, WITH_BIAS) for name in names}
    for row in rows:
        route, name = str(row["route"]), str(row["image"])
        found[route, name].append(float(str(row["f"])))
        if route == "ours":
            found["criterion", name].append(float(str(row["f_criterion"])))
    times = read(options.out / "table4_times.csv")
    runs = max(len(values) for values in found.values())
    text = (
        "F-measure of the Berkeley boundary benchmark against all human segmentations of an image. "
        "The first four columns of our results take the paper's parameters (table 3: K, both σ, "
        f"R). *Paper's route* trains on {paper.TRAINING_SIZE:,} random pixels. *Ours* computes the "
        f"same model on {images.SAMPLES} such samples, pixels with equal histograms counted "
        "together, and takes the labels that agree most with those of the other samples (mean "
        "adjusted Rand index; no human map is used). *Ours, by criterion* takes those of the model "
        f"that the paper's criterion prefers on {paper.VALIDATION_SIZE:,} pixels (BAS, and BLF for "
        "two clusters). Agreement was first tried because the criterion did badly on three of "
        f"these images ({', '.join(UNSTEADY)}), so that its F on these ten is not held out; held "
        "out is what it is taken for, steadiness, which the section before measures on other "
        "images, without a constant that was tuned. *Ours, all pixels* "
        f"has its statistics from all pixels and its pivots from {images.SELECTION_SIZE:,} of the "
        "different histograms, by the rule `weighted`. *Paper's tuning* is the paper's route with "
        "the K and σ that the search of table 3 finds here; *unattended* is "
        "`sparseksc.image.segment(image)` with no parameter (one run, as nothing is drawn). Dense "
        f"KSC trains on {paper.DENSE_SIZE:,} pixels, the Nyström method on {images.NYSTROM_SIZE}, "
        f"both with the printed K and the printed σ of the scores. {runs} runs."
    )
    return Section(
        "Table 4: agreement with people",
        text,
        [_accuracy(found, names), *_two_clusters(found, names), _speed(times)],
        _thresholds(found, names),
        why(found, names),
    )


def _accuracy(found: Found, names: list[str]) -> Table:
    cells: list[tuple[Any, ...]] = []
    for name in names:
        row = paper.TABLE_4[name]
        cells.append(
            (
                name,
                f"{row.nystrom:.2f}",
                f"{row.dense:.2f}",
                f"{row.proposed:.2f}",
                *(f"{fmean(values):.2f} ± {pstdev(values):.2f}" if values else None
                  for values in (found[route, name] for route in NAMES)),
            )
        )  # fmt: skip
    printed = [paper.TABLE_4[name] for name in names]
    averages = {"mean": fmean, "mean of medians": median}
    for what, of_runs in averages.items():
        cells.append(
            (
                what,
                *(
                    f"{fmean(getattr(row, column) for row in printed):.3f}"
                    for column in ("nystrom", "dense", "proposed")
                ),
                *(
                    f"{fmean(of_runs(found[route, name]) for name in names):.3f}"
                    if all(found[route, name] for name in names)
                    else None
                    for route in NAMES
                ),
            )
        )
    return Table(
        "Table 4. F-measure of the boundaries (mean ± standard deviation of the runs)",
        ("image", "printed: Nyström", "printed: KSC", "printed: proposed", *NAMES.values()),
        cells,
    )


def _two_clusters(found: Found, names: list[str]) -> list[Table]:
    cells = [
        (
            name,
            f"{paper.TABLE_4[name].proposed:.2f}",
            *(
                f"{fmean(values):.2f} ± {pstdev(values):.2f}"
                for values in (found["paper", name], found[WITH_BIAS, name])
            ),
        )
        for name in names
        if found[WITH_BIAS, name]
    ]
    title = "Table 4. The paper's route at K = 2, without and with the bias in the score"
    return [Table(title, ("image", "printed", "without", "with"), cells)] if cells else []


def _speed(rows: list[Row]) -> Table:
    cells = []
    for row in rows:
        printed = paper.TABLE_4[str(row["image"])]
        training, test = float(str(row["training_s"])), float(str(row["test_s"]))
        cells.append(
            (
                str(row["image"]),
                f"{printed.training_s:.3f} + {printed.test_s:.2f}",
                f"{training:.3f} + {test:.2f}",
                f"{training / printed.training_s:.1f}, {test / printed.test_s:.1f}",
                row["icd_s"],
                row["histograms"],
                row["ours_s"],
                row["ratio"],
            )
        )
    return Table(
        "Table 4. Seconds (training + test of all pixels)",
        (
            "image",
            "printed",
            "paper's route here",
            "here / printed",
            "ICD, paper's route",
            "different histograms",
            f"ours, {images.SAMPLES} samples",
            "paper's route with ICD / ours",
        ),
        cells,
    )


def why(found: Found, names: list[str]) -> str:
    """Say where the numbers differ from the printed ones, and why; the numbers decide on what."""

    def spread(route: str, name: str) -> float:
        return pstdev(found[route, name])

    near, far = [], []
    for name in names:
        difference = median(found["paper", name]) - paper.TABLE_4[name].proposed
        (near if abs(difference) <= images.NEAR else far).append((name, difference))
    of_rule = {
        route: fmean(fmean(found[route, name]) for name in names)
        for route in ("paper", "ours", "criterion")
    }
    unsteady = [name for name in names if spread("paper", name) > images.NEAR]
    told = [
        f"The median of the paper's route is within {images.NEAR:g} of the printed F on "
        f"{len(near)} of {len(names)} images."
    ]
    if far:
        listed = ", ".join(f"{name} ({difference:+.2f})" for name, difference in far)
        told.append(
            f"It differs more on {listed}. The paper prints one F for an image, of one training "
            "sample, and does not print its palette, dithering, matching tolerance or the seed."
        )
    if unsteady:
        told.append(
            f"On {', '.join(unsteady)} the F of the paper's route depends on the sample: the "
            "greedy pivots are the rarest histograms of the sample, the more so the narrower σ of "
            "the ICD is, and they decide what the last cluster is."
        )
    told += [
        "Over all runs and images the mean F of one sample is "
        f"{of_rule['paper']:.3f}, that of the sample which the paper's criterion prefers "
        f"{of_rule['criterion']:.3f}, and that of the one which agrees most with the others "
        f"{of_rule['ours']:.3f}: the criterion does not know a good sample, and agreement "
        "avoids bad ones without being better than the median of single ones.",
        "With statistics over all pixels the printed K = 3 divides the largest even area (the sky "
        "of 3096, the snow of 167062) where the sample leaves a few pixels to the third cluster, "
        "which agrees better with people: the printed K were tuned for samples.",
        "The paper segments its images with the angular encoding BAS. At K = 2 its prototypes are "
        "+1 and -1, and the authors' program, which the paper used, computes no bias for BAS: the "
        "cluster is the sign of the score without the bias. The paper does not say so, and we had "
        "seen the F of both before we read it in the program; the second table has both.",
        "The criteria BAS and BLF, as used here, choose other K and σ than printed (table 3), and "
        "lose what the column *paper's tuning* shows; the weight of the balance and the bandwidths "
        "of the paper's grid are not printed.",
        "The unattended mode uses other features and a hierarchy of merges (docs/images.md); "
        "its constants were chosen on other images.",
        "The printed F of dense KSC and Nyström come from an earlier publication with parameters "
        "of its own; here both have the printed K and σ of the proposed method.",
    ]
    return " ".join(told)


def _thresholds(found: Found, names: list[str]) -> list[Threshold]:
    def mean_of_medians(route: str) -> float:
        return fmean(median(found[route, name]) for name in names)

    thresholds = []
    if all(found["paper", name] for name in names):
        near = sum(
            abs(median(found["paper", name]) - paper.TABLE_4[name].proposed) <= images.NEAR
            for name in names
        )
        thresholds += [
            Threshold(f"table 4: images within {images.NEAR:g} of the printed F", near, LEAST_NEAR),
            Threshold("table 4: mean of medians, paper's route", mean_of_medians("paper"), 0.75),
        ]
    if all(found["ours", name] for name in names):
        mean = mean_of_medians("ours")
        thresholds.append(Threshold("table 4: mean of medians, ours", mean, 0.77))
        thresholds += [
            Threshold(
                f"table 4: F, ours, {name} (goal: the paper's route)",
                median(found["ours", name]),
                at_least=median(found["paper", name]),
            )
            for name in UNSTEADY
            if name in names and found["paper", name]
        ]
    if all(found["unattended", name] for name in names):
        mean = fmean(fmean(found["unattended", name]) for name in names)
        thresholds.append(Threshold("table 4: mean F, unattended", mean, 0.76))
    return thresholds
