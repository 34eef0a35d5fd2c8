"""PICA+ in XML, as the catalogues of GBV and K10plus answer, to CSL-JSON items."""

import re

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem, ImportResult, read_xml
from carrel.libraries.bibliography.items import (
    add_note,
    join_keywords,
    page_range,
    put,
    put_doi,
    put_edition,
    put_language,
    put_link,
    put_other,
    put_people,
    put_standard_numbers,
)
from carrel.libraries.bibliography.marc_roles import read_role
from carrel.libraries.text.xml import XmlNode

_PAGES_TOTAL = re.compile(r"(\d+)\s*(?:Seiten|S\.|p\.|pages|pp)", re.IGNORECASE)
_KINDS = {
    "A": "book", "B": "motion_picture", "G": "song", "H": "manuscript", "I": "graphic",
    "K": "map", "M": "musical_score", "O": "book", "S": "software", "V": "graphic",
}  # fmt: skip

Field = dict[str, list[str]]


def read_pica_xml(content: str | bytes) -> ImportResult:
    """Every PICA record, in whatever envelope it came."""
    answer = ImportResult()
    root = read_xml(content, answer)
    for record in [root] if root.tag == "record" else root.deep("record"):
        fields = _fields(record)
        if fields:
            answer.add(_item(fields), record.line)
    return answer


def _fields(record: XmlNode) -> dict[str, list[Field]]:
    fields: dict[str, list[Field]] = {}
    for node in record.each("datafield"):
        parts: Field = {}
        for part in node.each("subfield"):
            if text := " ".join(part.all_text().split()):
                parts.setdefault(part.get("code", ""), []).append(text)
        fields.setdefault(node.get("tag", ""), []).append(parts)
    return fields


def _text(fields: dict[str, list[Field]], tag: str, *codes: str) -> str:
    return next(
        (part[code][0] for code in codes for part in fields.get(tag, ()) if part.get(code)), ""
    )


def _item(fields: dict[str, list[Field]]) -> CslItem:
    item: CslItem = {"type": _type(fields)}
    title, below = _text(fields, "021A", "a").replace("@", ""), _text(fields, "021A", "d")
    put(item, "title", f"{title}: {below}" if title and below else title)
    _people(fields, item)
    put(item, "publisher", _text(fields, "033A", "n"))
    put(item, "publisher-place", _text(fields, "033A", "p"))
    if year := _text(fields, "011@", "n", "a") or _text(fields, "031A", "j"):
        item["issued"] = read_date(year.strip("[]"))
    school = _text(fields, "037C", "e", "c", "b")
    if item["type"] == "thesis":
        put(item, "publisher", school)
        put(item, "genre", _text(fields, "037C", "d"))
        add_note(item, _text(fields, "037C", "a"))
    put_edition(item, _text(fields, "032@", "a"))
    total = _PAGES_TOTAL.search(_text(fields, "034D", "a"))
    put(item, "number-of-pages", total.group(1) if total else "")
    put(item, "collection-title", _text(fields, "036E", "a").replace("@", ""))
    put(item, "collection-number", _text(fields, "036E", "l"))
    put(item, "container-title", _text(fields, "039B", "t", "a").replace("@", ""))
    put(item, "volume", _text(fields, "031A", "d"))
    put(item, "issue", _text(fields, "031A", "e"))
    start, _, end = _text(fields, "031A", "h").partition("-")
    put(item, "page", page_range(start, end))
    for tag, codes in (("004A", "0A"), ("005A", "0"), ("039B", "I")):
        for part in fields.get(tag, ()):
            if part.get("C", [""])[0] in {"ISSN", "ISBN"}:
                put_standard_numbers(item, *part.get("6", ()))
            for number in [each for code in codes for each in part.get(code, ())][:1]:
                put_standard_numbers(item, number)
    put_doi(item, _text(fields, "004V", "0"))
    for tag in ("009Q", "017C"):
        for part in fields.get(tag, ()):
            put_link(item, next(iter(part.get("u") or part.get("a") or [""]), ""))
    put_language(item, _text(fields, "010@", "a"))
    put(item, "abstract", _text(fields, "047I", "a"))
    for part in [*fields.get("037A", ()), *fields.get("046L", ())]:
        for note in part.get("a", ()):
            add_note(item, note)
    words = [
        word
        for tag, parts in fields.items()
        if tag.startswith(("041A", "044", "5550"))
        for part in parts
        for word in part.get("a", ())
    ]
    put(item, "keyword", join_keywords(words))
    put_other(item, "ppn", _text(fields, "003@", "0"))
    return item


def _type(fields: dict[str, list[Field]]) -> str:
    code = _text(fields, "002@", "0")
    if fields.get("037C"):
        return "thesis"
    if code[1:2] in {"s", "o"}:
        return "chapter" if _text(fields, "004A", "0", "A") else "article-journal"
    if code[1:2] in {"b", "d"}:
        return "periodical"
    return _KINDS.get(code[:1], "document")


def _people(fields: dict[str, list[Field]], item: CslItem) -> None:
    for tag in ("028A", "028B", "028C", "028D", "028G", "029A", "029F"):
        for part in fields.get(tag, ()):
            family, given = (part.get(code, [""])[0] for code in ("a", "d"))
            name = f"{family}, {given}" if family and given else family or part.get("P", [""])[0]
            if tag.startswith("029"):
                name = f"{name}," if name else ""
            role, written = read_role(part.get("4", []), part.get("B", []))
            if not written:
                role = "author" if tag in {"028A", "028B", "029A"} else "contributor"
            if role:
                put_people(item, role, [name])
            else:
                put_other(item, f"relator-{written}", name.rstrip(","))
