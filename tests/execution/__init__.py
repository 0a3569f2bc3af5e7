"""Tests of sparseksc.execution."""
