"""Tests of sparseksc.cli.commands."""
