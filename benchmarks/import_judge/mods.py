"""The MODS that bibutils writes as CSL-like records: what the judge compares, no more."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

_SPACE = "{http://www.loc.gov/mods/v3}"


def read_mods(text: str) -> dict[str, dict[str, Any]]:
    root = ET.fromstring(text.lstrip("\ufeff"))
    found = {}
    for record in root.iter(f"{_SPACE}mods"):
        item = _item(record)
        found[item["id"]] = item
    return found


def _item(record: ET.Element) -> dict[str, Any]:
    host = record.find(f"{_SPACE}relatedItem[@type='host']")
    series = None if host is None else host.find(f"{_SPACE}relatedItem[@type='host']")
    item: dict[str, Any] = {"id": record.get("ID", "")}
    item["title"] = _title(record)
    item["container-title"] = _title(host)
    item["collection-title"] = _title(series)
    if item["container-title"] and not series and record.find(f"{_SPACE}originInfo/*") is not None:
        issuance = record.findtext(f"{_SPACE}originInfo/{_SPACE}issuance")
        if issuance == "monographic":
            item["collection-title"] = item.pop("container-title")
    for name in record.iter(f"{_SPACE}name"):
        role = name.findtext(f"{_SPACE}role/{_SPACE}roleTerm", "author")
        item.setdefault(role, []).append(_person(name))
    for place in (record, host):
        if place is None:
            continue
        origin = place.find(f"{_SPACE}originInfo")
        if origin is not None:
            _put(item, "publisher", origin.findtext(f"{_SPACE}publisher"))
            _put(item, "publisher-place", origin.findtext(f"{_SPACE}place/{_SPACE}placeTerm"))
            _put(item, "edition", origin.findtext(f"{_SPACE}edition"))
        for detail in place.findall(f"{_SPACE}part/{_SPACE}detail"):
            _put(item, detail.get("type", ""), detail.findtext(f"{_SPACE}number"))
        extent = place.find(f"{_SPACE}part/{_SPACE}extent[@unit='page']")
        if extent is not None:
            ends = [extent.findtext(f"{_SPACE}{end}") for end in ("start", "end")]
            _put(item, "page", "-".join(end for end in ends if end))
        for number in place.findall(f"{_SPACE}identifier"):
            kind = number.get("type", "").upper()
            if kind in {"DOI", "ISBN", "ISSN"}:
                _put(item, kind, number.text)
    _put(item, "abstract", record.findtext(f"{_SPACE}abstract"))
    _put(item, "note", record.findtext(f"{_SPACE}note"))
    _put(item, "URL", record.findtext(f"{_SPACE}location/{_SPACE}url"))
    topics = [topic.text or "" for topic in record.iter(f"{_SPACE}topic")]
    _put(item, "keyword", "; ".join(topics))
    return {name: value for name, value in item.items() if value}


def _put(item: dict[str, Any], name: str, value: str | None) -> None:
    if value:
        item.setdefault(name, value)


def _title(record: ET.Element | None) -> str:
    if record is None:
        return ""
    title = record.find(f"{_SPACE}titleInfo")
    if title is None:
        return ""
    parts = [title.findtext(f"{_SPACE}{name}", "") for name in ("nonSort", "title")]
    main = " ".join(part for part in parts if part)
    below = title.findtext(f"{_SPACE}subTitle", "")
    return f"{main}: {below}" if below else main


def _person(name: ET.Element) -> dict[str, str]:
    if name.get("type") != "personal":
        return {"literal": name.findtext(f"{_SPACE}namePart", "")}
    parts: dict[str, list[str]] = {}
    for part in name.findall(f"{_SPACE}namePart"):
        parts.setdefault(part.get("type", "family"), []).append(part.text or "")
    names = {"family": "family", "given": "given", "suffix": "suffix"}
    return {names[kind]: " ".join(texts) for kind, texts in parts.items() if kind in names}
