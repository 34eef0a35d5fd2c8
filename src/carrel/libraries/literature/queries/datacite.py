"""Our queries in the query language of DataCite, which has fields and operators.

Unproved live: no recording shows a search; the syntax is that of its documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.boolean import (
    QueryLeafNode,
    describe_tree,
    list_conjuncts,
    write_words,
)
from carrel.libraries.literature.queries.widening import (
    BooleanLanguage,
    Clause,
    quote_phrase,
    write_tree,
)
from carrel.libraries.query.papers import AllOf, FacetPhrase, PaperQuery, WithIdentifier, YearRange
from carrel.libraries.text.words import Phrase

_FACETS = {
    "author": "creators.name",
    "venue": "container.title",
    "keyword": "subjects.subject",
    "institution": "creators.affiliation.name",
}
_SORTS = {"relevance": "relevance", "newest": "-created", "most_cited": "-citation-count"}
# Texts alone: most of DataCite is data and images.
_TYPES = (
    "Text", "JournalArticle", "Preprint", "ConferencePaper", "ConferenceProceeding", "Book",
    "BookChapter", "Dissertation", "Report", "DataPaper", "PeerReview",
)  # fmt: skip
_TEXT_FIELDS = ("titles.title", "descriptions.description", "subjects.subject")
_DATA_WORDS = frozenset({"dataset", "datasets"})


def translate(
    query: PaperQuery,
    *,
    order: str = "relevance",
    since: date | None = None,
    until: date | None = None,
    includes_preprints: bool = True,
) -> TranslatedParameters:
    """`query` and `sort`; `since` and `until` bound the day on which a DOI was registered."""
    conjuncts = list_conjuncts(query)
    if not conjuncts:
        return TranslatedParameters()
    language = BooleanLanguage(_write_leaf, not_operator="AND NOT")
    text, lost = write_tree(AllOf(conjuncts), language)
    if not text:
        return TranslatedParameters(not_expressed=lost)
    parts = [f"({text})"]
    if not any(isinstance(part, WithIdentifier) for part in conjuncts):
        parts.append(_write_types(query, includes_preprints))
    if since or until:
        first = since.isoformat() if since else "*"
        last = until.isoformat() if until else "*"
        parts.append(f"created:[{first} TO {last}]")
    parameters = {"query": " AND ".join(parts), "sort": _SORTS[order]}
    return TranslatedParameters(parameters, parameters["query"], lost)


def _write_types(query: PaperQuery, includes_preprints: bool) -> str:
    asked = {word.lower() for phrase in query.phrases for word in phrase.words}
    types = [each for each in _TYPES if includes_preprints or each != "Preprint"]
    if asked & _DATA_WORDS:
        types.append("Dataset")
    return f"types.resourceTypeGeneral:({' OR '.join(types)})"


def _write_leaf(leaf: QueryLeafNode) -> Clause | None:
    match leaf:
        case YearRange(first, last):
            start, end = ("*" if year is None else str(year) for year in (first, last))
            return Clause(f"publicationYear:[{start} TO {end}]")
        case WithIdentifier(identifiers):
            doi = next((each.value for each in identifiers if each.kind == "doi"), None)
            return None if doi is None else Clause(f'doi:"{_escape(doi)}"')
        case FacetPhrase(category):
            name = _FACETS.get(category)
            return None if name is None else _write_fields(leaf, (name,))
        case Phrase(in_title=True):
            return _write_fields(leaf, ("titles.title",))
        case Phrase():
            return _write_fields(leaf, _TEXT_FIELDS)


def _write_fields(leaf: Phrase | FacetPhrase, names: Sequence[str]) -> Clause:
    """The words in any of the fields; a star works behind a single word."""
    is_single = len(leaf.words) == 1
    words = f"{write_words(leaf.words)}*" if leaf.is_prefix and is_single else quote_phrase(leaf)
    remark = f"{describe_tree(leaf)}* beyond these words" if leaf.is_prefix else ""
    text = " OR ".join(f"{name}:{words}" for name in names)
    return Clause(f"({text})" if len(names) > 1 else text, remark="" if is_single else remark)


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
