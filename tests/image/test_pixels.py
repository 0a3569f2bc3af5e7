"""Images of every kind become the same red, green and blue bytes."""

import subprocess
import sys

import numpy as np
import pytest

from sparseksc.image.pixels import as_rgb, reduced

Image = pytest.importorskip("PIL.Image")

RGB = np.random.default_rng(0).integers(0, 256, (7, 9, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    "image",
    [
        RGB,
        RGB.astype(np.int64),
        RGB.astype(np.uint16) * 257,
        RGB / 255.0,
        (RGB / 255.0).astype(np.float32),
        np.asfortranarray(RGB),
        np.dstack([RGB, np.full(RGB.shape[:2], 255, np.uint8)]),
        RGB.tolist(),
        Image.fromarray(RGB),
    ],
    ids=["bytes", "int", "16 bit", "double", "single", "fortran", "rgba", "list", "pillow"],
)
def test_kinds_of_colour_images(image):
    np.testing.assert_array_equal(as_rgb(image), RGB)


@pytest.mark.parametrize(
    "image",
    [
        RGB[:, :, 0],
        RGB[:, :, :1],
        np.dstack([RGB[:, :, 0], np.full(RGB.shape[:2], 255, np.uint8)]),
        RGB[:, :, 0].astype(np.uint16) * 257,
        Image.fromarray(RGB[:, :, 0]),
        Image.fromarray(RGB[:, :, 0].astype(np.uint16) * 257),
    ],
    ids=["2-D", "one channel", "with opacity", "16 bit", "pillow", "pillow 16 bit"],
)
def test_kinds_of_grey_images(image):
    np.testing.assert_array_equal(as_rgb(image), RGB[:, :, :1].repeat(3, axis=2))


def test_opacity_is_laid_over_white():
    image = np.zeros((1, 3, 4), dtype=np.uint8)
    image[0, :, 3] = 0, 51, 255
    assert as_rgb(image)[0, :, 0].tolist() == [255, 204, 0]


def test_the_image_is_not_changed():
    image = RGB.copy()
    image.setflags(write=False)
    as_rgb(image)
    np.testing.assert_array_equal(image, RGB)


@pytest.mark.parametrize("suffix", ["png", "bmp", "tiff"])
def test_files(tmp_path, suffix):
    path = tmp_path / f"image.{suffix}"
    Image.fromarray(RGB).save(path)
    np.testing.assert_array_equal(as_rgb(path), RGB)
    np.testing.assert_array_equal(as_rgb(str(path)), RGB)


def test_palette_and_cmyk_files(tmp_path):
    grey = np.repeat(np.array([[[0], [255]]], np.uint8), 3, axis=2)
    for mode in ("P", "CMYK", "YCbCr", "1"):
        path = tmp_path / f"{mode}.tiff"
        Image.fromarray(grey).convert(mode).save(path)
        np.testing.assert_array_equal(as_rgb(path), grey)


def test_files_are_turned_as_the_camera_was(tmp_path):
    image = Image.fromarray(RGB)
    exif = image.getexif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise
    image.save(tmp_path / "turned.png", exif=exif)
    np.testing.assert_array_equal(as_rgb(tmp_path / "turned.png"), np.rot90(RGB, -1))


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros(5), "An image has the shape"),
        (np.zeros((2, 2, 5)), "An image has the shape"),
        (np.zeros((0, 4, 3)), "no pixels"),
        (np.full((2, 2), np.nan), "NaN"),
        (np.full((2, 2), 1.5), "between 0 and 1"),
        (np.full((2, 2), -1), "between 0 and 65535"),
        (np.full((2, 2), 70000), "between 0 and 65535"),
        (np.array([["a", "b"]]), "must hold numbers"),
        (np.ones((2, 2), dtype=complex), "must hold numbers"),
        (np.ma.masked_equal(np.zeros((2, 2)), 0), "must not be masked"),
        (None, "An image has the shape"),
    ],
)
def test_errors_say_what_is_wrong(image, message):
    with pytest.raises(ValueError, match=message):
        as_rgb(image)


def test_files_that_are_no_images(tmp_path):
    text = tmp_path / "text.jpg"
    text.write_text("not an image")
    with pytest.raises(ValueError, match="not an image that Pillow can read"):
        as_rgb(text)
    with pytest.raises(FileNotFoundError):
        as_rgb(tmp_path / "missing.png")
    with pytest.raises(IsADirectoryError):
        as_rgb(tmp_path)
    whole = tmp_path / "whole.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)).save(whole)
    for size in (0, 20, 60, 2000):
        cut = tmp_path / f"cut{size}.png"
        cut.write_bytes(whole.read_bytes()[:size])
        with pytest.raises(ValueError, match=r"damaged|not an image"):
            as_rgb(cut)


def test_reduction_takes_means_of_squares():
    small = reduced(RGB, 2)
    assert small.shape == (3, 4, 3)
    expected = RGB[:6, :8].reshape(3, 2, 4, 2, 3).mean(axis=(1, 3))
    np.testing.assert_array_equal(small, np.rint(expected))


def test_reduction_takes_the_means_of_the_mask():
    mask = np.ones(RGB.shape[:2], dtype=bool)
    mask[0, 0] = mask[2:4, 2:4] = False
    small = reduced(RGB.astype(float), 2, mask=mask)
    taken = [RGB[0, 1], RGB[1, 0], RGB[1, 1]]
    np.testing.assert_allclose(small[0, 0], np.mean(taken, axis=0), rtol=1e-6)
    assert not small[1, 1].any()
    np.testing.assert_array_equal(small[2], reduced(RGB.astype(float), 2)[2])


def test_arrays_need_no_pillow():
    code = (
        "import sys; sys.modules['PIL'] = None; import numpy as np\n"
        "from sparseksc.image.pixels import as_rgb\n"
        "as_rgb(np.zeros((2, 2)))\n"
        "try: as_rgb('image.png')\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'sparseksc[image]'" in run.stdout
