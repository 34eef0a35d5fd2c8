"""Our queries as filters of OpenAlex.

Proved by recordings: `title_and_abstract.search` with AND, `title.search`, dates, `doi:a|b`; that
the other filters exist, by its list of valid fields. Unproved live: OR, NOT and quotes in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.boolean import (
    QueryLeafNode,
    describe_tree,
    list_conjuncts,
    list_leaves,
)
from carrel.libraries.literature.queries.widening import (
    BooleanLanguage,
    Clause,
    quote_phrase,
    write_tree,
)
from carrel.libraries.query.papers import (
    AllOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
)
from carrel.libraries.text.words import Phrase

_SORTS = {"newest": "publication_date:desc", "most_cited": "cited_by_count:desc"}
_TEXT = "title_and_abstract.search"
_TITLE = "title.search"
# Facets that OpenAlex can search as texts; venues and tags have no such filter.
_FACETS = {
    "author": "raw_author_name.search",
    "institution": "raw_affiliation_strings.search",
    "keyword": "keyword.search",
}
_ID_FILTERS = {"doi": "doi", "pmid": "ids.pmid", "pmcid": "ids.pmcid"}
_LATE = "works that OpenAlex added later than their day of publication"


def translate(
    query: PaperQuery,
    *,
    order: str = "relevance",
    since: date | None = None,
    until: date | None = None,
    includes_preprints: bool = True,
) -> TranslatedParameters:
    """`filter` and, for an order other than by relevance, `sort`."""
    filters: list[str] = []
    lost: list[str] = []
    searches: dict[str, list[QueryNode]] = {}
    refused: list[Not] = []
    for part in list_conjuncts(query):
        written = _write_filter(part)
        if written is not None:
            filters.append(written)
        elif isinstance(part, Not):
            refused.append(part)
        else:
            searches.setdefault(_choose_search(part), []).append(part)
    for part in refused:
        name = _find_search(part, searches)
        if name is None:
            lost.append(describe_tree(part))
        else:
            searches[name].append(part)
    texts = [_write_search(name, parts, lost) for name, parts in searches.items()]
    filters = [*(text for text in texts if text), *filters]
    if filters and since:
        filters.append(f"from_publication_date:{since.isoformat()}")
    if filters and until:
        filters.append(f"to_publication_date:{until.isoformat()}")
    if filters and not includes_preprints:
        filters.append("type:!preprint")
    if not filters:
        return TranslatedParameters(not_expressed=tuple(lost))
    parameters = {"filter": ",".join(filters)}
    if order in _SORTS:
        parameters["sort"] = _SORTS[order]
    if since or until:
        lost.append(_LATE)
    return TranslatedParameters(parameters, parameters["filter"], tuple(lost))


def write_years(years: YearRange) -> str:
    """Both ends as dates of publication."""
    ends = []
    if years.first is not None:
        ends.append(f"from_publication_date:{years.first:04d}-01-01")
    if years.last is not None:
        ends.append(f"to_publication_date:{years.last:04d}-12-31")
    return ",".join(ends)


def _write_filter(part: QueryNode) -> str | None:
    """Years and identifiers, which are no searches; None for others."""
    match part:
        case YearRange():
            return write_years(part) or None
        case WithIdentifier(identifiers):
            known = [each for each in identifiers if each.kind in _ID_FILTERS]
            # A DOI with a comma or a bar cannot stand in a filter.
            fits = [each for each in known if not set(each.value) & set(",|")]
            return f"{_ID_FILTERS[fits[0].kind]}:{fits[0].value}" if fits else None
        case _:
            return None


def _choose_search(part: QueryNode) -> str:
    """The filter that can say the part: its leaves are all of one field, or words of the text."""
    leaves = list(list_leaves(part))
    if all(isinstance(leaf, FacetPhrase) for leaf in leaves):
        names = {_FACETS.get(leaf.category) for leaf in leaves if isinstance(leaf, FacetPhrase)}
        name = names.pop() if len(names) == 1 else None
        return name or _TEXT
    phrases = [leaf for leaf in leaves if isinstance(leaf, Phrase)]
    if len(phrases) < len(leaves):
        return _TEXT
    name = _TITLE if all(leaf.in_title for leaf in phrases) else _TEXT
    is_exact = all(leaf.is_exact for leaf in phrases)
    return f"{name}.exact" if is_exact and not any(leaf.is_prefix for leaf in phrases) else name


def _find_search(part: Not, searches: Mapping[str, object]) -> str | None:
    """A search that something is asked of already: a NOT cannot stand alone."""
    chosen = _choose_search(part).removesuffix(".exact")
    return next((name for name in (chosen, f"{chosen}.exact") if name in searches), None)


def _write_search(name: str, parts: Sequence[QueryNode], lost: list[str]) -> str:
    def write_leaf(leaf: QueryLeafNode) -> Clause | None:
        return _write_leaf(leaf, name)

    text, remarks = write_tree(AllOf(tuple(parts)), BooleanLanguage(write_leaf))
    lost.extend(remarks)
    return f"{name}:{text}" if text else ""


def _write_leaf(leaf: QueryLeafNode, name: str) -> Clause | None:
    """A phrase or a name; in a search of titles and abstracts a title's words are wider."""
    if not isinstance(leaf, Phrase | FacetPhrase):
        return None
    if isinstance(leaf, FacetPhrase):
        if _FACETS.get(leaf.category) != name:
            return None
        is_wider, remark = False, ""
    else:
        is_elsewhere = leaf.in_title and not name.startswith(_TITLE)
        is_stemmed = leaf.is_exact and not name.endswith(".exact")
        is_wider = is_elsewhere or is_stemmed
        reason = "in titles alone" if is_elsewhere else "in that spelling alone"
        remark = f"{describe_tree(leaf)} {reason}" if is_wider else ""
    if leaf.is_prefix:
        remark = f"{describe_tree(leaf)}* beyond words of that stem"
    return Clause(quote_phrase(leaf), is_wider, remark)
