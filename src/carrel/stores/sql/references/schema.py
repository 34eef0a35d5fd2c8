"""Tables of libraries: their references, the keys of works, their history and attached files."""

from __future__ import annotations

SCHEMA = (
    # `epoch` tells this library from another that had the same name, so that no cache mixes them.
    """CREATE TABLE IF NOT EXISTS reference_libraries (
        library TEXT PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, epoch TEXT NOT NULL,
        revision BIGINT NOT NULL DEFAULT 0, next_place BIGINT NOT NULL DEFAULT 1)""",
    """CREATE TABLE IF NOT EXISTS reference_items (
        library TEXT NOT NULL, id TEXT NOT NULL, folded_id TEXT NOT NULL, place BIGINT NOT NULL,
        revision BIGINT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (library, id))""",
    """CREATE INDEX IF NOT EXISTS reference_items_place ON reference_items (library, place)""",
    """CREATE INDEX IF NOT EXISTS reference_items_revision
        ON reference_items (library, revision)""",
    """CREATE INDEX IF NOT EXISTS reference_items_folded
        ON reference_items (library, folded_id)""",
    # By a digest: titles are longer than an index takes.
    """CREATE TABLE IF NOT EXISTS reference_work_keys (
        library TEXT NOT NULL, digest TEXT NOT NULL, id TEXT NOT NULL,
        PRIMARY KEY (library, digest, id))""",
    """CREATE INDEX IF NOT EXISTS reference_work_keys_id ON reference_work_keys (library, id)""",
    """CREATE TABLE IF NOT EXISTS reference_changes (
        library TEXT NOT NULL, revision BIGINT NOT NULL, changed_at TEXT NOT NULL,
        origin TEXT NOT NULL, PRIMARY KEY (library, revision))""",
    # What a reference said from a revision on; the texts of old versions are let go of.
    """CREATE TABLE IF NOT EXISTS reference_versions (
        library TEXT NOT NULL, id TEXT NOT NULL, revision BIGINT NOT NULL,
        is_present INTEGER NOT NULL, item TEXT, PRIMARY KEY (library, id, revision))""",
    """CREATE INDEX IF NOT EXISTS reference_versions_revision
        ON reference_versions (library, revision)""",
    """CREATE TABLE IF NOT EXISTS reference_files (
        library TEXT NOT NULL, path TEXT NOT NULL, content TEXT NOT NULL, size_bytes BIGINT NOT
          NULL,
        digest TEXT NOT NULL, PRIMARY KEY (library, path))""",
    """CREATE TABLE IF NOT EXISTS reference_file_chunks (
        content TEXT NOT NULL, number INTEGER NOT NULL, bytes BYTEA NOT NULL,
        PRIMARY KEY (content, number))""",
    # Contents that are being written: what a killed process left is removed by a later one.
    """CREATE TABLE IF NOT EXISTS reference_file_drafts (
        content TEXT PRIMARY KEY, started_at DOUBLE PRECISION NOT NULL)""",
)
# One script for each version. What an earlier version lacks goes into a new script at the end,
# never into an old one.
SCRIPTS = (";\n".join(SCHEMA),)
