"""Literatures, association weights and ABC paths between concepts."""
