"""The search syntax of a reference library: words, "phrases", and fields such as author: or year:.
Anything typed is understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.rooms.references.records import fold, fold_accents

IDENTIFIER_FIELDS = frozenset({"id", "doi", "pmid", "pmcid", "isbn", "url", "year", "type"})
CONTENT_FIELDS = frozenset({"author", "title", "keyword", "tag"})
FIELDS = IDENTIFIER_FIELDS | CONTENT_FIELDS

_TOKEN = re.compile(r'(?:(?P<field>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>\S+))')
_CAPITALS = re.compile(r"[A-Z]{2,}")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that must match. `exact_case` is the text with its capitals, where two of them
    stand together.
    """

    text: str
    field: str | None = None
    exact_case: str | None = None

    @property
    def words(self) -> list[str]:
        return self.text.split()


def parse(query: str) -> tuple[Term, ...]:
    """The terms of a query; all of them must match."""
    terms = []
    for found in _TOKEN.finditer(query):
        field = (found.group("field") or "").lower()
        raw = (
            found.group("phrase")
            if found.group("phrase") is not None
            else found.group("word") or ""
        )
        if field and field not in FIELDS:
            raw, field = f"{found.group('field')}:{raw}", ""
        text = fold(raw)
        if not text:
            continue
        has_capitals = _CAPITALS.search(raw) is not None and field not in IDENTIFIER_FIELDS
        exact = " ".join(fold_accents(raw).split()) if has_capitals else None
        terms.append(Term(text, field or None, exact))
    return tuple(terms)
