"""Answers of NCBI's search, link and id-conversion services, with the errors that are in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from carrel.libraries.identifiers import Doi, Pmcid, Pmid
from carrel.libraries.literature.raw_fields import (
    count_of,
    id_of,
    list_of,
    map_of,
    maps_of,
    text_of,
    texts_of,
)
from carrel.libraries.literature.records import WorkIds
from carrel.libraries.literature.xml_text import (
    child,
    children,
    descendants,
    local_name,
    plain_text,
    text_at,
)
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.libraries.text.xml import XmlError, parse_xml_nodes


class PubMedAnswerError(ValueError):
    """An answer is not what NCBI promises, or tells of an error though its status is 200."""

    def __init__(self, reason: str, *, is_told: bool = False) -> None:
        super().__init__(reason)
        # Whether NCBI itself says so, in an answer that can be read.
        self.is_told = is_told


@dataclass(frozen=True, slots=True)
class PubMedSearch:
    """The numbers that a search found, how PubMed read the query, and what it did not find."""

    count: int
    pmids: tuple[str, ...]
    translation: str = ""
    warnings: tuple[str, ...] = ()


def read_search(body: bytes) -> PubMedSearch:
    """The answer of esearch. Raises PubMedAnswerError."""
    if body.lstrip()[:1] == b"{":
        return _read_json_search(body)
    root = _parse(body)
    _raise_error(root)
    if local_name(root) != "eSearchResult":
        raise PubMedAnswerError(f"it is a {local_name(root)} in place of a list of numbers")
    warnings = [
        (local_name(each), plain_text(each))
        for place in ("ErrorList", "WarningList")
        for each in _parts(child(root, place))
    ]
    return PubMedSearch(
        count=_count(text_at(root, "Count")),
        pmids=_pmids(plain_text(each) for each in children(child(root, "IdList"), "Id")),
        translation=text_at(root, "QueryTranslation"),
        warnings=tuple(_warning(name, text) for name, text in warnings if text),
    )


def _read_json_search(body: bytes) -> PubMedSearch:
    """The same as JSON (unproved live)."""
    try:
        found = map_of(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise PubMedAnswerError("it is not JSON") from error
    result = map_of(found.get("esearchresult"))
    told = text_of(result.get("ERROR")) or text_of(found.get("error"))
    if told:
        raise PubMedAnswerError(told, is_told=True)
    if "idlist" not in result:
        raise PubMedAnswerError("it has no list of numbers")
    warnings = [
        _warning(name, text)
        for place in ("errorlist", "warninglist")
        for name, texts in map_of(result.get(place)).items()
        for text in texts_of(texts)
    ]
    return PubMedSearch(
        count=_count(text_of(result.get("count"))),
        pmids=_pmids(text_of(each) for each in list_of(result.get("idlist"))),
        translation=text_of(result.get("querytranslation")),
        warnings=tuple(warnings),
    )


def read_links(body: bytes, link_name: str) -> tuple[str, ...] | None:
    """The numbers that elink gives under a name; None where it has no such list."""
    root = _parse(body)
    _raise_error(root)
    for each in descendants(root, "LinkSetDb"):
        if text_at(each, "LinkName") == link_name:
            ids = (text_at(link, "Id") for link in children(each, "Link"))
            return _pmids(ids)
    return None


def read_record_set(body: bytes) -> Element:
    """The set of records that efetch gives. Raises PubMedAnswerError."""
    root = _parse(body)
    _raise_error(root)
    if not local_name(root).startswith(("Pubmed", "Medline")):
        raise PubMedAnswerError(f"it is a {local_name(root)} in place of records")
    return root


def read_conversions(body: bytes) -> tuple[tuple[str, WorkIds], ...]:
    """The id that was asked for, with the identifiers of its article, of each that is known.

    Numbers come as texts or as numbers. Raises PubMedAnswerError.
    """
    try:
        found = map_of(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise PubMedAnswerError("it is not JSON") from error
    if not isinstance(found.get("records"), list):
        raise PubMedAnswerError(text_of(found.get("message")) or "it has no records")
    return tuple(_conversions(found))


def _conversions(found: Mapping[str, Any]) -> Iterator[tuple[str, WorkIds]]:
    for record in maps_of(found.get("records")):
        ids = WorkIds(
            doi=id_of(Doi, record.get("doi")),
            pmid=id_of(Pmid, record.get("pmid")),
            pmcid=id_of(Pmcid, record.get("pmcid")),
        )
        if text_of(record.get("status")) != "error" and ids.keys():
            yield text_of(record.get("requested-id")), ids


def _parse(body: bytes) -> Element:
    try:
        return parse_xml_nodes(body)
    except (XmlError, InputTooCostlyError) as error:
        raise PubMedAnswerError(str(error)) from error


def _raise_error(root: Element) -> None:
    """`ERROR` stands at the top of an answer, beside nothing else, or empty where all is well."""
    told = "; ".join(filter(None, (plain_text(each) for each in children(root, "ERROR"))))
    if told:
        raise PubMedAnswerError(told, is_told=True)


def _parts(element: Element | None) -> list[Element]:
    return [] if element is None else list(element)


def _count(text: str) -> int:
    count = count_of(text)
    if count is None:
        raise PubMedAnswerError("it does not say how many it found")
    return count


def _pmids(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found for text in texts if (found := id_of(Pmid, text))))


_WARNINGS = {
    "phrasenotfound": "PubMed does not know",
    "phrasesnotfound": "PubMed does not know",
    "quotedphrasenotfound": "PubMed does not know as neighbours",
    "quotedphrasesnotfound": "PubMed does not know as neighbours",
    "phraseignored": "PubMed ignored",
    "phrasesignored": "PubMed ignored",
    "fieldnotfound": "PubMed has no field",
    "fieldsnotfound": "PubMed has no field",
}


def _warning(name: str, text: str) -> str:
    said = _WARNINGS.get(name.lower())
    return f"{said}: {text}" if said else text
