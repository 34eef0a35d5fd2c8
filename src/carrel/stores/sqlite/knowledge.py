"""Notes and nodes in SQLite: words ranked by FTS5, changes told from a table of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

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
from carrel.rooms.knowledge.notes import Note, NoteSearch, shelf_of
from carrel.rooms.knowledge.ports import KnowledgeStores
from carrel.stores.sql.driver import Rows, UpgradeStatements, bind
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
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.stores.sqlite.visible_words import (
    inverse_frequency,
    mark_words,
    phrase_query,
    saturation,
    terms_of,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TITLE_WEIGHT = 4.0
# SQLite joins at most 64 tables.
_WORDS_PER_JOIN = 32
# A reader further behind than this begins anew.
_MARKED_CHANGES = 20_000

_CODEC = ColumnCodec(
    encode_time=lambda moment: (moment - _EPOCH) // _MICROSECOND,
    decode_time=lambda count: _EPOCH + count * _MICROSECOND,
    encode_tags=lambda tags: orjson.dumps(tags).decode(),
    decode_tags=lambda text: tuple(orjson.loads(text)),
    encode_object=lambda facts: orjson.dumps(facts).decode(),
    decode_object=orjson.loads,
)

# `shelf` says who finds a note, so that every search runs along an index.
_SCRIPTS = (
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


def _fold_again() -> Statements[None]:
    """Brings titles, tags, words and names to the fold of all rooms: `orsted` finds `Ørsted`."""
    for statement in (
        "DELETE FROM note_tags",
        "DELETE FROM note_shelf_words",
        "DELETE FROM note_sizes",
        "UPDATE note_shelves SET notes = 0, words = 0",
        "ALTER TABLE nodes ADD COLUMN search_key TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX nodes_by_search_key ON nodes (search_key)",
        "DELETE FROM node_grams",
    ):
        yield statement, {}
    # Only makes the statements; its file is never opened.
    store = SqliteNoteStore(SqliteDriver(Path(), ()))
    page = (
        f"SELECT {note_columns()}, n.number FROM notes n WHERE n.number > :after "
        f"ORDER BY n.number LIMIT {PAGE}"
    )
    after = 0
    while rows := (yield page, {"after": after}):
        for row in rows:
            note, after = store.note_from(row), row[-1]
            folded = {"key": fold_text(note.title), "number": after}
            yield "UPDATE notes SET title_key = :key WHERE number = :number", folded
            yield from store.add_to_indexes(note, after)
    for number, name in (yield "SELECT number, name FROM nodes", {}):
        folded = {"key": fold_text(name), "number": number}
        yield "UPDATE nodes SET search_key = :key WHERE number = :number", folded
        yield from _add_trigrams(number, sorted(name_trigrams(name)))


def _add_trigrams(number: int, trigrams: Sequence[str]) -> Statements[None]:
    for trigram in trigrams:
        yield (
            "INSERT OR IGNORE INTO node_grams VALUES (:trigram, :number)",
            {"trigram": trigram, "number": number},
        )


def _begin_marks() -> Statements[None]:
    """Marks by which a cursor is known to be of this database and not of one restored since."""
    yield "CREATE TABLE change_marks (number INTEGER PRIMARY KEY, mark INTEGER NOT NULL) STRICT", {}
    yield from _mark_changes()


def _mark_changes() -> Statements[None]:
    yield (
        "INSERT OR REPLACE INTO change_marks (number, mark) "
        "SELECT coalesce(max(sequence), 0), random() FROM changes",
        {},
    )
    yield (
        "DELETE FROM change_marks WHERE number < (SELECT max(number) FROM change_marks) "
        f"- {_MARKED_CHANGES}",
        {},
    )


STEPS = (*_SCRIPTS, UpgradeStatements(_fold_again), UpgradeStatements(_begin_marks))


def sqlite_knowledge(file: Path) -> KnowledgeStores:
    """The stores over one file."""
    driver = SqliteDriver(
        file, STEPS, describe=lambda reason: KnowledgeStoreError("SQLite", reason)
    )
    return KnowledgeStores(SqliteNoteStore(driver), SqliteNodeStore(driver))


class SqliteNoteStore(SqlNoteStore):
    """Notes in one file. Times are microseconds since 1970."""

    codec = _CODEC
    notes, tags, history_table = "notes", "note_tags", "note_history"
    key = tag_note = "number"
    # In this order: the other way round SQLite would walk all notes.
    join = "CROSS JOIN"
    prefix_hints = ("INDEXED BY notes_by_title", "INDEXED BY notes_by_time")

    def __init__(self, driver: SqliteDriver) -> None:
        super().__init__(driver)
        self._file = driver.file

    def index_columns(self, note: Note) -> dict[str, object]:
        return {}

    def index_words(self, note: Note, key: object) -> Statements[None]:
        title, body = index_terms(note.title), index_terms(note.content)
        size = {"words": len(title) + len(body), "number": key}
        shelf = {"shelf": shelf_of(note)}
        yield "INSERT OR IGNORE INTO note_shelves (name) VALUES (:shelf)", shelf
        ((group,),) = yield (
            "UPDATE note_shelves SET notes = notes + 1, words = words + :words WHERE name = :shelf "
            "RETURNING number",
            size | shelf,
        )
        yield "INSERT INTO note_sizes VALUES (:number, :shelf, :words)", size | {"shelf": group}
        yield (
            "INSERT INTO note_shelf_words (rowid, title, body) VALUES (:number, :title, :body)",
            {
                "number": key,
                "title": mark_words(group, title),
                "body": mark_words(group, body),
            },
        )

    def unindex_words(self, key: object) -> Statements[None]:
        number = {"number": key}
        yield "DELETE FROM note_shelf_words WHERE rowid = :number", number
        ((words, group),) = yield (
            "DELETE FROM note_sizes WHERE number = :number RETURNING words, shelf",
            number,
        )
        yield (
            "UPDATE note_shelves SET notes = notes - 1, words = words - :words "
            "WHERE number = :shelf",
            {"words": words, "shelf": group},
        )

    def record_change(self, note_id: str, *, is_removed: bool) -> Statements[None]:
        yield _record_change("note", note_id, is_removed)

    def mark_changes(self) -> Statements[None]:
        yield from _mark_changes()

    async def note_changes(self, since: str | None) -> AsyncIterator[NoteChange]:
        sql = (
            f"SELECT {note_columns()}, c.sequence, c.key, c.is_removed FROM changes c "
            "LEFT JOIN notes n ON n.id = c.key WHERE c.kind = 'note' AND c.sequence > :after "
            f"ORDER BY c.sequence LIMIT {PAGE}"
        )
        start = _ChangeCursor.parse(since)
        latest, known, rows = await self._driver.run(
            _LATEST_MARK, start.find_mark(), (sql, {"after": start.after})
        )
        if since is not None and known != [(start.mark,)]:
            yield Reset()
            rows = await self._rows(sql, after=0)
        number, mark = latest[0]
        while rows:
            for row in rows:
                yield Drop(row[-2]) if row[-1] else NotePut(self.note_from(row))
            after = rows[-1][-3]
            yield Checkpoint(str(_ChangeCursor(min(after, number), number, mark)))
            rows = [] if len(rows) < PAGE else await self._rows(sql, after=after)

    async def describe_place(self) -> str:
        return str(self._file)

    def match_text(self, search: NoteSearch, match: TextMatch) -> Statements[Rows]:
        """Matches ranked by statistics of the searched shelves only."""
        condition, shelves = shelf_condition(search.shelf, "name")
        rows = yield (
            f"SELECT number, notes, words FROM note_shelves WHERE {condition} AND notes > 0 "
            "ORDER BY number",
            shelves,
        )
        if not rows:
            return []
        groups = [row[0] for row in rows]
        note_count = sum(row[1] for row in rows)
        average = sum(row[2] for row in rows) / note_count
        tables: list[str] = []
        scores: list[str] = []
        values: dict[str, object] = {}
        for word in dict.fromkeys(word for phrase in match.phrases for word in phrase):
            name = f"w{len(tables)}"
            terms, asked = bind(f"{name}_", terms_of(groups, word))
            ((holding,),) = yield (
                f"SELECT coalesce(sum(doc), 0) FROM note_word_counts WHERE term IN ({terms})",
                asked,
            )
            if not holding:
                return []
            tables.append(
                f"{name} (number, count) AS MATERIALIZED (SELECT doc, sum(CASE col WHEN 'title' "
                f"THEN {_TITLE_WEIGHT} ELSE 1.0 END) FROM note_word_places WHERE term IN ({terms}) "
                "GROUP BY doc)"
            )
            values |= asked
            weight = inverse_frequency(note_count, holding)
            scores.append(f"{weight!r} * {saturation(f'{name}.count', 'z.words', average)}")
        parts = _score_tables(scores)
        tables += parts
        joins = "".join(f" JOIN s{n} ON s{n}.number = s0.number" for n in range(1, len(parts)))
        if any(len(phrase) > 1 for phrase in match.phrases):
            # Asked once for all notes: joined directly, SQLite asks FTS5 again for each note that
            # holds the words.
            tables.append(
                "phrased (number) AS MATERIALIZED (SELECT rowid FROM note_shelf_words WHERE "
                "note_shelf_words MATCH :phrases)"
            )
            values["phrases"] = phrase_query(groups, match.phrases)
            joins += " JOIN phrased ON phrased.number = s0.number"
        score = " + ".join(f"s{place}.score" for place in range(len(parts)))
        by = "" if search.order == "newest" else "score DESC, "
        has_tags, tagged = self.has_tags(match.tags)
        return (
            yield (
                f"WITH {', '.join(tables)} SELECT {note_columns()}, {score} AS score "
                f"FROM s0{joins} JOIN notes n ON n.number = s0.number WHERE 1{has_tags} "
                f"ORDER BY {by}n.created_at DESC, n.id LIMIT :limit",
                values | tagged | {"limit": search.limit},
            )
        )


def _score_tables(scores: list[str]) -> list[str]:
    """Tables of the notes that hold every word, with their scores, within the limit of joins."""
    tables: list[str] = []
    for begin in range(0, len(scores), _WORDS_PER_JOIN):
        part = scores[begin : begin + _WORDS_PER_JOIN]
        first, *others = (f"w{begin + place}" for place in range(len(part)))
        joins = "".join(f" JOIN {name} ON {name}.number = {first}.number" for name in others)
        tables.append(
            f"s{len(tables)} (number, score) AS MATERIALIZED (SELECT {first}.number, "
            f"{' + '.join(part)} FROM {first}{joins} "
            f"JOIN note_sizes z ON z.number = {first}.number)"
        )
    return tables


class SqliteNodeStore(SqlNodeStore):
    """Nodes in the same file as the notes."""

    codec = _CODEC
    nodes = "nodes"

    def put_node(self, values: dict[str, object], trigrams: list[str]) -> Statements[None]:
        ((number,),) = yield self.upsert(values, returning=" RETURNING number")
        # A name with the same key has the same trigrams, so nothing has to be removed.
        yield from _add_trigrams(number, trigrams)
        yield _record_change("node", str(values["name_key"]), False)
        yield from _mark_changes()

    async def near(self, name: str, limit: int) -> list[str]:
        trigrams, asked = bind("trigram", sorted(name_trigrams(name)))
        sql = (
            "SELECT n.name FROM (SELECT number, count(*) AS shared FROM node_grams "
            f"WHERE gram IN ({trigrams}) GROUP BY number ORDER BY shared DESC, number "
            "LIMIT :limit) g JOIN nodes n USING (number)"
        )
        (rows,) = await self._driver.run((sql, {**asked, "limit": limit}))
        return [row[0] for row in rows]

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        columns = ", ".join(f"n.{name}" for name in NODE_COLUMNS.split(", "))
        sql = (
            f"SELECT {columns}, c.sequence FROM changes c CROSS JOIN nodes n ON n.name_key = c.key "
            f"WHERE c.kind = 'node' AND c.sequence > :after ORDER BY c.sequence LIMIT {PAGE}"
        )
        start = _ChangeCursor.parse(since)
        latest, known, rows = await self._driver.run(
            _LATEST_MARK, start.find_mark(), (sql, {"after": start.after})
        )
        if since is not None and known != [(start.mark,)]:
            yield Reset()
            (rows,) = await self._driver.run((sql, {"after": 0}))
        number, mark = latest[0]
        while rows:
            for row in rows:
                yield Put(node_document(self.node_from(row)))
            after = rows[-1][-1]
            yield Checkpoint(str(_ChangeCursor(min(after, number), number, mark)))
            (rows,) = await self._driver.run((sql, {"after": after}))


_LATEST_MARK: tuple[str, dict[str, object]] = (
    "SELECT number, mark FROM change_marks ORDER BY number DESC LIMIT 1",
    {},
)


@dataclass(frozen=True, slots=True)
class _ChangeCursor:
    """The last change read, and the latest mark that the database had before it was read."""

    after: int
    number: int
    mark: int

    @classmethod
    def parse(cls, text: str | None) -> _ChangeCursor:
        """The cursor of a text; one of an earlier version has no mark and fits no database."""
        try:
            return cls(*(int(part) for part in (text or "").split("/")))
        except (TypeError, ValueError):
            return cls(0, -1, 0)

    def find_mark(self) -> tuple[str, dict[str, object]]:
        return "SELECT mark FROM change_marks WHERE number = :number", {"number": self.number}

    def __str__(self) -> str:
        return f"{self.after}/{self.number}/{self.mark}"


def _record_change(kind: str, key: str, is_removed: bool) -> tuple[str, dict[str, object]]:
    return (
        "INSERT OR REPLACE INTO changes (kind, key, is_removed) VALUES (:kind, :key, :is_removed)",
        {"kind": kind, "key": key, "is_removed": int(is_removed)},
    )
