"""MEDLINE's tagged form (.nbib, `PMID- …`) to CSL-JSON items."""

import re
from collections.abc import Iterator

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult, open_text
from carrel.libraries.bibliography.items import (
    add_note,
    expand_page_range,
    join_keywords,
    language_code,
    put,
    put_doi,
    put_edition,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.tagged_formats import Tags, tagged_fields, take_tag
from carrel.libraries.bibliography.titles import strip_final_stop
from carrel.libraries.identifiers import NotAnIdentifierError, Pmcid

_TAG = re.compile(r"^([A-Z]{2,4}) {0,2}- ?(.*)$")
_NUMBERED = re.compile(r"^(\S+)\s+\[(\w+)\]$")
# MEDLINE writes a suffix behind the given names: `Smith, John A Jr`.
_SUFFIX_LAST = re.compile(r"^([^,]+), ([^,]+?) (Jr|Sr|2nd|3rd|4th|I{2,3}|IV)\.?$")
_INITIALS_LAST = re.compile(r"^(\S.*) ([A-Z]{1,4})(?: (Jr|Sr|2nd|3rd|4th|I{2,3}|IV)\.?)?$")
_DATE = re.compile(r"^(\d{4})(\d{2})(\d{2})$")

# Publication types that change what kind of work a record is; all others are journal articles.
_TYPES = {
    "book": "book", "books": "book", "book chapter": "chapter", "chapter": "chapter",
    "technical report": "report", "dataset": "dataset", "academic dissertation": "thesis",
    "congress": "paper-conference", "congresses": "paper-conference",
    "clinical conference": "paper-conference",
    "consensus development conference": "paper-conference",
    "consensus development conference, nih": "paper-conference", "preprint": "article",
    "newspaper article": "article-newspaper", "interview": "interview", "legal cases": "legal_case",
    "legislation": "legislation", "video-audio media": "motion_picture",
}  # fmt: skip
_PLAIN = {
    "VI": "volume",
    "IP": "issue",
    "PB": "publisher",
    "CTI": "collection-title",
}
_OTHER_FIELDS = {
    "OWN": "owner", "STAT": "status", "JID": "nlm-id", "SB": "citation-subset", "GR": "grant",
    "CI": "copyright", "SO": "source", "PST": "pubstate", "AD": "author-address", "AUID": "auid",
    "SI": "secondary-source", "RN": "registry-number", "TT": "transliterated-title",
    "OTO": "other-term-owner",
}  # fmt: skip
_KEPT_DATES = {
    "DCOM": "completed", "LR": "revised", "DA": "created", "EDAT": "edat", "MHDA": "mhda",
    "CRDT": "crdt", "DEP": "epub", "PHST": "history",
}  # fmt: skip


def read_nbib(content: str | bytes) -> ImportResult:
    """Every record of a file in MEDLINE format."""
    text, answer = open_text(content)
    for line, tags in _records(text, answer):
        answer.add(_item(tags), line)
    return answer


def _records(text: str, answer: ImportResult) -> Iterator[tuple[int, Tags]]:
    tags: Tags = {}
    start = 0
    for field in tagged_fields(text, _TAG):
        if tags and (field.is_after_gap or (field.tag == "PMID" and "PMID" in tags)):
            if not field.is_after_gap:
                answer.warn(field.line, "No empty line before this record")
            yield start, tags
            tags = {}
        if not tags:
            start = field.line
        for number, line in field.more:
            if not line.startswith(" "):
                answer.warn(
                    number, f"This line belongs to no field: {line.strip()[:60]!r}; it was left out"
                )
        field.more = [(number, line) for number, line in field.more if line.startswith(" ")]
        tags.setdefault(field.tag, []).append(field.joined(" "))
    if tags:
        yield start, tags


def _item(tags: Tags) -> CslItem:
    kinds = [value.strip().lower() for value in tags.pop("PT", ())]
    item: CslItem = {
        "type": next((_TYPES[kind] for kind in kinds if kind in _TYPES), "article-journal")
    }
    if not kinds and not any(tags.get("JT", ())) and not any(tags.get("TA", ())):
        item["type"] = "document"
    if any(tags.get("BTI", ())) and item["type"] in {"article-journal", "book"}:
        item["type"] = "chapter" if any(tags.get("TI", ())) else "book"
    put(item, "PMID", take_tag(tags, "PMID").split(" ")[0])
    book = strip_final_stop(take_tag(tags, "BTI"))
    put(item, "title", strip_final_stop(take_tag(tags, "TI")) or book)
    put(item, "container-title", book or take_tag(tags, "JT"))
    put(item, "container-title-short", take_tag(tags, "TA"))
    put(item, "container-title", item.get("container-title-short", ""))
    put_other(item, "volume-title", take_tag(tags, "VTI"))
    people = [_SUFFIX_LAST.sub(r"\1, \3, \2", name) for name in tags.pop("FAU", [])]
    people = people or [_short_name(name) for name in tags.get("AU", [])]
    tags.pop("AU", None)
    put_people(item, "author", people)
    put_people(item, "author", [f"{name}," for name in tags.pop("CN", ()) if name])
    editors = tags.pop("FED", []) or [_short_name(name) for name in tags.get("ED", [])]
    put_people(item, "editor", editors)
    tags.pop("ED", None)
    investigators = tags.pop("FIR", []) or tags.get("IR", [])
    tags.pop("IR", None)
    put_other(item, "investigator", "; ".join(name for name in investigators if name))
    for tag, variable in _PLAIN.items():
        put(item, variable, take_tag(tags, tag))
    if item["type"] in {"book", "chapter", "report", "thesis"}:
        put(item, "publisher-place", take_tag(tags, "PL"))
    else:
        # That of a journal is its country, which styles would print behind its name.
        put_other(item, "country", take_tag(tags, "PL"))
    put_edition(item, take_tag(tags, "EN"))
    pages = take_tag(tags, "PG")
    if pages:
        item["page"] = ", ".join(expand_page_range(part) for part in pages.split(","))
    published = take_tag(tags, "DP") or take_tag(tags, "DEP")
    if published:
        item["issued"] = read_date(_DATE.sub(r"\1-\2-\3", published))
    for value in [*tags.pop("IS", ()), *tags.pop("ISBN", ())]:
        put_standard_numbers(item, value.split(" (")[0])
    _identifiers(tags, item)
    _words(tags, item)
    put_other(
        item, "pubtype", ", ".join(kind.capitalize() for kind in kinds if kind != "journal article")
    )
    for tag, name in _OTHER_FIELDS.items():
        put_other(item, name, "; ".join(value for value in tags.pop(tag, ()) if value))
    for tag, name in _KEPT_DATES.items():
        put_other(
            item,
            name,
            "; ".join(_DATE.sub(r"\1-\2-\3", value) for value in tags.pop(tag, ()) if value),
        )
    for tag in list(tags):
        put_other(item, tag.lower(), "; ".join(value for value in tags.pop(tag) if value))
    return item


def _short_name(name: str) -> str:
    """`van Berg JA Jr`, as older records have names alone."""
    found = _INITIALS_LAST.match(name)
    if not found:
        return name
    family, initials, suffix = found.groups()
    return ", ".join(filter(None, (family, suffix, initials)))


def _identifiers(tags: Tags, item: CslItem) -> None:
    for value in [*tags.pop("LID", ()), *tags.pop("AID", ())]:
        found = _NUMBERED.match(value)
        if found and found.group(2) == "doi":
            put_doi(item, found.group(1))
        elif found and found.group(2) == "pii":
            put_other(item, "pii", found.group(1))
        elif value:
            put_other(item, "aid", value)
    number = take_tag(tags, "PMC")
    if number:
        try:
            item["PMCID"] = str(
                Pmcid.parse(number if number.upper().startswith("PMC") else f"PMC{number}")
            )
        except NotAnIdentifierError:
            put_other(item, "pmc", number)


def _words(tags: Tags, item: CslItem) -> None:
    abstract = "\n".join(value for value in tags.pop("AB", ()) if value)
    put(item, "abstract", abstract)
    put(item, "keyword", join_keywords([*tags.pop("MH", ()), *tags.pop("OT", ())]))
    languages = [language_code(value) for value in tags.pop("LA", ()) if value]
    if languages:
        item["language"] = languages[0]
        put_other(item, "languages", "; ".join(languages) if len(languages) > 1 else "")
    for tag in ("CON", "CIN", "GN"):
        for value in tags.pop(tag, ()):
            add_note(item, value)
