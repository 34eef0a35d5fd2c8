"""Our queries in arXiv's language: words joined by AND, since arXiv joins bare ones by OR."""

from __future__ import annotations

import re
from datetime import date

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.boolean import QueryLeafNode
from carrel.libraries.literature.queries.widening import (
    BooleanLanguage,
    Clause,
    as_tree,
    quote_phrase,
    write_query,
)
from carrel.libraries.query.papers import FacetPhrase, PaperQuery, WithIdentifier, YearRange
from carrel.libraries.text.words import Phrase

SUBMISSION_DATE_REMARK = (
    "new versions of older papers, and papers announced days after their submission"
)
_ARCHIVES = frozenset({
    "astro", "cond", "cs", "econ", "eess", "gr", "hep", "math", "nlin", "nucl", "physics",
    "q", "quant", "stat",
})  # fmt: skip
_CATEGORY = re.compile(r"[a-z]+(?:-[a-z]+)?(?:\.[A-Za-z]{2}(?:-[a-z]+)?)?")
_FIELDS = {"author": "au", "venue": "jr"}
_OPEN_START, _OPEN_END = "190001010000", "300012312359"


def translate(
    query: PaperQuery, *, since: date | None = None, until: date | None = None
) -> TranslatedParameters:
    """The parameters of `query`; `since` and `until` bound the day of the first version.

    A query that is nothing but identifiers is asked as a list of them.
    """
    tree = as_tree(query)
    if isinstance(tree, WithIdentifier) and since is until is None:
        names = [each.value for each in tree.identifiers if each.kind == "arxiv"]
        if names:
            return TranslatedParameters({"id_list": ",".join(names)}, f"id_list={','.join(names)}")
    text, remarks = write_query(query, BooleanLanguage(_write_leaf, not_operator="ANDNOT"))
    if not text:
        return TranslatedParameters(not_expressed=remarks)
    if since is not None or until is not None:
        first = since.strftime("%Y%m%d0000") if since else _OPEN_START
        last = until.strftime("%Y%m%d2359") if until else _OPEN_END
        text = f"({text}) AND submittedDate:[{first} TO {last}]"
        remarks = (*remarks, SUBMISSION_DATE_REMARK)
    return TranslatedParameters({"search_query": text}, text, remarks)


def _write_leaf(node: QueryLeafNode) -> Clause | None:
    match node:
        case Phrase():
            return _write_phrase(node)
        case FacetPhrase():
            return _write_facet(node)
        case YearRange(first, last):
            start = f"{first}01010000" if first else _OPEN_START
            end = f"{last}12312359" if last else _OPEN_END
            return Clause(f"submittedDate:[{start} TO {end}]")
        case WithIdentifier(identifiers):
            names = [f"id:{each.value}" for each in identifiers if each.kind == "arxiv"]
            return Clause(names[0]) if names else None


def _write_phrase(phrase: Phrase) -> Clause:
    """A beginning of several words is asked as these words, the last with a star."""
    field = "ti" if phrase.in_title else "all"
    if not phrase.is_prefix:
        return Clause(f"{field}:{quote_phrase(phrase)}")
    parts = [*phrase.words[:-1], f"{phrase.words[-1]}*"]
    text = " AND ".join(f"{field}:{part}" for part in parts)
    if len(parts) == 1:
        return Clause(text)
    remark = f'the words of "{" ".join(phrase.words)}*" as neighbours'
    return Clause(f"({text})", is_wider=True, remark=remark)


def _write_facet(facet: FacetPhrase) -> Clause | None:
    """Authors and journals by their names; a keyword only where it is a category of arXiv."""
    if facet.category == "keyword":
        category = _read_category(facet.words)
        return Clause(f"cat:{category}{'*' if facet.is_prefix else ''}") if category else None
    field = _FIELDS.get(facet.category)
    if field is None or (facet.is_prefix and len(facet.words) > 1):
        return None
    return Clause(f"{field}:{quote_phrase(facet)}{'*' if facet.is_prefix else ''}")


def _read_category(words: tuple[str, ...]) -> str | None:
    """`cs.LG` of the words cs and LG, `hep-th` of hep and th."""
    if words[0] not in _ARCHIVES:
        return None
    name = words[0]
    for word in words[1:]:
        name += f".{word}" if len(word) == 2 and word.isupper() else f"-{word}"
    return name if _CATEGORY.fullmatch(name) else None
