"""Readers of paper sources, one file for each kind."""
