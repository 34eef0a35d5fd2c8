"""What JabRef expects (.bib) on the strict scale, compared as BibTeX fields.

The expectation is read by `bibtex_entries`, which shares nothing with the readers under test. Our
items are put into the fields that BibTeX has; what it has no field for keeps its own name and
counts as a field that only we have. BibTeX itself says less than CSL in these places, and only
there ours is cut to what an entry can hold:

- `year` and `month` hold no day; types without a BibTeX type are @misc;
- title and subtitle are one title in CSL, school and publisher two publishers. Where the entry has
  the title alone and the source itself says that the rest is a subtitle (an XML element of that
  name, read here by ElementTree), ours is parted there: the title agrees, and the subtitle is a
  field that only we have;
- BibTeX has no field for the number of pages: `pages` of an entry is what we have as that, unless
  we have pages too;
- its list of keywords is parted at commas, so that ours is, too;
- several notes are one `note` in it, joined by signs of its writer's choice;
- one name of a journal: the full or the short one agrees;
- an institution without braces is parted into words as a person's name would be.

Wrong in the expectation by the format's own definition, and put right on its side: an ISSN in
`isbn` (its shape says which it is), `number` and `issue` for one thing, `date` beside the
same `year`, an author's address in `address`, `;` between authors. `note`, `annote` and `comment`
are compared together, line by line. An entry without a key expects none.
"""

import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from benchmarks.agreement.bibtex_entries import ExpectedEntry, plain_text, read_entries
from benchmarks.agreement.strict import (
    NAME_VARIABLES,
    Record,
    field_text,
    lines_text,
    normal,
    record_of,
    standard_numbers,
    words_text,
)
from carrel.libraries.bibliography.file_links import item_file_links

_TYPES = {
    "article": "article", "book": "book", "inbook": "inbook", "incollection": "inbook",
    "inproceedings": "inproceedings", "conference": "inproceedings", "proceedings": "book",
    "collection": "book", "phdthesis": "thesis", "mastersthesis": "thesis", "thesis": "thesis",
    "techreport": "report", "report": "report", "manual": "report", "patent": "patent",
    "online": "online", "electronic": "online", "www": "online", "unpublished": "unpublished",
    "booklet": "booklet", "periodical": "periodical", "dataset": "dataset",
    "software": "software", "standard": "standard",
}  # fmt: skip
_OUR_TYPES = {
    "article-journal": "article", "article-magazine": "article", "article-newspaper": "article",
    "article": "article", "review": "article", "review-book": "article", "book": "book",
    "chapter": "inbook", "entry": "inbook", "entry-encyclopedia": "inbook",
    "entry-dictionary": "inbook", "paper-conference": "inproceedings", "thesis": "thesis",
    "report": "report", "patent": "patent", "webpage": "online", "post": "online",
    "post-weblog": "online", "manuscript": "unpublished", "pamphlet": "booklet",
    "periodical": "periodical", "dataset": "dataset", "software": "software",
    "standard": "standard",
}  # fmt: skip
_OUR_FIELDS = {
    "id": "id", "title": "title", "volume": "volume", "publisher": "publisher",
    "publisher-place": "address", "edition": "edition", "URL": "url", "abstract": "abstract",
    "language": "language", "collection-title": "series", "issue": "number", "number": "number",
    "collection-number": "number", "chapter-number": "chapter", "number-of-pages": "pagetotal",
    "title-short": "shorttitle", "PMID": "pmid", "PMCID": "pmc", "DOI": "doi", "page": "pages",
    "keyword": "keywords", "genre": "type", "accessed": "urldate", "event-title": "eventtitle",
    "event-place": "venue", "number-of-volumes": "volumes", "status": "pubstate",
    "container-title": "journal",
}  # fmt: skip
_SAME_FIELD = {
    "journaltitle": "journal", "booktitle": "journal", "school": "publisher", "pmcid": "pmc",
    "institution": "publisher", "organization": "publisher", "location": "address",
    "issue": "number", "nlmid": "nlm-id", "uri": "url", "comments": "comment",
    "howpublished": "howpublished", "lastchecked": "urldate", "refid": "id", "urn": "urn",
    "eventplace": "venue", "fulltexts": "file",
}  # fmt: skip
_PEOPLE = frozenset({"author", "editor", "translator", "bookauthor"})
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ISSN = re.compile(r"^\d{4}-?\d{3}[\dXx]$")
_NOTES = ("note", "annote", "comment", "annotation")
_YEAR = re.compile(r"\d{4}")


