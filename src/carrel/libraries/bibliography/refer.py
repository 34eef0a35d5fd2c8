"""EndNote's tagged form (refer, `%A …`) to CSL-JSON items."""

import re
from collections.abc import Iterator

from carrel.libraries.bibliography.dates import read_date, read_year_and_month
from carrel.libraries.bibliography.endnote_types import settle_by_type, split_work_number
from carrel.libraries.bibliography.imports import CslItem, ImportResult, open_text
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    put,
    put_doi,
    put_edition,
    put_language,
    put_link,
    put_or_keep,
    put_other,
    put_pages,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.tagged_formats import Tags, tagged_fields

# EndNote's names of reference types, in lower case.
TYPES = {
    "journal article": "article-journal", "electronic article": "article-journal",
    "article": "article-journal", "magazine article": "article-magazine",
    "newspaper article": "article-newspaper", "book": "book", "edited book": "book",
    "electronic book": "book", "classical work": "classic", "book section": "chapter",
    "electronic book section": "chapter", "serial": "book", "conference paper": "paper-conference",
    "conference proceedings": "paper-conference", "thesis": "thesis", "report": "report",
    "government document": "report", "standard": "standard", "patent": "patent",
    "web page": "webpage", "website": "webpage", "blog": "post-weblog",
    "computer program": "software", "dataset": "dataset", "online database": "dataset",
    "aggregated database": "dataset", "unpublished work": "manuscript", "manuscript": "manuscript",
    "pamphlet": "pamphlet", "map": "map", "artwork": "graphic", "figure": "figure",
    "chart or table": "figure", "equation": "figure", "audiovisual material": "motion_picture",
    "film or broadcast": "motion_picture", "music": "song",
    "personal communication": "personal_communication", "hearing": "hearing", "bill": "bill",
    "statute": "legislation", "legal rule or regulation": "legislation", "case": "legal_case",
    "encyclopedia": "entry-encyclopedia", "dictionary": "entry-dictionary",
    "online multimedia": "motion_picture", "interview": "interview", "grant": "document",
    "generic": "document",
}  # fmt: skip

_TAG = re.compile(r"^\s*%([0-9A-Z!@#$%^&*()+=\[\]?<>~|\\])[ \t]+(.*)$")
_ARTICLE_NUMBER = re.compile(r"^Artn\s+(\S+)$")
_LONGEST_SHORT_NAME = 60
_PARTS = frozenset({"chapter", "paper-conference", "entry-encyclopedia", "entry-dictionary"})
_PLAIN = {
    "V": "volume", "I": "publisher", "C": "publisher-place", "6": "number-of-volumes",
    "&": "section", "L": "call-number", "!": "title-short", "~": "archive", "W": "source",
}  # fmt: skip


# EndNote's tags without a variable, under the names of its fields.
_OTHER = {
    "1": "custom1", "2": "custom2", "3": "custom3", "4": "custom4", "#": "custom5",
    "$": "custom6", "(": "original-publication", ")": "reprint-edition", "*": "reviewed-item",
    "<": "research-notes", "^": "caption", "]": "custom7", "=": "custom8",
    "H": "translated-author",
}  # fmt: skip


def read_refer(content: str | bytes) -> ImportResult:
    """Every reference of an EndNote import file."""
    text, answer = open_text(content)
    for line, tags in _references(text):
        if set(tags) <= {"0", "F"}:
            answer.fail(line, "The reference has no field that can be read")
        else:
            answer.keep(_item(tags), line)
    return answer


def _references(text: str) -> Iterator[tuple[int, Tags]]:
    tags: Tags = {}
    start = 0
    for field in tagged_fields(text, _TAG):
        if tags and (
            field.tag == "0"
            or (field.is_after_gap and field.tag in {"A", "T", "F"} and field.tag in tags)
        ):
            yield start, tags
            tags = {}
        if not tags:
            start = field.line
        tags.setdefault(field.tag, []).append(field.joined("\n"))
    if tags:
        yield start, tags


def _take(tags: Tags, tag: str) -> str:
    return next((" ".join(value.split()) for value in tags.pop(tag, ()) if value), "")


def _guess_type(written: str, tags: Tags) -> str:
    if "J" in tags:
        return "article-journal"
    if "B" in tags:
        return "chapter"
    if "thesis" in written.lower():
        return "thesis"
    return "book" if "I" in tags and not written else "document"


