"""The map of a corpus: whether neighbours are kept, and what drawing it costs."""
