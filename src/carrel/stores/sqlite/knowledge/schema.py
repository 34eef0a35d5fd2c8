"""The tables of notes and nodes. `shelf` says who finds a note, so that every search runs along an
index.
"""

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
    # Words that carry their shelf, with what is counted of each shelf; and originals whose team
    # copy is gone are drafts again.
    """
UPDATE note_tags SET shelf = 'open:' || (SELECT n.user_id FROM notes n WHERE n.number =
  note_tags.number)
WHERE number IN (SELECT n.number FROM notes n WHERE n.source = 'personal' AND n.status = 'promoted'
  AND NOT EXISTS (SELECT 1 FROM notes c WHERE c.id = n.promoted_to_id));
INSERT OR REPLACE INTO changes (kind, key, is_removed)
SELECT 'note', n.id, 0 FROM notes n WHERE n.source = 'personal' AND n.status = 'promoted'
  AND NOT EXISTS (SELECT 1 FROM notes c WHERE c.id = n.promoted_to_id);
UPDATE notes SET status = 'draft', promoted_to_id = NULL, shelf = 'open:' || user_id
WHERE source = 'personal' AND status = 'promoted' AND NOT EXISTS (SELECT 1 FROM notes c WHERE c.id =
  notes.promoted_to_id);
CREATE TABLE note_shelves (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  notes INTEGER NOT NULL DEFAULT 0,
  words INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE note_sizes (
  number INTEGER PRIMARY KEY,
  shelf INTEGER NOT NULL,
  words INTEGER NOT NULL
) STRICT;
INSERT INTO note_shelves (name) SELECT shelf FROM notes GROUP BY shelf ORDER BY shelf;
INSERT INTO note_sizes SELECT n.number, s.number,
  CASE WHEN w.title = '' THEN 0 ELSE length(w.title) - length(replace(w.title, ' ', '')) + 1 END
  + CASE WHEN w.body = '' THEN 0 ELSE length(w.body) - length(replace(w.body, ' ', '')) + 1 END
FROM notes n JOIN note_shelves s ON s.name = n.shelf JOIN note_words w ON w.rowid = n.number;
UPDATE note_shelves SET notes = (SELECT count(*) FROM note_sizes z WHERE z.shelf =
  note_shelves.number),
  words = (SELECT coalesce(sum(z.words), 0) FROM note_sizes z WHERE z.shelf = note_shelves.number);
CREATE VIRTUAL TABLE note_shelf_words USING fts5 (title, body, tokenize = 'ascii');
INSERT INTO note_shelf_words (rowid, title, body) SELECT n.number,
  CASE WHEN w.title = '' THEN '' ELSE s.number || 'x' || replace(w.title, ' ', ' ' || s.number ||
    'x') END,
  CASE WHEN w.body = '' THEN '' ELSE s.number || 'x' || replace(w.body, ' ', ' ' || s.number || 'x')
    END
FROM note_words w JOIN notes n ON n.number = w.rowid JOIN note_shelves s ON s.name = n.shelf;
DROP TABLE note_words;
CREATE VIRTUAL TABLE note_word_counts USING fts5vocab (note_shelf_words, 'row');
CREATE VIRTUAL TABLE note_word_places USING fts5vocab (note_shelf_words, 'instance')""",
)
