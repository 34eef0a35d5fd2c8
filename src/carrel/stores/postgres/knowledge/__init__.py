"""Notes and nodes in PostgreSQL."""

from carrel.stores.postgres.knowledge.nodes import PostgresNodeStore
from carrel.stores.postgres.knowledge.notes import PostgresNoteStore
from carrel.stores.postgres.knowledge.schema import PART, STEPS

__all__ = ["PART", "STEPS", "PostgresNodeStore", "PostgresNoteStore"]
