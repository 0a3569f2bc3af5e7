"""Images as they are analysed: channels of numbers, in a size for which lengths were chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseksc.image.boundaries import Mask
from sparseksc.image.palette import Bytes
from sparseksc.image.pixels import as_rgb, filled, reduced, reduction, unmasked

#: Images, and volumes, are reduced by the whole factor that brings them nearest to this size, the
#: one that lengths were chosen for.
ANALYSED_PIXELS, ANALYSED_VOXELS = 481 * 321, 1_000_000

Scaling = tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]

#: Distance of black and white in CIELAB, and in other channels.
WHITE = 100.0


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
    >>> from sparseksc.image.channels import plain_channels
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
    array = unmasked(image)
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
