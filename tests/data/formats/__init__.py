"""Tests of sparseksc.data.formats."""
