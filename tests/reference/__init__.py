"""Slow, obvious twins of the library's steps, written from the equations alone.

The tests of :mod:`sparseksc.reference` are here, too.
"""
