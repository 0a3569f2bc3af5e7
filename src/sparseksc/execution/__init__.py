"""Engines: who runs the chunks. The sums and their order are the same for all of them."""
