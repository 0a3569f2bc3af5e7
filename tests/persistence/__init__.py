"""Tests of sparseksc.persistence."""
