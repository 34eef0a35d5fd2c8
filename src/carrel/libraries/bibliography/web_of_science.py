"""Web of Science's tagged export (`PT J`, `AU Name`, `ER`) to CSL-JSON items."""

import re
from collections.abc import Iterable, Iterator

from carrel.libraries.bibliography.dates import read_date, read_year_and_month
from carrel.libraries.bibliography.imports import CslItem, ImportResult, open_text
from carrel.libraries.bibliography.items import (
    join_keywords,
    page_range,
    put,
    put_doi,
    put_language,
    put_link,
    put_or_keep,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.tagged_formats import TaggedField, Tags, tagged_fields

_TAG = re.compile(r"^([A-Z][A-Z0-9])(?:$| (?: ?- ?)?(.*)$)")
_PUBLICATION_TYPES = {"J": "article-journal", "B": "book", "S": "chapter", "P": "patent"}
_DOCUMENT_TYPES = {
    "proceedings paper": "paper-conference", "meeting abstract": "paper-conference",
    "conference paper": "paper-conference", "book chapter": "chapter", "book": "book",
    "editorial material; book chapter": "chapter", "book review": "review-book",
    "data paper": "article-journal", "data set": "dataset", "software": "software",
    "news item": "article-newspaper", "thesis": "thesis", "dissertation": "thesis",
    "report": "report", "patent": "patent",
}  # fmt: skip
_PLAIN = {
    "VL": "volume", "PU": "publisher", "PI": "publisher-place", "CT": "event-title",
    "CL": "event-place", "SE": "collection-title", "PM": "PMID", "AB": "abstract",
}  # fmt: skip
_OTHER = {
    "UT": "unique-id", "DT": "type-of-work", "C1": "author-address", "RP": "reprint-address",
    "EM": "author-email", "PA": "publisher-address", "NR": "number-of-cited-references",
    "CR": "cited-references", "TC": "times-cited", "SC": "research-areas",
    "WC": "web-of-science-categories", "FU": "funding", "FX": "funding-text",
    "GA": "document-delivery-number", "OI": "orcid-numbers", "RI": "researcherid-numbers",
    "Z9": "total-times-cited", "HO": "conference-host",
    "SP": "conference-sponsor", "SU": "supplement", "SI": "special-issue", "PN": "part-number",
    "AE": "assignee", "BS": "series-subtitle",
}  # fmt: skip
_LISTS = frozenset({"AU", "AF", "BA", "BF", "BE", "ED", "CA", "GP", "CR"})
_SCRIPT = re.compile(r"/(sub|sup) {1,3}([^/\n]{1,80}?) {0,3}/")
_INITIALS = re.compile(r"^[A-Z]{1,4}$")
_SMALL_WORDS = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"}
)


def read_web_of_science(content: str | bytes) -> ImportResult:
    """Every record of an export."""
    text, answer = open_text(content)
    for line, tags in _records(text):
        answer.add(read_tags(tags), line)
    return answer


def _records(text: str) -> Iterator[tuple[int, Tags]]:
    tags: Tags = {}
    start = 1
    for field in tagged_fields(text, _TAG):
        if field.tag in {"PT", "ER"} and tags:
            yield start, tags
            tags = {}
        if field.tag in {"FN", "VR", "ER", "EF"}:
            continue
        if not tags:
            start = field.line
        tags.setdefault(field.tag, []).extend(_values(field))
    if tags:
        yield start, tags


def _values(field: TaggedField) -> list[str]:
    if field.tag in _LISTS:
        return [field.value, *(text.strip() for _, text in field.more)]
    return [field.joined(" ")]


