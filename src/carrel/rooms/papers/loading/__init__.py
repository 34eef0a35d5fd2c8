"""Loads dumps of literature services into a corpus: millions of records, in batches."""
