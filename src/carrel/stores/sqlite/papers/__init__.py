"""Papers in SQLite: read-only snapshots, whoever made them, their writer, and the build state."""
