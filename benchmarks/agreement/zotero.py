"""What Better BibTeX expects (Zotero items) as records.

Zotero's fields are mapped to the CSL variables that Zotero's own CSL export uses. Lines `Name:
value` of Extra are the fields
they
name, `tex.name: value` other fields. Not compared, because they describe the import and not the
work: itemID, key, version,
uri, dates of
adding and changing, relations, collections (a file's groups), the note that lists import errors,
and local files attached.
Zotero has one
kind of note, so note and annotation are compared together. Where the preferences of an expectation
say that keys or other
fields were not to be
imported, or that titles were to stay as they are, so it is compared.

Three places where Zotero's fields are fewer than CSL's are compared as one: a number is compared
with the number within a
series; where a second place
is kept as `tex.address`, the first is the event's; and since Better BibTeX files a journal's name
with full stops as an
abbreviation and looks others
up in a list, the name as written agrees with either form.
"""

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.agreement.comparison import Record, field_text, fold, keywords_text, record_of
from carrel.libraries.bibliography.dates import read_date, read_year_and_month

TYPES = {
    "journalArticle": "article-journal", "bookSection": "chapter",
    "conferencePaper": "paper-conference", "document": "document",
    "encyclopediaArticle": "entry-encyclopedia", "dictionaryEntry": "entry-dictionary",
    "film": "motion_picture",
    "videoRecording": "motion_picture",
    "tvBroadcast": "broadcast", "radioBroadcast": "broadcast", "podcast": "broadcast",
    "newspaperArticle": "article-newspaper",
    "magazineArticle": "article-magazine", "manuscript": "manuscript", "preprint": "article",
    "computerProgram": "software",
    "presentation": "speech",
    "blogPost": "post-weblog", "forumPost": "post", "audioRecording": "song", "artwork": "graphic",
    "letter": "personal_communication",
    "email": "personal_communication", "case": "legal_case", "statute": "legislation",
    "interview": "interview", "map": "map",
}  # fmt: skip
FIELDS = {
    "title": "title", "publicationTitle": "container-title",
    "journalAbbreviation": "container-title-short",
    "series": "collection-title",
    "seriesNumber": "collection-number", "volume": "volume", "issue": "issue", "pages": "page",
    "edition": "edition",
    "publisher": "publisher",
    "place": "publisher-place", "DOI": "DOI", "ISBN": "ISBN", "ISSN": "ISSN", "url": "URL",
    "abstractNote": "abstract",
    "language": "language",
    "shortTitle": "title-short", "number": "number", "type": "genre", "numPages": "number-of-pages",
    "numberOfVolumes": "number-of-volumes",
    "rights": "license", "conferenceName": "event-title", "meetingName": "event-title",
    "archive": "archive",
    "archiveLocation": "archive_location",
    "libraryCatalog": "source", "callNumber": "call-number", "versionNumber": "version",
    "assignee": "other.holder",
    "section": "section",
    "originalPlace": "original-publisher-place", "PMID": "PMID", "PMCID": "PMCID",
    "seriesTitle": "collection-title",
    "runningTime": "dimensions",
    "volumeTitle": "volume-title", "eventPlace": "event-place", "status": "status",
    "medium": "medium",
}  # fmt: skip
EXTRA = {
    "doi": "DOI", "issn": "ISSN", "isbn": "ISBN", "pages": "page", "number": "number",
    "section": "chapter-number",
    "edition": "edition",
    "publisher": "publisher", "publication title": "container-title",
    "number of pages": "number-of-pages",
    "original title": "original-title",
    "citation key": "id", "pmid": "PMID", "pmcid": "PMCID", "event title": "event-title",
    "event place": "event-place",
    "volume": "volume",
    "issue": "issue", "status": "status", "url": "URL", "place": "publisher-place",
    "title": "title", "genre": "genre",
    "type": "genre",
    "journal abbreviation": "container-title-short", "version": "version",
    "chapter number": "chapter-number",
    "medium": "medium", "series": "collection-title",
    "collection title": "collection-title", "container title": "container-title",
    "archive": "archive", "language": "language",
}  # fmt: skip
_DATES = {"date": "issued", "accessDate": "accessed", "originalDate": "original-date"}
ROLES = {
    "author": "author", "inventor": "author", "programmer": "author", "presenter": "author",
    "artist": "author",
    "editor": "editor", "translator": "translator",
    "director": "director", "scriptwriter": "script-writer", "bookAuthor": "container-author",
    "seriesEditor": "collection-editor",
    "contributor": "contributor", "reviewedAuthor": "reviewed-author", "interviewee": "author",
    "interviewer": "interviewer",
    "composer": "composer",
    "performer": "performer", "recipient": "recipient", "producer": "producer",
}  # fmt: skip
NOT_COMPARED = frozenset({
    "itemID", "itemKey", "key", "version", "uri", "dateAdded", "dateModified", "relations",
    "collections", "libraryID",
    "citationKey", "creators", "tags", "notes", "attachments", "extra", "itemType",
})  # fmt: skip
THESES = {
    "phd": "PhD thesis",
    "master": "Master's thesis",
    "phdthesis": "PhD thesis",
    "mathesis": "Master's thesis",
    "mastersthesis": "Master's thesis",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_DAYS_YEAR = re.compile(r"^(0[1-9]|1[0-2])\s+(\d{1,2}(?:\s*[-–]+\s*\d{1,2})?)\s+(\d{4})$")
_IS_NOT_OF_THE_WORK = re.compile(
    r"^(?:other\.(?:groups|file(?:-\d+)?|date-?added|date-?modified)|custom\.title_as_written)$"
)
_ARXIV = re.compile(r"^(?:arXiv:)?(\S+?)(?:\s*\[(.*)\])?$", re.IGNORECASE)


def expected_records(path: Path) -> tuple[dict[str, Record], dict[str, Any]]:
    """The expected records by citation key, and the preferences they were imported with."""
    content = json.loads(path.read_text(encoding="utf-8"))
    records: dict[str, Record] = {}
    for item in content["items"]:
        if item["itemType"] in {"note", "attachment"}:
            continue
        record = _record(item)
        key = str(item.get("citationKey") or record.get("id") or "")
        while key in records:
            key += "'"
        records[key] = record
    return records, content.get("config", {}).get("preferences", {})


def _creators(item: dict[str, Any]) -> dict[str, list[dict[str, str]]]:
    roles: dict[str, list[dict[str, str]]] = {}
    for person in item.get("creators", []):
        who = (
            {"literal": person["name"]}
            if person.get("name")
            else {"family": person.get("lastName", ""), "given": person.get("firstName", "")}
        )
        roles.setdefault(ROLES.get(person["creatorType"], person["creatorType"]), []).append(who)
    return roles


def _record(item: dict[str, Any]) -> Record:
    record: Record = {"type": TYPES.get(item["itemType"], item["itemType"])}
    for role, names in _creators(item).items():
        record[role] = field_text(role, names)
    for name, value in item.items():
        if name in _DATES:
            record[_DATES[name]] = field_text("issued", _date(str(value).split("T")[0]))
        elif name not in NOT_COMPARED and value not in ("", [], {}, None):
            variable = FIELDS.get(name, f"other.{name.lower()}")
            record[variable] = field_text(variable, value)
    if item.get("tags"):
        words = keywords_text(tag["tag"] for tag in item["tags"] if not tag["tag"].startswith("#"))
        if words:
            record["keyword"] = words
    if record["type"] == "thesis" and record.get("genre") in THESES:
        record["genre"] = THESES[record["genre"]]
    notes = [
        note if isinstance(note, str) else note.get("note", "") for note in item.get("notes", [])
    ]
    if notes:
        record["note"] = notes_text(notes)
    links = sorted(link["url"] for link in item.get("attachments", []) if link.get("url"))
    if links:
        record["additional_urls"] = " ".join(links)
    extra = item.get("extra", [])
    for line in extra if isinstance(extra, list) else extra.split("\n"):
        _add_extra(record, line)
    if "other.address" in record and "publisher-place" in record:
        record["event-place"], record["publisher-place"] = (
            record["publisher-place"],
            record.pop("other.address"),
        )
    _one_number(record)
    return {
        name: text for name, text in record.items() if text and not _IS_NOT_OF_THE_WORK.match(name)
    }


def _date(text: str) -> dict[str, Any]:
    """Where a file gave a month and days, Better BibTeX writes `07  18-22 1999`."""
    found = _MONTH_DAYS_YEAR.match(text)
    date = (
        read_year_and_month(found.group(3), f"{_MONTHS[int(found.group(1)) - 1]} {found.group(2)}")
        if found
        else None
    )
    return date or read_date(text)


def notes_text(notes: list[str]) -> str:
    return fold(
        " ".join(
            sorted(part.strip() for note in notes for part in note.split("\n") if part.strip())
        )
    )


def our_record(item: dict[str, Any], preferences: dict[str, Any]) -> Record:
    record = {
        name: text for name, text in record_of(item).items() if not _IS_NOT_OF_THE_WORK.match(name)
    }
    notes = [str(item[name]) for name in ("note", "annote") if item.get(name)]
    record.pop("annote", None)
    if notes:
        record["note"] = notes_text(notes)
    return as_preferred(_one_number(record), preferences)


def one_journal(theirs: Record, mine: Record) -> Record:
    """The expected record with the journal's name in the form that was written, when that is one of
    its two.
    """
    written = mine.get("container-title")
    if (
        written
        and theirs.get("container-title-short") == written
        and "container-title-short" not in mine
    ):
        theirs = {
            name: text for name, text in theirs.items() if name != "container-title-short"
        } | {"container-title": written}
    return theirs


def _one_number(record: Record) -> Record:
    if "collection-number" in record:
        record.setdefault("number", record.pop("collection-number"))
    return record


def as_preferred(record: Record, preferences: dict[str, Any]) -> Record:
    if preferences.get("importCitationKey") is False:
        record.pop("id", None)
    if preferences.get("importExtra") is False:
        record = {name: text for name, text in record.items() if not name.startswith("other.")}
    return record


def _add_extra(record: Record, line: str) -> None:
    name, colon, value = line.partition(":")
    name, value = name.strip(), value.strip()
    if not colon:
        record["note"] = notes_text([record.get("note", ""), line])
    elif name.startswith("tex."):
        record[f"other.{name[4:].lower()}"] = fold(value)
    elif name.lower() == "arxiv":
        found = _ARXIV.match(value)
        record["custom.arxiv_id"] = found.group(1).lower() if found else value
        if found and found.group(2):
            record["other.primaryclass"] = found.group(2)
    elif name.lower() == "original date":
        record["original-date"] = field_text("issued", read_date(value))
    else:
        variable = EXTRA.get(name.lower(), f"other.{name.lower().replace(' ', '-')}")
        record.setdefault(variable, field_text(variable, value))
