"""Papers from a read-only SQLite snapshot, whoever made it."""

from carrel.stores.sqlite.papers.store import SqlitePaperStore

__all__ = ["SqlitePaperStore"]
