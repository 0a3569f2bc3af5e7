"""Tests of sparseksc.report."""
