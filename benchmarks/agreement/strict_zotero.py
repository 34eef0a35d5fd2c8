"""What Better BibTeX expects (Zotero items) on the strict scale.

Nothing of ours reads the expectation. Fields are mapped as Zotero's own CSL export maps them; lines
`Name: value` of Extra are the fields they name, `tex.name: value` other fields. Not compared,
because they describe the import and not the work: itemID, key, version, uri, dates of adding and
changing, relations, the note that lists import errors, tags that begin with `#` (marks of the
importer).

Attached files are compared by name. Better BibTeX attaches only what existed where it ran, so what
it attached has to be among ours; what we name beyond that is not counted. Collections are compared
by name with our groups. Zotero has one kind of note, so note and annotation are compared together.
A second place is kept by Zotero as `tex.address`: then the first is the event's.
"""

import json
import re
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.agreement.strict import (
    Record,
    field_text,
    lines_text,
    normal,
    record_of,
    words_text,
)
from benchmarks.agreement.zotero import EXTRA, FIELDS, NOT_COMPARED, ROLES, THESES, TYPES
from carrel.libraries.bibliography.file_links import item_file_links

_DATES = {"date": "issued", "accessDate": "accessed", "originalDate": "original-date"}
_MONTH_DAYS_YEAR = re.compile(r"^(0[1-9]|1[0-2])\s+(\d{1,2})(?:\s*[-–]+\s*(\d{1,2}))?\s+(\d{4})$")
_POINT = re.compile(r"^(-?\d{1,4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$")
_SEASONS = {"21": 1, "22": 2, "23": 3, "24": 4}
_IMPORTED_WHEN = re.compile(r"^(?:other\.date-?(?:added|modified)|custom\.title_as_written)$")
_ARXIV = re.compile(r"^(?:arXiv:)?(\S+?)(?:\s*\[(.*)\])?$", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_IN_WORDS = re.compile(
    r"^([A-Za-z]{3,9})\.?(?:\s*[-/–]\s*([A-Za-z]{3,9})\.?)?"
    r"(?:\s+(\d{1,2})(?:\s*[-–]+\s*(\d{1,2}))?)?,?\s+(\d{4})$"
)
_SEASON_WORDS = {"spring": 1, "summer": 2, "fall": 3, "autumn": 3, "winter": 4}
_HTML = re.compile(r"</?(?:p|div|br|html|body)\b[^<>]*>", re.IGNORECASE)


def expected_records(path: Path) -> tuple[list[Record], dict[str, Any]]:
    """The expected records, and the preferences they were imported with."""
    content = json.loads(path.read_text(encoding="utf-8"))
    preferences = content.get("config", {}).get("preferences", {})
    collections = _collections(content.get("collections") or {})
    records = [
        _record(item, collections)
        for item in content["items"]
        if item["itemType"] not in {"note", "attachment"}
    ]
    return [_as_preferred(record, preferences) for record in records], preferences


def _collections(content: dict[str, Any]) -> dict[Any, list[str]]:
    """The names of the collections of each item, by the item's number or key."""
    names: dict[Any, list[str]] = {}
    for collection in content.values():
        for item in collection.get("items", ()):
            names.setdefault(item, []).append(collection["name"])
    return names


def _record(item: dict[str, Any], collections: dict[Any, list[str]]) -> Record:
    record: Record = {"type": TYPES.get(item["itemType"], item["itemType"])}
    roles: dict[str, list[dict[str, str]]] = {}
    for person in item.get("creators", []):
        who = {"family": person.get("lastName", ""), "given": person.get("firstName", "")}
        role = ROLES.get(person["creatorType"], person["creatorType"])
        roles.setdefault(role, []).append(
            {"literal": person["name"]} if person.get("name") else who
        )
    record |= {role: field_text(role, names) for role, names in roles.items()}
    for name, value in item.items():
        if name in _DATES:
            record[_DATES[name]] = _date(str(value).split("T")[0])
        elif name not in NOT_COMPARED and value not in ("", [], {}, None):
            variable = FIELDS.get(name, f"other.{name.lower()}")
            record[variable] = field_text(variable, value)
    record["keyword"] = words_text(
        tag["tag"] for tag in item.get("tags", ()) if not tag["tag"].startswith("#")
    )
    if record["type"] == "thesis" and record.get("genre") in THESES:
        record["genre"] = THESES[record["genre"]]
    _add_beside(record, item)
    groups = collections.get(item.get("itemID"), []) + collections.get(item.get("itemKey"), [])
    record["groups"] = words_text(groups)
    if "other.address" in record and "publisher-place" in record:
        record["event-place"] = record["publisher-place"]
        record["publisher-place"] = record.pop("other.address")
    return {name: text for name, text in record.items() if text and not _IMPORTED_WHEN.match(name)}


def _add_beside(record: Record, item: dict[str, Any]) -> None:
    """Notes, files, links and lines of Extra."""
    notes = [
        note if isinstance(note, str) else note.get("note", "") for note in item.get("notes", [])
    ]
    attachments = item.get("attachments", [])
    record["files"] = words_text(
        PurePosixPath(each["path"].replace("\\", "/")).name
        for each in attachments
        if each.get("path")
    )
    record["custom.additional_urls"] = words_text(
        each["url"] for each in attachments if each.get("url") and not each.get("path")
    )
    extra = item.get("extra", [])
    lines = extra if isinstance(extra, list) else extra.split("\n")
    notes += [line for line in lines if not _add_extra(record, line)]
    record["note"] = lines_text(*(_HTML.sub("\n", note) for note in notes))


def _add_extra(record: Record, line: str) -> bool:
    name, colon, value = line.partition(":")
    name, value = name.strip(), value.strip()
    if not colon:
        return False
    if name.startswith("tex."):
        record[f"other.{name[4:].lower()}"] = normal(value)
    elif name.lower() == "arxiv":
        found = _ARXIV.match(value)
        record["custom.arxiv_id"] = found.group(1).lower() if found else value
        if found and found.group(2):
            record["other.primaryclass"] = found.group(2)
    elif name.lower() == "original date":
        record["original-date"] = _date(value)
    elif name.lower() == "type":
        record["type"] = value
    else:
        variable = EXTRA.get(name.lower(), f"other.{name.lower().replace(' ', '-')}")
        record.setdefault(variable, field_text(variable, value))
    return True


def _date(text: str) -> str:
    """Zotero's dates are free text: ISO, ISO ranges, `07 18-22 1999`, `June 1980`, `Fall 1994`."""
    found = _MONTH_DAYS_YEAR.match(text.strip())
    if found:
        month, first, last, year = found.groups()
        days = [f"{year}-{month}-{int(day):02d}" for day in (first, last) if day]
        return "/".join(days)
    if words := _date_in_words(text.strip()):
        return words
    points = [_POINT.match(point) for point in text.strip().split("/")]
    if not all(points):
        return normal(text)
    written: list[str] = []
    for point in points:
        assert point is not None
        year, month, day = point.groups()
        if month in _SEASONS:
            written.append(f"{year} season {_SEASONS[month]}")
        else:
            written.append("-".join([year, *(f"{int(part):02d}" for part in (month, day) if part)]))
    return "/".join(written)


def _date_in_words(text: str) -> str:
    found = _IN_WORDS.match(text)
    if not found:
        return ""
    first, last, start, end, year = found.groups()
    if first.lower() in _SEASON_WORDS:
        return f"{year} season {_SEASON_WORDS[first.lower()]}"
    if any(month and month[:3].lower() not in _MONTHS for month in (first, last)):
        return ""
    months = [_MONTHS.index(month[:3].lower()) + 1 for month in (first, last) if month]
    if start:
        return "/".join(f"{year}-{months[0]:02d}-{int(day):02d}" for day in (start, end) if day)
    return "/".join(f"{year}-{month:02d}" for month in months)


def our_record(item: dict[str, Any], expected: Record, preferences: dict[str, Any]) -> Record:
    record = {
        name: text for name, text in record_of(item).items() if not _IMPORTED_WHEN.match(name)
    }
    notes = [str(item[name]) for name in ("note", "annote") if item.get(name)]
    record.pop("annote", None)
    record["note"] = lines_text(*notes)
    files = {PurePosixPath(link.replace("\\", "/")).name for link in item_file_links(item)}
    for name in [name for name in record if re.match(r"other\.(?:file(?:-\d+)?|pdf)$", name)]:
        del record[name]
    wanted = set(filter(None, expected.get("files", "").split(" | ")))
    record["files"] = words_text(files & wanted)
    groups = record.pop("other.groups", "")
    if "groups" in expected:
        record["groups"] = words_text(re.split(r"[,;]", groups))
    record = {name: text for name, text in record.items() if text}
    return _as_preferred(record, preferences)


def _as_preferred(record: Record, preferences: dict[str, Any]) -> Record:
    """Fields that the preferences of an expectation say were not imported are not compared."""
    if preferences.get("importCitationKey") is False:
        record.pop("id", None)
    if preferences.get("importExtra") is False:
        record = {name: text for name, text in record.items() if not name.startswith("other.")}
    return record
