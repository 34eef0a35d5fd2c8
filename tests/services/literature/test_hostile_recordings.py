"""Recordings are handed on with papers: one bad file never keeps the others from being replayed."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.services.literature.recordings import (
    Exchange,
    Recordings,
    UnreadableRecordingError,
    read_exchange,
)
from carrel.services.literature.requests import request_key

URL = "https://host.example/works"


def _beside(path: Path, packed: bytes) -> None:
    (path.parent / "body.gz").write_bytes(packed)
    request = {"method": "GET", "url": URL}
    content = {"request": request, "status": 200, "headers": {}, "body_file": "body.gz"}
    path.write_text(json.dumps(content))


BAD: dict[str, Callable[[Path], object]] = {
    "nested": lambda path: path.write_text("[" * 500_000),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a pipe": os.mkfifo,
    "a damaged body": lambda path: _beside(path, gzip.compress(b"x" * 100)[:10] + b"\xff" * 50),
    "a bomb": lambda path: _beside(path, gzip.compress(bytes(80_000_000), 9)),
    "an endless number": lambda path: path.write_text(
        '{"request":{"method":"GET","url":"https://h.example"},"status":1e999,"headers":{}}'
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_passed_over_and_the_rest_is_found(tmp_path: Path, kind: str) -> None:
    Recordings(tmp_path).save("openalex", Exchange("GET", URL + "?a=1", 200, {}, b"{}"))
    bad = tmp_path / "openalex" / "0-bad.json"
    BAD[kind](bad)
    with pytest.raises(UnreadableRecordingError):
        read_exchange(bad)
    found = Recordings(tmp_path).find(request_key("GET", URL + "?a=1", ""))
    assert found is not None
    assert found.body == b"{}"
