"""Candidate connections: their links, evidence, names and the methods their papers name."""
