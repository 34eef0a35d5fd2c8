"""Retractions, corrections and concerns as services name them."""

from __future__ import annotations

import re

from carrel.libraries.literature.raw_fields import text_of
from carrel.libraries.literature.records import Notice, NoticeKind

_KINDS: dict[str, NoticeKind] = {
    "retraction": "retraction",
    "retracted": "retraction",
    "correction": "correction",
    "corrigendum": "correction",
    "erratum": "correction",
    "addendum": "correction",
    "clarification": "correction",
    # A part of the work is withdrawn, the work stands.
    "partial_retraction": "correction",
    "expression_of_concern": "expression_of_concern",
    "concern": "expression_of_concern",
    "withdrawal": "withdrawal",
    "withdrawn": "withdrawal",
    "removal": "removal",
    "removed": "removal",
}
_IN_TITLE = re.compile(
    r"[\[(<*\s]*(?:(RETRACTED|Retracted)|(WITHDRAWN|Withdrawn)|(REMOVED|Removed))"
    r"(?:\s+(?:ARTICLE|Article|CHAPTER|Chapter|PAPER|Paper))?\s*(?:[\])>*]+\s*[:.]?|[:—–])\s*\S"
)


def read_notice_kind(value: object) -> NoticeKind | None:
    """The kind of an update; None for what is no notice, such as a new version."""
    name = re.sub(r"[\s-]+", "_", text_of(value).lower())
    return _KINDS.get(name)


def read_title_notice(title: str, service: str) -> Notice | None:
    """What a title says of itself (`RETRACTED: …`): a weak hint, so the notice says its reason."""
    found = _IN_TITLE.match(title)
    if found is None:
        return None
    kinds: tuple[NoticeKind, ...] = ("retraction", "withdrawal", "removal")
    kind = next(kind for kind, word in zip(kinds, found.groups(), strict=True) if word)
    return Notice(kind, reasons=("the title says so",), service=service)
