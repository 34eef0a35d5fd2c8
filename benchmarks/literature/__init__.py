"""Judges merging and ranking of what literature services say."""
