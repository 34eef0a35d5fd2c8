"""Building a corpus: which records are one paper, and what the snapshot shows of it."""
