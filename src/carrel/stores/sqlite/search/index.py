"""The tables of the embedded index, and how documents get in and out of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from carrel.rooms.knowledge.documents import Document, DocumentChange, Drop, FieldKind, Mark, Put, Reset
from carrel.rooms.knowledge.search_body.clauses import Scalar
from carrel.rooms.knowledge.words import words

STEPS = (
    """
CREATE TABLE indices (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  fields TEXT NOT NULL,
  cursor TEXT
) STRICT;
CREATE TABLE documents (
  number INTEGER PRIMARY KEY,
  index_number INTEGER NOT NULL,
  id TEXT NOT NULL,
  source TEXT NOT NULL,
  UNIQUE (index_number, id)
) STRICT;
CREATE TABLE readers (
  index_number INTEGER NOT NULL,
  reader TEXT NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (index_number, reader, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX readers_by_document ON readers (document);
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
  PRIMARY KEY (index_number, field, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX present_by_document ON present (document)""",
)
# Longer values are words only, never something to sort or count by.
MAX_EXACT_CHARACTERS = 256
# SQLite counts to 2 to the 63rd; larger numbers are compared as Elasticsearch does, roughly.
_MOST_EXACT = 2**63


@dataclass(frozen=True, slots=True)
class Index:
    """One index: its number, its fields, and the columns that its text fields have in the word table."""

    number: int
    name: str
    fields: Mapping[str, FieldKind]

    @property
    def words(self) -> str:
        return f"words_{self.number}"

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


def find_index(connection: sqlite3.Connection, name: str, fields: Mapping[str, FieldKind]) -> tuple[Index, str | None] | None:
    """The index of that name and where its filling stopped, if it is there with these fields."""
    row = connection.execute("SELECT number, fields, cursor FROM indices WHERE name = ?", (name,)).fetchone()
    return (Index(row[0], name, fields), row[2]) if row is not None and row[1] == _written(fields) else None


def open_index(connection: sqlite3.Connection, name: str, fields: Mapping[str, FieldKind]) -> tuple[Index, str | None]:
    """The same, made where it is missing; one whose fields have changed begins anew."""
    found = find_index(connection, name, fields)
    if found is not None:
        return found
    row = connection.execute("SELECT number, fields FROM indices WHERE name = ?", (name,)).fetchone()
    if row is not None:
        old = Index(row[0], name, orjson.loads(row[1]))
        _empty(connection, old)
        connection.execute(f"DROP TABLE IF EXISTS {old.words}")
        connection.execute("DELETE FROM indices WHERE number = ?", (old.number,))
    number = connection.execute("INSERT INTO indices (name, fields) VALUES (?, ?)", (name, _written(fields))).lastrowid
    index = Index(int(number or 0), name, fields)
    columns = ", ".join(index.columns.values()) or "c0"
    connection.execute(f"CREATE VIRTUAL TABLE {index.words} USING fts5 ({columns}, tokenize = 'ascii')")
    return index, None


def _written(fields: Mapping[str, FieldKind]) -> str:
    return orjson.dumps(dict(sorted(fields.items()))).decode()


@dataclass(slots=True)
class Retelling:
    """What was told since a source began anew; None while it only tells changes."""

    ids: set[str] | None = None


def apply(connection: sqlite3.Connection, index: Index, changes: Sequence[DocumentChange], retelling: Retelling) -> None:
    """Writes down what a source told. After a reset the old documents go only when the new whole is there,
    so that two processes that fill one index never take from each other what they have just put in."""
    for change in changes:
        match change:
            case Put(document):
                _put(connection, index, document)
                if retelling.ids is not None:
                    retelling.ids.add(document.id)
            case Drop(id):
                _drop(connection, index, id)
            case Reset():
                retelling.ids = set()
                connection.execute("UPDATE indices SET cursor = NULL WHERE number = ?", (index.number,))
            case Mark(cursor):
                sweep(connection, index, retelling)
                connection.execute("UPDATE indices SET cursor = ? WHERE number = ?", (cursor, index.number))


def sweep(connection: sqlite3.Connection, index: Index, retelling: Retelling) -> None:
    """Drops what a source that began anew has not told again."""
    if retelling.ids is None:
        return
    present = connection.execute("SELECT id FROM documents WHERE index_number = ?", (index.number,)).fetchall()
    for (known,) in present:
        if known not in retelling.ids:
            _drop(connection, index, known)
    retelling.ids = None


def comparable(value: object, kind: FieldKind) -> Scalar | None:
    """A value as it is compared: dates as milliseconds, truth as 0 or 1; None for what this kind of field cannot hold."""
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
            return int(value) if isinstance(value, bool) else truth.get(value) if isinstance(value, str) else None
        case "date":
            return _milliseconds(value)
        case "words":
            return None


def _milliseconds(value: object) -> int | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) if abs(value) < _MOST_EXACT else None
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value if len(value) != 4 or not value.isdecimal() else f"{value}-01-01")
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _put(connection: sqlite3.Connection, index: Index, document: Document) -> None:
    source = orjson.dumps(document.fields, default=str).decode()
    if _is_there(connection, index, document, source):
        return
    _drop(connection, index, document.id)
    sql = "INSERT INTO documents (index_number, id, source) VALUES (?, ?, ?)"
    number = connection.execute(sql, (index.number, document.id, source)).lastrowid
    connection.executemany(
        "INSERT INTO readers VALUES (?, ?, ?)", {(index.number, reader, number) for reader in document.readers}
    )
    rows: set[tuple[int, str, Scalar, int | None]] = set()
    texts: dict[str, str] = {}
    for field, kind in index.fields.items():
        values = list(_values(document.fields.get(field)))
        if not values:
            continue
        connection.execute("INSERT INTO present VALUES (?, ?, ?)", (index.number, field, number))
        exact = f"{field}.keyword" if kind == "text" else field
        if kind == "text":
            texts[index.columns[field]] = " ".join(word for value in values for word in words(str(value)))
        for value in values:
            shown = comparable(value, kind)
            if shown is not None and len(str(shown)) <= MAX_EXACT_CHARACTERS:
                rows.add((index.number, exact, shown, number))
    connection.executemany("INSERT OR IGNORE INTO field_values VALUES (?, ?, ?, ?)", rows)
    if texts:
        marks = ", ".join("?" * (len(texts) + 1))
        connection.execute(f"INSERT INTO {index.words} (rowid, {', '.join(texts)}) VALUES ({marks})", (number, *texts.values()))


def _is_there(connection: sqlite3.Connection, index: Index, document: Document, source: str) -> bool:
    sql = "SELECT number FROM documents WHERE index_number = ? AND id = ? AND source = ?"
    row = connection.execute(sql, (index.number, document.id, source)).fetchone()
    if row is None:
        return False
    readers = connection.execute("SELECT reader FROM readers WHERE document = ?", row)
    return {reader for (reader,) in readers} == set(document.readers)


def _values(value: object) -> Iterable[object]:
    if value is None:
        return ()
    return [one for one in value if one is not None] if isinstance(value, list | tuple) else (value,)


def _drop(connection: sqlite3.Connection, index: Index, id: str) -> None:
    sql = "SELECT number FROM documents WHERE index_number = ? AND id = ?"
    row = connection.execute(sql, (index.number, id)).fetchone()
    if row is None:
        return
    for table in ("readers", "field_values", "present"):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", row)
    connection.execute(f"DELETE FROM {index.words} WHERE rowid = ?", row)
    connection.execute("DELETE FROM documents WHERE number = ?", row)


def _empty(connection: sqlite3.Connection, index: Index) -> None:
    for table in ("readers", "field_values", "present", "documents"):
        connection.execute(f"DELETE FROM {table} WHERE index_number = ?", (index.number,))
    connection.execute(f"DELETE FROM {index.words}")
    connection.execute("UPDATE indices SET cursor = NULL WHERE number = ?", (index.number,))
