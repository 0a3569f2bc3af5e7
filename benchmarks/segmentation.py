"""Segments of the Berkeley images, unattended, and what each choice is worth.

    python -m benchmarks.segmentation ../shared/data/bsds500 [--seeds 3] [--ablation]

Prints Markdown tables: F of the boundary benchmark for each image and seed, and, with
``--ablation``, the mean over the images without one of the choices.
"""

import argparse
from pathlib import Path
from time import process_time

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


def berkeley(folder):
    """Names, pictures and boundary maps of the humans."""
    for path in sorted((folder / "images").glob("*.jpg"), key=lambda path: int(path.stem)):
        truth = loadmat(folder / "groundTruth" / f"{path.stem}.mat")["groundTruth"][0]
        humans = [boundaries(human["Segmentation"][0, 0]) for human in truth]
        with Image.open(path) as picture:
            yield path.stem, np.asarray(picture), humans


def measure(images, seed, **arguments):
    """F, number of segments, bandwidth and processor seconds for each image."""
    rows = {}
    for name, picture, humans in images:
        started = process_time()
        result = segment(picture, random_state=seed, **arguments)
        seconds = process_time() - started
        f = boundary_map_f_measure(boundaries(result.labels), humans).f
        rows[name] = f, result.n_segments, result.model.bandwidth_, seconds
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="BSDS500: images/ and groundTruth/")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ablation", action="store_true")
    arguments = parser.parse_args()
    images = list(berkeley(arguments.folder))
    if not images:
        parser.error(f"no pictures in {arguments.folder / 'images'}; get BSDS500 from {HOME}")
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
    if arguments.ablation:
        print("\n| change | mean F | worst image |\n|---|---|---|")
        for change, call in ABLATION.items():
            values = [row[0] for row in (measure(images, 0, **call) if call else runs[0]).values()]
            print(f"| {change} | {np.mean(values):.3f} | {min(values):.2f} |", flush=True)


if __name__ == "__main__":
    main()
