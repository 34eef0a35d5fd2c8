"""The tables of the embedded index, and how documents get in and out of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.elasticsearch.analyzer import analyze_terms
from carrel.libraries.query.elasticsearch.clauses import Scalar
from carrel.libraries.query.elasticsearch.dates import parse_moment
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    Document,
    DocumentChange,
    Drop,
    FieldKind,
    Put,
    Reset,
)
from carrel.stores.sqlite.visible_words import mark_words

# A file of an earlier version is removed and filled again: the first let every document count for
# everybody, the second and third knew other words than a cluster does.
STEPS = (
    "SELECT 1",
    "SELECT 1",
    "SELECT 1",
    """
CREATE TABLE indices (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  fields TEXT NOT NULL,
  cursor TEXT
) STRICT;
CREATE TABLE groups (
  number INTEGER PRIMARY KEY,
  index_number INTEGER NOT NULL,
  readers TEXT NOT NULL,
  UNIQUE (index_number, readers)
) STRICT;
CREATE TABLE group_readers (
  index_number INTEGER NOT NULL,
  reader TEXT NOT NULL,
  group_number INTEGER NOT NULL,
  PRIMARY KEY (index_number, reader, group_number)
) STRICT, WITHOUT ROWID;
CREATE TABLE group_sizes (
  group_number INTEGER NOT NULL,
  field TEXT NOT NULL,
  documents INTEGER NOT NULL,
  words INTEGER NOT NULL,
  PRIMARY KEY (group_number, field)
) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
  number INTEGER PRIMARY KEY,
  index_number INTEGER NOT NULL,
  group_number INTEGER NOT NULL,
  id TEXT NOT NULL,
  source TEXT NOT NULL,
  UNIQUE (index_number, id)
) STRICT;
CREATE INDEX documents_by_group ON documents (group_number);
CREATE TABLE field_values (
  index_number INTEGER NOT NULL,
  field TEXT NOT NULL,
  value ANY NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (index_number, field, value, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX field_values_by_document ON field_values (document, field);
CREATE TABLE present (
  index_number INTEGER NOT NULL,
  field TEXT NOT NULL,
  document INTEGER NOT NULL,
  words INTEGER NOT NULL,
  length INTEGER NOT NULL,
  PRIMARY KEY (index_number, field, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX present_by_document ON present (document)""",
)
# What the analyzer leaves inside of words, beside letters and digits.
WORD_SIGNS = ".:,;_/!?'\""
_TOKENIZER = "\"ascii tokenchars '.:,;_/!?''\"\"'\""
# A word that nobody can look for, because it stands behind no group.
_GAP = "\ue000"
# Longer values are words only, never something to sort or count by.
MAX_EXACT_CHARACTERS = 256
# SQLite counts to 2 to the 63rd; larger numbers are compared as Elasticsearch does, roughly.
_MOST_EXACT = 2**63


@dataclass(frozen=True, slots=True)
class Index:
    """One index: its number, its fields, and the columns of its text fields in the word table."""

    number: int
    name: str
    fields: Mapping[str, FieldKind]

    @property
    def words(self) -> str:
        return f"words_{self.number}"

    @property
    def word_counts(self) -> str:
        return f"{self.words}_counts"

    @property
    def word_places(self) -> str:
        return f"{self.words}_places"

    @property
    def columns(self) -> dict[str, str]:
        texts = sorted(name for name, kind in self.fields.items() if kind == "text")
        return {name: f"c{place}" for place, name in enumerate(texts)}

    def kind(self, field: str) -> FieldKind | None:
        """What a field holds; `x.keyword` is the exact value of the text field x."""
        base = field.removesuffix(".keyword")
        if base != field and self.fields.get(base) == "text":
            return "keyword"
        return self.fields.get(field)

    def exact_kind(self, field: str, clause: str, where: str = "") -> FieldKind | None:
        """What an exact field holds; InvalidInputError for the words of a text field."""
        kind = self.kind(field)
        if kind == "text":
            raise InvalidInputError(
                f"[{clause}] needs an exact field, and {field} is text",
                next_step=f"Use {field}.keyword.",
                details={"clause": where or clause, "field": field},
            )
        return kind


def find_index(
    connection: sqlite3.Connection, name: str, fields: Mapping[str, FieldKind]
) -> tuple[Index, str | None] | None:
    """The index of that name and where its filling stopped, if it is there with these fields."""
    row = connection.execute(
        "SELECT number, fields, cursor FROM indices WHERE name = ?", (name,)
    ).fetchone()
    return (
        (Index(row[0], name, fields), row[2])
        if row is not None and row[1] == _to_json(fields)
        else None
    )


def open_index(
    connection: sqlite3.Connection, name: str, fields: Mapping[str, FieldKind]
) -> tuple[Index, str | None]:
    """The same, made where it is missing; one whose fields have changed begins anew."""
    found = find_index(connection, name, fields)
    if found is not None:
        return found
    row = connection.execute(
        "SELECT number, fields FROM indices WHERE name = ?", (name,)
    ).fetchone()
    if row is not None:
        old = Index(row[0], name, orjson.loads(row[1]))
        _empty(connection, old)
        for table in (old.word_counts, old.word_places, old.words):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute("DELETE FROM indices WHERE number = ?", (old.number,))
    number = connection.execute(
        "INSERT INTO indices (name, fields) VALUES (?, ?)", (name, _to_json(fields))
    ).lastrowid
    index = Index(int(number or 0), name, fields)
    columns = ", ".join(index.columns.values()) or "c0"
    connection.execute(
        f"CREATE VIRTUAL TABLE {index.words} USING fts5 ({columns}, tokenize = {_TOKENIZER})"
    )
    connection.execute(
        f"CREATE VIRTUAL TABLE {index.word_counts} USING fts5vocab ({index.words}, 'col')"
    )
    connection.execute(
        f"CREATE VIRTUAL TABLE {index.word_places} USING fts5vocab ({index.words}, 'instance')"
    )
    return index, None


def _to_json(fields: Mapping[str, FieldKind]) -> str:
    return orjson.dumps(dict(sorted(fields.items()))).decode()


@dataclass(slots=True)
class ResetTracker:
    """The ids a source has sent since it began anew; None while it only sends changes."""

    ids: set[str] | None = None


def apply_changes(
    connection: sqlite3.Connection,
    index: Index,
    changes: Sequence[DocumentChange],
    reset: ResetTracker,
) -> None:
    """Apply changes; after a reset the old documents go only when all new ones are there.

    So two processes that fill one index never remove what the other has just added.
    """
    for change in changes:
        match change:
            case Put(document):
                _put(connection, index, document)
                if reset.ids is not None:
                    reset.ids.add(document.id)
            case Drop(id):
                _drop(connection, index, id)
            case Reset():
                reset.ids = set()
                connection.execute(
                    "UPDATE indices SET cursor = NULL WHERE number = ?", (index.number,)
                )
            case Checkpoint(cursor):
                sweep(connection, index, reset)
                connection.execute(
                    "UPDATE indices SET cursor = ? WHERE number = ?", (cursor, index.number)
                )


def sweep(connection: sqlite3.Connection, index: Index, reset: ResetTracker) -> None:
    """Drops what a source that began anew has not sent again."""
    if reset.ids is None:
        return
    present = connection.execute(
        "SELECT id FROM documents WHERE index_number = ?", (index.number,)
    ).fetchall()
    for (known,) in present:
        if known not in reset.ids:
            _drop(connection, index, known)
    reset.ids = None


def to_comparable(value: object, kind: FieldKind) -> Scalar | None:
    """A value in comparable form, None where the field cannot hold it; dates are milliseconds."""
    match kind:
        case "keyword" | "text":
            if isinstance(value, bool):
                return "true" if value else "false"
            return str(value) if isinstance(value, str | int | float) else None
        case "number":
            if isinstance(value, str):
                try:
                    return float(value)
                except ValueError:
                    return None
            if not isinstance(value, int | float) or isinstance(value, bool):
                return None
            return value if abs(value) < _MOST_EXACT else float(value)
        case "boolean":
            truth = {"true": 1, "false": 0}
            return (
                int(value)
                if isinstance(value, bool)
                else truth.get(value)
                if isinstance(value, str)
                else None
            )
        case "date":
            return _milliseconds(value)
        case "words":
            return None


def _milliseconds(value: object) -> int | None:
    return parse_moment(value, datetime.fromtimestamp(0, UTC))


def round_length(words: int) -> int:
    """The length of a text as Lucene remembers it in one byte: exact for short ones."""
    exact = 24
    if words < exact:
        return words
    above = words - exact
    shift = max(above.bit_length() - 4, 0)
    return exact + ((above >> shift) << shift)


def _put(connection: sqlite3.Connection, index: Index, document: Document) -> None:
    source = orjson.dumps(document.fields, default=str).decode()
    group = _group(connection, index, document.readers)
    if _is_there(connection, index, document.id, group, source):
        return
    _drop(connection, index, document.id)
    sql = "INSERT INTO documents (index_number, group_number, id, source) VALUES (?, ?, ?, ?)"
    number = connection.execute(sql, (index.number, group, document.id, source)).lastrowid
    rows: set[tuple[int, str, Scalar, int | None]] = set()
    texts: dict[str, str] = {}
    for field, kind in index.fields.items():
        values = list(_values(document.fields.get(field)))
        if not values:
            continue
        texts_found = [analyze_terms(str(value)) for value in values] if kind == "text" else []
        found = [word for words in texts_found for word in words]
        connection.execute(
            "INSERT INTO present VALUES (?, ?, ?, ?, ?)",
            (index.number, field, number, len(found), round_length(len(found))),
        )
        if kind == "text":
            texts[index.columns[field]] = _join_values(group, texts_found)
            _count(connection, group, field, 1, len(found))
        exact = f"{field}.keyword" if kind == "text" else field
        for value in values:
            exact_value = to_comparable(value, kind)
            if exact_value is not None and len(str(exact_value)) <= MAX_EXACT_CHARACTERS:
                rows.add((index.number, exact, exact_value, number))
    connection.executemany("INSERT OR IGNORE INTO field_values VALUES (?, ?, ?, ?)", rows)
    if texts:
        marks = ", ".join("?" * (len(texts) + 1))
        connection.execute(
            f"INSERT INTO {index.words} (rowid, {', '.join(texts)}) VALUES ({marks})",
            (number, *texts.values()),
        )


def _join_values(group: int, values: Sequence[Sequence[str]]) -> str:
    """The words of all values of a field, parted so that no phrase reaches from one to the next."""
    return f" {_GAP} ".join(mark_words(group, words) for words in values if words)


def _group(connection: sqlite3.Connection, index: Index, readers: Iterable[str]) -> int:
    """The number of those who may read a document, made where it is new."""
    names = sorted(set(readers))
    written = orjson.dumps(names).decode()
    row = connection.execute(
        "SELECT number FROM groups WHERE index_number = ? AND readers = ?", (index.number, written)
    ).fetchone()
    if row is not None:
        return int(row[0])
    sql = "INSERT INTO groups (index_number, readers) VALUES (?, ?)"
    number = int(connection.execute(sql, (index.number, written)).lastrowid or 0)
    connection.executemany(
        "INSERT INTO group_readers VALUES (?, ?, ?)",
        [(index.number, name, number) for name in names],
    )
    return number


def groups_of(connection: sqlite3.Connection, index: Index, readers: Iterable[str]) -> list[int]:
    """The groups that somebody who reads under these names belongs to."""
    names = sorted(readers)
    marks = ", ".join("?" * len(names))
    sql = (
        f"SELECT DISTINCT group_number FROM group_readers WHERE index_number = ? AND reader IN "
        f"({marks}) ORDER BY 1"
    )
    return [row[0] for row in connection.execute(sql, (index.number, *names))]


def _count(
    connection: sqlite3.Connection, group: int, field: str, documents: int, word_count: int
) -> None:
    connection.execute(
        "INSERT INTO group_sizes VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET documents = "
        "documents + excluded.documents, "
        "words = words + excluded.words",
        (group, field, documents, word_count),
    )


def _is_there(
    connection: sqlite3.Connection, index: Index, id: str, group: int, source: str
) -> bool:
    sql = (
        "SELECT 1 FROM documents WHERE index_number = ? AND id = ? AND group_number = ? AND "
        "source = ?"
    )
    return connection.execute(sql, (index.number, id, group, source)).fetchone() is not None


def _values(value: object) -> Iterable[object]:
    if value is None:
        return ()
    return (
        [one for one in value if one is not None] if isinstance(value, list | tuple) else (value,)
    )


def _drop(connection: sqlite3.Connection, index: Index, id: str) -> None:
    sql = "SELECT number, group_number FROM documents WHERE index_number = ? AND id = ?"
    row = connection.execute(sql, (index.number, id)).fetchone()
    if row is None:
        return
    number, group = row
    for field, word_count in connection.execute(
        "SELECT field, words FROM present WHERE document = ?", (number,)
    ).fetchall():
        if index.fields.get(field) == "text":
            _count(connection, group, field, -1, -word_count)
    for table in ("field_values", "present"):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (number,))
    connection.execute(f"DELETE FROM {index.words} WHERE rowid = ?", (number,))
    connection.execute("DELETE FROM documents WHERE number = ?", (number,))


def _empty(connection: sqlite3.Connection, index: Index) -> None:
    inside = "(SELECT number FROM groups WHERE index_number = ?)"
    connection.execute(f"DELETE FROM group_sizes WHERE group_number IN {inside}", (index.number,))
    for table in ("group_readers", "groups", "field_values", "present", "documents"):
        connection.execute(f"DELETE FROM {table} WHERE index_number = ?", (index.number,))
    connection.execute(f"DELETE FROM {index.words}")
    connection.execute("UPDATE indices SET cursor = NULL WHERE number = ?", (index.number,))
