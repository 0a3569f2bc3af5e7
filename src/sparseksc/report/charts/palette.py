"""Colours and shapes: every cluster has a pair of its own, so that colour is never alone.

The hues follow Okabe and Ito, which people with any colour vision tell apart, darkened where they
would be too pale on white and lightened for dark pages: each has a contrast of 3 or more with the
background of its page.
"""

from __future__ import annotations

#: Colour of the page itself, by name: on white paper, and in the dark.
LIGHT = {
    "page": "#ffffff",
    "panel": "#f5f6f8",
    "ink": "#1a1d23",
    "quiet": "#565d6b",
    "rule": "#d9dce2",
    "link": "#0b5cad",
    "note": "#fdf3dc",
    "note-edge": "#9a6a00",
}
DARK = {
    "page": "#14171c",
    "panel": "#1d2128",
    "ink": "#e8eaef",
    "quiet": "#a6adbb",
    "rule": "#363c47",
    "link": "#7db8f2",
    "note": "#2c2618",
    "note-edge": "#d9a441",
}
#: Blue, vermilion, green, purple, grey, ochre, wine, sky.
CLUSTERS_LIGHT = (
    "#0072b2",
    "#d55e00",
    "#00805d",
    "#b8508f",
    "#5f6673",
    "#967000",
    "#7a1f4d",
    "#2b8cc4",
)
CLUSTERS_DARK = (
    "#4aa3e0",
    "#f0894a",
    "#2fc39a",
    "#e394c0",
    "#a9b0bd",
    "#dfbb45",
    "#d0628f",
    "#9bd3f5",
)
#: Names in Bokeh, letters in matplotlib, and outlines in a box from -1 to 1.
SHAPES = (
    ("circle", "o", "M-.9 0a.9 .9 0 1 0 1.8 0a.9 .9 0 1 0 -1.8 0z"),
    ("triangle", "^", "M0 -1L1 .8H-1z"),
    ("square", "s", "M-.8 -.8H.8V.8H-.8z"),
    ("diamond", "D", "M0 -1L1 0L0 1L-1 0z"),
    ("inverted_triangle", "v", "M0 1L1 -.8H-1z"),
    ("hex", "h", "M-.5 -.87H.5L1 0L.5 .87H-.5L-1 0z"),
    (
        "star",
        "*",
        "M0 -1L.26 -.31L1 -.31L.42 .14L.62 .85L0 .43L-.62 .85L-.42 .14L-1 -.31L-.26 -.31z",
    ),
    ("plus", "P", "M-.35 -1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35z"),
)


def colour_of(cluster: int) -> int:
    """Place of a cluster's colour in the palettes."""
    return cluster % len(CLUSTERS_LIGHT)


def shape_of(cluster: int) -> int:
    """Place of a cluster's shape; it shifts each time the colours begin again.

    Examples
    --------
    >>> from sparseksc.report.charts.palette import colour_of, shape_of
    >>> len({(colour_of(k), shape_of(k)) for k in range(64)})
    64
    """
    return (cluster + cluster // len(CLUSTERS_LIGHT)) % len(SHAPES)
