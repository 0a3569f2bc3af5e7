"""``ksc segment``: the segments of an image, as numbers and drawn on it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from sparseksc._text import escaped
from sparseksc.cli.console import Reporter
from sparseksc.cli.labels import check_outputs
from sparseksc.cli.staging import Staging
from sparseksc.cli.words import count, short_bandwidth
from sparseksc.data.atomic import atomic_write
from sparseksc.image import Segmentation, segment
from sparseksc.image.overlay import segment_colours

IMAGES = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".webp": "WEBP",
}
#: A PNG file has a number for each pixel and, in its palette, the mean colour of the segment.
MAPS = (".png", ".npy")


def run(
    *,
    image: str,
    n_segments: Any,
    features: str,
    connected: bool,
    bandwidth: Any,
    levels: int | None,
    dither: bool,
    clean_up: int | None,
    output: str | None,
    overlay: str | None,
    random_state: int,
    n_jobs: int | None,
    as_json: bool,
) -> None:
    """Do what the command line says."""
    if output is not None and _ending(output) not in MAPS:
        raise click.UsageError(
            f"The segments {escaped(output)} must end in one of {', '.join(MAPS)}."
        )
    if overlay is not None and _ending(overlay) not in IMAGES:
        raise click.UsageError(
            f"The image {escaped(overlay)} must end in one of {', '.join(IMAGES)}."
        )
    check_outputs([image], [output, overlay])
    if not os.path.exists(image):
        raise FileNotFoundError(f"There is no file {escaped(image)}.")
    reporter = Reporter(as_json)
    with reporter.listening(), Staging() as staging:
        places = {name: staging.place(name) for name in (output, overlay) if name is not None}
        found = segment(
            image,
            n_segments,
            features=features,
            connected=connected,
            bandwidth=bandwidth,
            levels=levels,
            dither=dither or None,
            clean_up="auto" if clean_up is None else clean_up,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=int(sys.stderr.isatty()),
        )
        if output is not None:
            save_segments(found, places[output])
        if overlay is not None:
            save_picture(found.overlay(), places[overlay])
    height, width = found.labels.shape
    numbers, sizes = np.unique(found.labels, return_counts=True)
    scale = ""
    if found.model.bandwidth_ is not None:
        scale = f": bandwidth {short_bandwidth(found.model.bandwidth_)}"
    reporter.say(
        f"{count(len(numbers), 'segment')} in {width} x {height} pixels{scale}.",
        style="bold",
    )
    reporter.table(
        ("segment", "pixels", "share"),
        [
            (str(number), f"{size:,}", f"{size / found.labels.size:.1%}")
            for number, size in zip(numbers, sizes, strict=True)
        ],
    )
    for what, name in {"segments": output, "overlay": overlay}.items():
        if name is not None:
            reporter.say(f"{what}: {name}")
    reporter.result(
        {
            "n_segments": len(numbers),
            "bandwidth": found.model.bandwidth_,
            "width": width,
            "height": height,
            "segments": dict(zip(map(str, numbers), sizes.tolist(), strict=True)),
            "output": output,
            "overlay": overlay,
        }
    )


def _ending(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def save_segments(found: Segmentation, path: Path) -> None:
    """Write the number of the segment of each pixel, as an array or as an indexed image."""
    if _ending(path.name) == ".npy":
        with atomic_write(path) as file:
            np.save(file, found.labels)
        return
    from PIL import Image

    if found.n_segments > 256:
        raise ValueError(
            f"A .png file has up to 256 segments, got {found.n_segments}: write .npy, or ask for "
            "fewer."
        )
    image = Image.fromarray(found.labels.astype(np.uint8))
    image.putpalette(segment_colours(found.image, found.labels).ravel().tolist())
    with atomic_write(path) as file:
        image.save(file, format="PNG")


def save_picture(pixels: Any, path: Path) -> None:
    """Write an array of bytes as an image of the kind that the name says."""
    from PIL import Image

    with atomic_write(path) as file:
        Image.fromarray(pixels).save(file, format=IMAGES[_ending(path.name)])
