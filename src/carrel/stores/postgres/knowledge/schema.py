"""The tables of notes and nodes. Keys sort by bytes, so that a prefix is a range."""

PART = "knowledge"
STEPS = (
    """
CREATE TABLE knowledge_notes (
  id text PRIMARY KEY,
  title text NOT NULL,
  title_key text COLLATE "C" NOT NULL,
  content text NOT NULL,
  user_id text NOT NULL,
  source text NOT NULL,
  status text NOT NULL,
  tags text[] NOT NULL,
  schema_version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  promoted_from_id text,
  promoted_to_id text,
  origin jsonb,
  shelf text COLLATE "C" NOT NULL,
  words tsvector NOT NULL,
  changed_in xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX knowledge_notes_by_title ON knowledge_notes (shelf, title_key, created_at DESC);
CREATE INDEX knowledge_notes_by_time ON knowledge_notes (shelf, created_at DESC);
CREATE INDEX knowledge_notes_by_word ON knowledge_notes USING gin (words);
CREATE INDEX knowledge_notes_by_change ON knowledge_notes (changed_in, id);
CREATE TABLE knowledge_note_tags (
  tag_key text COLLATE "C" NOT NULL,
  shelf text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  note_id text NOT NULL REFERENCES knowledge_notes ON DELETE CASCADE,
  PRIMARY KEY (tag_key, shelf, created_at, note_id)
);
CREATE INDEX knowledge_note_tags_by_note ON knowledge_note_tags (note_id);
CREATE TABLE knowledge_history (
  note_id text NOT NULL,
  changed_at timestamptz NOT NULL,
  changed_by text NOT NULL,
  kind text NOT NULL,
  title text NOT NULL,
  content text NOT NULL,
  tags text[] NOT NULL,
  status text NOT NULL,
  PRIMARY KEY (note_id, changed_at)
);
CREATE TABLE knowledge_removed (
  note_id text PRIMARY KEY,
  changed_in xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX knowledge_removed_by_change ON knowledge_removed (changed_in);
CREATE TABLE knowledge_nodes (
  name_key text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  node_type text NOT NULL,
  description text NOT NULL,
  content text NOT NULL,
  metadata jsonb NOT NULL,
  grams text[] NOT NULL,
  changed_in xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX knowledge_nodes_by_gram ON knowledge_nodes USING gin (grams);
CREATE INDEX knowledge_nodes_by_change ON knowledge_nodes (changed_in, name_key);
""",
    # Originals whose team copy is gone are drafts again, so that their authors find them.
    """
CREATE TEMPORARY TABLE knowledge_withdrawn ON COMMIT DROP AS
SELECT n.id, n.user_id FROM knowledge_notes n WHERE n.source = 'personal' AND n.status = 'promoted'
AND NOT EXISTS (SELECT 1 FROM knowledge_notes c WHERE c.id = n.promoted_to_id);
UPDATE knowledge_note_tags t SET shelf = 'open:' || w.user_id FROM knowledge_withdrawn w WHERE
  t.note_id = w.id;
UPDATE knowledge_notes n SET status = 'draft', promoted_to_id = NULL, shelf = 'open:' || n.user_id,
  changed_in = pg_current_xact_id() FROM knowledge_withdrawn w WHERE n.id = w.id;
""",
)