_JOINS = re.compile(r"[\s,;.|]*")


def subtitles(path: Path) -> frozenset[str]:
    """What the source calls subtitles, if it is XML or a zip with XML."""
    content = path.read_bytes()
    try:
        if content.startswith(b"PK"):
            with zipfile.ZipFile(path) as archive:
                content = archive.read(archive.namelist()[0])
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, zipfile.BadZipFile):
        return frozenset()
    names = (node for node in root.iter() if node.tag.rpartition("}")[2].lower() == "subtitle")
    return frozenset(filter(None, (normal("".join(node.itertext())) for node in names)))


def expected_records(path: Path) -> list[Record]:
    return [_record(entry) for entry in read_entries(path.read_text(encoding="utf-8"))]


def _record(entry: ExpectedEntry) -> Record:
    raw = {name: value for name, value in entry.fields.items() if value.strip()}
    record: Record = {"entry type": _TYPES.get(entry.type, "misc"), "id": entry.key}
    record["issued"] = _date(raw)
    record["note"] = lines_text(*(plain_text(raw.pop(name, "")) for name in _NOTES))
    files = [part.split(":") for part in raw.pop("file", "").split(";") if part]
    record["files"] = words_text(
        PurePosixPath(parts[1] if len(parts) == 3 else parts[0]).name for parts in files
    )
    if "subtitle" in raw and "title" in raw:
        raw["title"] = f"{raw['title']}: {raw.pop('subtitle')}"
    school = raw.pop("school", "") or raw.pop("institution", "")
    if school and "publisher" in raw:
        raw["second publisher"] = raw["publisher"]
    if school:
        raw["publisher"] = school
    for name in ("isbn", "issn"):
        if value := plain_text(raw.pop(name, "")):
            number = standard_numbers(normal(value))
            record["issn" if _ISSN.match(number.split(" ")[0]) else name] = number
    for name, value in raw.items():
        kept = _SAME_FIELD.get(name, name)
        if kept in _PEOPLE:
            record[kept] = _people(value)
        elif kept == "keywords":
            record[kept] = words_text(re.split(r"[,;]", plain_text(value)))
        else:
            variable = {"doi": "DOI", "pages": "page"}.get(kept, kept)
            record.setdefault(kept, field_text(variable, plain_text(value)))
    return {name: text for name, text in record.items() if text}


def _date(raw: dict[str, str]) -> str:
    year, month, day = (raw.pop(name, "") for name in ("year", "month", "day"))
    date = raw.pop("date", "")
    if not year:
        return normal(date)
    if date.startswith(year) and len(date) > len(year):
        return normal(date)
    month = month.strip("# ").lower()
    if not month and date and not _YEAR.search(date):
        word, _, day = date.strip().partition(" ")
        month = word.lower()
    if month[:3] in _MONTHS:
        month = f"{_MONTHS.index(month[:3]) + 1:02d}"
    elif month.isdigit():
        month = f"{int(month):02d}"
    parts = [normal(year), month, f"{int(day):02d}" if day.isdigit() else ""]
    return "-".join(part for part in parts if part)


def _people(value: str) -> str:
    names = re.split(r"\s+and\s+", value.strip())
    if len(names) == 1 and ";" in value:
        names = value.split(";")
    return " & ".join(_name(name) for name in names if name.strip(" ,"))


