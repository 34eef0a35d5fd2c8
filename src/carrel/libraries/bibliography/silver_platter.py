"""SilverPlatter's and INSPEC's tagged exports (`TI:  Title`) to CSL-JSON items."""

import re
from collections.abc import Iterator

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult, open_text
from carrel.libraries.bibliography.items import (
    join_keywords,
    put,
    put_doi,
    put_language,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.tagged_formats import Tags, tagged_fields, take_tag

_TAG = re.compile(r"^([A-Z]{2}):[ \t]*(.*)$")
_RECORD = re.compile(r"^Record \d{1,7}(?: of \d{1,7})?\b")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_PUBLISHER = re.compile(r"^(?P<name>[^:]{1,200}):(?P<place>.{0,200}?)(?:, *(?P<year>\d{4}))?\.?$")
# Labels of volume, issue and pages.
_LABELLED = re.compile(r"\b(?:vol|no)\. ?\w", re.IGNORECASE)
_LABELS = {
    "volume": re.compile(r"\bvol\. ?([\w-]{1,20})", re.IGNORECASE),
    "issue": re.compile(r"\bno\. ?([\w-]{1,20})", re.IGNORECASE),
    "page": re.compile(r"\bpp?\. ?([\w-]{1,30})", re.IGNORECASE),
}
_LONGEST_SOURCE = 2_000
_EDITED = re.compile(r"\s*\(eds?\.?\)\s*$", re.IGNORECASE)
_HYPHENED = re.compile(r"^([^\s,]{2,80})-([A-Z]{1,4})$")
_IN = re.compile(r"[\"”]? in ", re.IGNORECASE)
_TYPES = (
    ("conference", "paper-conference"), ("journal", "article-journal"), ("monograph", "book"),
    ("book chapter", "chapter"), ("contribution", "chapter"), ("chapter", "chapter"),
    ("dissertation", "thesis"), ("book", "book"), ("report", "report"), ("patent", "patent"),
)  # fmt: skip
_OTHER = {"AN": "accession-number", "AF": "author-address", "CP": "country", "CC": "classification"}


def read_silver_platter(content: str | bytes) -> ImportResult:
    """Every record of an export; records begin with `Record 1 of 9` or after an empty line."""
    text, answer = open_text(content)
    for line, tags in _records(text):
        answer.add(_item(tags), line)
    return answer


def _records(text: str) -> Iterator[tuple[int, Tags]]:
    tags: Tags = {}
    start, is_numbered = 1, bool(re.search(r"(?m)^Record \d", text))
    is_over = False
    for field in tagged_fields(text, _TAG):
        is_next = is_over or (field.is_after_gap and not is_numbered and field.tag in tags)
        if tags and (is_next or (field.tag == "TI" and "TI" in tags)):
            yield start, tags
            tags = {}
        if not tags:
            start = field.line
        is_over = any(_RECORD.match(line) for _, line in field.more)
        field.more = [each for each in field.more if not _RECORD.match(each[1])]
        tags.setdefault(field.tag, []).append(field.joined(" "))
    if tags:
        yield start, tags


def _item(tags: Tags) -> CslItem:
    written = take_tag(tags, "RT") or take_tag(tags, "DT") or take_tag(tags, "PT")
    written = written.replace("-", " ").strip()
    kind = next((known for word, known in _TYPES if word in written.lower()), "document")
    item: CslItem = {"type": kind}
    title = take_tag(tags, "TI").strip()
    if kind == "chapter" and (found := _IN.search(title)):
        put(item, "container-title", title[found.end() :].strip(' "“”.'))
        title = title[: found.start()]
    put(item, "title", title.strip('"“”').removesuffix("."))
    people = take_tag(tags, "AU").strip()
    role = "editor" if _EDITED.search(people) else "author"
    names = _EDITED.sub("", people).replace(",-", ", ").split(";")
    put_people(item, role, [_name(name.replace(".-", ". ").strip()) for name in names])
    _put_source(take_tag(tags, "SO"), item)
    _put_publisher(take_tag(tags, "PB"), item)
    year = take_tag(tags, "PY")
    if year and "issued" not in item:
        item["issued"] = read_date(year)
    put(item, "abstract", take_tag(tags, "AB"))
    words = [*tags.pop("DE", ()), *tags.pop("ID", ())]
    put(
        item,
        "keyword",
        join_keywords(
            word.strip(" .-").replace("-", " ") for value in words for word in value.split(";")
        ),
    )
    put_language(item, take_tag(tags, "LA"))
    put_standard_numbers(item, *tags.pop("SN", ()), *tags.pop("IS", ()), *tags.pop("IB", ()))
    put_doi(item, take_tag(tags, "DO"))
    put_other(item, "type-of-work", written if kind == "document" else "")
    for tag in list(tags):
        value = "; ".join(each for each in tags.pop(tag) if each)
        put_other(item, _OTHER.get(tag, tag.lower()), value)
    return item


def _name(text: str) -> str:
    """`Van-Berg-JA`: hyphens stand for blanks, and the initials come last."""
    found = _HYPHENED.match(text)
    return f"{found.group(1).replace('-', ' ')}, {'. '.join(found.group(2))}." if found else text


def _put_source(text: str, item: CslItem) -> None:
    """`Journal-Name. Jan. 1986; 12(1): 10-20`."""
    head, semicolon, tail = text.strip().partition(";")
    years = _YEAR.findall(head)
    if label := _LABELLED.search(text[:_LONGEST_SOURCE]):
        _put_labelled_source(text[: label.start()], text[label.start() : _LONGEST_SOURCE], item)
        return
    if not semicolon or not years:
        put_other(item, "source", text)
        return
    put(item, "container-title", head.partition(".")[0].replace("-", " ").strip())
    item["issued"] = read_date(years[-1])
    volume, _, pages = tail.partition(":")
    volume, _, issue = volume.partition("(")
    put(item, "volume", volume.strip().removeprefix("vol.").strip())
    put(item, "issue", issue.rstrip(" )"))
    put(item, "page", pages.strip(" ."))


def _put_labelled_source(journal: str, text: str, item: CslItem) -> None:
    """`Journal of Foo, vol.12, no.3 ; March 1999 ; p.10-20`, in any order behind the journal."""
    put(item, "container-title", journal.replace("-", " ").strip(" .,;:"))
    for variable, label in _LABELS.items():
        if found := label.search(text):
            put(item, variable, found.group(1))
    if years := _YEAR.findall(text):
        item["issued"] = read_date(years[-1])


def _put_publisher(text: str, item: CslItem) -> None:
    found = _PUBLISHER.match(text.strip())
    if found is None:
        put(item, "publisher", text.strip())
        return
    put(item, "publisher", found.group("name").replace("-", " ").strip())
    put(item, "publisher-place", (found.group("place") or "").strip(" ,."))
    if found.group("year") and "issued" not in item:
        item["issued"] = read_date(found.group("year"))
