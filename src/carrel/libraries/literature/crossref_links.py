"""What a Crossref work says of others: notices, versions, references and places of its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from carrel.libraries.identifiers import ArxivId, Doi, Pmcid, Pmid
from carrel.libraries.literature.dates import read_date_parts, read_date_text
from carrel.libraries.literature.markup import read_plain_line, read_title
from carrel.libraries.literature.notices import read_notice_kind, read_title_notice
from carrel.libraries.literature.raw_fields import id_of, list_of, map_of, maps_of, text_of, url_of
from carrel.libraries.literature.records import (
    CitedWorkRecord,
    Notice,
    TextFormat,
    TextLocation,
    TextVersion,
    VersionPointer,
    VersionRelation,
    WorkIds,
    WorkKind,
)

_SERVICE = "crossref"
# What the other work is to this one: the article of a preprint, the preprint of an article.
_RELATIONS: dict[str, VersionRelation] = {
    "is-preprint-of": "published_as",
    "has-preprint": "preprint_of",
    "is-version-of": "version_of",
    "has-version": "version_of",
    "is-manuscript-of": "published_as",
    "has-manuscript": "preprint_of",
    "is-identical-to": "version_of",
    "is-same-as": "version_of",
    "is-variant-form-of": "version_of",
}
_FORMATS: dict[str, TextFormat] = {"application/pdf": "pdf", "text/html": "html"}
_VERSIONS: dict[str, TextVersion] = {"vor": "published", "am": "accepted"}
_GONE = frozenset({"retraction", "withdrawal", "removal"})


def read_notices(raw: Mapping[str, Any], doi: str | None, title: str) -> tuple[Notice, ...]:
    """Notices about this work: all of `updated-by`, its own `update-to`, and what its title says.

    Publishers that retract a work in its place let it update itself. Unproved live: recordings
    show corrections alone.
    """
    own = (each for each in maps_of(raw.get("update-to")) if id_of(Doi, each.get("DOI")) == doi)
    found = [*_read_updates(raw.get("updated-by")), *(_read_updates(list(own)) if doi else ())]
    said = read_title_notice(title, _SERVICE)
    if said is not None and not any(notice.kind in _GONE for notice in found):
        found.append(said)
    return tuple(dict.fromkeys(found))


def _read_updates(updates: object) -> Iterator[Notice]:
    for each in maps_of(updates):
        kind = read_notice_kind(each.get("type"))
        if kind is not None:
            yield Notice(
                kind,
                date=_read_update_date(each),
                doi=id_of(Doi, each.get("DOI")),
                reasons=_read_reasons(each),
                service=_SERVICE,
            )


def _read_update_date(update: Mapping[str, Any]) -> str | None:
    updated = update.get("updated")
    return read_date_parts(updated) or read_date_text(
        map_of(updated).get("date-time") if isinstance(updated, Mapping) else updated
    )


def _read_reasons(update: Mapping[str, Any]) -> tuple[str, ...]:
    is_partial = text_of(update.get("type")).startswith("partial")
    source = text_of(update.get("source"))
    return (
        *(("a part of it was retracted",) if is_partial else ()),
        *(("told by Retraction Watch",) if source == "retraction-watch" else ()),
    )


def read_updates_of(raw: Mapping[str, Any], doi: str) -> tuple[Notice, ...]:
    """What a notice says of the work with this DOI, by its `update-to`; `doi` names the notice."""
    record = map_of(raw)
    about = [
        each for each in maps_of(record.get("update-to")) if id_of(Doi, each.get("DOI")) == doi
    ]
    own = record.get("DOI")
    return tuple(_read_updates([{**each, "DOI": own} for each in about]))


def read_own_kind(raw: Mapping[str, Any]) -> WorkKind | None:
    """Whether the record is itself a notice about another work."""
    own = id_of(Doi, raw.get("DOI"))
    kinds = {
        read_notice_kind(each.get("type"))
        for each in maps_of(raw.get("update-to"))
        if id_of(Doi, each.get("DOI")) != own
    }
    if kinds & _GONE:
        return "retraction"
    return "erratum" if "correction" in kinds else None


def read_versions(raw: Mapping[str, Any]) -> tuple[VersionPointer, ...]:
    """Preprints, articles and other versions that the record is related to, each once."""
    found: dict[VersionPointer, None] = {}
    relations = map_of(raw.get("relation"))
    for name, relation in _RELATIONS.items():
        for each in maps_of(relations.get(name)):
            ids = _read_related(text_of(each.get("id-type")).lower(), each.get("id"))
            if ids.keys() and ids.doi != id_of(Doi, raw.get("DOI")):
                found[VersionPointer(relation, ids, _SERVICE)] = None
    return tuple(found)


def _read_related(kind: str, value: object) -> WorkIds:
    match kind:
        case "doi":
            doi = id_of(Doi, value)
            arxiv = Doi(doi).arxiv if doi else None
            return WorkIds(doi=doi, arxiv=arxiv.value if arxiv else None)
        case "arxiv":
            return WorkIds(arxiv=id_of(ArxivId, value))
        case "pmid":
            return WorkIds(pmid=id_of(Pmid, value))
        case "pmcid":
            return WorkIds(pmcid=id_of(Pmcid, value))
        case "uri":
            return WorkIds(doi=id_of(Doi, value), arxiv=id_of(ArxivId, value))
        case _:
            return WorkIds()


def read_references(raw: Mapping[str, Any]) -> tuple[CitedWorkRecord, ...] | None:
    """The reference list; None where the publisher gives none, whatever its count says."""
    entries = list_of(raw.get("reference"))
    if not entries:
        return None
    return tuple(found for each in maps_of(entries) if (found := _read_reference(each)))


_ENTRY_PARTS = ("author", "journal-title", "series-title", "volume", "first-page", "year")


def _read_reference(entry: Mapping[str, Any]) -> CitedWorkRecord | None:
    """An entry; without title and DOI its other parts stand in a row, as lists print them."""
    doi = id_of(Doi, entry.get("DOI"))
    author = read_plain_line(entry.get("author"))
    title = read_title(entry.get("article-title") or entry.get("volume-title"))
    unstructured = read_plain_line(entry.get("unstructured"))
    if doi is None and not title and not unstructured:
        parts = [read_plain_line(text_of(entry.get(name))) for name in _ENTRY_PARTS]
        unstructured = ", ".join(part for part in parts if part)
    if doi is None and not title and not unstructured:
        return None
    return CitedWorkRecord(
        ids=WorkIds(doi=doi),
        title=title,
        authors=(author,) if author else (),
        year=_read_year(entry.get("year")),
        venue=read_plain_line(entry.get("journal-title") or entry.get("series-title")),
        unstructured=unstructured,
    )


def _read_year(value: object) -> int | None:
    """`2014`, `2014a`, `(2014)`."""
    date = read_date_text(value)
    return int(date[:4]) if date else None


def read_locations(raw: Mapping[str, Any], licence: str | None) -> tuple[TextLocation, ...]:
    """Links to the text, where an open licence says that everybody may follow them.

    Other links of publishers lead to pages that want a subscription or a token.
    """
    if licence is None or not licence.startswith(("cc", "public-domain")):
        return ()
    found: dict[TextLocation, None] = {}
    for link in maps_of(raw.get("link")):
        form = _FORMATS.get(text_of(link.get("content-type")))
        url = url_of(link.get("URL"))
        if form is None or not url:
            continue
        version = _VERSIONS.get(text_of(link.get("content-version")))
        found[TextLocation(url, form, version, licence, "publisher", _SERVICE)] = None
    return tuple(found)
