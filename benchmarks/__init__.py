"""Benchmarks of sparseksc: `python -m benchmarks --help`."""
