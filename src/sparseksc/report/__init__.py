"""A page about a clustering, for people who do not program: one HTML file.

================= ==================================================================
reading           the rows, in blocks, as they were given
survey            one pass over all rows: sizes, moments, memberships
profile, view     which features tell the clusters apart; coordinates for figures
doubts            what a reader should know before trusting the answer
provenance        parameters, versions, the code that repeats the result
facts             all of it, gathered
static_charts     SVG for print and for pages without scripts (matplotlib)
live_charts       hover, zoom and highlight (Bokeh)
page              words and tables around the charts (Jinja2)
================= ==================================================================
"""

from sparseksc.report.write import write_report

__all__ = ["write_report"]