def _item(tags: Tags) -> CslItem:
    written = _take(tags, "0")
    kind = TYPES.get(written.lower()) or _guess_type(written, tags)
    item: CslItem = {"type": kind}
    key = _take(tags, "F")
    if key:
        item = {"id": key, "type": kind}
    put(item, "title", _take(tags, "T"))
    container, journal = _take(tags, "B"), _take(tags, "J")
    if kind in {"book", "thesis", "report"}:
        put(item, "collection-title", container)
        put(item, "container-title", journal)
        put(item, "publisher", container if kind == "thesis" and "I" not in tags else "")
    else:
        put(item, "container-title", journal or container)
        put(item, "collection-title", container if journal and container != journal else "")
    put_or_keep(item, "collection-title", _take(tags, "S"), "series-title")
    other = _put_alternate(_take(tags, "O"), item)
    if written.lower() == "edited book":
        put_people(item, "editor", tags.pop("A", []))
    _people(tags, item, kind, is_endnote=bool(written))
    year, day = _take(tags, "D"), _take(tags, "8")
    date = (read_year_and_month(year, day) if year else read_date(day)) if year or day else None
    if date:
        item["issued"] = date
    accessed = _take(tags, "[")
    if accessed:
        item["accessed"] = read_date(accessed)
    for tag, variable in _PLAIN.items():
        put(item, variable, _take(tags, tag))
    number = _take(tags, "N")
    own_number, standard_numbers = split_work_number(kind, tags.pop("@", []))
    put(item, "number", own_number)
    place = "issue" if kind.startswith("article") or kind in _PARTS else "number"
    put_or_keep(item, place, number, "application-number" if kind == "patent" else "number")
    put_edition(item, _take(tags, "7"))
    put_pages(item, _take(tags, "P").replace("--", "-"))
    put(item, "genre", _take(tags, "9"))
    for value in standard_numbers:
        put_standard_numbers(item, value)
    put_doi(item, _take(tags, "R"))
    for value in tags.pop("U", ()):
        for link in value.split("\n"):
            put_link(item, link.strip())
    for value in tags.pop(">", ()):
        put_other(item, "file", value)
    put(
        item,
        "keyword",
        join_keywords(word for value in tags.pop("K", ()) for word in re.split(r"[;\n]", value)),
    )
    put(item, "abstract", _take(tags, "X"))
    for value in tags.pop("Z", ()):
        add_note(item, value)
    add_note(item, other)
    settle_by_type(item)
    _rest(tags, item)
    return item


def _put_alternate(text: str, item: CslItem) -> str:
    """The other name of a journal, or an article's number; what it is not is returned, a note."""
    journal = item.get("container-title", "")
    if item["type"] == "article-journal" and len(text) < _LONGEST_SHORT_NAME:
        if found := _ARTICLE_NUMBER.match(text):
            item["number"] = found.group(1)
            return ""
        if journal and text[:1].casefold() == journal[:1].casefold():
            put(item, "container-title-short", text)
            return ""
    return text


def _people(tags: Tags, item: CslItem, kind: str, *, is_endnote: bool) -> None:
    put_people(item, "author", tags.pop("A", []))
    if is_endnote:
        # EndNote's meaning; in refer itself it is an institution as author.
        put_other(item, "translated-title", _take(tags, "Q"))
    put_people(item, "author", [f"{name}," for name in tags.pop("Q", ())])
    roles = {"personal_communication": "recipient", "interview": "interviewer"}
    second = roles.get(kind, "editor")
    put_people(item, second, tags.pop("E", []))
    third = {"thesis": "contributor", "motion_picture": "producer"}.get(kind, "collection-editor")
    is_named = kind in {"book", "chapter", "paper-conference", "thesis", "motion_picture"}
    put_people(item, third, tags.pop("Y", []) if is_named else [])
    put_people(item, "translator", tags.pop("?", []))


def _rest(tags: Tags, item: CslItem) -> None:
    put_language(item, _take(tags, "G"))
    put_other(item, "author-address", _take(tags, "+"))
    put_other(item, "accession-number", _take(tags, "M"))
    for tag, name in _OTHER.items():
        put_other(item, name, "; ".join(value for value in tags.pop(tag, ()) if value))
    for tag in list(tags):
        put_other(item, f"refer-{tag}", "; ".join(value for value in tags.pop(tag) if value))
