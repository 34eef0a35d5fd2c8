"""CITATION.cff, the citation file of a repository, to CSL-JSON items."""

from collections.abc import Mapping
from typing import Any

import yaml

from carrel.libraries.bibliography.bibtex.field_values import full_name
from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import (
    BibliographyError,
    CslItem,
    ImportResult,
    open_text,
)
from carrel.libraries.bibliography.items import (
    join_keywords,
    page_range,
    put,
    put_doi,
    put_link,
    put_other,
    put_standard_numbers,
)

# A citation file describes one work; YAML is slow to read.
MAX_CHARACTERS = 200_000
_TYPES = {
    "article": "article-journal", "book": "book", "edited-work": "book",
    "conference-paper": "paper-conference", "conference": "book", "proceedings": "book",
    "dataset": "dataset", "data": "dataset", "database": "dataset", "software": "software",
    "software-code": "software", "software-container": "software",
    "software-executable": "software", "software-virtual-machine": "software", "thesis": "thesis",
    "report": "report", "manual": "report", "standard": "standard", "patent": "patent",
    "website": "webpage", "blog": "post-weblog", "magazine-article": "article-magazine",
    "newspaper-article": "article-newspaper", "unpublished": "manuscript",
    "pamphlet": "pamphlet", "map": "map", "video": "motion_picture", "film-broadcast": "broadcast",
    "encyclopedia": "entry-encyclopedia", "dictionary": "entry-dictionary",
    "presentation": "speech", "slides": "speech", "audio": "song", "legal-case": "legal_case",
    "statute": "legislation", "bill": "bill", "hearing": "hearing",
    "personal-communication": "personal_communication",
}  # fmt: skip
_TEXTS = {
    "title": "title", "abstract": "abstract", "version": "version", "journal": "container-title",
    "collection-title": "container-title", "volume": "volume", "issue": "issue",
    "number": "number", "pages": "number-of-pages", "edition": "edition", "medium": "medium",
    "notes": "note", "pmcid": "PMCID", "section": "section", "volume-title": "volume-title",
    "status": "status", "database": "archive", "thesis-type": "genre",
    "number-volumes": "number-of-volumes", "abbreviation": "title-short",
}  # fmt: skip
_NAMED = {
    "publisher": "publisher", "institution": "publisher", "conference": "event-title",
    "database-provider": "source", "location": "publisher-place",
}  # fmt: skip
_PEOPLE = {
    "authors": "author", "editors": "editor", "editors-series": "collection-editor",
    "translators": "translator", "recipients": "recipient",
}  # fmt: skip
_LINKS = ("url", "repository-code", "repository", "repository-artifact")
_READ_ELSEWHERE = frozenset({
    *_NAMED, *_PEOPLE, *_LINKS, "cff-version", "message", "type", "references",
    "preferred-citation", "start", "end", "year", "month", "day", "date-released",
    "date-published", "date-accessed", "doi", "identifiers", "isbn", "issn", "license", "languages",
    "keywords", "contact",
})  # fmt: skip


class _TextLoader(yaml.SafeLoader):
    """Numbers and days stay as they are written: version 1.10 is not 1.1."""


