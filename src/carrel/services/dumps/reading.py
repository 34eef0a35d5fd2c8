"""Reads raw records of a dump: mapped, filtered, with the version by which the newest wins."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree.ElementTree import Element

import orjson

from carrel.libraries.literature import arxiv_dump, crossref, openalex, pubmed
from carrel.libraries.literature.dates import read_date_text
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.raw_fields import map_of, text_of
from carrel.libraries.literature.records import ServiceRecord
from carrel.libraries.literature.xml_text import child, children, plain_text, text_at
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.libraries.text.xml import XmlError, parse_xml
from carrel.rooms.papers.loading.filters import LoadFilters
from carrel.rooms.papers.loading.models import (
    BadRecord,
    DumpFile,
    DumpService,
    GoneRecord,
    NewRecord,
    RawRecords,
    ReadRecords,
)
from carrel.services.dumps.paper_record import make_record

_BEGINNING_CHARACTERS = 300
_OPENALEX_ID = re.compile(rb"W\d+", re.IGNORECASE)


def read_records(service: DumpService, filters: LoadFilters, raw: RawRecords) -> ReadRecords:
    """What some records of a file say; one that cannot be read is set aside, never an error."""
    read = _READERS[service]
    found = ReadRecords()
    for number, content in enumerate(raw.records, start=raw.first):
        if not content.strip():
            continue
        try:
            read(found, filters, raw.file, number, content)
        except UnreadableRecordError as error:
            found.bad.append(_set_aside(number, error.reason, content))
        except orjson.JSONDecodeError as error:
            found.bad.append(_set_aside(number, f"not valid JSON: {error}", content))
        except (XmlError, InputTooCostlyError) as error:
            found.bad.append(_set_aside(number, f"not valid XML: {error}", content))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            # A shape that nobody has seen must not end a load of days.
            reason = f"not understood: {type(error).__name__}: {error}"
            found.bad.append(_set_aside(number, reason[:_BEGINNING_CHARACTERS], content))
    return found


def _set_aside(number: int, reason: str, content: bytes) -> BadRecord:
    return BadRecord(number, reason, content[:_BEGINNING_CHARACTERS].decode("utf-8", "replace"))


def _read_object(content: bytes) -> Mapping[str, Any]:
    found = orjson.loads(content)
    if not isinstance(found, dict):
        raise UnreadableRecordError("the dump", "it is no object with named fields")
    return found


def _keep(
    found: ReadRecords,
    filters: LoadFilters,
    service: DumpService,
    number: int,
    record: ServiceRecord,
    version: str,
) -> None:
    if not record.work.title:
        found.left_out["no_title"] += 1
    elif (left_out := filters.leave_out(record.work)) is not None:
        found.left_out[left_out] += 1
    else:
        paper, references = make_record(service, record.work)
        found.entries.append(NewRecord(number, record.service_id, version, paper, references))


def _read_openalex(
    found: ReadRecords, filters: LoadFilters, file: DumpFile, number: int, content: bytes
) -> None:
    if file.path.name.endswith((".csv", ".csv.gz")):
        _read_merged_ids(found, file, number, content)
        return
    raw = _read_object(content)
    record = openalex.read_work(raw)
    if record.work.ids.openalex is None:
        raise UnreadableRecordError("openalex", "it has no identifier of a work")
    updated = text_of(raw.get("updated_date"))
    found.newest = max(found.newest, updated[:10], file.order)
    _keep(found, filters, "openalex", number, record, updated or file.order)


def _read_merged_ids(found: ReadRecords, file: DumpFile, number: int, content: bytes) -> None:
    """A line of a list of merged ids: day, the id that is no more, the id that it became."""
    row = next(csv.reader([content.decode("utf-8", "replace")]), [])
    ids = [each.strip() for each in row if _OPENALEX_ID.fullmatch(each.strip().encode())]
    if number == 1 and not ids:
        return
    if not ids:
        raise UnreadableRecordError("openalex", "it names no merged work")
    day = next((each for each in row if read_date_text(each)), file.order)
    # Later than every hour of that day.
    found.entries.append(GoneRecord(number, ids[0].upper(), f"{day}T99"))


def _read_pubmed(
    found: ReadRecords, filters: LoadFilters, file: DumpFile, number: int, content: bytes
) -> None:
    node = parse_xml(content)
    if node.tag == "DeleteCitation":
        for each in children(node, "PMID"):
            if (name := plain_text(each)).isdecimal():
                found.entries.append(GoneRecord(number, name, file.order))
        return
    citation = child(node, "MedlineCitation")
    found.newest = max(found.newest, _revised(citation))
    _keep(found, filters, "pubmed", number, pubmed.read_work(node), file.order)


def _revised(citation: Element | None) -> str:
    parts = [text_at(citation, "DateRevised", name) for name in ("Year", "Month", "Day")]
    if not all(part.isdecimal() for part in parts):
        return ""
    return f"{int(parts[0]):04d}-{int(parts[1]):02d}-{int(parts[2]):02d}"


def _read_arxiv(
    found: ReadRecords, filters: LoadFilters, file: DumpFile, number: int, content: bytes
) -> None:
    raw = _read_object(content)
    record = arxiv_dump.read_work(raw)
    found.newest = max(found.newest, read_date_text(raw.get("update_date")) or "")
    _keep(found, filters, "arxiv", number, record, arxiv_dump.read_version(raw))


def _read_crossref(
    found: ReadRecords, filters: LoadFilters, file: DumpFile, number: int, content: bytes
) -> None:
    raw = _read_object(content)
    record = crossref.read_work(raw)
    if record.work.ids.doi is None:
        raise UnreadableRecordError("crossref", "it has no DOI")
    indexed = text_of(map_of(raw.get("indexed")).get("date-time"))
    found.newest = max(found.newest, indexed[:10])
    if text_of(raw.get("type")) in _NO_WORKS and "other" not in filters.types:
        found.left_out["no_work"] += 1
        return
    _keep(found, filters, "crossref", number, record, indexed)


# Types of Crossref that hold or support works, and are none.
_NO_WORKS = frozenset(
    [
        "component",
        "grant",
        "journal",
        "journal-issue",
        "journal-volume",
        "book-series",
        "report-series",
        "proceedings-series",
    ]
)
_Read = Callable[[ReadRecords, LoadFilters, DumpFile, int, bytes], None]
_READERS: dict[DumpService, _Read] = {
    "openalex": _read_openalex,
    "pubmed": _read_pubmed,
    "arxiv": _read_arxiv,
    "crossref": _read_crossref,
}
