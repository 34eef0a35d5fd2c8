"""CSL items as they are filled in from a foreign record."""

import re
from collections.abc import Iterable

from carrel.libraries.bibliography.bibtex.names import read_name
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.csl.name_lists import mark_et_al, without_et_al
from carrel.libraries.identifiers import Doi, Isbn, NotAnIdentifierError

_ISSN = re.compile(r"\b\d{4}-?\d{3}[\dXx]\b")
_ISBN = re.compile(r"(?<![\d-])(?:97[89][-\s]?)?(?:\d[-\s]?){9}[\dXx](?![\d-])")
_RANGE = re.compile(r"^([A-Za-z]*)(\d+)\s*[-–]+\s*([A-Za-z]*)(\d+)$")
_DOI_WITHIN = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")


def put(item: CslItem, variable: str, value: str) -> None:
    """Sets a variable to a text; what is empty or set already is left."""
    if value and variable not in item:
        item[variable] = value


def put_other(item: CslItem, name: str, value: str) -> None:
    """Keeps what CSL has no variable for, under the name it had."""
    if not value:
        return
    others = item.setdefault("custom", {}).setdefault("fields", {})
    if name in others and others[name] != value:
        others[name] = f"{others[name]}; {value}"
    else:
        others[name] = value


def put_people(item: CslItem, role: str, names: Iterable[str]) -> None:
    texts, has_more = without_et_al(names)
    people = [person for person in (read_person(name) for name in texts) if person]
    if people:
        item[role] = item.get(role, []) + people
    if has_more:
        mark_et_al(item, role)


def read_person(text: str) -> dict[str, str]:
    """`Family, Given`, `Given Family`, or an institution, which EndNote's family of formats ends
    with a comma.
    """
    text = " ".join(text.split())
    if text.endswith(","):
        return {"literal": text[:-1].strip()} if text[:-1].strip() else {}
    return read_name(text)


def put_link(item: CslItem, url: str) -> None:
    """The first link is the item's, others stand beside it."""
    put_links(item, [url])


def put_links(item: CslItem, urls: Iterable[str]) -> None:
    """The first link is the item's, others stand beside it, each once."""
    wanted = [url for url in urls if url]
    if wanted and "URL" not in item:
        item["URL"] = wanted[0]
    others = [url for url in wanted if url != item["URL"]]
    if others:
        custom = item.setdefault("custom", {})
        custom["additional_urls"] = list(
            dict.fromkeys([*custom.get("additional_urls", ()), *others])
        )


def put_doi(item: CslItem, text: str) -> None:
    """A DOI in any dress; a text that holds none is kept apart."""
    if not text:
        return
    found = _DOI_WITHIN.search(text)
    for candidate in (text, found.group()) if found else (text,):
        try:
            put(item, "DOI", str(Doi.parse(candidate)))
        except NotAnIdentifierError:
            continue
        return
    put_other(item, "doi", text)


def put_standard_numbers(item: CslItem, *texts: str) -> None:
    """ISSN and ISBN share a field in many formats; their shape tells them apart."""
    found: dict[str, dict[str, None]] = {
        variable: dict.fromkeys(part for part in item.get(variable, "").split(", ") if part)
        for variable in ("ISBN", "ISSN")
    }
    for text in texts:
        isbns, rest = _without_isbns(text)
        issns = _ISSN.findall(rest)
        found["ISBN"].update(dict.fromkeys(isbns))
        found["ISSN"].update(dict.fromkeys(issns))
        if text and not isbns and not issns:
            other = found["ISBN" if item.get("type") in {"book", "chapter"} else "ISSN"]
            if not other:
                other[text.strip()] = None
    for variable, numbers in found.items():
        if numbers:
            item[variable] = ", ".join(numbers)


def _without_isbns(text: str) -> tuple[list[str], str]:
    """The valid ISBNs of a text, and the text around them."""
    isbns: list[str] = []
    rest: list[str] = []
    end = 0
    for found in _ISBN.finditer(text):
        try:
            Isbn.parse(found.group())
        except NotAnIdentifierError:
            continue
        isbns.append(found.group().strip())
        rest.append(text[end : found.start()])
        end = found.end()
    return isbns, " ".join([*rest, text[end:]])


def full_range(pages: str) -> str:
    """228-42 is 228-242; anything else stays."""
    found = _RANGE.match(pages.strip())
    if not found:
        return pages.strip()
    letters, first, other_letters, last = found.groups()
    if len(last) < len(first) and not other_letters:
        last = first[: len(first) - len(last)] + last
    return f"{letters}{first}-{other_letters or letters}{last}"


def page_range(start: str, end: str) -> str:
    start, end = start.strip(), end.strip()
    if start and end and start != end and "-" not in start:
        return f"{start}-{end}"
    return start or end


def join_keywords(words: Iterable[str]) -> str:
    seen: dict[str, None] = {}
    for word in words:
        if word.strip():
            seen.setdefault(" ".join(word.split()))
    return "; ".join(seen)


def add_note(item: CslItem, text: str) -> None:
    if text:
        item["note"] = f"{item['note']}\n{text}" if item.get("note") else text