def read_tags(tags: Tags) -> CslItem:
    """The item of one record's tags, which are used up."""
    documents = [value.lower() for value in tags.get("DT", ())]
    kind = _PUBLICATION_TYPES.get(_take(tags, "PT")[:1].upper(), "article-journal")
    kinds = [_DOCUMENT_TYPES[each] for value in documents for each in _parts(value)]
    # A paper of a conference that stands in a journal is an article of that journal.
    if kinds and not (kind == "article-journal" and "article" in documents[0].split(";")):
        kind = kinds[0]
    title, source = _text(_take(tags, "TI")), _text(_take(tags, "SO", "JO"))
    if kind in {"book", "chapter"} and not kinds:
        kind = _kind_within_book(tags, title, source)
    item: CslItem = {"type": kind}
    put(item, "title", title)
    put(item, "container-title", "" if kind == "book" and source == title else source)
    if kind == "patent":
        put(item, "number", _take(tags, "PN"))
    put(item, "container-title-short", _take(tags, "JI", "JA", "J9"))
    put_people(item, "author", map(_name, _longer(tags, "AU", "AF")))
    put_people(item, "author", [f"{group}," for group in tags.pop("CA", ()) if group])
    put_people(item, "container-author", map(_name, _longer(tags, "BA", "BF")))
    put_people(item, "editor", map(_name, [*tags.pop("BE", ()), *tags.pop("ED", ())]))
    for tag, variable in _PLAIN.items():
        value = _take(tags, tag)
        is_text = variable in {"publisher", "publisher-place", "abstract"}
        put(item, variable, _text(value) if is_text else value)
    _put_meeting(tags, item)
    place = "issue" if kind.startswith(("article", "review", "paper")) else "number"
    put_or_keep(item, place, _take(tags, "IS"), "issue")
    pages = page_range(_take(tags, "BP"), _take(tags, "EP").split(" ")[0]) or _take(tags, "PS")
    put(item, "page", pages)
    put_or_keep(item, "number", _take(tags, "AR"), "article-number")
    if kind in {"book", "thesis"}:
        put(item, "number-of-pages", _take(tags, "PG"))
    _put_date(tags, item)
    put_standard_numbers(item, *tags.pop("SN", ()), *tags.pop("EI", ()), *tags.pop("BN", ()))
    for tag in ("DI", "D2"):
        put_doi(item, _take(tags, tag))
    put_link(item, _take(tags, "UR"))
    put_language(item, _take(tags, "LA"))
    words = (*tags.pop("DE", ()), *tags.pop("ID", ()), *tags.pop("KW", ()))
    put(item, "keyword", join_keywords(word for value in words for word in value.split(";")))
    for tag in list(tags):
        values = [value for value in tags.pop(tag) if value]
        put_other(item, _OTHER.get(tag, tag.lower()), "; ".join(values))
    return item


def _kind_within_book(tags: Tags, title: str, source: str) -> str:
    """A record of a book's part has two titles; a paper of a conference names the conference."""
    if any(tags.get("CT", ())):
        return "paper-conference"
    return "chapter" if title and source and title.casefold() != source.casefold() else "book"


def _put_meeting(tags: Tags, item: CslItem) -> None:
    written = _take(tags, "CY")
    held = read_date(written) if written else {}
    if "date-parts" in held:
        item["event-date"] = held
    else:
        put_other(item, "conference-date", written)


def _parts(value: str) -> Iterator[str]:
    return (each for each in (value, *map(str.strip, value.split(";"))) if each in _DOCUMENT_TYPES)


def _put_date(tags: Tags, item: CslItem) -> None:
    year, day = _take(tags, "PY"), _take(tags, "PD")
    if year:
        day = day.replace(year, "").strip()
    date = read_year_and_month(year, day) if year else read_date(day) if day else None
    if date and year and "date-parts" not in date:
        date = read_date(year)
    if date:
        item["issued"] = date


def _take(tags: Tags, *names: str) -> str:
    """The first value of the first of these tags; the others stay."""
    for name in names:
        values = tags.pop(name, [])
        if any(values):
            return " ".join(next(value for value in values if value).split())
    return ""


def _longer(tags: Tags, short: str, full: str) -> list[str]:
    """Full names where there is one for each short name."""
    names, fuller = tags.pop(short, []), tags.pop(full, [])
    return fuller if len(fuller) >= len(names) else names


def _name(text: str) -> str:
    """`Brown, JM` has two initials."""
    family, comma, given = text.partition(",")
    if not comma:
        return text
    words = [
        " ".join(f"{letter}." for letter in word.replace(".", ""))
        if _INITIALS.match(word.replace(".", ""))
        else word
        for word in given.split()
    ]
    return f"{family}, {' '.join(words)}"


def _text(text: str) -> str:
    """Words all in capitals as a title has them; `/sub 2/` as markup."""
    is_shouted = _SCRIPT.sub("", text) == _SCRIPT.sub("", text).upper() and len(text) > 5
    return _SCRIPT.sub(r"<\1>\2</\1>", _capitalize_words(text.split(" ")) if is_shouted else text)


def _capitalize_words(words: Iterable[str]) -> str:
    """Each word with a capital, small words but the first without."""
    return " ".join(
        word.lower() if place and word.lower() in _SMALL_WORDS else word.capitalize()
        for place, word in enumerate(words)
    )
