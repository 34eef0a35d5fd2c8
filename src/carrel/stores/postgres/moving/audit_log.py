"""Moves the audit log: every line as it stands, so that its chains and anchors hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from carrel.policy.audit_anchor import read_anchor
from carrel.stores.json_lines.anchors import read_anchor_lines
from carrel.stores.json_lines.audit import AnchorPlaces, read_lines
from carrel.stores.postgres.audit import audit_row
from carrel.stores.postgres.moving.kinds import Kind, Proof, RowProof
from carrel.stores.postgres.statements import BlockingConnection

_TABLES = ("audit_log", "audit_anchors", "audit_signing_key")
_PAGE = 500
_COLUMNS = "chain, sequence, at, user_id, action, result, line"
# Lines that a kill left torn belong to no chain; they are counted here and judged by verify.
_TORN = "torn"


def move_audit_log(file: Path, places: AnchorPlaces, *, has_key_of_its_own: bool) -> Kind:
    """Lines in their order, signed anchors, and their key, unless it lies where replicas share."""

    def read() -> Proof:
        return _prove(_lines(file), _anchors(places), _key(places, has_key_of_its_own))

    def copy(connection: BlockingConnection) -> None:
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY audit_log ({_COLUMNS}) FROM STDIN".encode()) as stream,
        ):
            latest: tuple[object, ...] = ("1970-01-01T00:00:00Z",)
            for number, line in enumerate(_lines(file)):
                try:
                    row = audit_row(line)
                    latest = (row[2],)
                except (ValueError, KeyError, TypeError):
                    said = line.decode("utf-8", "replace").replace("\0", "")
                    row = (_TORN, number, *latest, "", "", "", said)
                stream.write_row(row)
        for number, anchor in _anchors(places):
            connection.execute(
                "INSERT INTO audit_anchors (number, line) VALUES (%s, %s)", (number, anchor)
            )
        for pem in _key(places, has_key_of_its_own):
            connection.execute("INSERT INTO audit_signing_key (pem) VALUES (%s)", (pem,))

    def check(connection: BlockingConnection) -> Proof:
        with connection.cursor(name="moved") as cursor:
            cursor.itersize = _PAGE
            lines = cursor.execute(b"SELECT line FROM audit_log ORDER BY id")
            return _prove(
                (str(row[0]).encode() for row in lines),
                iter(connection.execute("SELECT number, line FROM audit_anchors").fetchall()),
                iter(r[0] for r in connection.execute("SELECT pem FROM audit_signing_key")),
            )

    return Kind("audit log", _TABLES, read, copy, check)


def _prove(
    lines: Iterator[bytes], anchors: Iterator[tuple[int, str]], keys: Iterator[str]
) -> Proof:
    proof = RowProof()
    for number, line in enumerate(lines):
        said = line.decode("utf-8", "replace").replace("\0", "")
        # With its place: the order of the log is part of what it says.
        proof.add("line", (number, said))
    for anchor in anchors:
        proof.add("anchor", anchor)
    for key in keys:
        proof.add("key", (key,))
    return proof.proof


def _lines(file: Path) -> Iterator[bytes]:
    for line in read_lines(file):
        if text := line.rstrip(b"\n"):
            yield text


def _anchors(places: AnchorPlaces) -> Iterator[tuple[int, str]]:
    for line in read_anchor_lines(places.anchors):
        anchor = read_anchor(line)
        if anchor is not None:
            yield anchor.tip.number, line.strip().decode()


def _key(places: AnchorPlaces, has_key_of_its_own: bool) -> Iterator[str]:
    if has_key_of_its_own and places.key.is_file():
        yield places.key.read_text(encoding="ascii")
