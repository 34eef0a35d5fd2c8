"""What can be wrong with an index on disk; whoever owns it makes it again."""

from __future__ import annotations


class UnusablePartError(Exception):
    """A part of an index is missing, damaged, unfinished or of another format: rebuild it."""
