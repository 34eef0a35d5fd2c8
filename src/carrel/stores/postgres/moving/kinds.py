"""A kind of data that a move copies, and the proof that what arrived is what was there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import orjson

from carrel.core.errors import ConflictError, UnavailableError
from carrel.stores.postgres.migration import connect_blocking
from carrel.stores.postgres.statements import BlockingConnection
from carrel.stores.postgres.table_rows import (
    RowDigest,
    find_mark,
    lock_tables,
    put_mark,
    refuse_rows,
)

State = Literal["moved", "moved before", "nothing", "to move"]


@dataclass(frozen=True, slots=True)
class Proof:
    """How many rows there are, and a hash of them all in any order."""

    count: int
    digest: str


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of data. `read` proves what the home has, `check` what the database has.

    `tables` are those that hold nothing else than this kind and others that move.
    """

    name: str
    tables: tuple[str, ...]
    read: Callable[[], Proof]
    copy: Callable[[BlockingConnection], None]
    check: Callable[[BlockingConnection], Proof]

    @property
    def mark(self) -> str:
        return f"move {self.name}"


@dataclass(frozen=True, slots=True)
class MovedKind:
    """What became of one kind."""

    name: str
    count: int
    digest: str
    state: State


class RowProof:
    """Collects a proof; values are those that both databases give back alike."""

    def __init__(self) -> None:
        self._rows = RowDigest()

    def add(self, table: str, row: Iterable[object]) -> None:
        self._rows.add(orjson.dumps([table, *map(_plain, row)]))

    @property
    def proof(self) -> Proof:
        return Proof(self._rows.count, self._rows.text)


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def look_at_kind(url: str, kind: Kind) -> MovedKind:
    """What a move would do with a kind; changes nothing. DatabaseNotEmptyError, ConflictError."""
    with connect_blocking(url) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        done = find_mark(connection, kind.mark)
        if done is None:
            refuse_rows(connection, kind.tables)
    proof = kind.read()
    if done is not None:
        return _moved_before(kind, proof, done)
    return MovedKind(kind.name, proof.count, proof.digest, "to move" if proof.count else "nothing")


def move_kind(url: str, kind: Kind) -> MovedKind:
    """Copies one kind in one transaction, or finds it there from a move that was interrupted."""
    proof = kind.read()
    with connect_blocking(url) as connection:
        lock_tables(connection, kind.tables)
        done = find_mark(connection, kind.mark)
        if done is not None:
            return _moved_before(kind, proof, done)
        refuse_rows(connection, kind.tables)
        kind.copy(connection)
        arrived = kind.check(connection)
        if arrived != proof:
            raise UnavailableError(
                f"{kind.name}: {arrived.count:,} rows arrived of {proof.count:,}, or not as they "
                "were",
                next_step="Nothing of this kind was kept there; run it again, and report it if it "
                "happens again.",
            )
        put_mark(connection, kind.mark, orjson.dumps([proof.count, proof.digest]).decode())
    return MovedKind(kind.name, proof.count, proof.digest, "moved" if proof.count else "nothing")


def _moved_before(kind: Kind, proof: Proof, facts: str) -> MovedKind:
    if Proof(*orjson.loads(facts)) != proof:
        raise ConflictError(
            f"{kind.name} was moved before, and this home has changed since or is another one",
            next_step="Begin again with a new, empty database.",
        )
    return MovedKind(kind.name, proof.count, proof.digest, "moved before")
