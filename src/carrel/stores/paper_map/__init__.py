"""The map of a corpus in one SQLite file beside it, replaced by one rename."""

MAP_NAME = "paper_map.db"
LOCK_NAME = "paper_map.lock"
