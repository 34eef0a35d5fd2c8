"""What the doctor looks for and mends in a home: drafts of killed writes, and open files."""

from __future__ import annotations

from carrel.stores.home.leftovers import find_leftovers, move_aside
from carrel.stores.home.privacy import readable_by_others

__all__ = ["find_leftovers", "move_aside", "readable_by_others"]
