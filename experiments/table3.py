"""Table 3: parameters of the image experiments, and what a search finds instead."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.report import Table
from experiments import images
from experiments.options import Options
from experiments.section import Section
from experiments.store import Compute, Row, Store, read
from sparseksc import tune

#: Candidates of the search.
CLUSTERS = tuple(range(2, 11))
BANDWIDTHS = tuple(float(h) for h in np.geomspace(0.001, 1.0, 10))
RUNS = 5
KEYS = ("image", "seed", "quick")

#: Parameters by image: K, bandwidth of the decomposition, rank, bandwidth of the scores. The
#: printed ones are not at hand; these are the first that `experiments.estimate` prints.
PARAMETERS = {
    "3096": images.Parameters(2, 0.05, 100, 0.05),
    "42049": images.Parameters(2, 0.05, 100, 0.25),
    "62096": images.Parameters(2, 0.25, 100, 0.25),
    "119082": images.Parameters(3, 0.05, 100, 0.05),
    "145086": images.Parameters(4, 0.01, 100, 0.25),
    "147091": images.Parameters(2, 0.05, 100, 0.05),
    "167062": images.Parameters(2, 0.01, 100, 1.0),
    "182053": images.Parameters(5, 0.05, 100, 0.25),
    "196073": images.Parameters(2, 0.05, 100, 0.05),
    "295087": images.Parameters(2, 0.05, 100, 0.05),
}
TEXT = (
    "The chi-squared kernel on normalised 5 × 5 histograms of the image in 8 colours (minimum "
    "variance palette, Floyd–Steinberg dithering), two bandwidths: one for the incomplete Cholesky "
    "decomposition (ICD) and so the eigenvectors, one for the reduced set and the scores. The "
    "search trains on 10,000 random pixels and compares K = 2 … 10 and 10 bandwidths from 0.001 "
    "to 1 on 20,000 others; the criterion BLF at K = 2 and 3 decides whether there are more than "
    "two clusters, the criterion BAS how many."
)
WHY = (
    "The numbers of the paper's table 3 were not at hand, apart from the tolerances of a few "
    "images. The parameters here were **estimated by looking at the human segmentations**: with "
    "the paper's route on one training sample, K = 2, 3, 4, 5, 6, 8, the bandwidths 0.01, 0.05 and "
    "0.25 of the ICD and 0.01, 0.05, 0.25 and 1 of the scores were compared by the F-measure, all "
    "at rank 100; of the ten best, the one with the best mean over five samples (seeds 100 to 104) "
    "was kept. Table 4 uses other samples. So its first columns show what the method can do with "
    "parameters that somebody has chosen well, as the authors' were, not what it does by itself; "
    "for that, see its columns *unattended* and *tuned*. A first rule, ranks 30 and 100 and the "
    "best median, was given up: what it chose for 167062, 182053 and 295087 did worse on other "
    "samples. Where the paper gives a tolerance, a rank is given here."
)
QUICK = ("3096", "42049")


def chosen(options: Options) -> tuple[str, ...]:
    """Names of the images of this run."""
    return QUICK if options.quick else tuple(PARAMETERS)


def run(options: Options) -> None:
    tasks: list[tuple[Compute, Row]] = [
        (
            partial(search, options, name, seed),
            {"image": name, "seed": seed, "quick": options.quick},
        )
        for name in chosen(options)
        for seed in options.seeds(RUNS, quick=1)
    ]
    Store(options.out / "table3.csv", KEYS).fill(tasks, options.jobs)


def search(options: Options, name: str, seed: int) -> Row:
    """Look for K and the bandwidth of the scores as the paper does.

    The angular criterion (BAS) is not defined for two clusters. So the criterion of collinearity
    (BLF), which is, decides between two clusters and more, by its maxima at K = 2 and K = 3; if
    there are more, K is where the BAS is largest over 3 to 10.
    """
    picture = images.load(options.data, name, quick=options.quick)
    parameters = PARAMETERS[name]
    with warnings.catch_warnings():
        # Candidates that show fewer clusters than asked for belong to every search.
        warnings.simplefilter("ignore")
        result = tune(
            picture.histograms,
            n_clusters=CLUSTERS,
            bandwidth=list(BANDWIDTHS),
            criterion="bas",
            kernel="chi2",
            icd_bandwidth=parameters.icd_bandwidth,
            max_rank=parameters.rank,
            tol=0.0,
            random_state=seed,
            n_jobs=1,
            progress=False,
        )
    blf, bas = result.surfaces["blf"], result.surfaces["bas"]
    two = np.nanmax(blf[:, 0]) > np.nanmax(blf[:, 1])
    surface = blf[:, :1] if two else bas[:, 1:]
    place = np.unravel_index(np.nanargmax(surface), surface.shape)
    return {
        "n_clusters": 2 if two else CLUSTERS[1 + int(place[1])],
        "bandwidth": BANDWIDTHS[int(place[0])],
        "blf_2": float(np.nanmax(blf[:, 0])),
        "blf_3": float(np.nanmax(blf[:, 1])),
        "bas": float(np.nanmax(bas[:, 1:])),
    }


def tuned(options: Options, name: str, seed: int) -> images.Parameters:
    """Return the parameters of an image with K and the bandwidth that the search found."""
    store = Store(options.out / "table3.csv", KEYS)
    row = store.get(
        partial(search, options, name, seed), image=name, seed=seed, quick=options.quick
    )
    return replace(
        PARAMETERS[name],
        n_clusters=int(str(row["n_clusters"])),
        bandwidth=float(str(row["bandwidth"])),
    )


def section(options: Options) -> Section:
    rows = read(options.out / "table3.csv")
    cells = []
    for name in dict.fromkeys(str(row["image"]) for row in rows):
        parameters = PARAMETERS[name]
        here = [row for row in rows if str(row["image"]) == name]
        cells.append(
            (
                name,
                parameters.n_clusters,
                parameters.icd_bandwidth,
                str(parameters.rank),
                parameters.bandwidth,
                ", ".join(str(row["n_clusters"]) for row in here),
                ", ".join(f"{float(str(row['bandwidth'])):.3g}" for row in here),
            )
        )
    table = Table(
        "Table 3. Parameters used, and what the search finds (one number for each run)",
        ("image", "K", "σ of the ICD", "R", "σ", "K found", "σ found"),
        cells,
    )
    return Section("Table 3: parameters of the images", TEXT, [table], why=WHY)
