"""MARC 21 in XML, as library catalogues answer, to CSL-JSON items."""

import re

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult, read_xml
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    put,
    put_doi,
    put_edition,
    put_language,
    put_link,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.text.xml import XmlNode

_PAGES_TOTAL = re.compile(r"(\d+)\s*(?:Seiten|S\.|p\.|pages|pp|Bl)", re.IGNORECASE)
_ISBD_END = re.compile(r"\s*[/:;,=]\s*$")
_PAGES = re.compile(r"(?:pages?|Seiten?|S\.|pp?\.)[:\s]*(\d+(?:\s*[-–]\s*\d+)?)", re.IGNORECASE)
_VOLUME = re.compile(r"(?:volumes?|vol\.?|Band|Bd\.)[:\s]*([\w./-]+)", re.IGNORECASE)
_NUMBER = re.compile(r"(?:number|no\.?|Heft|H\.|issue)[:\s]*([\w./-]+)", re.IGNORECASE)
_ROLES = {
    "aut": "author", "edt": "editor", "hrsg": "editor", "trl": "translator", "ill": "illustrator",
    "ctb": "contributor", "cre": "author", "com": "compiler", "cmp": "composer", "drt": "director",
    "prf": "performer", "nrt": "narrator", "pro": "producer", "ivr": "interviewer",
    "ive": "author", "art": "author", "inv": "author", "prg": "author", "aus": "script-writer",
    "rcp": "recipient", "isb": "", "oth": "", "dgs": "", "pbl": "", "ths": "", "dgg": "",
}  # fmt: skip


def read_marc_xml(content: str | bytes) -> ImportResult:
    """Every MARC record, in whatever envelope it came."""
    answer = ImportResult()
    root = read_xml(content, answer)
    records = [
        record
        for record in ([root] if root.tag == "record" else root.deep("record"))
        if record.first("datafield") or record.first("leader")
    ]
    for record in records:
        answer.add(_item(record), record.line)
    return answer


class _Fields:
    """The data fields of one record by tag."""

    def __init__(self, record: XmlNode) -> None:
        self._by_tag: dict[str, list[dict[str, list[str]]]] = {}
        for field in record.each("datafield"):
            parts: dict[str, list[str]] = {"ind1": [field.get("ind1", " ")]}
            for part in field.each("subfield"):
                if part.all_text():
                    parts.setdefault(part.get("code", ""), []).append(part.all_text())
            self._by_tag.setdefault(field.get("tag", ""), []).append(parts)

    def each(self, *tags: str) -> list[dict[str, list[str]]]:
        return [field for tag in tags for field in self._by_tag.get(tag, ())]

    def text(self, tag: str, code: str) -> str:
        return next((_clean(field[code][0]) for field in self.each(tag) if field.get(code)), "")


def _clean(text: str) -> str:
    return _ISBD_END.sub("", " ".join(text.replace("\x98", "").replace("\x9c", "").split()))


def _item(record: XmlNode) -> CslItem:
    fields = _Fields(record)
    item: CslItem = {"type": _type(record, fields)}
    title, below = fields.text("245", "a"), fields.text("245", "b")
    put(item, "title", f"{title}: {below}" if title and below else title)
    put_other(item, "titleaddon", fields.text("245", "c"))
    _people(fields, item)
    _origin(fields, item)
    _host(fields, item)
    put_edition(item, fields.text("250", "a").rstrip("."))
    total = _PAGES_TOTAL.search(fields.text("300", "a"))
    put(item, "number-of-pages", total.group(1) if total else "")
    put(item, "collection-title", fields.text("490", "a") or fields.text("830", "a"))
    put(item, "collection-number", fields.text("490", "v") or fields.text("830", "v"))
    for field in fields.each("020"):
        put_standard_numbers(item, field.get("a", [""])[0].split(" ")[0])
    for field in fields.each("022"):
        put_standard_numbers(item, field.get("a", [""])[0])
    for field in fields.each("024"):
        if "doi" in field.get("2", []):
            put_doi(item, field.get("a", [""])[0])
    for field in fields.each("856"):
        for link in field.get("u", ()):
            put_link(item, link)
    put(item, "event-title", fields.text("111", "a") or fields.text("711", "a"))
    put(item, "event-place", fields.text("111", "c"))
    put(item, "abstract", fields.text("520", "a"))
    notes = [
        _clean(text)
        for field in fields.each("500", "501", "505", "546")
        for text in field.get("a", ())
    ]
    for note in notes:
        add_note(item, note)
    words = [
        _clean(text)
        for field in fields.each("650", "653", "648", "651")
        for text in field.get("a", ())
    ]
    put(item, "keyword", join_keywords(words))
    put_language(item, fields.text("041", "a"))
    return item


