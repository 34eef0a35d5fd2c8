"""What JabRef expects (.bib) as records.

The expected file is read with our own BibTeX reader, titles as written, so that both sides are CSL
items. JabRef imports into
BibTeX, which
holds less than CSL, so these pairs are compared as one field each, and no other:

- journal: BibTeX has one name for a journal, so the full and the short title both agree with it;
- ISBN and ISSN: JabRef's importers do not tell them apart;
- date: BibTeX's year and month carry no day, so our date is cut to the precision that is expected;
- address: from formats with an author's address JabRef writes that to `address`, which we keep
  apart from the publisher's place;
- number: JabRef writes an issue to `number` or to `issue`;
- of several ISBN or ISSN JabRef keeps one, which agrees when it is among ours; it writes RIS's ID
  to `refid`, which is our key;
- BibTeX cannot tell an institution without braces from a person, so our institutions are parted as
  it would;
- note, annotation and comment are all notes, compared together by their words, for programs join
  several notes in different
ways; keywords parted by `,` or `;` are a set.

A file without a key for its entries has none expected.
"""

import re
from pathlib import Path
from typing import Any

from benchmarks.agreement.comparison import Record, field_text, fold, keywords_text, record_of
from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.names import read_name
from carrel.libraries.bibliography.bibtex.reader import read_bibtex

_WORD = re.compile(r"\w+")


def expected_records(path: Path) -> list[Record]:
    return [
        _folded(imported.item)
        for imported in read_bibtex(path.read_bytes(), TitleCase.AS_WRITTEN).items
    ]


def our_record(item: dict[str, Any], expected: Record) -> Record:
    record = _folded({name: _as_bibtex_would(value) for name, value in item.items()})
    if "id" not in expected:
        record.pop("id", None)
    short = record.pop("container-title-short", None)
    if short and expected.get("container-title") == short:
        record["container-title"] = short
    elif short and "container-title-short" in expected:
        record["container-title-short"] = short
    number = expected.get("standard-number")
    if number and number in record.get("standard-number", "").split():
        record["standard-number"] = number
    theirs = expected.get("issued")
    ours = record.get("issued")
    if theirs and ours and len(ours) > len(theirs) and ours.startswith(theirs):
        record["issued"] = theirs
    address = record.pop("other.author-address", None)
    if address and "publisher-place" in expected and "publisher-place" not in record:
        record["publisher-place"] = address
    elif address:
        record["other.author-address"] = address
    return record


def _as_bibtex_would(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [
        read_name(person["literal"]) if isinstance(person, dict) and "literal" in person else person
        for person in value
    ]


def _folded(item: dict[str, Any]) -> Record:
    record = record_of(item)
    if "other.refid" in record:
        record["id"] = record.pop("other.refid")
    short = record.pop("other.journal-abbreviation", None)
    if short and short != record.get("container-title"):
        record["container-title-short"] = short
    numbers = " ".join(sorted(set(f"{record.pop('ISBN', '')} {record.pop('ISSN', '')}".split())))
    if numbers:
        record["standard-number"] = numbers
    for name in ("issue", "number", "collection-number", "other.issue"):
        if name in record:
            record.setdefault("number", record.pop(name))
            if name != "number":
                record.pop(name, None)
    if "number" in record:
        record["number"] = record["number"].replace(" ", "")
    notes = " ".join(fold(str(item.get(name, ""))) for name in ("note", "annote"))
    record.pop("annote", None)
    if notes.strip():
        record["note"] = " ".join(sorted(_WORD.findall(notes)))
    if "keyword" in record and ";" not in str(item.get("keyword", "")):
        record["keyword"] = keywords_text(str(item["keyword"]).split(","))
    if "page" in record:
        record["page"] = field_text("page", record["page"])
    return record
