"""The tables and figures of the paper, computed again: ``python -m experiments all``.

The paper is M. Novak, R. Langone, C. Alzate, J. Suykens, "Accelerated sparse Kernel Spectral
Clustering for large scale data clustering problems", arXiv:2310.13381. Every part is a module with
a function ``run(options)`` that writes its numbers as CSV, and ``section(options)``, which turns
them into a section of the page.
"""
