"""A contact sheet: pictures, our segments and those of people, side by side.

    python examples/contact_sheet.py ../shared/data/bsds500 sheet.png

The folder holds ``images/*.jpg`` and ``groundTruth/*.mat`` as BSDS500 does
(https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html).
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from scipy.io import loadmat

from sparseksc.image import boundary_f_measure, segment
from sparseksc.image.overlay import draw_boundaries, mean_colours

WIDTH, MARGIN, CAPTION = 320, 6, 16


def human_maps(path):
    """Label maps of all humans."""
    return [human["Segmentation"][0, 0] for human in loadmat(path)["groundTruth"][0]]


def thumbnail(rgb):
    picture = Image.fromarray(rgb)
    return picture.resize((WIDTH, round(WIDTH * picture.height / picture.width)))


def row(folder, path):
    """Picture, our boundaries, our mean colours, the human who agrees best with the others."""
    result = segment(path)
    humans = human_maps(folder / "groundTruth" / f"{path.stem}.mat")
    score = boundary_f_measure(result.labels, humans)
    typical = max(
        humans,
        key=lambda one: boundary_f_measure(one, [other for other in humans if other is not one]).f,
    )
    red = (255, 0, 0)
    pictures = [
        result.image,
        draw_boundaries(result.image, result.labels, red, 2),
        mean_colours(result.image, result.labels),
        draw_boundaries(result.image, typical.astype(np.intp), red, 2),
    ]
    caption = (
        f"{path.stem}: F {score.f:.2f} (precision {score.precision:.2f}, recall "
        f"{score.recall:.2f}), {result.n_segments} segments"
    )
    print(caption, flush=True)
    return caption, [thumbnail(picture) for picture in pictures]


def sheet(rows):
    heights = [max(picture.height for picture in pictures) for _, pictures in rows]
    columns = len(rows[0][1])
    size = (
        columns * (WIDTH + MARGIN) + MARGIN,
        sum(heights) + len(rows) * (MARGIN + CAPTION) + MARGIN,
    )
    page = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(page)
    top = MARGIN
    for (caption, pictures), height in zip(rows, heights, strict=True):
        draw.text((MARGIN, top), caption, fill="black")
        for column, picture in enumerate(pictures):
            page.paste(picture, (MARGIN + column * (WIDTH + MARGIN), top + CAPTION))
        top += height + CAPTION + MARGIN
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with images/ and groundTruth/")
    parser.add_argument("output", type=Path, help="picture to write")
    arguments = parser.parse_args()
    paths = sorted((arguments.folder / "images").glob("*.jpg"))
    if not paths:
        parser.error(f"no pictures in {arguments.folder / 'images'}")
    sheet([row(arguments.folder, path) for path in paths]).save(arguments.output)


if __name__ == "__main__":
    main()
