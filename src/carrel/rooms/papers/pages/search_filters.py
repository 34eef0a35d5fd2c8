"""The filters of a search of papers, as they stand in its address."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from carrel.core.pages import FieldValues, local_address
from carrel.libraries.query.papers import parse_paper_query
from carrel.libraries.text.folding import fold_text, text_key

FACETS = ("author", "venue", "keyword", "tag", "institution")
SORTS = ("best", "cited")
_LAST_YEAR = 3000


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """What is asked for: words, values of facets, years, an order and a page."""

    words: str = ""
    chosen: tuple[tuple[str, str], ...] = ()
    first_year: int | None = None
    last_year: int | None = None
    sort: str = "best"
    page: int = 1

    @property
    def is_empty(self) -> bool:
        return not self.query

    @property
    def query(self) -> str:
        """The same in the query language of search_papers."""
        parts = [f"({self.words})" if self._needs_brackets else self.words]
        parts += [f'{facet}:"{value.replace(chr(34), " ")}"' for facet, value in self.chosen]
        if self.first_year is not None or self.last_year is not None:
            parts.append(f"year:{self.first_year or ''}..{self.last_year or ''}")
        return " ".join(part for part in parts if part)

    @property
    def _needs_brackets(self) -> bool:
        has_more = self.chosen or self.first_year is not None or self.last_year is not None
        return bool(has_more) and " OR " in self.words

    def address(self, path: str = "/papers", **more: object) -> str:
        fields: dict[str, object] = {"q": self.words}
        for facet in FACETS:
            fields[facet] = [value for name, value in self.chosen if name == facet]
        fields |= {"from": self.first_year, "to": self.last_year}
        fields["sort"] = "" if self.sort == "best" else self.sort
        fields["page"] = "" if self.page == 1 else self.page
        return local_address(path, **(fields | more))

    def has(self, facet: str, value: str) -> bool:
        if facet == "year":
            return value.isdigit() and self.first_year == self.last_year == int(value)
        return any(facet == name and text_key(value) == text_key(own) for name, own in self.chosen)

    def with_value(self, facet: str, value: str) -> SearchFilters:
        """The same search with one more filter, from its first page."""
        if facet == "year":
            return replace(self, first_year=int(value), last_year=int(value), page=1)
        return replace(self, chosen=(*self.chosen, (facet, value)), page=1)

    def without_value(self, facet: str, value: str) -> SearchFilters:
        if facet == "year":
            return replace(self, first_year=None, last_year=None, page=1)
        kept = tuple(
            (name, own)
            for name, own in self.chosen
            if name != facet or text_key(own) != text_key(value)
        )
        return replace(self, chosen=kept, page=1)

    def on_page(self, page: int) -> SearchFilters:
        return replace(self, page=page)

    def sorted_by(self, sort: str) -> SearchFilters:
        return replace(self, sort=sort, page=1)


def read_filters(query: FieldValues) -> SearchFilters:
    """The filters of an address. Raises InvalidInputError for a year or page that is none."""
    sort = query.text("sort")
    return SearchFilters(
        words=query.text("q"),
        chosen=tuple((facet, value) for facet in FACETS for value in query.texts(facet)),
        first_year=query.optional_integer("from", least=1, most=_LAST_YEAR),
        last_year=query.optional_integer("to", least=1, most=_LAST_YEAR),
        sort=sort if sort in SORTS else "best",
        page=query.integer("page", 1, least=1, most=10_000),
    )


def query_words(text: str) -> list[str]:
    """The words of a query that a reader would want to see marked, each once."""
    phrases = parse_paper_query(text).phrases
    words = (word for phrase in phrases for word in phrase.words)
    return list(dict.fromkeys(fold_text(word) for word in words))


def find_places(words: Iterable[str], **texts: str) -> list[str]:
    """Which of the named texts have one of the words."""
    wanted = [word for word in words if word]
    return [name for name, text in texts.items() if any(word in fold_text(text) for word in wanted)]
