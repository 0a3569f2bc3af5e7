"""Kinds of files: each is read in blocks of rows, with the ids beside them."""
