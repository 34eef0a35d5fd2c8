"""Carrel: a research desk for AI assistants."""

__version__ = "0.1.0"
