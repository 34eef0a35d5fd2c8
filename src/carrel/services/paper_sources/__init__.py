"""Readers of everything a corpus can be built from, one file for each kind of source."""