def _type(record: XmlNode, fields: _Fields) -> str:
    leader = record.at("leader")
    form = record.first("leader")
    leader = "".join(form.itertext()) if form else leader
    kind, level = (leader[6:7], leader[7:8]) if len(leader) > 7 else ("a", "m")
    genres = " ".join(text.lower() for field in fields.each("655") for text in field.get("a", ()))
    if fields.each("502") or "hochschulschrift" in genres:
        return "thesis"
    if "konferenzschrift" in genres or "conference" in genres:
        return "book" if level in "msc" else "paper-conference"
    if level in "ab":
        host = fields.each("773")
        is_journal = any("x" in field or "q" in field for field in host) or level == "b"
        return (
            "article-journal"
            if is_journal or not host
            else "article-journal"
            if not fields.text("773", "z")
            else "chapter"
        )
    if level in "si":
        return "periodical"
    if kind == "m" and fields.each("020"):
        return "book"
    return {
        "a": "book",
        "e": "map",
        "f": "map",
        "g": "motion_picture",
        "j": "song",
        "k": "graphic",
        "m": "software",
        "t": "manuscript",
    }.get(kind, "document")


def _people(fields: _Fields, item: CslItem) -> None:
    for field in fields.each("100", "700", "110", "710"):
        relators = [text.lower() for text in field.get("4", [])]
        role = next(
            (_ROLES[code] for code in relators if code in _ROLES), "" if relators else "author"
        )
        if not field.get("a"):
            continue
        name = _clean(field["a"][0])
        if not role:
            # Supervisors, publishers, owners: no names that are cited.
            put_other(item, "-".join(["relator", *relators[:1]]), name)
            continue
        is_body = field in fields.each("110", "710")
        put_people(item, role, [f"{name}," if is_body else name])


def _origin(fields: _Fields, item: CslItem) -> None:
    for tag in ("264", "260"):
        put(item, "publisher-place", fields.text(tag, "a"))
        put(item, "publisher", fields.text(tag, "b"))
        year = fields.text(tag, "c").strip("[].")
        if year and "issued" not in item:
            item["issued"] = read_date(year)
    school = fields.text("502", "c")
    if school and "publisher" in item:
        put_other(item, "publisher", item["publisher"])
        item["publisher"] = school
    put(item, "publisher", school)
    degree = fields.text("502", "b")
    if item["type"] == "thesis":
        put(
            item,
            "genre",
            "PhD thesis"
            if degree.lower() in {"dissertation", "diss.", "ph. d.", "phd", ""}
            else degree,
        )


def _host(fields: _Fields, item: CslItem) -> None:
    for field in fields.each("773"):
        put(item, "container-title", _clean(field.get("t", [""])[0]))
        for number in field.get("x", ()):
            put_standard_numbers(item, number)
        for text in field.get("g", ()):
            for variable, shape in (("page", _PAGES), ("volume", _VOLUME), ("issue", _NUMBER)):
                found = shape.search(text)
                if found:
                    put(item, variable, re.sub(r"\s*[-–]\s*", "-", found.group(1)))
    put(item, "page", fields.text("941", "s") if item["type"].startswith("article") else "")
