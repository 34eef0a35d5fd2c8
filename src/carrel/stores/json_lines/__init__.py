"""Stores that are append-only files of JSON lines."""
