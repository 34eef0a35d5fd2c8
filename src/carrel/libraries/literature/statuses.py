"""How open a work is and which version a text is, in words that OpenAlex and Unpaywall share."""

from __future__ import annotations

from typing import Literal

from carrel.libraries.literature.raw_fields import text_of
from carrel.libraries.literature.records import TextVersion

OpenAccess = Literal["gold", "green", "hybrid", "bronze", "diamond", "closed"]
_STATUSES: dict[str, OpenAccess] = {
    "gold": "gold",
    "green": "green",
    "hybrid": "hybrid",
    "bronze": "bronze",
    "diamond": "diamond",
    "closed": "closed",
}
_VERSIONS: dict[str, TextVersion] = {
    "publishedversion": "published",
    "acceptedversion": "accepted",
    "submittedversion": "submitted",
}


def read_text_version(value: object) -> TextVersion | None:
    """`publishedVersion` and its like; None where the word says nothing."""
    return _VERSIONS.get(text_of(value).lower())


def read_open_access(value: object) -> OpenAccess | None:
    """The status in any case; None for a word that is none."""
    return _STATUSES.get(text_of(value).lower())
