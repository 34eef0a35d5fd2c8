"""Notes and nodes in PostgreSQL: words in a tsvector, changes told by transaction numbers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC

from psycopg.types.json import Jsonb

from carrel.libraries.query.notes import TextMatch
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.tokenizer import index_terms, name_trigrams
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    DocumentChange,
    Drop,
    NoteChange,
    NotePut,
    Put,
    Reset,
    node_document,
)
from carrel.rooms.knowledge.errors import KnowledgeStoreError
from carrel.rooms.knowledge.notes import Note, NoteSearch
from carrel.rooms.knowledge.ports import KnowledgeStores
from carrel.stores.postgres.database import PostgresDatabase
from carrel.stores.postgres.pool import PoolOptions
from carrel.stores.sql.driver import Driver, Rows, UpgradeStatements
from carrel.stores.sql.knowledge import (
    NODE_COLUMNS,
    PAGE,
    ColumnCodec,
    SqlNodeStore,
    SqlNoteStore,
    Statements,
    note_columns,
    shelf_condition,
)

_TOUCH = ", changed_in = pg_current_xact_id()"
# The oldest transaction that may still commit, and by which numbers it is counted: those of one
# server, its history, one database and one content of a table. A restore changes one of them.
_HORIZON = (
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text, {server} || '-' || "
    "(SELECT oid FROM pg_database WHERE datname = current_database()) || '-' || "
    "pg_relation_filenode('{table}')"
)
_SERVER = (
    "(SELECT s.system_identifier || '-' || c.timeline_id FROM pg_control_system() s, "
    "pg_control_checkpoint() c)"
)
# Where the operator of a hosted server keeps those two functions to themselves.
_UNKNOWN_SERVER = "''"
_MAY_ASK = (
    "SELECT has_function_privilege('pg_control_system()', 'EXECUTE') AND "
    "has_function_privilege('pg_control_checkpoint()', 'EXECUTE')"
)
# PostgreSQL keeps word positions up to 16383, at most 255 for one word, and no more than a megabyte
# altogether.
_LAST_POSITION = 16_383
_MOST_POSITIONS = 255
_MOST_VECTOR_BYTES = 900_000
# A position, and what a word takes beside its letters: the first position, the count and padding.
_POSITION_BYTES = 2
_WORD_BYTES = 6

_CODEC = ColumnCodec(
    encode_time=lambda moment: moment,
    decode_time=lambda moment: moment.astimezone(UTC),
    encode_tags=list,
    decode_tags=tuple,
    encode_object=Jsonb,
    decode_object=dict,
)

# Keys sort by bytes, so that a prefix is a range.
_SCRIPTS = (
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


def _fold_again() -> Statements[None]:
    """Brings titles, tags, words and names to the fold of all rooms: `orsted` finds `Ørsted`."""
    yield "DELETE FROM knowledge_note_tags", {}
    yield "ALTER TABLE knowledge_nodes ADD COLUMN search_key text NOT NULL DEFAULT ''", {}
    yield "CREATE INDEX knowledge_nodes_by_search_key ON knowledge_nodes (search_key)", {}
    after = ""
    page = (
        "SELECT id, title, content, tags FROM knowledge_notes WHERE id > :after ORDER BY id "
        f"LIMIT {PAGE}"
    )
    while rows := (yield page, {"after": after}):
        after = rows[-1][0]
        yield (
            "UPDATE knowledge_notes n SET title_key = f.title_key, words = f.words::tsvector FROM "
            "unnest(:ids::text[], :keys::text[], :words::text[]) AS f (id, title_key, words) "
            "WHERE n.id = f.id",
            {
                "ids": [row[0] for row in rows],
                "keys": [fold_text(row[1]) for row in rows],
                "words": [_word_vector(row[1], row[2]) for row in rows],
            },
        )
        tags = sorted({(row[0], fold_text(tag)) for row in rows for tag in row[3]})
        yield (
            "INSERT INTO knowledge_note_tags (tag_key, shelf, created_at, note_id) "
            "SELECT f.tag_key, n.shelf, n.created_at, n.id FROM "
            "unnest(:ids::text[], :keys::text[]) AS f (id, tag_key) "
            "JOIN knowledge_notes n ON n.id = f.id",
            {"ids": [tag[0] for tag in tags], "keys": [tag[1] for tag in tags]},
        )
    for name_key, name in (yield "SELECT name_key, name FROM knowledge_nodes", {}):
        yield (
            "UPDATE knowledge_nodes SET search_key = :fold, grams = :grams WHERE name_key = :key",
            {"fold": fold_text(name), "grams": sorted(name_trigrams(name)), "key": name_key},
        )


STEPS = (*_SCRIPTS, UpgradeStatements(_fold_again))


def postgres_knowledge(url: str, options: PoolOptions | None = None) -> KnowledgeStores:
    """The stores over one pool."""
    database = PostgresDatabase(
        url,
        "knowledge",
        STEPS,
        options=options or PoolOptions(),
        describe=lambda reason: KnowledgeStoreError("PostgreSQL", reason),
    )
    return KnowledgeStores(PostgresNoteStore(database), PostgresNodeStore(database))


class PostgresNoteStore(SqlNoteStore):
    """Notes on a server."""

    codec = _CODEC
    notes, tags, history_table = "knowledge_notes", "knowledge_note_tags", "knowledge_history"
    key, tag_note = "id", "note_id"
    row_lock = " FOR UPDATE"
    touch = _TOUCH

    def index_columns(self, note: Note) -> dict[str, object]:
        return {"words": _word_vector(note.title, note.content)}

    def index_words(self, note: Note, key: object) -> Statements[None]:
        """Nothing to do: the words are a column of the note."""
        yield from ()

    def unindex_words(self, key: object) -> Statements[None]:
        yield from ()

    def record_change(self, note_id: str, *, is_removed: bool) -> Statements[None]:
        """Rows carry the transaction that wrote them; only removals need a row of their own."""
        if is_removed:
            yield (
                "INSERT INTO knowledge_removed (note_id) VALUES (:id) ON CONFLICT (note_id) "
                "DO UPDATE SET changed_in = pg_current_xact_id()",
                {"id": note_id},
            )
        else:
            yield "DELETE FROM knowledge_removed WHERE note_id = :id", {"id": note_id}

    def mark_changes(self) -> Statements[None]:
        """Nothing to do: the transaction is the mark."""
        yield from ()

    async def note_changes(self, since: str | None) -> AsyncIterator[NoteChange]:
        """Checkpoints are the oldest running transaction, inclusive: it may still commit."""
        horizon, counted_by = await _read_horizon(self._driver, self.notes)
        start = _first_transaction(since, horizon, counted_by)
        if start is None:
            yield Reset()
        if start is None or since is None:
            start = "0"
            await self._driver.run(_renumber(self.notes), _renumber("knowledge_removed"))
        removed = "SELECT note_id FROM knowledge_removed WHERE changed_in >= :since::xid8"
        for (note_id,) in await self._rows(removed, since=start):
            yield Drop(note_id)
        sql = (
            f"SELECT {note_columns()}, n.changed_in::text FROM knowledge_notes n "
            "WHERE (n.changed_in, n.id) > (:since::xid8, :id) ORDER BY n.changed_in, n.id "
            f"LIMIT {PAGE}"
        )
        after = (start, "")
        while rows := await self._rows(sql, since=after[0], id=after[1]):
            for row in rows:
                yield NotePut(self.note_from(row))
            after = (rows[-1][-1], rows[-1][0])
            yield Checkpoint(f"{counted_by}/{min(int(after[0]), int(horizon))}")
        yield Checkpoint(f"{counted_by}/{horizon}")

    async def describe_place(self) -> str:
        ((version,),) = await self._rows("SELECT current_setting('server_version')")
        return f"PostgreSQL {version}"

    def match_text(self, search: NoteSearch, match: TextMatch) -> Statements[Rows]:
        condition, shelves = shelf_condition(search.shelf, "n.shelf")
        has_tags, tagged = self.has_tags(match.tags)
        by = "" if search.order == "newest" else "score DESC, "
        return (
            yield (
                f"SELECT {note_columns()}, ts_rank_cd(n.words, q, 1) AS score "
                "FROM knowledge_notes n, CAST(:words AS tsquery) q "
                f"WHERE n.words @@ q AND {condition}{has_tags} "
                f"ORDER BY {by}n.created_at DESC LIMIT :limit",
                shelves | tagged | {"words": _word_query(match.phrases), "limit": search.limit},
            )
        )


class PostgresNodeStore(SqlNodeStore):
    """Nodes beside the notes."""

    codec = _CODEC
    nodes = "knowledge_nodes"

    def put_node(self, values: dict[str, object], trigrams: list[str]) -> Statements[None]:
        yield self.upsert({**values, "grams": trigrams}, _TOUCH)

    async def near(self, name: str, limit: int) -> list[str]:
        sql = (
            "SELECT name FROM knowledge_nodes, LATERAL (SELECT count(*) AS shared FROM "
            "unnest(grams) g WHERE g = ANY (:grams)) s WHERE grams && :grams "
            "ORDER BY shared DESC, name_key LIMIT :limit"
        )
        asked = {"grams": sorted(name_trigrams(name)), "limit": limit}
        return [row[0] for row in (await self._driver.run((sql, asked)))[0]]

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        horizon, counted_by = await _read_horizon(self._driver, self.nodes)
        start = _first_transaction(since, horizon, counted_by)
        if start is None:
            yield Reset()
        if start is None or since is None:
            start = "0"
            await self._driver.run(_renumber(self.nodes))
        sql = (
            f"SELECT {NODE_COLUMNS}, name_key, changed_in::text FROM knowledge_nodes "
            "WHERE (changed_in, name_key) > (:since::xid8, :key) ORDER BY changed_in, name_key "
            f"LIMIT {PAGE}"
        )
        after = (start, "")
        while rows := (await self._driver.run((sql, {"since": after[0], "key": after[1]})))[0]:
            for row in rows:
                yield Put(node_document(self.node_from(row)))
            after = (rows[-1][-1], rows[-1][-2])
            yield Checkpoint(f"{counted_by}/{min(int(after[0]), int(horizon))}")
        yield Checkpoint(f"{counted_by}/{horizon}")


async def _read_horizon(driver: Driver, table: str) -> tuple[str, str]:
    (((may_ask,),),) = await driver.run((_MAY_ASK, {}))
    server = _SERVER if may_ask else _UNKNOWN_SERVER
    ((row,),) = await driver.run((_HORIZON.format(server=server, table=table), {}))
    return str(row[0]), str(row[1])


def _renumber(table: str) -> tuple[str, dict[str, object]]:
    """Gives rows that a restore brought from another server, with its higher numbers, one here."""
    return (
        f"UPDATE {table} SET changed_in = pg_current_xact_id() "
        "WHERE changed_in >= pg_snapshot_xmax(pg_current_snapshot())",
        {},
    )


def _first_transaction(since: str | None, horizon: str, counted_by: str) -> str | None:
    """The transaction from which to read; None where the cursor counts by other numbers."""
    if since is None:
        return "0"
    place, _, number = since.rpartition("/")
    if place != counted_by or not number.isdecimal() or int(number) > int(horizon):
        return None
    return number


def _word_vector(title_text: str, content: str) -> str:
    """The words of a note with their positions, title words heavier, as text of a tsvector."""
    places: dict[str, list[str]] = {}
    title = index_terms(title_text)
    for at, word in enumerate(title):
        places.setdefault(word, []).append(f"{min(at + 1, _LAST_POSITION)}A")
    # A gap, so that no phrase reaches from the title into the body.
    size = 0
    for at, word in enumerate(index_terms(content), len(title) + 2):
        known = places.setdefault(word, [])
        size += _POSITION_BYTES if known else len(word.encode()) + _WORD_BYTES
        if size > _MOST_VECTOR_BYTES:
            # The rest of a very long text of ever new words is kept, and not found by its words.
            if not known:
                del places[word]
            break
        if len(known) < _MOST_POSITIONS:
            known.append(str(min(at, _LAST_POSITION)))
    return " ".join(f"'{word}':{','.join(at)}" for word, at in places.items())


def _word_query(phrases: tuple[tuple[str, ...], ...]) -> str:
    return " & ".join(
        "(" + " <-> ".join(f"'{word}'" for word in phrase) + ")" for phrase in phrases
    )
