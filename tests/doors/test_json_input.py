"""JSON that is nested deeper than the house can walk is refused at the door."""

from __future__ import annotations

import orjson
import pytest

from carrel.doors.json_input import parse_json

pytestmark = pytest.mark.promise("D14")


@pytest.mark.parametrize("depth", [201, 1_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_json_nested_too_deep_is_no_json_here(depth: int, opening: bytes, closing: bytes) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        parse_json(opening * depth + b"1" + closing * depth)


def test_depth_is_counted_and_not_brackets() -> None:
    flat = {"text": "[" * 10_000, "many": [[1]] * 10_000}
    assert parse_json(orjson.dumps(flat)) == flat
    assert parse_json(b"[" * 199 + b"]" * 199)
