"""Slow, obvious twins of the library's steps, written from the equations alone."""
