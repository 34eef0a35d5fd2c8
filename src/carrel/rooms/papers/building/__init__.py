"""Builds a corpus: groups records into papers, and writes the snapshot."""
