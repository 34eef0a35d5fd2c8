"""Keeps a concept index in a file, with the fingerprint of every paper it was made from."""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from carrel.core.errors import describe_error
from carrel.libraries.discovery.concepts.index import ConceptIndex
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.records import ConceptRow, DocumentRow
from carrel.stores.sqlite.connection import connect

log = logging.getLogger("carrel.research")

# Raised whenever the way concepts are read from texts changes, so that indexes made the old way are
# made again.
READING = 8

_TABLES = """
CREATE TABLE about (reading INTEGER NOT NULL, vocabulary TEXT NOT NULL);
CREATE TABLE concept (number INTEGER PRIMARY KEY, key TEXT NOT NULL, label TEXT NOT NULL);
CREATE TABLE word (number INTEGER PRIMARY KEY, word TEXT NOT NULL);
CREATE TABLE document (id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, year INTEGER, named BLOB,
  mentioned BLOB, found BLOB, once TEXT,
    text BLOB, definitions TEXT);
"""


class ConceptFile:
    """One index in one file, written under another name and renamed when it is complete."""

    def __init__(self, file: Path, vocabulary_name: str = "") -> None:
        self._file = file
        self._about = (READING, vocabulary_name)

    def load(self, vocabulary: Vocabulary | None) -> tuple[ConceptIndex, dict[str, str]] | None:
        """The index and the fingerprints of its papers, or None where none can be used."""
        try:
            with self._connected(self._file) as connection:
                if (
                    connection.execute("SELECT reading, vocabulary FROM about").fetchone()
                    != self._about
                ):
                    return None
                index = ConceptIndex.from_rows(_Rows(connection), vocabulary)
                return index, dict(connection.execute("SELECT id, fingerprint FROM document"))
        except (
            sqlite3.Error,
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            struct.error,
            zlib.error,
        ) as error:
            # A cache: whatever is wrong with it, it can be made again from the papers.
            if self._file.exists():
                log.warning(
                    "cache is made again",
                    extra={"file": self._file.name, "cause": describe_error(error)},
                )
            return None

    def save(self, index: ConceptIndex, fingerprints: Mapping[str, str]) -> None:
        # Two processes may be at it at once, each with a draft of its own.
        draft = self._file.with_suffix(f".{secrets.token_hex(8)}.draft")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._write(draft, index, fingerprints)
            draft.replace(self._file)
        except (OSError, sqlite3.Error) as error:
            # A cache: the index is in memory, and will be made again when it is needed.
            log.warning(
                "the concept index cannot be kept",
                extra={"file": self._file.name, "reason": str(error)},
            )
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def _write(self, draft: Path, index: ConceptIndex, fingerprints: Mapping[str, str]) -> None:
        with self._connected(draft, is_new=True) as connection:
            connection.executescript(_TABLES)
            connection.execute("BEGIN")
            connection.execute("INSERT INTO about VALUES (?, ?)", self._about)
            rows = ((row.number, row.key, row.label) for row in index.concept_rows())
            connection.executemany("INSERT INTO concept VALUES (?, ?, ?)", rows)
            connection.executemany("INSERT INTO word VALUES (?, ?)", enumerate(index.words()))
            connection.executemany(
                "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                _documents(index, fingerprints),
            )
            connection.execute("COMMIT")

    @contextmanager
    def _connected(self, file: Path, *, is_new: bool = False) -> Iterator[sqlite3.Connection]:
        with closing(connect(file, "create" if is_new else "read")) as connection:
            if is_new:
                connection.execute("PRAGMA journal_mode = OFF")
                connection.execute("PRAGMA synchronous = OFF")
            yield connection


class _Rows:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def concept_rows(self) -> Iterable[ConceptRow]:
        return (
            ConceptRow(*row)
            for row in self._connection.execute(
                "SELECT number, key, label FROM concept ORDER BY number"
            )
        )

    def words(self) -> Iterable[str]:
        return (
            word for (word,) in self._connection.execute("SELECT word FROM word ORDER BY number")
        )

    def document_rows(self) -> Iterable[DocumentRow]:
        sql = (
            "SELECT id, year, named, mentioned, found, once, text, definitions FROM document "
            "ORDER BY rowid"
        )
        for (
            paper_id,
            year,
            named,
            mentioned,
            found,
            once,
            text,
            definitions,
        ) in self._connection.execute(sql):
            told = tuple((short, long) for short, long in json.loads(definitions))
            yield DocumentRow(
                paper_id, year, named, mentioned, found, tuple(json.loads(once)), text, told
            )


def _documents(
    index: ConceptIndex, fingerprints: Mapping[str, str]
) -> Iterator[tuple[object, ...]]:
    for row in index.document_rows():
        facts = (row.id, fingerprints[row.id], row.year, row.named, row.mentioned, row.found)
        yield (*facts, json.dumps(row.once), row.text, json.dumps(row.definitions))
