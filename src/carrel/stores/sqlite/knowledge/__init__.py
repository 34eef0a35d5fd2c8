"""Notes and nodes in one SQLite file."""

from carrel.stores.sqlite.knowledge.nodes import SqliteNodeStore
from carrel.stores.sqlite.knowledge.notes import SqliteNoteStore
from carrel.stores.sqlite.knowledge.schema import STEPS

__all__ = ["STEPS", "SqliteNodeStore", "SqliteNoteStore"]