def _name(raw: str) -> str:
    raw = raw.strip()
    if raw.startswith("{") and raw.endswith("}"):
        return normal(plain_text(raw))
    parts = [normal(plain_text(part)) for part in raw.split(",")]
    if len(parts) == 3:
        return ", ".join((parts[0], parts[2], parts[1]))
    if len(parts) == 1 and " " in parts[0]:
        words = parts[0].split(" ")
        lower = [place for place, word in enumerate(words[:-1]) if place and word[0].islower()]
        cut = lower[0] if lower else len(words) - 1
        return f"{' '.join(words[cut:])}, {' '.join(words[:cut])}"
    return ", ".join(part for part in parts if part)


def _institution(name: str, expected: list[str]) -> str:
    """The whole name where braces kept it whole, else parted as BibTeX parts it."""
    return normal(name) if normal(name) in expected else _name(name)


def our_record(
    item: dict[str, Any], expected: Record, subtitles_of_source: frozenset[str] = frozenset()
) -> Record:
    """Our item as the BibTeX entry that could hold it."""
    plain = {name: value for name, value in item.items() if name not in {"note", "annote"}}
    record: Record = {}
    for name, text in record_of(plain).items():
        if name == "type":
            record["entry type"] = _OUR_TYPES.get(text, "misc")
        elif name in {"ISBN", "ISSN"}:
            record[name.lower()] = text
        elif name in {"other.publisher", "other.school", "other.institution"}:
            record["second publisher"] = text
        elif name not in {"other.file", "other.pdf", "container-title-short"}:
            kept = _OUR_FIELDS.get(name, name.removeprefix("other."))
            record.setdefault(_SAME_FIELD.get(kept, kept), text)
    for role in NAME_VARIABLES & item.keys():
        theirs = expected.get(role, "").split(" & ")
        people = [
            _institution(person["literal"], theirs)
            if "literal" in person
            else field_text(role, [person])
            for person in item[role]
        ]
        record[role] = " & ".join(people)
    record["note"] = lines_text(str(item.get("note", "")), str(item.get("annote", "")))
    record["files"] = words_text(
        PurePosixPath(link.replace("\\", "/")).name for link in item_file_links(item)
    )
    record["keywords"] = words_text(re.split(r"[,;]", str(item.get("keyword", ""))))
    record = {name: text for name, text in record.items() if text}
    _cut_to_entry(record, expected, str(item.get("container-title-short", "")))
    _part_title(record, expected, subtitles_of_source)
    return record


def _part_title(record: Record, expected: Record, subtitles_of_source: frozenset[str]) -> None:
    """Title and subtitle apart, where the entry has the title alone and the source has both."""
    title, _, below = record.get("title", "").partition(f"{expected.get('title', '')}: ")
    if expected.get("title") and not title and below in subtitles_of_source:
        record |= {"title": expected["title"], "subtitle": below}


def _is_joined(lines: str, expected: str) -> bool:
    """Whether a note is these lines and signs between them, and nothing else."""
    rest = expected
    for line in sorted(lines.split(" | "), key=len, reverse=True):
        before, found, behind = rest.partition(line)
        if not found:
            return False
        rest = f"{before}|{behind}"
    return bool(_JOINS.fullmatch(rest))


def _cut_to_entry(record: Record, expected: Record, short: str) -> None:
    """Leave out what a BibTeX entry cannot say beside what was expected."""
    if "id" not in expected:
        record.pop("id", None)
    if short and expected.get("journal") == normal(short):
        record["journal"] = normal(short)
    theirs, mine = expected.get("issued", ""), record.get("issued", "")
    if theirs and mine.startswith(f"{theirs}-"):
        record["issued"] = theirs
    address = record.get("author-address")
    if address and "address" in expected and "address" not in record:
        record["address"] = record.pop("author-address")
    if "pages" in expected and "pages" not in record and "pagetotal" not in expected:
        record["pages"] = record.pop("pagetotal", "")
        if not record["pages"]:
            del record["pages"]
    if "note" in record and _is_joined(record["note"], expected.get("note", "")):
        record["note"] = expected["note"]
    numbers = record.get("issn", "").split(" ")
    if expected.get("issn") in numbers:
        record["issn"] = expected["issn"]
