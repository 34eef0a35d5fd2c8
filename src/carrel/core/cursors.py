"""Cursors: where a long answer goes on, as text that a client hands back.

A cursor holds its operation and the arguments (or their hash, where they are long), so that any
server of the desk can go on with it. It grants nothing: the operation runs again, for its caller.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from carrel.core.answer_pages import Position
from carrel.core.errors import InvalidInputError

_VERSION = 1
_LONGEST_CURSOR = 8_000
_LONGEST_CONTENT = 64_000
# Longer arguments are not in the cursor, only their hash: they must be sent again.
_LONGEST_ARGUMENTS = 1_500
_DEEPEST_POSITION = 32
_CHECK_BYTES = 4


class InvalidCursorError(InvalidInputError):
    """A cursor that no server of ours gave, or that was given for another question."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place `position` in the answer to a question; `kept` names an answer of a change."""

    operation: str
    position: Position
    fingerprint: str
    digest: str
    arguments: Mapping[str, Any] | None = None
    kept: str | None = None

    @classmethod
    def of(
        cls,
        operation: str,
        arguments: Mapping[str, Any],
        position: Position,
        fingerprint: str,
        kept: str | None = None,
    ) -> Cursor:
        """The cursor of a question; `kept` stands for arguments that must not run again."""
        packed = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
        carried = arguments if kept is None and len(packed) <= _LONGEST_ARGUMENTS else None
        return cls(operation, position, fingerprint, digest(arguments), carried, kept)

    @property
    def is_complete(self) -> bool:
        """Whether the cursor alone is enough to go on."""
        return self.arguments is not None or self.kept is not None

    def encode(self) -> str:
        content = orjson.dumps(
            [
                _VERSION,
                self.operation,
                self.position,
                self.fingerprint,
                self.digest,
                self.arguments,
                self.kept,
            ]
        )
        packed = zlib.compress(content, 9)
        check = zlib.crc32(packed).to_bytes(_CHECK_BYTES, "big")
        return base64.urlsafe_b64encode(check + packed).decode().rstrip("=")

    @classmethod
    def decode(cls, text: object) -> Cursor:
        """Raises InvalidCursorError for anything that `encode` did not write."""
        found = _unpack(text) if isinstance(text, str) and len(text) <= _LONGEST_CURSOR else None
        cursor = None if found is None else _from_content(found)
        if cursor is None:
            raise InvalidCursorError(
                "This is no cursor of this server, or it was changed on its way",
                next_step="Send next_cursor of the last answer as it is, or call without a cursor "
                "to begin again.",
                details={"cursor": str(text)[:100]},
            )
        return cursor

    def merge_arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the question; raises InvalidCursorError where others are given."""
        if self.kept is not None:
            return dict(given)
        known = self.arguments
        if known is not None and all(
            name in known and known[name] == value for name, value in given.items()
        ):
            return dict(known)
        if known is None and digest(given) == self.digest:
            return dict(given)
        raise InvalidCursorError(
            f"This cursor belongs to another question to {self.operation}",
            next_step="Call with the arguments of the first call and its next_cursor, or without "
            "a cursor to ask anew.",
            details={"operation": self.operation, "arguments": None if known is None else known},
        )


def digest(arguments: Mapping[str, Any]) -> str:
    """A short hash of arguments, whatever their order."""
    packed = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(packed, digest_size=9).hexdigest()


def _unpack(text: str) -> Any:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        check, packed = raw[:_CHECK_BYTES], raw[_CHECK_BYTES:]
        if zlib.crc32(packed).to_bytes(_CHECK_BYTES, "big") != check:
            return None
        content = zlib.decompressobj().decompress(packed, _LONGEST_CONTENT)
        return orjson.loads(content)
    except (ValueError, binascii.Error, zlib.error):
        return None


def _from_content(content: Any) -> Cursor | None:
    match content:
        case [
            int(version),
            str(operation),
            list(position),
            str(mark),
            str(hashed),
            dict() | None as arguments,
            str() | None as kept,
        ] if version == _VERSION and len(position) <= _DEEPEST_POSITION:
            if all(isinstance(step, str | int) for step in position):
                return Cursor(operation, tuple(position), mark, hashed, arguments, kept)
    return None
