"""Rules that choose among samples, compared on images that the paper does not have."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import fmean, median, stdev

from benchmarks.report import Table
from experiments import images, paper
from experiments.options import Options
from experiments.section import Section
from experiments.store import Compute, Row, Store, read
from sparseksc.core.encoding import TooFewCodeWords

KEYS = ("image", "quick")
#: Columns of the table, by what is stored.
RULES = {
    "single": "one sample, mean",
    "largest": "one sample, largest",
    "criterion": "largest criterion",
    "agreement": "largest agreement",
}


def typical() -> images.Parameters:
    """Medians of the printed parameters, as these images have none."""
    rows = paper.TABLE_3.values()
    return images.Parameters(
        round(median(row.n_clusters for row in rows)),
        median(row.icd_bandwidth for row in rows),
        round(median(row.rank for row in rows)),
        median(row.bandwidth for row in rows),
    )


def folder(options: Options) -> Path:
    """Other images with human segmentations, beside those of the paper."""
    return options.data.parent / f"{options.data.name}-more"


def names(options: Options) -> list[str]:
    """Every second image by number, the half that constants are chosen on; one of them if quick."""
    found = sorted((path.stem for path in (folder(options) / "images").glob("*.jpg")), key=int)
    return found[::2][: 1 if options.quick else None]


def run(options: Options) -> None:
    if reason := images.missing(folder(options)):
        print(f"rules: skipped. {reason}")
        return
    tasks: list[tuple[Compute, Row]] = [
        (partial(one_run, options, name), {"image": name, "quick": options.quick})
        for name in names(options)
    ]
    Store(options.out / "rules.csv", KEYS).fill(tasks, options.jobs)


def one_run(options: Options, name: str) -> Row:
    """F of every sample, and of the ones that the rules choose; none shows too few clusters."""
    picture = images.load(folder(options), name, quick=options.quick)
    try:
        found = images.our_candidates(picture, typical(), options.seed)
    except TooFewCodeWords:
        return {}
    each = [picture.f_measure(labels[found.pixels.inverse]) for labels in found.labels]
    return {
        "single": fmean(each),
        "largest": max(each),
        "criterion": picture.f_measure(found.by_criterion()),
        "agreement": picture.f_measure(found.by_agreement()),
    }


def section(options: Options) -> Section:
    rows = [row for row in read(options.out / "rules.csv") if row.get("single") is not None]
    values = {rule: [float(str(row[rule])) for row in rows] for rule in RULES}
    over = {
        rule: [one - two for one, two in zip(values["agreement"], values[rule], strict=True)]
        for rule in ("criterion", "single")
    }
    gain = {
        rule: f"{fmean(one):+.3f} ± {stdev(one) / len(one) ** 0.5 if len(one) > 1 else 0.0:.3f}"
        for rule, one in over.items()
    }
    parameters = typical()
    text = (
        f"The model of table 4 on {images.SAMPLES} samples of {paper.TRAINING_SIZE:,} pixels, and "
        "two rules that choose one of them without a human map: the paper's criterion, and the "
        "mean adjusted Rand index with the labels of the other samples. Compared on "
        f"{len(rows)} images of BSDS500 that the paper does not have, with the medians of its "
        f"parameters (K = {parameters.n_clusters}, σ of the ICD {parameters.icd_bandwidth:g}, "
        f"R = {parameters.rank}, σ {parameters.bandwidth:g}). The gain of agreement is "
        f"{gain['criterion']} over the criterion, and {gain['single']} over the mean of single "
        "samples (mean and standard error)."
    )
    table = Table(
        "Mean F of the boundaries",
        ("images", *RULES.values()),
        [(len(rows), *(f"{fmean(values[rule]):.3f}" for rule in RULES))],
    )
    return Section("Samples: which of them to take", text, [table])
