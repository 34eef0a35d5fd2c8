"""JSON from outside: refused where it is nested deeper than what walks through it afterwards can go."""

from __future__ import annotations

from typing import Any

import orjson

from carrel.core.budget import MAX_DEPTH, InputTooCostlyError, check_nesting


def parse_json(raw: bytes) -> Any:
    """The value. Raises orjson.JSONDecodeError for what is not JSON, or nested more than 200 levels deep."""
    value = orjson.loads(raw)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        try:
            check_nesting(value, "the JSON")
        except InputTooCostlyError as error:
            raise orjson.JSONDecodeError(error.message, "", 0) from None
    return value
