"""Parses untrusted JSON; refuses nesting too deep for the code that reads it."""

from __future__ import annotations

import json
from typing import Any

import orjson

from carrel.libraries.text.budget import MAX_DEPTH, InputTooCostlyError, check_nesting

_LONGEST_READ_TWICE = 1024 * 1024


def parse_json(raw: bytes) -> Any:
    """The value. Raises orjson.JSONDecodeError, also for more than 200 levels."""
    value = orjson.loads(raw)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        try:
            check_nesting(value, "the JSON")
        except InputTooCostlyError as error:
            raise orjson.JSONDecodeError(error.message, "", 0) from None
    return value


def salvage_request_id(raw: bytes) -> str | int | None:
    """The id of a message that `parse_json` refuses, so that its sender gets an answer."""
    if len(raw) > _LONGEST_READ_TWICE:
        return None
    try:
        message = json.loads(raw)
        found = message.get("id") if isinstance(message, dict) else None
        if isinstance(found, str):
            found.encode()
    except (ValueError, RecursionError):
        return None
    return (
        found
        if isinstance(found, str | int) and not isinstance(found, bool) and _is_plain(found)
        else None
    )


def _is_plain(request_id: str | int) -> bool:
    return isinstance(request_id, str) or abs(request_id) < 2**53
