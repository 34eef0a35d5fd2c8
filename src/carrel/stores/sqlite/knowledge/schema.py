"""The tables of notes and nodes. `shelf` says who finds a note, so that every search runs along an index."""

STEPS = (
    """
CREATE TABLE notes (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  title_key TEXT NOT NULL,
  content TEXT NOT NULL,
  user_id TEXT NOT NULL,
  source TEXT NOT NULL,
  status TEXT NOT NULL,
  tags TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  promoted_from_id TEXT,
  promoted_to_id TEXT,
  origin TEXT,
  shelf TEXT NOT NULL
) STRICT;
CREATE INDEX notes_by_title ON notes (shelf, title_key, created_at DESC);
CREATE INDEX notes_by_time ON notes (shelf, created_at);
CREATE TABLE note_tags (
  tag_key TEXT NOT NULL,
  shelf TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (tag_key, shelf, created_at, number)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE note_words USING fts5 (title, body, tokenize = 'ascii');
CREATE TABLE note_history (
  note_id TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  content TEXT NOT NULL,
  tags TEXT NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (note_id, changed_at)
) STRICT, WITHOUT ROWID;
CREATE TABLE nodes (
  number INTEGER PRIMARY KEY,
  name_key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  node_type TEXT NOT NULL,
  description TEXT NOT NULL,
  content TEXT NOT NULL,
  metadata TEXT NOT NULL
) STRICT;
CREATE TABLE node_grams (
  gram TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (gram, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  is_removed INTEGER NOT NULL,
  UNIQUE (kind, key)
) STRICT;
CREATE INDEX changes_by_kind ON changes (kind, sequence)""",
)
