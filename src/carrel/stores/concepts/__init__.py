"""The concept index of research: one file of tables that all processes map into memory."""

FORMAT = 1
"""Raised whenever the tables change, so that files of another form are made again."""
