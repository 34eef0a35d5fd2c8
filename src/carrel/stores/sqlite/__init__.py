"""Stores on SQLite, the embedded default."""
