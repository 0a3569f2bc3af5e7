"""`ksc segment` draws the segments of an image."""

import json

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_segment_draws_the_segments_of_an_image(ksc, tmp_path):
    Image = pytest.importorskip("PIL.Image")
    pixels = np.full((60, 80, 3), [200, 60, 50], dtype=np.uint8)
    pixels[:, 40:] = [50, 80, 190]
    pixels[30:, :40] = [60, 170, 80]
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    done = ksc("segment", "photo.png", "-o", "segments.npy", "--overlay", "overlay.jpg")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("3 segments in 80 x 60 pixels")
    labels = np.load(tmp_path / "segments.npy")
    assert labels.shape == (60, 80)
    with Image.open(tmp_path / "overlay.jpg") as drawn:
        assert (drawn.size, drawn.format) == ((80, 60), "JPEG")
    done = ksc("segment", "photo.png", "-k", "3", "-o", "segments.png", "--json")
    assert json.loads(done.out)["n_segments"] == 3
    with Image.open(tmp_path / "segments.png") as stored:
        np.testing.assert_array_equal(np.asarray(stored), labels)
        shown = np.asarray(stored.convert("RGB")).astype(int)
    assert np.abs(shown - pixels)[labels == labels[0, 0]].mean() < 10


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        (["missing.jpg", "-o", "s.png"], 1, "There is no file missing.jpg."),
        (["words.jpg", "-o", "s.png"], 1, "words.jpg is not an image"),
        (["words.jpg", "-o", "s.gif"], 2, "must end in one of .png, .npy"),
        (["words.jpg", "--overlay", "s.csv"], 2, "must end in one of .png, .jpg"),
        (["words.jpg"], 2, "Nothing would be kept"),
    ],
)
def test_what_is_not_an_image_is_refused(ksc, tmp_path, line, code, sentence):
    pytest.importorskip("PIL.Image")
    (tmp_path / "words.jpg").write_text("not an image")
    done = ksc("segment", *line)
    assert (done.code, done.out) == (code, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
