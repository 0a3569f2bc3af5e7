"""Segments of the Berkeley images, unattended, beside other methods and people.

    python -m benchmarks.segmentation [--draws 5] [--methods NAME ...]
    python -m benchmarks.segmentation --fit | --ablation | --times | --sheets DIR

The 40 images of ``bsds500-more``, sorted by number, are halved: the first, third, fifth ... are for
choosing, the others are held out, like the ten of ``bsds500``. Prints Markdown tables: the mean F
of the boundary benchmark for each method, that of given numbers of segments, that of
``segment(image)`` if its landmarks came from other samples than they do (``--draws``: an image has
one segmentation, that of the first draw), and that of each image. ``--fit`` prints the constants of
``sparseksc.image.hierarchy`` instead, ``--ablation`` what single choices are worth; both take the
choosing half alone. ``--sheets`` writes contact sheets instead: every image, its segments, and all
that people drew, the darker the more of them; ``--times`` prints the times of one image, and the
time and the memory of it at 12 megapixels.
"""

import argparse
import resource
from pathlib import Path
from time import perf_counter, process_time
from unittest.mock import patch

import numpy as np
from PIL import Image
from scipy import ndimage
from scipy.io import loadmat
from skimage import graph
from skimage.color import rgb2lab
from skimage.segmentation import felzenszwalb, slic
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from sparseksc.image import boundaries, boundary_map_f_measure, hierarchy, regions, segment
from sparseksc.image.hierarchy import neighbours, region_graph
from sparseksc.image.measure import MATCHING_DISTANCE

HOME = "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html"


def berkeley(folder):
    """Names, images and boundary maps of the humans, by number."""
    for path in sorted((folder / "images").glob("*.jpg"), key=lambda path: int(path.stem)):
        truth = loadmat(folder / "groundTruth" / f"{path.stem}.mat")["groundTruth"][0]
        humans = [boundaries(human["Segmentation"][0, 0]) for human in truth]
        with Image.open(path) as image:
            yield path.stem, np.asarray(image), humans


def local(image, seed):
    """With other samples for each seed; those of seed 0 are what users get."""
    seeds = tuple(len(regions.SEEDS) * seed + one for one in regions.SEEDS)
    with patch.object(regions, "SEEDS", seeds):
        return segment(image).labels


def histogram(image, seed):
    return segment(image, features="histogram", random_state=seed).labels


def kmeans(image, seed):
    """Three colours."""
    pixels = rgb2lab(image).reshape(-1, 3)
    return KMeans(3, n_init=3, random_state=seed).fit_predict(pixels).reshape(image.shape[:2])


def graph_based(image, seed):
    return felzenszwalb(image, scale=300, sigma=0.8, min_size=300)


def normalised_cut(image, seed):
    """Superpixels of equal size, and a cut of the graph of neighbours by their mean colours."""
    parts = slic(image, n_segments=400, compactness=20, start_label=0)
    similar = graph.rag_mean_color(image, parts, mode="similarity")
    return graph.cut_normalized(parts, similar, thresh=0.1, rng=seed)


METHODS = {
    "`segment(image)`": local,
    '`segment(image, features="histogram")`': histogram,
    "Felzenszwalb and Huttenlocher (scale 300, sigma 0.8, min_size 300)": graph_based,
    "SLIC and normalised cut of the region graph": normalised_cut,
    "k-means, three colours": kmeans,
}


def measure(images, method, seed=0):
    """F, number of segments and CPU seconds of all threads for each image."""
    rows = {}
    for name, image, humans in images:
        started = process_time()
        labels = method(image, seed)
        seconds = process_time() - started
        f = boundary_map_f_measure(boundaries(labels), humans).f
        rows[name] = f, len(np.unique(labels)), seconds
    return rows


def mean_f(rows):
    return np.mean([f for f, *_ in rows.values()])


def human_f(images):
    """Each human against the others."""
    values = []
    for _, _, humans in images:
        each = [
            boundary_map_f_measure(one, humans[:k] + humans[k + 1 :]).f
            for k, one in enumerate(humans)
        ]
        values.append(np.mean(each))
    return np.mean(values)


