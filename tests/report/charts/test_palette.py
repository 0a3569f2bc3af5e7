"""Colours have the contrast that readers need."""

import numpy as np
import pytest

from sparseksc.report.charts.palette import CLUSTERS_DARK, CLUSTERS_LIGHT, DARK, LIGHT

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def luminance(colour):
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme, clusters", [(LIGHT, CLUSTERS_LIGHT), (DARK, CLUSTERS_DARK)])
def test_contrasts_are_those_of_wcag_aa(theme, clusters):
    for ground in ("page", "panel", "note"):
        for text in ("ink", "quiet", "link"):
            assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
    for colour in clusters:
        assert contrast(colour, theme["page"]) >= 3.0, colour
