"""Segments of the Berkeley images, unattended, and what each choice is worth.

    python -m benchmarks.segmentation ../shared/data/bsds500 [--seeds 3] [--copies] [--ablation]

Prints Markdown tables: F of the boundary benchmark for each image and seed; with ``--copies``, the
mean over the images when they are mirrored, turned, cropped or reduced; with ``--ablation``,
without one of the choices.
"""

import argparse
from pathlib import Path
from time import process_time
from unittest.mock import patch

import numpy as np
from PIL import Image
from scipy.io import loadmat

from sparseksc.image import boundaries, boundary_map_f_measure, segment

HOME = "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html"

#: What is changed, and how the call changes.
ABLATION = {
    "as it is": {},
    "window 5 × 5 alone": {"windows": 5},
    "dithering": {"dither": True},
    "specks kept": {"clean_up": 0},
    "16 colours": {"levels": 16},
    "3 segments": {"n_segments": 3},
    "bandwidth 0.07": {"bandwidth": 0.07},
}
#: Constants that are changed, and their values.
CONSTANTS = {
    "pivots by the residual alone": ("sparseksc.image.selection.PIVOTING", "greedy"),
    "recall as important as precision": ("sparseksc.image.evaluation.BETA", 1.0),
}


def reduce(array, share=0.75):
    """Take the nearest of the pixels of a smaller grid."""
    rows, columns = (
        ((np.arange(int(share * size)) + 0.5) / share).astype(int) for size in array.shape[:2]
    )
    return array[np.ix_(rows, columns)]


#: Copies that a method which does not live by luck does as well on.
COPIES = {
    "mirrored": lambda array: array[:, ::-1],
    "turned by 90°": np.rot90,
    "without a twelfth at the top and on the left": lambda array: array[
        array.shape[0] // 12 :, array.shape[1] // 12 :
    ],
    "every fourth row and column left out": reduce,
}


def berkeley(folder, change=np.asarray):
    """Names, images and boundary maps of the humans, all changed in the same way."""
    for path in sorted((folder / "images").glob("*.jpg"), key=lambda path: int(path.stem)):
        truth = loadmat(folder / "groundTruth" / f"{path.stem}.mat")["groundTruth"][0]
        humans = [boundaries(change(human["Segmentation"][0, 0])) for human in truth]
        with Image.open(path) as image:
            yield path.stem, np.ascontiguousarray(change(np.asarray(image))), humans


def measure(images, seed, **arguments):
    """F, number of segments, bandwidth and processor seconds for each image."""
    rows = {}
    for name, image, humans in images:
        started = process_time()
        result = segment(image, random_state=seed, **arguments)
        seconds = process_time() - started
        f = boundary_map_f_measure(boundaries(result.labels), humans).f
        rows[name] = f, result.n_segments, result.model.bandwidth_, seconds
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="BSDS500: images/ and groundTruth/")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--copies", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    arguments = parser.parse_args()
    images = list(berkeley(arguments.folder))
    if not images:
        parser.error(f"no images in {arguments.folder / 'images'}; get BSDS500 from {HOME}")
    seeds = range(arguments.seeds)
    runs = [measure(images, seed) for seed in seeds]
    heads = [f"F, seed {seed}" for seed in seeds]
    print("| image |", " | ".join(heads), "| segments | bandwidth | processor s |")
    print("|---|" + "---|" * (len(heads) + 3))
    for name in runs[0]:
        values = " | ".join(f"{run[name][0]:.3f}" for run in runs)
        _, segments, bandwidth, seconds = runs[0][name]
        print(f"| {name} | {values} | {segments} | {bandwidth:g} | {seconds:.1f} |")
    means = [np.mean([row[0] for row in run.values()]) for run in runs]
    print("| **mean** |", " | ".join(f"**{mean:.3f}**" for mean in means), "| | | |")
    if arguments.copies:
        print("\n| copies | mean F | worst image |\n|---|---|---|")
        for name, change in COPIES.items():
            show(name, measure(list(berkeley(arguments.folder, change)), 0))
    if arguments.ablation:
        print("\n| change | mean F | worst image |\n|---|---|---|")
        for name, call in ABLATION.items():
            show(name, measure(images, 0, **call) if call else runs[0])
        for name, (constant, value) in CONSTANTS.items():
            with patch(constant, value):
                show(name, measure(images, 0))


def show(name, rows):
    values = [f for f, *_ in rows.values()]
    print(f"| {name} | {np.mean(values):.3f} | {min(values):.2f} |", flush=True)


if __name__ == "__main__":
    main()
