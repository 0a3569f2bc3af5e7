"""Images of any kind as red, green and blue bytes, or as channels of numbers to analyse."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from sparseksc._text import escaped
from sparseksc._typing import StrPath

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]

#: Modes of Pillow that hold 16 bits or more per pixel.
DEEP_MODES = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")

#: Images, and volumes, are reduced by the whole factor that brings them nearest to this size, the
#: one that lengths were chosen for.
ANALYSED_PIXELS, ANALYSED_VOXELS = 481 * 321, 1_000_000

Scaling = tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]

#: Distance of black and white in CIELAB, and in other channels.
WHITE = 100.0


def as_rgb(image: Any) -> Bytes:
    """Return an image as an array of shape (height, width, 3), uint8.

    Parameters
    ----------
    image : path, PIL image or array
        Arrays have the shape (height, width), (height, width, 1) for grey, 2 channels for grey
        and opacity, 3 for RGB, 4 for RGBA; their numbers are bytes, 16-bit integers, booleans, or
        floats between 0 and 1. Opacity is laid over white. Files and PIL images are turned the
        way their EXIF orientation says.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.pixels import as_rgb
    >>> as_rgb(np.array([[0.0, 1.0]])).tolist()
    [[[0, 0, 0], [255, 255, 255]]]
    >>> as_rgb(np.zeros((2, 2, 5)))
    Traceback (most recent call last):
        ...
    ValueError: An image has the shape (height, width) or (height, width, 1 to 4), got (2, 2, 5).
    """
    if isinstance(image, str | os.PathLike):
        image = _opened(image)
    if _is_pillow(image):
        image = _array_of(image)
    array = _unmasked(image)
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 2, 3, 4)):
        raise ValueError(
            f"An image has the shape (height, width) or (height, width, 1 to 4), got {array.shape}."
        )
    if array.size == 0:
        raise ValueError(f"The image has no pixels: its shape is {array.shape}.")
    array = _to_bytes(array)
    if array.ndim == 2:
        array = array[:, :, None]
    channels = array.shape[2]
    if channels in (2, 4):
        array = _over_white(array[:, :, :-1], array[:, :, -1:])
    if array.shape[2] == 1:
        array = np.repeat(array, 3, axis=2)
    return np.ascontiguousarray(array)


def _unmasked(image: Any) -> NDArray[Any]:
    if np.ma.is_masked(image):
        raise ValueError(
            "An image must not be masked: fill the masked pixels, and say with mask= which pixels "
            "to segment."
        )
    return np.asarray(image)


def _to_bytes(array: NDArray[Any]) -> Bytes:
    kind = array.dtype.kind
    if array.dtype == np.uint8:
        return array
    if kind == "b":
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype == np.uint16:
        return _in_rows(array, lambda rows: (rows.astype(np.uint32) * 255 + 32767) // 65535)
    if kind == "f":
        if not np.isfinite(array).all():
            raise ValueError(
                "The image contains NaN or infinite values: fill them, and say with mask= which "
                "pixels to segment."
            )
        low, high = float(array.min()), float(array.max())
        if low < 0.0 or high > 1.0:
            raise ValueError(
                "An image of floats must lie between 0 and 1, got values from "
                f"{low:g} to {high:g}. Divide it by its white."
            )
        return _in_rows(array, lambda rows: np.rint(rows * 255.0))
    if kind in "iu":
        low, high = int(array.min()), int(array.max())
        if low >= 0 and high <= 255:
            return array.astype(np.uint8)
        if low >= 0 and high <= 65535:
            return _to_bytes(array.astype(np.uint16))
        raise ValueError(
            f"An image of integers must lie between 0 and 65535, got values from {low} to {high}."
        )
    raise ValueError(f"An image must hold numbers, got {array.dtype}.")


def _in_rows(array: NDArray[Any], work: Any) -> Bytes:
    """Convert row by row, so that no copy of the whole image is larger than the result."""
    result = np.empty(array.shape, dtype=np.uint8)
    for row, converted in enumerate(array):
        result[row] = work(converted)
    return result


def _over_white(colour: Bytes, opacity: Bytes) -> Bytes:
    def blend(row: int) -> NDArray[Any]:
        alpha = opacity[row].astype(np.uint32)
        return (colour[row] * alpha + 255 * (255 - alpha) + 127) // 255

    if opacity.min() == 255:
        return colour
    result = np.empty(colour.shape, dtype=np.uint8)
    for row in range(len(colour)):
        result[row] = blend(row)
    return result


def _pillow() -> Any:
    try:
        import PIL.Image
        import PIL.ImageOps
    except ImportError as error:
        raise ImportError(
            "Reading and writing images needs Pillow: pip install 'sparseksc[image]'."
        ) from error
    return PIL


def _is_pillow(image: Any) -> bool:
    """Whether this is a PIL image, without importing Pillow for anything else."""
    return any(base.__module__ == "PIL.Image" for base in type(image).__mro__)


def _opened(path: StrPath) -> Any:
    pillow, shown = _pillow(), escaped(os.fspath(path))
    try:
        with pillow.Image.open(path) as opened:
            opened.load()
            return opened
    except pillow.UnidentifiedImageError as error:
        raise ValueError(f"{shown} is not an image that Pillow can read.") from error
    except pillow.Image.DecompressionBombError as error:
        raise ValueError(f"{shown} is too large to be an image: {error}") from error
    except (SyntaxError, EOFError) as error:
        raise ValueError(f"{shown} is damaged: {error}.") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{shown} is damaged: {error}.") from error


def _array_of(image: Any) -> NDArray[Any]:
    image = _pillow().ImageOps.exif_transpose(image)
    if image.mode in DEEP_MODES:
        return np.asarray(image)
    if image.mode == "P" or "transparency" in image.info:
        image = image.convert("RGBA")
    elif image.mode not in ("1", "L", "LA", "RGB", "RGBA"):
        image = image.convert("RGB")
    return np.asarray(image)


def reduction(shape: tuple[int, ...], n_pixels: int) -> int:
    """Whole factor that makes an image of this shape about as large as ``n_pixels``.

    Examples
    --------
    >>> from sparseksc.image.pixels import reduction
    >>> reduction((321, 481), 154_401), reduction((3000, 4000), 154_401), reduction((2, 10**7), 9)
    (1, 9, 2)
    """
    factor = round((np.prod(shape, dtype=np.float64) / n_pixels) ** (1.0 / len(shape)))
    return max(1, min(factor, *shape))


def reduced(
    array: NDArray[Any], scale: int, n_dimensions: int = 2, mask: Mask | None = None
) -> NDArray[Any]:
    """Reduce an image by a whole factor: means of squares of ``scale`` x ``scale`` pixels.

    Rows and columns that do not fill a square are left out, and so are pixels outside the mask; the
    mean of none is 0. Bytes are rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.pixels import reduced
    >>> reduced(np.arange(15, dtype=np.uint8).reshape(1, 5, 3).repeat(2, axis=0), 2).tolist()
    [[[2, 2, 4], [8, 8, 10]]]
    """
    if scale == 1:
        return array
    sizes = [size // scale for size in array.shape[:n_dimensions]]
    rest, is_bytes = array.shape[n_dimensions:], array.dtype == np.uint8
    result = np.empty((*sizes, *rest), dtype=np.uint8 if is_bytes else np.float32)
    inner = tuple(slice(0, size * scale) for size in sizes[1:])
    blocks = tuple(part for size in sizes[1:] for part in (size, scale))
    axes = (0, *range(2, 2 * n_dimensions, 2))
    for row in range(sizes[0]):
        band = (slice(row * scale, (row + 1) * scale), *inner)
        block = array[band].reshape(scale, *blocks, *rest)
        if mask is None:
            means = block.mean(axis=axes)
        else:
            taken = mask[band].reshape(scale, *blocks, *(1 for _ in rest))
            sums = np.where(taken, block, 0).sum(axis=axes, dtype=np.float64)
            means = sums / np.maximum(np.count_nonzero(taken, axis=axes), 1)
        result[row] = np.rint(means) if is_bytes else means
    return result


def enlarged(labels: NDArray[Any], scale: int, shape: tuple[int, ...]) -> NDArray[Any]:
    """Repeat every pixel of a reduced label map, and its last ones up to the shape.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.pixels import enlarged
    >>> enlarged(np.array([[0, 1]]), 2, (2, 5)).tolist()
    [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1]]
    """
    places = [
        np.minimum(np.arange(size) // scale, small - 1)
        for size, small in zip(shape, labels.shape, strict=True)
    ]
    return labels[np.ix_(*places)]


def filled(values: NDArray[Any], mask: Mask) -> NDArray[Any]:
    """Give pixels outside the mask the values of the nearest one inside."""
    nearest = ndimage.distance_transform_edt(~mask, return_distances=False, return_indices=True)
    return values[tuple(nearest)]


@dataclass(frozen=True)
class Channels:
    """An image of any number of dimensions, in units where black and white are 100 apart.

    Attributes
    ----------
    values : array of shape (..., n_channels), float32
    n_lightness : int
        The first so many channels say how light a pixel is, the others its colour.
    scaling : tuple of two arrays of shape (n_channels,), or None
        What was subtracted from the channels, and what they were then multiplied by.
    """

    values: NDArray[np.float32]
    n_lightness: int
    scaling: Scaling | None = None

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return int(self.values.shape[-1])

    @property
    def lightness(self) -> NDArray[np.float32]:
        """Channels that say how light a pixel is."""
        return self.values[..., : self.n_lightness]

    @property
    def colour(self) -> NDArray[np.float32]:
        """The other channels."""
        return self.values[..., self.n_lightness :]

    @property
    def has_colour(self) -> bool:
        """Whether any pixel has a colour that is not grey."""
        return bool((np.abs(self.colour) > 1.0).any())


def colour_channels(rgb: Bytes) -> Channels:
    """Return the lightness and the two opponent colours of CIELAB."""
    from skimage.color import rgb2lab

    return Channels(rgb2lab(rgb).astype(np.float32), 1)


def plain_channels(
    array: NDArray[Any], mask: Mask | None = None, scaling: Scaling | None = None
) -> Channels:
    """Scale each of the channels, the last axis, from its 1st to its 99th percentile.

    All count the same; together, black and white are 100 apart. Percentiles are those of the pixels
    of the mask; a second image takes the scaling of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.pixels import plain_channels
    >>> plain_channels(np.arange(101.0).reshape(1, 101, 1)).values[0, [1, 50, 99], 0].tolist()
    [0.0, 50.0, 100.0]
    """
    values = array.astype(np.float64)
    if scaling is None:
        inside = values.reshape(-1, array.shape[-1]) if mask is None else values[mask]
        low, high = np.percentile(inside, (1, 99), axis=0)
        # A channel with the same number nearly everywhere is taken from end to end.
        spread = np.where(high > low, high - low, np.ptp(inside) or 1.0)
        scaling = low, WHITE / np.sqrt(array.shape[-1]) / spread
    scaled = (values - scaling[0]) * scaling[1]
    return Channels(scaled.astype(np.float32), array.shape[-1], scaling)


def as_array(image: Any, channel_axis: int | None) -> NDArray[Any]:
    """Return an array of channels, the last axis, of numbers: (..., n_channels)."""
    array = _unmasked(image)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"An image must hold numbers, got {array.dtype}.")
    if channel_axis is None:
        array = array[..., None]
    elif isinstance(channel_axis, bool) or not isinstance(channel_axis, Integral):
        raise ValueError(f"channel_axis must be an integer, None or 'auto', got {channel_axis!r}.")
    elif -array.ndim <= channel_axis < array.ndim:
        array = np.moveaxis(array, channel_axis, -1)
    else:
        raise ValueError(
            f"channel_axis must be an axis of the image, got {channel_axis} for the shape "
            f"{array.shape}."
        )
    if array.ndim not in (3, 4):
        raise ValueError(
            "An image has two dimensions and a volume three, beside the channels, got the shape "
            f"{np.shape(image)} with channel_axis={channel_axis}."
        )
    if array.size == 0:
        raise ValueError(f"The image has no pixels: its shape is {np.shape(image)}.")
    return array


class Reading(NamedTuple):
    """An image as it is analysed.

    Attributes
    ----------
    channels : Channels
        In the size that is analysed.
    inside : array of booleans
        Pixels to segment in that size, those of which half are in ``mask``.
    scale : int
        The whole factor by which the image was reduced to it.
    mask : array of the shape of the image, bool
        Pixels to segment.
    shown : array of shape (..., 3), uint8
        The image to show.
    """

    channels: Channels
    inside: Mask
    scale: int
    mask: Mask
    shown: Bytes


def read_image(
    image: Any, channel_axis: int | str | None, mask: Any = None, scaling: Scaling | None = None
) -> Reading:
    """Read an image; what is outside the mask has no part in its channels, and may be NaN."""
    if channel_axis == "auto":
        array: NDArray[Any] = as_rgb(image)
        size = ANALYSED_PIXELS
    elif isinstance(channel_axis, str):
        raise ValueError(f"channel_axis must be an axis, None or 'auto', got {channel_axis!r}.")
    else:
        array = as_array(image, channel_axis)
        size = ANALYSED_PIXELS if array.ndim == 3 else ANALYSED_VOXELS
    dimensions = array.ndim - 1
    if scaling is not None and array.shape[-1] != len(scaling[0]):
        raise ValueError(
            f"The image has {array.shape[-1]} channels, and the first has {len(scaling[0])}."
        )
    given = check_mask(mask, array.shape[:-1])
    some = None if given.all() else given
    if array.dtype.kind == "f" and not np.isfinite(array if some is None else array[some]).all():
        raise ValueError(
            "The image contains NaN or infinite values: say with mask= which pixels to segment."
        )
    scale = reduction(array.shape[:-1], size)
    small = reduced(array, scale, dimensions, some)
    inside = reduced(given.astype(np.float32), scale, dimensions) >= 0.5
    if not inside.any():
        raise ValueError("The mask leaves less than a pixel of the image as it is analysed.")
    if channel_axis == "auto":
        channels, shown = colour_channels(small), array
    else:
        channels = plain_channels(small, inside, scaling)
        shown = _in_grey(array, channels)
    if not inside.all():
        channels = replace(channels, values=filled(channels.values, inside))
    return Reading(channels, inside, scale, given, shown)


def _in_grey(array: NDArray[Any], channels: Channels) -> Bytes:
    """Mean of the channels as an image to show, black where it is NaN."""
    offset, factor = channels.scaling or (0.0, 1.0)
    grey = (array.mean(axis=-1) - np.mean(offset)) * np.mean(factor) * np.sqrt(array.shape[-1])
    shown = np.nan_to_num(np.clip(np.rint(2.55 * grey), 0, 255)).astype(np.uint8)
    return np.repeat(shown[..., None], 3, axis=-1)


def check_mask(mask: Any, shape: tuple[int, ...]) -> Mask:
    """Return booleans of the shape of the image, all true for None."""
    if mask is None:
        return np.ones(shape, dtype=bool)
    array = np.asarray(mask)
    if array.shape != shape or array.dtype != bool:
        raise ValueError(
            f"mask must be booleans of the shape {shape} of the image, got {array.dtype} of the "
            f"shape {array.shape}."
        )
    if not array.any():
        raise ValueError("mask must have a pixel to segment.")
    return array
