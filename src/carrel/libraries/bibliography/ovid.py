"""Ovid's labelled export (`<1>`, a label, its value indented below) to CSL-JSON items."""

import re
from collections.abc import Iterator

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult, open_text
from carrel.libraries.bibliography.items import (
    join_keywords,
    put,
    put_doi,
    put_language,
    put_link,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.text.budget import current_budget

_RECORD = re.compile(r"^<\d{1,7}>\s*(?:$|\.)")
_TRANSLATED = re.compile(r"\s*\[[^\[\]]{1,500}\]\s*$")
_EDITOR = re.compile(r"\s*[(\[]Eds?\.?[)\]]\.?", re.IGNORECASE)
_IN_JOURNAL = re.compile(
    r"^(?P<journal>[^.]{1,300}(?:\.(?! +(?:Vol\.? )?\d)[^.]{0,200}){0,4})\. +(?:Vol\.? *)?"
    r"(?P<volume>[\w-]{1,20})(?: ?\((?P<issue>[^()]{1,40})\))?"
    r"(?:[:,] ?(?P<page>[A-Za-z]?\d[\w-]{0,30}))?(?P<rest>.{0,200})$",
    re.DOTALL,
)
_IN_BOOK = re.compile(
    r"^(?:In:? )?(?P<editor>.{1,300}?)\((?P<year>\d{4})\)\.\s+(?P<book>[^.]{1,300})\.\s+"
    r"\(pp\.? (?P<page>[\d-]{1,20})\)\.(?P<rest>.{0,400})$",
    re.DOTALL,
)
_BOOK = re.compile(r"^\((?P<year>\d{4})\)\.(?P<rest>.{0,400})$", re.DOTALL)
_PUBLISHED = re.compile(
    r"pp\. (?P<place>[\w, ]{1,100}): (?P<publisher>[\w,&. ]{1,100}?)(?:; \w{2,3})?\.?\s*$"
)
_PAGES_OF_BOOK = re.compile(r"(?<!\d)(\d{1,5}) pp\.")
_PAGE_AFTER_YEAR = re.compile(r",\s*(?:pp?\.? ?)?([A-Z]?\d{1,6}(?:-[A-Z]?\d{1,6})?)\.?\s*$")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_DATE = re.compile(
    r"(?:(?P<first>\d{1,2} )?(?P<month>[A-Z][a-z]{2,8})\.?(?: (?P<day>\d{1,2}),?)? )"
    r"(?P<year>\d{4})|(?P<year2>\d{4})(?: (?P<month2>[A-Z][a-z]{2,8}))?(?: (?P<day2>\d{1,2}))?"
)
_ADDRESSES = re.compile(r"\(\d{1,3}\)|\s\d{1,2}(?=\s*[,;.]|\s*$)")
_LONGEST_SOURCE = 2_000
_TEXTS = {
    "Abstract": "abstract", "Publisher": "publisher", "PMID": "PMID", "Volume": "volume",
    "Issue/Part": "issue", "Issue": "issue", "Place of Publication": "publisher-place",
}  # fmt: skip


def read_ovid(content: str | bytes) -> ImportResult:
    """Every record of an export."""
    text, answer = open_text(content)
    for line, fields in _records(text):
        answer.add(_item(fields), line)
    return answer


def _records(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    budget = current_budget()
    fields: dict[str, list[str]] = {}
    start, name = 0, ""
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        budget.step()
        if _RECORD.match(line):
            if start:
                yield start, _joined(fields)
            fields, start, name = {}, number, ""
        elif start and line[:1] not in {"", " ", "\t"}:
            name = line.strip().rstrip(":")
            fields.setdefault(name, [])
        elif name and line.strip():
            fields[name].append(line.strip())
    if start:
        yield start, _joined(fields)


def _joined(fields: dict[str, list[str]]) -> dict[str, str]:
    return {name: "\n".join(lines) for name, lines in fields.items() if lines}


def _item(fields: dict[str, str]) -> CslItem:
    item: CslItem = {"type": _type(fields)}
    title = _line(fields, "Chapter Title") if item["type"] == "chapter" else ""
    whole = _TRANSLATED.sub("", _line(fields, "Title", "Original Title")).removesuffix(".")
    put(item, "title", title or whole)
    people = _line(fields, "Author", "Authors", "Author(s)", "Authors Full Name", "Author/Editor")
    role = "editor" if _EDITOR.search(people) else "author"
    put_people(item, role, _names(_EDITOR.sub("", people)))
    _source(_line(fields, "Source", "Citation", "Publication Source"), item)
    if title:
        put(item, "container-title", whole)
    for name, variable in _TEXTS.items():
        put(item, variable, _line(fields, name).removesuffix("."))
    year = _line(fields, "Year of Publication", "Publication Year", "Year", "Date of Publication")
    if year and "issued" not in item:
        item["issued"] = read_date(year.removesuffix("."))
    put_language(item, _line(fields, "Language").removesuffix("."))
    put_doi(item, _line(fields, "DOI Number", "DOI", "Digital Object Identifier"))
    numbers = [name for name in fields if name.startswith(("ISSN", "ISBN"))]
    put_standard_numbers(item, *filter(None, (_line(fields, name) for name in numbers)))
    put_link(item, _line(fields, "URL", "Link to the Ovid Full Text or citation"))
    words = " ; ".join(
        fields.pop(name, "")
        for name in (
            "Author Keywords",
            "Keywords",
            "Key Words",
            "Subject Headings",
            "MeSH Subject Headings",
        )
    )
    words = words.replace("\n", " ; " if ";" not in words.replace(" ; ", "") else " ")
    put(item, "keyword", join_keywords(word.strip(" .") for word in words.split(";")))
    for name, value in fields.items():
        put_other(item, name.lower().replace(" ", "-"), " ".join(value.split()))
    return item


def _line(fields: dict[str, str], *names: str) -> str:
    """The value of the first of these labels that there is."""
    for name in names:
        if name in fields:
            value = fields.pop(name)
            return value if name.startswith("Author") else " ".join(value.split())
    return ""


def _type(fields: dict[str, str]) -> str:
    kind = fields.pop("Publication Type", "").lower()
    if "chapter" in kind or ("book" in kind and "Chapter Title" in fields):
        return "chapter"
    for word, known in (
        ("book", "book"),
        ("conference paper", "paper-conference"),
        ("dissertation", "thesis"),
        ("journal", "article-journal"),
    ):
        if word in kind:
            return known
    return "article-journal" if not kind or "article" in kind else "document"


def _names(text: str) -> list[str]:
    """Names parted by `;`, by lines, by two blanks, or each ended by a full stop."""
    text = _ADDRESSES.sub("", text).strip()
    if ";" in text:
        names = text.replace("\n", " ").split(";")
    elif "\n" in text:
        names = text.split("\n")
    elif "  " in text:
        names = re.split(r" {2,}", text)
    else:
        names = [text]
    return [_family_first(name.strip(" ,")) for name in names if name.strip(" ,.")]


def _family_first(name: str) -> str:
    """`Smith JM.` is Smith, J. M."""
    words = name.split()
    initials = words[-1].rstrip(".") if words else ""
    if "," in name and len(initials) > 3:
        # The stop ends the name in the list, and shortens none.
        return name.removesuffix(".")
    if "," in name or len(words) < 2 or not (initials.isupper() and len(initials) <= 3):
        return name
    return f"{' '.join(words[:-1])}, {' '.join(f'{letter}.' for letter in initials)}"


def _source(text: str, item: CslItem) -> None:
    text = text.removeprefix("Source ").strip()[:_LONGEST_SOURCE]
    if not text:
        return
    in_book, book = _IN_BOOK.match(text), _BOOK.match(text)
    if found := in_book or book:
        item["issued"] = read_date(found.group("year"))
        if in_book:
            item["type"] = "chapter" if item["type"] == "book" else item["type"]
            put_people(item, "editor", _names(_EDITOR.sub("", in_book.group("editor"))))
            put(item, "container-title", in_book.group("book").strip())
            put(item, "page", in_book.group("page"))
        elif pages := _PAGES_OF_BOOK.search(found.group("rest")):
            put(item, "number-of-pages", pages.group(1))
        if published := _PUBLISHED.search(found.group("rest")):
            put(item, "publisher-place", published.group("place").strip())
            put(item, "publisher", published.group("publisher").strip())
        return
    journal = _IN_JOURNAL.match(text)
    if journal is None:
        put_other(item, "source", text)
        return
    put(item, "container-title", journal.group("journal").strip())
    put(item, "volume", journal.group("volume"))
    put(item, "issue", journal.group("issue") or "")
    rest = journal.group("rest")
    put(item, "page", (journal.group("page") or "").rstrip("-"))
    page = _PAGE_AFTER_YEAR.search(rest)
    if page and not _YEAR.fullmatch(page.group(1)):
        put(item, "page", page.group(1))
    if date := _DATE.search(rest):
        parts = date.groupdict()
        year, month = parts["year"] or parts["year2"], parts["month"] or parts["month2"] or ""
        day = parts["first"] or parts["day"] or parts["day2"] or ""
        read = read_date(" ".join(part.strip() for part in (day, month, year) if part))
        item["issued"] = read if "date-parts" in read else read_date(year)
