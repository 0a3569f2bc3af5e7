"""How the parameters of table 3 were found: by looking at the human segmentations.

``python -m experiments.estimate 3096 42049`` compares combinations of K and the two bandwidths by
the F-measure of the paper's route on one training sample, and the ten best of them on four more.
It takes a minute or two for each image and prints what `experiments.table3.PARAMETERS` holds.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from statistics import fmean

from threadpoolctl import threadpool_limits

from experiments import images, paper
from experiments.options import DATA
from sparseksc.core.encoding import TooFewCodeWords

CLUSTERS = (2, 3, 4, 5, 6, 8)
ICD_BANDWIDTHS = (0.01, 0.05, 0.25)
BANDWIDTHS = (0.01, 0.05, 0.25, 1.0)
RANK = 100
FIRST_SEED, SAMPLES = 100, 5
KEPT = 10


def estimate(picture: images.Picture) -> list[tuple[float, images.Parameters]]:
    """Return the best combinations with their mean F-measure, best first."""
    candidates = [
        images.Parameters(K, icd_bandwidth, RANK, bandwidth)
        for K, icd_bandwidth, bandwidth in product(CLUSTERS, ICD_BANDWIDTHS, BANDWIDTHS)
    ]
    first = {parameters: f_measure(picture, parameters, 0) for parameters in candidates}
    best = sorted(candidates, key=first.__getitem__, reverse=True)[:KEPT]
    means = [
        (
            fmean([first[one], *(f_measure(picture, one, i) for i in range(1, SAMPLES))]),
            one,
        )
        for one in best
    ]
    return sorted(means, key=lambda pair: pair[0], reverse=True)


def f_measure(picture: images.Picture, parameters: images.Parameters, sample: int) -> float:
    """F-measure on one training sample; 0 where the scores do not show K clusters."""
    try:
        labels = images.paper_labels(picture, parameters, FIRST_SEED + sample)
    except TooFewCodeWords:
        return 0.0
    return picture.f_measure(labels)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.estimate", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(paper.F_MEASURE), metavar="image")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of BSDS500")
    given = parser.parse_args()
    if reason := images.missing(given.data):
        parser.error(reason)
    with threadpool_limits(1):
        for name in given.names:
            for mean, parameters in estimate(images.load(given.data, name))[:3]:
                print(f"{name}: mean F {mean:.4f}, printed {paper.F_MEASURE[name]}, {parameters}")


if __name__ == "__main__":
    main()
