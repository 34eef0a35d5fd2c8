"""A source that knows only its present whole, told as changes to those who heard an earlier one."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import orjson

from carrel.rooms.knowledge.documents import (
    Document,
    DocumentChange,
    Drop,
    FieldKind,
    Mark,
    Put,
    Reset,
)


class Whole(Protocol):
    """Documents that are read all together."""

    async def state(self) -> str:
        """A name that changes whenever a document does."""
        ...

    def everything(self) -> AsyncIterator[Document]: ...


@dataclass(frozen=True, slots=True)
class _Told:
    """What was told under one name of the whole."""

    state: str
    fingerprints: Mapping[str, bytes]


class WholeDocuments:
    """The index `index`. Whoever heard the last whole from this process is told what differs,
    others all of it.
    """

    def __init__(self, index: str, fields: Mapping[str, FieldKind], whole: Whole) -> None:
        self.index = index
        self.fields = fields
        self._whole = whole
        self._told: _Told | None = None

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        state = await self._whole.state()
        if state == since:
            return
        told = self._told
        known = told.fingerprints if told is not None and told.state == since else None
        if known is None:
            yield Reset()
        present: dict[str, bytes] = {}
        async for document in self._whole.everything():
            fingerprint = _fingerprint(document)
            if document.id not in present and (
                known is None or known.get(document.id) != fingerprint
            ):
                yield Put(document)
            present.setdefault(document.id, fingerprint)
        for gone in known or ():
            if gone not in present:
                yield Drop(gone)
        self._told = _Told(state, present)
        yield Mark(state)


def _fingerprint(document: Document) -> bytes:
    return hashlib.blake2b(
        orjson.dumps([document.fields, document.readers], default=str), digest_size=12
    ).digest()
