"""The filters and the order of the table, as they stand in its address."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from carrel.core.pages import FieldValues, local_address

LIBRARY_PATH = "/references"
READ_STATES = ("unread", "reading", "read")
SORTS = ("author", "title", "year", "added", "key")
# Newest first is what people look for; names begin with A.
_DESCENDING_FIRST = frozenset({"year", "added"})
_OPERATORS = re.compile(r"\b(?:OR|AND|NOT)\b")
_EARLIEST, _LATEST = -3000, 3000


@dataclass(frozen=True, slots=True)
class LibraryFilters:
    """What of the library is shown, and in which order."""

    words: str = ""
    sort: str = "added"
    is_descending: bool = True
    type: str = ""
    first_year: int | None = None
    last_year: int | None = None
    text: str = ""
    collection: str = ""
    tag: str = ""
    read_state: str = ""

    @classmethod
    def read(cls, query: FieldValues) -> LibraryFilters:
        """Raises InvalidInputError for years that are none."""
        words = query.text("q")[:500]
        sort = query.text("sort")
        if sort not in SORTS and not (sort == "relevance" and words):
            sort = "relevance" if words else "added"
        direction = query.text("dir")
        descending = direction == "desc" if direction else sort in _DESCENDING_FIRST
        text = query.text("text")
        return cls(
            words=words,
            sort=sort,
            is_descending=descending and sort != "relevance",
            type=query.text("type")[:60],
            first_year=query.optional_integer("from", least=_EARLIEST, most=_LATEST),
            last_year=query.optional_integer("to", least=_EARLIEST, most=_LATEST),
            text=text if text in {"yes", "no"} else "",
            collection=query.text("collection")[:200],
            tag=query.text("tag")[:200],
            read_state=state if (state := query.text("read")) in READ_STATES else "",
        )

    @property
    def is_narrowed(self) -> bool:
        return replace(self, sort="added", is_descending=True) != LibraryFilters()

    def address(self, path: str = LIBRARY_PATH, **more: object) -> str:
        """The address of the same rows; `more` are fields beside it."""
        return local_address(path, **self.fields(), **more)

    def fields(self) -> dict[str, Any]:
        usual = "relevance" if self.words else "added"
        has_usual_direction = self.is_descending == (self.sort in _DESCENDING_FIRST)
        return {
            "q": self.words,
            "type": self.type,
            "from": self.first_year,
            "to": self.last_year,
            "text": self.text,
            "collection": self.collection,
            "tag": self.tag,
            "read": self.read_state,
            "sort": "" if self.sort == usual else self.sort,
            "dir": "" if has_usual_direction else ("desc" if self.is_descending else "asc"),
        }

    @property
    def hidden_fields(self) -> list[tuple[str, str]]:
        """What a form keeps that asks for other words."""
        return [
            (name, str(value))
            for name, value in self.fields().items()
            if name != "q" and value not in ("", None) and not self._is_of_words(name)
        ]

    @property
    def hidden_fields_without_years(self) -> list[tuple[str, str]]:
        return [
            (name, str(value))
            for name, value in self.fields().items()
            if name not in {"q", "from", "to"} and value not in ("", None)
        ]

    def _is_of_words(self, name: str) -> bool:
        """Whether a field says how the found are sorted, which is anew for other words."""
        return name in {"sort", "dir"} and (not self.words or self.sort == "relevance")

    def sorted_by(self, sort: str) -> LibraryFilters:
        """In this order, or the other way round where it is the order already."""
        if sort == self.sort:
            return replace(self, is_descending=not self.is_descending)
        return replace(self, sort=sort, is_descending=sort in _DESCENDING_FIRST)

    def question(self) -> dict[str, Any]:
        """The arguments of browse_references."""
        return {
            "sort": self.sort,
            "is_descending": self.is_descending,
            "query": self.words,
            "type": self.type,
            "first_year": self.first_year,
            "last_year": self.last_year,
            "has_fulltext": None if not self.text else self.text == "yes",
            "collection": self.collection,
            "tag": self.tag,
            "read_state": self.read_state or None,
        }

    def query_text(self) -> str:
        """The same rows as a query of search_references; empty for all."""
        words = f"({self.words})" if _OPERATORS.search(self.words) else self.words
        parts = [words] if words else []
        if self.type:
            parts.append(f"type:{self.type}")
        if self.first_year is not None or self.last_year is not None:
            first = "" if self.first_year is None else str(self.first_year)
            last = "" if self.last_year is None else str(self.last_year)
            parts.append(f"year:{first}..{last}")
        if self.text:
            parts.append("has:fulltext" if self.text == "yes" else "-has:fulltext")
        for field, value in (("collection", self.collection), ("tagged", self.tag)):
            if value:
                parts.append(f'{field}:"{value.replace(chr(34), " ")}"')
        if self.read_state:
            parts.append(f"read:{self.read_state}")
        return " ".join(parts)
