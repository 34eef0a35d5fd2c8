"""Judges and fits record linkage: which records are one work."""
