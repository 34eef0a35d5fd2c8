"""Papers in SQLite: read-only snapshots, whoever made them, their writer, and the build state."""

# What lies in the folder of a corpus.
SNAPSHOT_NAME = "paper_snapshot.db"
STATIC_NAME = "paper-static"
INBOX_NAME = "added"
SUMMARIES_NAME = "summaries"
WORKSHOP_NAME = ".carrel-build"