_TextLoader.yaml_implicit_resolvers = {
    sign: [(tag, shape) for tag, shape in found if tag == "tag:yaml.org,2002:null"]
    for sign, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_citation_file(content: str | bytes) -> ImportResult:
    """The work itself, the one that it asks to be cited by, and those that it refers to."""
    text, answer = open_text(content)
    if len(text) > MAX_CHARACTERS:
        raise BibliographyError(f"The citation file is longer than {MAX_CHARACTERS} characters")
    try:
        found = yaml.load(text, Loader=_TextLoader)  # noqa: S506 (a SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BibliographyError(f"The citation file is not YAML: {error}") from error
    if not isinstance(found, Mapping):
        raise BibliographyError("The citation file holds no fields")
    answer.add(_item(found, "software"), 1)
    for other in (found.get("preferred-citation"), *_list(found.get("references"))):
        if isinstance(other, Mapping):
            answer.add(_item(other, "document"), 1)
    return answer


def _item(fields: Mapping[Any, Any], default: str) -> CslItem:
    item: CslItem = {"type": _TYPES.get(_text(fields.get("type")), default)}
    for name, variable in _TEXTS.items():
        put(item, variable, _text(fields.get(name)))
    for name, variable in _NAMED.items():
        put(item, variable, _entity(fields.get(name)).get("literal", ""))
    for name, role in _PEOPLE.items():
        people = [person for person in map(_entity, _list(fields.get(name))) if person]
        if people:
            item[role] = people
    put(item, "page", page_range(_text(fields.get("start")), _text(fields.get("end"))))
    _put_date(fields, item)
    _put_conference(fields.get("conference"), item)
    put_doi(item, _text(fields.get("doi")))
    put_link(item, _text(fields.get("url")))
    for identifier in _list(fields.get("identifiers")):
        _put_identifier(identifier, item)
    for name in _LINKS:
        put_link(item, _text(fields.get(name)))
    put_standard_numbers(item, *filter(None, (_text(fields.get(n)) for n in ("isbn", "issn"))))
    licences = [_text(each) for each in _list(fields.get("license"))]
    put(item, "license", "; ".join(filter(None, licences)))
    languages = [_text(each) for each in _list(fields.get("languages"))]
    put(item, "language", next(filter(None, languages), ""))
    put(item, "keyword", join_keywords(map(_text, _list(fields.get("keywords")))))
    if "journal" in fields:
        # A collection that is not the journal is a series.
        put(item, "collection-title", _text(fields.get("collection-title")))
    for name, value in fields.items():
        if name not in _READ_ELSEWHERE and name not in _TEXTS:
            texts = [_text(each) or full_name(_entity(each)) for each in _list(value)]
            put_other(item, str(name), "; ".join(filter(None, texts)))
    return item


def _put_conference(conference: Any, item: CslItem) -> None:
    """Where and when an entity says that it was held."""
    if not isinstance(conference, Mapping):
        return
    places = [_text(conference.get(name)) for name in ("location", "city", "region", "country")]
    put(item, "event-place", ", ".join(filter(None, places)))
    days = [_text(conference.get(name)) for name in ("date-start", "date-end")]
    if any(days):
        item["event-date"] = read_date("/".join(dict.fromkeys(filter(None, days))))


def _put_identifier(identifier: Any, item: CslItem) -> None:
    if not isinstance(identifier, Mapping):
        return
    kind, value = _text(identifier.get("type")), _text(identifier.get("value"))
    if kind == "doi" and "DOI" not in item:
        put_doi(item, value)
    elif kind == "url":
        put_link(item, value)
    else:
        put_other(item, "identifier", value)


def _put_date(fields: Mapping[Any, Any], item: CslItem) -> None:
    parts = [_text(fields.get(name)) for name in ("year", "month", "day")]
    year = "-".join(part.zfill(2) for part in parts if part) if parts[0] else ""
    date = _text(fields.get("date-released")) or _text(fields.get("date-published")) or year
    if date:
        item["issued"] = read_date(date)
    accessed = _text(fields.get("date-accessed"))
    if accessed:
        item["accessed"] = read_date(accessed)


def _entity(value: Any) -> dict[str, str]:
    """A person by the parts of the name, or an entity by its one name."""
    if isinstance(value, str):
        return {"literal": value.strip()} if value.strip() else {}
    if not isinstance(value, Mapping):
        return {}
    if name := _text(value.get("name")):
        return {"literal": name}
    parts = {
        "family": _text(value.get("family-names")),
        "given": _text(value.get("given-names")),
        "non-dropping-particle": _text(value.get("name-particle")),
        "suffix": _text(value.get("name-suffix")),
    }
    found = {part: text for part, text in parts.items() if text}
    if found or not (alias := _text(value.get("alias"))):
        return found
    return {"literal": alias}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: Any) -> str:
    if value is None or isinstance(value, Mapping | list):
        return ""
    return " ".join(str(value).split())
