"""Copies what an embedded home keeps into PostgreSQL, kind by kind, each with a proof."""
