"""Tagged text as fields: a line with a tag, and the lines that go on from it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult, open_text
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    page_range,
    put,
    put_language,
    put_link,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.text.budget import current_budget


@dataclass(slots=True)
class TaggedField:
    """A tag, its value, the further lines with their numbers, and whether a gap stood before."""

    line: int
    tag: str
    value: str
    more: list[tuple[int, str]] = field(default_factory=list)
    is_after_gap: bool = False

    def joined(self, separator: str) -> str:
        return separator.join([self.value, *(text.strip() for _, text in self.more)]).strip()


def tagged_fields(text: str, tag: re.Pattern[str]) -> Iterator[TaggedField]:
    """The fields of a text; `tag` has the tag in its first and the value in its last group."""
    current: TaggedField | None = None
    is_after_gap = False
    budget = current_budget()
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        budget.step()
        found = tag.match(line)
        if found:
            if current is not None:
                yield current
            current = TaggedField(
                number,
                found.group(1),
                (found.group(found.lastindex or 1) or "").strip(),
                [],
                is_after_gap,
            )
            is_after_gap = False
        elif not line.strip():
            is_after_gap = True
        elif current is not None:
            current.more.append((number, line))
    if current is not None:
        yield current


Tags = dict[str, list[str]]

_BIBLIOSCAPE_TAG = re.compile(r"^--([A-Z][A-Z0-9])--[ \t]?(.*)$")
_BIBLIOSCAPE_TYPES = {
    "article": "article-journal", "journal article": "article-journal", "book": "book",
    "book section": "chapter", "thesis": "thesis", "conference": "paper-conference",
    "report": "report", "patent": "patent",
}  # fmt: skip
_BIBLIOSCAPE_TEXTS = {
    "TI": "title", "VL": "volume", "PB": "publisher", "ED": "edition", "AB": "abstract",
    "SE": "chapter-number", "DE": "annote", "CY": "publisher-place", "ET": "edition",
}  # fmt: skip
_BIBLIOSCAPE_KEPT = {
    "AD": "author-address", "CO": "country", "TT": "tertiary-title", "SA": "secondary-authors",
    "TA": "tertiary-authors", "QA": "quaternary-authors", "QT": "quaternary-title", "C1": "custom1",
    "C2": "custom2", "C3": "custom3", "C4": "custom4", "C5": "custom5", "C6": "custom6",
    "SB": "subject", "CA": "categories", "TH": "short-title", "TW": "type-of-work", "SH": "shelf",
}  # fmt: skip
_COPAC_TAG = re.compile(r"^([A-Z]{2})- ?(.*)$")
_NEP_FIELD = re.compile(r"^(By|Date|URL|JEL|Keywords|Abstract):[ \t]*(.*)$")
_NEP_ENTRY = re.compile(r"^(\d+)\.\s+(\S.*)$")
_NEP_DATE = re.compile(r"^(\d{4}(?:-\d{2}){0,2})(?!\d)")


def read_biblioscape(content: str | bytes) -> ImportResult:
    """Biblioscape's tag file: `--AU-- Name`, records ended by a rule."""
    text, answer = open_text(content)
    tags: Tags = {}
    start = 1
    for tagged in tagged_fields(text.lstrip("\ufeff"), _BIBLIOSCAPE_TAG):
        if not tags:
            start = tagged.line
        is_last = any(line.startswith("------") for _, line in tagged.more)
        tagged.more = list(takewhile(lambda more: not more[1].startswith("------"), tagged.more))
        tags.setdefault(tagged.tag, []).append(tagged.joined(""))
        if is_last:
            answer.keep(_biblioscape_item(tags), start)
            tags = {}
    if tags:
        answer.keep(_biblioscape_item(tags), start)
    return answer


def take_tag(tags: Tags, tag: str) -> str:
    """The first value of a tag; further ones stay, to be kept under the tag's name."""
    values = [value for value in tags.pop(tag, ()) if value]
    if values[1:]:
        tags[tag] = values[1:]
    return values[0] if values else ""


def _biblioscape_item(tags: Tags) -> CslItem:
    kind = _BIBLIOSCAPE_TYPES.get(take_tag(tags, "RT").lower(), "document")
    item: CslItem = {"type": kind}
    put(item, "container-title", take_tag(tags, "ST"))
    for tag, variable in _BIBLIOSCAPE_TEXTS.items():
        put(item, variable, take_tag(tags, tag))
    put_people(item, "author", [name for value in tags.pop("AU", ()) for name in value.split(";")])
    put_people(item, "editor", [name for value in tags.pop("EA", ()) for name in value.split(";")])
    year = take_tag(tags, "YP")
    if year:
        item["issued"] = read_date(year)
    start, end = take_tag(tags, "PS"), take_tag(tags, "PE")
    put(item, "page", page_range(start, end) if start else f"-{end}" if end else "")
    put(
        item,
        "issue" if kind.startswith("article") or kind == "chapter" else "number",
        take_tag(tags, "NB"),
    )
    for value in tags.pop("IS", ()):
        put_standard_numbers(item, value)
    put(
        item,
        "keyword",
        join_keywords(word for value in tags.pop("KW", ()) for word in value.split(";")),
    )
    put_language(item, take_tag(tags, "LG"))
    for tag in ("AT", "UR"):
        for value in tags.pop(tag, ()):
            put_link(item, value)
    for value in tags.pop("NT", ()):
        add_note(item, value)
    for tag, name in _BIBLIOSCAPE_KEPT.items():
        put_other(item, name, "; ".join(value for value in tags.pop(tag, ()) if value))
    for tag in list(tags):
        put_other(item, tag.lower(), "; ".join(value for value in tags.pop(tag) if value))
    return item


