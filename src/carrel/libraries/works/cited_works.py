"""One entry of a reference list, as printed and as far as it was understood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work that a paper cites.

    `text` is the entry as printed, empty where the source has fields only. `label` is how the paper
    names it ("12", "Smith2020"). `authors` are names in order, as printed. Identifiers are in the
    form of `libraries.identifiers`. `confidence` says how sure the fields are: 1.0 where the
    source has fields, less where they were cut out of `text`.
    """

    text: str = ""
    label: str | None = None
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    container: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    publisher: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    pmid: str | None = None
    isbn: str | None = None
    url: str | None = None
    kind: str | None = None
    confidence: float = 1.0
    # `W` and digits.
    openalex_id: str | None = None


_ORDERED_NAMES = tuple(field.name for field in fields(CitedWork))


def encode_cited_works(works: Iterable[CitedWork]) -> bytes:
    """The list as JSON; fields that say nothing are left out."""
    return orjson.dumps(
        [
            {
                name: value
                for name in _ORDERED_NAMES
                if (value := getattr(work, name)) not in (None, (), "")
            }
            for work in works
        ]
    )


_NAMES = frozenset(_ORDERED_NAMES)


def decode_cited_works(content: bytes) -> tuple[CitedWork, ...]:
    """Raises ValueError where the content is not such a list; unknown fields are passed over."""
    try:
        entries: Sequence[dict[str, Any]] = orjson.loads(content)
        return tuple(_read_work(entry) for entry in entries)
    except (TypeError, AttributeError) as error:
        raise ValueError("this is no list of cited works") from error


def _read_work(entry: dict[str, Any]) -> CitedWork:
    known = {name: value for name, value in entry.items() if name in _NAMES}
    known["authors"] = tuple(known.get("authors", ()))
    return CitedWork(**known)
