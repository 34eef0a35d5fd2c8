"""Objects of a service in all of its recordings, found by what they have, wherever they stand."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from carrel.services.literature.recordings import read_exchanges
from tests.services.literature.recorded import SERVICES_DATA


def recorded_json(folder: str) -> Iterator[tuple[str, int, Any]]:
    """Name, status and decoded body of every recording that is JSON."""
    for path, exchange in read_exchanges(SERVICES_DATA / folder):
        body = exchange.body
        if body.lstrip()[:1] not in {b"{", b"["}:
            # The recorder of some DataCite answers kept them in base 64.
            try:
                body = base64.b64decode(body, validate=True)
            except ValueError:
                continue
        try:
            yield path.name, exchange.status, json.loads(body)
        except ValueError:
            continue


def recorded_objects(
    folder: str, is_wanted: Callable[[Mapping[str, Any]], bool]
) -> list[Mapping[str, Any]]:
    """Every object in the recordings of a service for which the test holds."""
    return [
        each for _, _, found in recorded_json(folder) for each in _objects(found) if is_wanted(each)
    ]


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)


def dump_lines(pattern: str) -> Iterator[Any]:
    """The lines of compressed files of a dump."""
    for path in sorted((SERVICES_DATA / "dumps").glob(pattern)):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
