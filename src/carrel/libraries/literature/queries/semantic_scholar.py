"""Our queries for Semantic Scholar: plain words by relevance, or operators in its bulk search.

Recordings show single words in both searches, `year`, `publicationDateOrYear` and `sort`.
Unproved live: the operators of the bulk search, which are written as its documentation has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.boolean import (
    QueryLeafNode,
    describe_tree,
    has_negation,
    list_conjuncts,
    list_leaves,
    write_words,
)
from carrel.libraries.literature.queries.widening import BooleanLanguage, Clause, write_tree
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
)
from carrel.libraries.text.words import Phrase

# In `parameters` these name the search that is meant; they are no parameters of the service.
RELEVANCE_SEARCH = "search"
BULK_SEARCH = "search/bulk"
_SORTS = {
    "relevance": "citationCount:desc",
    "newest": "publicationDate:desc",
    "most_cited": "citationCount:desc",
}
_LATE = "works that Semantic Scholar added later than their day of publication"
_UNRANKED = "relevance: answers to operators come by citations"


def translate(
    query: PaperQuery,
    *,
    order: str = "relevance",
    since: date | None = None,
    until: date | None = None,
    includes_preprints: bool = True,
) -> tuple[str, TranslatedParameters]:
    """The search to ask (`search` or `search/bulk`) and its parameters."""
    lost: list[str] = []
    years = [part for part in list_conjuncts(query) if isinstance(part, YearRange)]
    parts = [part for part in list_conjuncts(query) if not isinstance(part, YearRange)]
    is_plain = not any(_has_operators(part) for part in parts)
    needs_order = order != "relevance" or since is not None or until is not None
    search = RELEVANCE_SEARCH if is_plain and not needs_order else BULK_SEARCH
    text = _write_plain(parts, lost) if search == RELEVANCE_SEARCH else _write_bulk(parts, lost)
    if not text:
        return search, TranslatedParameters(not_expressed=tuple(dict.fromkeys(lost)))
    parameters = {"query": text}
    span = _write_span(years, since, until)
    if span:
        parameters["publicationDateOrYear"] = span
    if search == BULK_SEARCH:
        parameters["sort"] = _SORTS[order]
        if order == "relevance":
            lost.append(_UNRANKED)
    if since or until:
        lost.append(_LATE)
    if not includes_preprints:
        lost.append("no preprints")
    shown = text if not span else f"{text} publicationDateOrYear={span}"
    return search, TranslatedParameters(parameters, shown, tuple(dict.fromkeys(lost)))


def _has_operators(part: QueryNode) -> bool:
    """Whether the part needs more than words: alternatives, negations, beginnings of words."""
    if isinstance(part, AnyOf) and not _is_of_facets(part):
        return True
    if isinstance(part, AllOf):
        return any(_has_operators(each) for each in part.parts)
    return has_negation(part) or (isinstance(part, Phrase) and part.is_prefix)


def _is_of_facets(part: QueryNode) -> bool:
    return all(isinstance(leaf, FacetPhrase) for leaf in list_leaves(part))


def _write_plain(parts: Sequence[QueryNode], lost: list[str]) -> str:
    """Words with blanks alone: hyphens and other signs make the service find nothing."""
    words: list[str] = []
    for part in parts:
        for leaf in list_leaves(part):
            if isinstance(leaf, Phrase):
                words.extend(leaf.words)
                if leaf.is_exact and len(leaf.words) > 1:
                    lost.append(f"{describe_tree(leaf)} as neighbours")
                if leaf.in_title:
                    lost.append(f"{describe_tree(leaf)} in titles alone")
            elif isinstance(leaf, FacetPhrase) and leaf.category in ("author", "venue", "keyword"):
                # Sent as words of the text: they rank.
                words.extend(leaf.words)
                lost.append(describe_tree(leaf))
            else:
                lost.append(describe_tree(leaf))
    return write_words(dict.fromkeys(words))


def _write_bulk(parts: Sequence[QueryNode], lost: list[str]) -> str:
    if not parts:
        return ""
    text, remarks = write_tree(
        AllOf(tuple(parts)),
        BooleanLanguage(
            _write_leaf, not_operator="-", and_operator="+", or_operator="|", word_joint=" + "
        ),
    )
    lost.extend(remarks)
    # The minus stands at its word, and words hold none.
    return text.replace(" - ", " -")


def _write_leaf(leaf: QueryLeafNode) -> Clause | None:
    """Words of title and abstract; the service has no fields."""
    if not isinstance(leaf, Phrase):
        return None
    remark = f"{describe_tree(leaf)} in titles alone" if leaf.in_title else ""
    text = write_words(leaf.words)
    if leaf.is_prefix and len(leaf.words) == 1:
        return Clause(f"{text}*", leaf.in_title, remark)
    if leaf.is_prefix:
        remark = f"{describe_tree(leaf)}* beyond these words"
    is_quoted = len(leaf.words) > 1 or leaf.is_exact
    return Clause(f'"{text}"' if is_quoted else text, leaf.in_title, remark)


def _write_span(years: list[YearRange], since: date | None, until: date | None) -> str:
    """`a:b` with either end open, the narrowest of all that is asked."""
    firsts = [f"{each.first:04d}-01-01" for each in years if each.first is not None]
    lasts = [f"{each.last:04d}-12-31" for each in years if each.last is not None]
    first = max([*firsts, *([since.isoformat()] if since else [])], default="")
    last = min([*lasts, *([until.isoformat()] if until else [])], default="")
    return f"{first}:{last}" if first or last else ""


def find_identifier(query: PaperQuery) -> WithIdentifier | None:
    """The identifier where the query is nothing else; no search of the service takes one."""
    parts = list_conjuncts(query)
    only = parts[0] if len(parts) == 1 else None
    return only if isinstance(only, WithIdentifier) else None
