"""CSL-JSON items to RIS."""

from collections.abc import Iterator
from typing import Any

from carrel.libraries.bibliography.dates import export_date
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.lossless import lossless_difference
from carrel.libraries.bibliography.ris import (
    ARTICLES,
    LOSSLESS_PREFIX,
    PARTS,
    TYPES_WRITTEN,
    read_ris,
)
from carrel.libraries.csl.name_lists import et_al_variables, names_of
from carrel.libraries.text.budget import until_cancelled

_PEOPLE = {"author": "AU", "editor": "ED", "collection-editor": "A3", "translator": "A4"}
_TEXTS = {
    "collection-title": "T3", "title-short": "ST", "volume": "VL", "publisher": "PB",
    "publisher-place": "CY", "edition": "ET", "language": "LA", "archive": "DB", "source": "DP",
    "call-number": "CN", "number-of-volumes": "NV", "section": "SE", "reviewed-title": "RI",
    "original-title": "OP", "archive_location": "AV", "genre": "M3", "DOI": "DO", "ISBN": "SN",
    "ISSN": "SN", "URL": "UR", "abstract": "AB", "container-title-short": "J2",
}  # fmt: skip

# Names that CSL-JSON has for variables besides their own.
_ALIASES = {"journalAbbreviation": "container-title-short", "shortTitle": "title-short"}


def write_ris(items: list[CslItem], *, lossless: bool = False) -> str:
    """One reference for each item, with the tags that other programs know.

    A lossless file has a note `carrel-csl:` for what RIS cannot express; it reads back exactly.
    """
    reference = _lossless_reference if lossless else _reference
    return "\r\n".join(reference(item) for item in until_cancelled(items))


def _reference(item: CslItem) -> str:
    return "\r\n".join([*(f"{tag}  - {value}" for tag, value in _tags(item)), "ER  - ", ""])


def _lossless_reference(item: CslItem) -> str:
    lines = [f"{tag}  - {value}" for tag, value in _tags(item)]
    text = "\r\n".join([*lines, "ER  - ", ""])
    understood = read_ris(text).items
    kept = lossless_difference(item, understood[0].item if understood else {})
    if kept:
        text = "\r\n".join([*lines, f"N1  - {LOSSLESS_PREFIX}{kept}", "ER  - ", ""])
    return text


def _tags(item: CslItem) -> Iterator[tuple[str, str]]:
    kind = str(item.get("type", ""))
    yield "TY", TYPES_WRITTEN.get(kind, "GEN")
    for tag, value in _values(item, kind):
        text = " ".join(value.split())
        if text:
            yield tag, text


def _values(item: CslItem, kind: str) -> Iterator[tuple[str, str]]:
    et_al = et_al_variables(item)
    item = {variable: item[alias] for alias, variable in _ALIASES.items() if alias in item} | item
    yield "ID", _text(item.get("id"))
    yield "TI", _text(item.get("title"))
    for variable, tag in _PEOPLE.items():
        people = item.get(variable)
        for person in names_of(people):
            yield tag, _name(person)
        if variable in et_al:
            # As EndNote's manual asks: with a comma, so that it is taken for one name.
            yield tag, "et al.,"
    yield (
        ("JF" if kind in ARTICLES and kind not in PARTS else "T2" if kind in PARTS else "JF"),
        _text(item.get("container-title")),
    )
    yield from _dates(item)
    start, _, end = _text(item.get("page")).partition("-")
    if start and end and "-" not in end and start != end:
        yield "SP", start
        yield "EP", end
    else:
        yield "SP", _text(item.get("page"))
    if kind in {"book", "thesis"}:
        yield "SP", _text(item.get("number-of-pages"))
    if kind in ARTICLES or kind in PARTS:
        yield "IS", _text(item.get("issue"))
        # The number of an article: M1 would be read as the issue where there is none.
        is_alone = kind in ARTICLES and not item.get("issue")
        yield (
            "C7" if is_alone else "M1",
            (_text(item.get("number")) if is_alone or item.get("issue") else ""),
        )
    else:
        yield "IS", _text(item.get("number"))
    for variable, tag in _TEXTS.items():
        yield tag, _text(item.get(variable))
    for word in _text(item.get("keyword")).split(";"):
        yield "KW", word
    pmid, pmcid = _text(item.get("PMID")), _text(item.get("PMCID"))
    yield "U1", f"{pmid}[pmid]" if pmid and " " not in pmid else ""
    yield "U2", f"{pmcid}[pmcid]" if pmcid and " " not in pmcid else ""
    custom = item.get("custom")
    if isinstance(custom, dict) and isinstance(custom.get("additional_urls"), list):
        for link in custom["additional_urls"]:
            yield "UR", _text(link)
    for line in _text(item.get("note")).split("\n"):
        yield "N1", line


def _dates(item: CslItem) -> Iterator[tuple[str, str]]:
    for variable, tag in (("issued", "DA"), ("accessed", "Y2")):
        date = export_date(item.get(variable))
        points = date.get("date-parts")
        parts = (
            points[0] if isinstance(points, list) and points and isinstance(points[0], list) else []
        )
        if parts and all(isinstance(part, int) for part in parts):
            if variable == "issued":
                yield "PY", f"{parts[0]:04d}"
            yield (
                tag,
                "/".join(
                    [
                        f"{parts[0]:04d}",
                        *(f"{part:02d}" for part in parts[1:3]),
                        *([""] * (3 - len(parts[:3]))),
                    ]
                )
                + "/",
            )
        else:
            yield (
                "PY" if variable == "issued" else tag,
                _text(date.get("literal") or date.get("raw")),
            )


def _text(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else str(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        else ""
    )


def _name(person: dict[str, Any]) -> str:
    literal = _text(person.get("literal"))
    if literal:
        return f"{literal},"
    particles = [_text(person.get(part)) for part in ("dropping-particle", "non-dropping-particle")]
    family = " ".join(part for part in (*particles, _text(person.get("family"))) if part)
    suffix, given = _text(person.get("suffix")), _text(person.get("given"))
    if given or suffix:
        return ", ".join([family, *([suffix] if suffix else []), *([given] if given else [])])
    # A comma at the end keeps a name of several words whole.
    return f"{family}," if " " in family else family