def evidence_of_people(image, humans):
    """Evidence for the boundaries of regions, the share of people who drew them, their lengths."""
    found = segment(image).levels.regions
    graph = region_graph(found.labels, found.gradients, found.colours, found.scores)
    radius = MATCHING_DISTANCE * np.hypot(*found.labels.shape)
    near = [(ndimage.distance_transform_edt(~human) <= radius).astype(float) for human in humans]
    along = neighbours(found.labels)
    drawn = np.mean([along.sums(one) for one in near], axis=0) / graph.lengths
    return graph.evidence, drawn, graph.lengths


def fit(images):
    """Print the logistic regression of what people drew on the evidence."""
    parts = [evidence_of_people(image, humans) for _, image, humans in images]
    X, drawn, lengths = (np.concatenate(part) for part in zip(*parts, strict=True))
    weights = np.concatenate([drawn * lengths, (1.0 - drawn) * lengths])
    y = np.repeat([1, 0], len(X))
    model = LogisticRegression().fit(np.vstack([X, X]), y, weights / weights.mean())
    print(f"WEIGHTS = {model.coef_[0].round(2).tolist()}, INTERCEPT = {model.intercept_[0]:.2f}")


#: Constants that are changed, and their values.
ABLATION = {
    "as it is": {},
    "one clustering": {"regions.SEEDS": (0,)},
    "two clusterings": {"regions.SEEDS": (0, 1)},
    "eight clusterings": {"regions.SEEDS": tuple(range(8))},
    "20 clusters": {"regions.CLUSTERS": 20},
    "40 clusters": {"regions.CLUSTERS": 40},
    "position worth half": {"regions.POSITION_WEIGHT": 17.5},
    "position worth twice": {"regions.POSITION_WEIGHT": 70.0},
    "boundaries not moved to edges": {"regions.REACH": 0},
    "no lightness": {"hierarchy.WEIGHTS": 0},
    "no colour": {"hierarchy.WEIGHTS": 1},
    "no local contrast": {"hierarchy.WEIGHTS": 2},
    "no scores": {"hierarchy.WEIGHTS": 3},
}


def changed(name, value):
    """A constant with another value; of the weights, the one that is left out."""
    if name == "hierarchy.WEIGHTS":
        value = np.where(np.arange(4) == value, 0.0, hierarchy.WEIGHTS)
    place = "segmentation" if name.endswith(("CLUSTERS", "POSITION_WEIGHT")) else ""
    target = name if not place else f"{place}.{name.split('.')[1]}"
    return patch(f"sparseksc.image.{target}", value)


def ablation(images):
    print("| change | mean F | segments |\n|---|---|---|")
    for name, constants in ABLATION.items():
        with_changes = [changed(*item) for item in constants.items()]
        for one in with_changes:
            one.start()
        rows = measure(images, lambda image, seed: segment(image).labels)
        for one in with_changes:
            one.stop()
        segments = np.mean([count for _, count, _ in rows.values()])
        print(f"| {name} | {mean_f(rows):.3f} | {segments:.0f} |", flush=True)


def compare(parts, names):
    print("| method |", " | ".join(parts), "| median CPU s |")
    print("|---|" + "---|" * (len(parts) + 1))
    for name, method in METHODS.items():
        if names and method.__name__ not in names:
            continue
        runs = [measure(images, method) for images in parts.values()]
        seconds = np.median([row[2] for run in runs for row in run.values()])
        cells = " | ".join(f"{mean_f(run):.3f}" for run in runs)
        print(f"| {name} | {cells} | {seconds:.2f} |", flush=True)
    if names and "people" not in names:
        return
    cells = " | ".join(f"{human_f(images):.3f}" for images in parts.values())
    print(f"| people, each against the others | {cells} | |")


def levels_table(parts, numbers=(2, 3, 4, 6, 8, 12)):
    """Given numbers of segments, and the best of them for each image."""
    print("\n| images |", " | ".join(f"{n} segments" for n in numbers), "| best of them |")
    print("|---|" + "---|" * (len(numbers) + 1))
    for name, images in parts.items():
        values = []
        for _, image, humans in images:
            found = segment(image)
            levels = [found.at(n).labels for n in numbers]
            values.append([boundary_map_f_measure(boundaries(one), humans).f for one in levels])
        means = [*np.mean(values, axis=0), np.max(values, axis=1).mean()]
        print(f"| {name} |", " | ".join(f"{mean:.3f}" for mean in means), "|", flush=True)


