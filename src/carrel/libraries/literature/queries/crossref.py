"""Our queries as parameters of Crossref, which ranks works by any of the words.

Unproved live: several types in one filter, and the days of registration.
"""

from __future__ import annotations

from datetime import date

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.boolean import (
    describe_tree,
    list_conjuncts,
    list_positive_leaves,
    write_words,
)
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
)
from carrel.libraries.text.words import Phrase

_TEXT = "query.bibliographic"
_FACETS = {
    "author": "query.author",
    "venue": "query.container-title",
    "institution": "query.affiliation",
    "keyword": _TEXT,
}
_SORTS = {"newest": "published", "most_cited": "is-referenced-by-count"}
# Types of works of their own. Components, reviews of papers, grants, issues and data are no
# literature.
_TYPES = (
    "journal-article",
    "proceedings-article",
    "posted-content",
    "book-chapter",
    "book-section",
    "book-part",
    "book",
    "monograph",
    "edited-book",
    "reference-book",
    "reference-entry",
    "dissertation",
    "report",
    "other",
)
_DATA_WORDS = frozenset({"dataset", "datasets"})
_LATE = "works that were registered before and whose records changed since"


def translate(
    query: PaperQuery,
    *,
    order: str = "relevance",
    since: date | None = None,
    until: date | None = None,
    includes_preprints: bool = True,
) -> TranslatedParameters:
    """`query.*`, `filter` and `sort`. Words, phrases and operators only rank."""
    words: dict[str, list[str]] = {}
    filters: list[str] = []
    lost: list[str] = []
    conjuncts = list_conjuncts(query)
    for part in conjuncts:
        _add_part(part, words, filters, lost)
    parameters = {name: write_words(dict.fromkeys(values)) for name, values in words.items()}
    if not parameters and not filters:
        return TranslatedParameters(not_expressed=tuple(lost))
    if sum(len(values) for values in words.values()) > 1:
        lost.append("all of the words together: any of them ranks")
    lost.extend(
        f"{describe_tree(leaf)} as neighbours"
        for part in conjuncts
        for leaf in list_positive_leaves(part)
        if isinstance(leaf, Phrase) and leaf.is_exact and len(leaf.words) > 1
    )
    if not any(each.startswith("doi:") for each in filters):
        asks_for_data = any(word.lower() in _DATA_WORDS for word in words.get(_TEXT, ()))
        filters.extend(_list_types(includes_preprints, asks_for_data))
    filters.extend(_write_registration(since, until))
    if since or until:
        lost.append(_LATE)
    parameters["filter"] = ",".join(filters)
    if order in _SORTS:
        parameters |= {"sort": _SORTS[order], "order": "desc"}
    shown = "&".join(f"{name}={value}" for name, value in parameters.items() if name != "filter")
    dates = [each for each in filters if not each.startswith("type:")]
    text = "&".join(part for part in (shown, f"filter={','.join(dates)}" if dates else "") if part)
    return TranslatedParameters(parameters, text, tuple(dict.fromkeys(lost)))


def _add_part(
    part: QueryNode, words: dict[str, list[str]], filters: list[str], lost: list[str]
) -> None:
    if isinstance(part, YearRange):
        filters.extend(_write_years(part))
        return
    if isinstance(part, WithIdentifier):
        doi = next((each.value for each in part.identifiers if each.kind == "doi"), None)
        if doi is not None and "," not in doi:
            filters.append(f"doi:{doi}")
        else:
            lost.append(describe_tree(part))
        return
    lost.extend(describe_tree(each) for each in _nots(part))
    for leaf in list_positive_leaves(part):
        if isinstance(leaf, Phrase):
            words.setdefault("query.title" if leaf.in_title else _TEXT, []).extend(leaf.words)
            if leaf.is_prefix:
                lost.append(f"{describe_tree(leaf)}* beyond that word")
        elif isinstance(leaf, FacetPhrase) and leaf.category in _FACETS:
            words.setdefault(_FACETS[leaf.category], []).extend(leaf.words)
        else:
            # Within alternatives a year or a DOI cannot be asked for.
            lost.append(describe_tree(leaf))


def _nots(node: QueryNode) -> list[Not]:
    match node:
        case AllOf(parts) | AnyOf(parts):
            return [found for part in parts for found in _nots(part)]
        case Not():
            return [node]
        case _:
            return []


def _write_years(years: YearRange) -> list[str]:
    ends = []
    if years.first is not None:
        ends.append(f"from-pub-date:{years.first:04d}")
    if years.last is not None:
        ends.append(f"until-pub-date:{years.last:04d}")
    return ends


def _write_registration(since: date | None, until: date | None) -> list[str]:
    ends = []
    if since:
        ends.append(f"from-created-date:{since.isoformat()}")
    if until:
        ends.append(f"until-created-date:{until.isoformat()}")
    return ends


def _list_types(includes_preprints: bool, asks_for_data: bool) -> list[str]:
    """The same filter several times means any of them."""
    wanted = [each for each in _TYPES if includes_preprints or each != "posted-content"]
    return [f"type:{each}" for each in (*wanted, *(("dataset",) if asks_for_data else ()))]