def read_copac(content: str | bytes) -> ImportResult:
    """The union catalogue Copac: `TI- Title`, records parted by empty lines."""
    text, answer = open_text(content)
    tags: Tags = {}
    start = 1
    for tagged in tagged_fields(text.lstrip("\ufeff"), _COPAC_TAG):
        if tags and tagged.tag == "TI" and "TI" in tags:
            answer.keep(_copac_item(tags), start)
            tags = {}
        if not tags:
            start = tagged.line
        tags.setdefault(tagged.tag, []).append(tagged.joined(" "))
    if tags:
        answer.keep(_copac_item(tags), start)
    return answer


def _copac_item(tags: Tags) -> CslItem:
    item: CslItem = {"type": "book"}
    put(item, "title", take_tag(tags, "TI"))
    put_people(item, "author", tags.pop("AU", []))
    put(item, "publisher", take_tag(tags, "PU"))
    put(item, "collection-title", take_tag(tags, "SE"))
    put(item, "edition", take_tag(tags, "ED"))
    year = take_tag(tags, "PY")
    if year:
        item["issued"] = read_date(year)
    for tag in ("IS", "SN"):
        for value in tags.pop(tag, ()):
            put_standard_numbers(item, value)
    for value in tags.pop("NT", ()):
        add_note(item, value)
    put(
        item,
        "keyword",
        join_keywords(word for value in tags.pop("KW", ()) for word in value.split(";")),
    )
    put_language(item, take_tag(tags, "LA"))
    put_other(item, "documenttype", take_tag(tags, "DT"))
    put_other(item, "physical-description", take_tag(tags, "PD"))
    for tag in list(tags):
        put_other(item, tag.lower(), "; ".join(value for value in tags.pop(tag) if value))
    return item


def read_repec_nep(content: str | bytes) -> ImportResult:
    """A mail of New Economics Papers: numbered titles with authors, address, date and abstract."""
    text, answer = open_text(content)
    lines = text.lstrip("\ufeff").splitlines()
    begin = next(
        (place for place, line in enumerate(lines) if line.startswith("In this issue we have")), 0
    )
    rules = [
        place for place, line in enumerate(lines) if line.startswith("------") and place > begin
    ]
    place = rules[1] if len(rules) > 1 else 0
    while place < len(lines):
        found = _NEP_ENTRY.match(lines[place])
        if not found:
            place += 1
            continue
        end = next(
            (
                other
                for other in range(place + 1, len(lines))
                if _NEP_ENTRY.match(lines[other]) or lines[other].startswith("------")
            ),
            len(lines),
        )
        answer.keep(_nep_item(found.group(2), lines[place + 1 : end]), place + 1)
        place = end
    return answer


def _nep_item(title: str, lines: list[str]) -> CslItem:
    item: CslItem = {"type": "report"}
    fields: dict[str, str] = {}
    name = "title"
    fields[name] = title
    for line in lines:
        found = _NEP_FIELD.match(line)
        if found:
            name = found.group(1).lower()
            fields[name] = found.group(2).strip()
        elif name == "title" and not line.strip():
            name = "authors"
        elif line.strip():
            fields[name] = f"{fields[name]}\n{line.strip()}" if fields.get(name) else line.strip()
        elif name not in {"abstract", "authors"}:
            name = "abstract"
    put(item, "title", " ".join(fields["title"].split()))
    authors, places = [], []
    for line in fields.get("by", fields.get("authors", "")).splitlines():
        who, _, where = line.partition("(")
        if who.strip():
            authors.append(who.strip())
        if where:
            places.append(where.rstrip(") "))
    put_people(item, "author", authors)
    put(item, "publisher", "; ".join(dict.fromkeys(places)))
    date = _NEP_DATE.match(fields.get("date", ""))
    if date:
        item["issued"] = read_date(date.group(1))
    elif fields.get("date"):
        item["issued"] = read_date(fields["date"])
    put_link(item, fields.get("url", ""))
    put(item, "abstract", " ".join(fields.get("abstract", "").split()))
    put(
        item,
        "keyword",
        join_keywords(re.split(r"[,;]", " ".join(fields.get("keywords", "").split()))),
    )
    put_other(item, "jel", " ".join(fields.get("jel", "").split()))
    return item