def draws_table(parts, draws):
    print("\n| images |", " | ".join(f"draw {draw}" for draw in draws), "| mean | spread |")
    print("|---|" + "---|" * (len(draws) + 2))
    first = {}
    for name, images in parts.items():
        runs = [measure(images, local, draw) for draw in draws]
        first |= runs[0]
        means = [mean_f(run) for run in runs]
        cells = " | ".join(f"{mean:.3f}" for mean in means)
        spread = max(means) - min(means)
        print(f"| {name} | {cells} | {np.mean(means):.3f} | {spread:.3f} |", flush=True)
    print("\n| image | F | segments |\n|---|---|---|")
    for name, (f, count, _) in first.items():
        print(f"| {name} | {f:.2f} | {count} |")


def times(image, rounds=7):
    """Print the times of an image, alternately with another method, and of it enlarged."""
    seconds = {local: [], graph_based: []}
    for _ in range(rounds):
        for method, found in seconds.items():
            wall, cpu = perf_counter(), process_time()
            method(image, 0)
            found.append((perf_counter() - wall, process_time() - cpu))
    for method, found in seconds.items():
        wall, cpu = np.median(found, axis=0)
        size = f"{image.shape[1]} x {image.shape[0]}"
        print(f"{size}, {method.__name__}: {wall:.2f} s, CPU {cpu:.2f} s (medians of {rounds})")
    height, width = (4000, 3000) if image.shape[0] > image.shape[1] else (3000, 4000)
    big = np.asarray(Image.fromarray(image).resize((width, height)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = perf_counter(), process_time()
    found = segment(big)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{width} x {height}: {found.n_segments} segments, {wall:.1f} s, CPU {cpu:.1f} s, ", end=""
    )
    print(f"peak {peak / 1024:.0f} MB, before {before / 1024:.0f} MB")


def as_drawn(humans):
    """Boundaries of all people on white, two pixels wide, the darker the more drew them."""
    share = np.mean([ndimage.maximum_filter(human, 2) for human in humans], axis=0)
    return np.repeat((255 * (1.0 - share)).astype(np.uint8)[..., None], 3, axis=2)


def sheets(parts, folder, per_sheet=10):
    """Write contact sheets at half the size, two images in a row, and say what is on each."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, images in parts.items():
        for first in range(0, len(images), per_sheet):
            shown = images[first : first + per_sheet]
            tiles = []
            for name, image, humans in shown:
                found = segment(image)
                row = np.hstack([image, found.overlay(fill=0.8), as_drawn(humans)])
                f = boundary_map_f_measure(boundaries(found.labels), humans).f
                print(f"{part}, sheet {first // per_sheet + 1}: {name}, F {f:.2f}", flush=True)
                tiles.append(Image.fromarray(row).resize((row.shape[1] // 2, row.shape[0] // 2)))
            width = 2 * max(tile.width for tile in tiles)
            height = max(tile.height for tile in tiles)
            sheet = Image.new("RGB", (width, height * ((len(tiles) + 1) // 2)), "white")
            for k, tile in enumerate(tiles):
                sheet.paste(tile, (k % 2 * width // 2, k // 2 * height))
            path = folder / f"{part.replace(' ', '-')}-{first // per_sheet + 1}.jpg"
            unfinished = path.with_suffix(".part")
            sheet.save(unfinished, format="JPEG", quality=80)
            unfinished.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--methods", nargs="*", help="functions of this file, people, levels; all")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--sheets", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    if arguments.times:
        return times(next(berkeley(arguments.data / "bsds500"))[1])
    more = list(berkeley(arguments.data / "bsds500-more"))
    if not more:
        parser.error(f"no images in {arguments.data / 'bsds500-more'}; get BSDS500 from {HOME}")
    if arguments.fit:
        fit(more[0::2])
    elif arguments.ablation:
        ablation(more[0::2])
    else:
        parts = {"choosing half": more[0::2], "held-out half": more[1::2]}
        parts["the ten of the paper"] = list(berkeley(arguments.data / "bsds500"))
        if arguments.sheets:
            return sheets(parts, arguments.sheets)
        compare(parts, arguments.methods)
        if not arguments.methods or "levels" in arguments.methods:
            levels_table(parts)
        if arguments.draws:
            draws_table(parts, range(arguments.draws))


if __name__ == "__main__":
    main()
