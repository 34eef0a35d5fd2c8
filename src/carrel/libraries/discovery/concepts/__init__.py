"""Concepts of a corpus: words, short forms, extraction, termhood, vocabularies, the index."""
