"""MARC 21 records, from XML or from ISO 2709, as one structure."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from carrel.libraries.bibliography.imports import ImportResult, read_xml
from carrel.libraries.text.budget import current_budget
from carrel.libraries.text.xml import XmlNode

_ISBD_END = re.compile(r"\s*[/:;,=]\s*$")
_NON_SORTING = dict.fromkeys(map(ord, "\x88\x89\x98\x9c"))
_LEADER_LENGTH = 24
_DIRECTORY_ENTRY = 12
_RECORD_END, _FIELD_END, _SUBFIELD = b"\x1d", b"\x1e", b"\x1f"
# The Latin part of MARC-8: its letters, and its accents, which stand before their letter.
_ANSEL_LETTERS = dict(
    zip(
        bytes.fromhex("a1a2a3a4a5a6a7a8a9aaabacadaeb0b1b2b3b4b5b6b7b8b9babcbdc0c1c2c3c4c5c6c7c8"),
        "ŁØĐÞÆŒʹ·♭®±ƠƯʼʻłøđþæœʺı£ðơư°ℓ℗©♯¿¡ß€",
        strict=True,
    )
)
_ANSEL_ACCENTS = {
    0xE0: "\u0309", 0xE1: "\u0300", 0xE2: "\u0301", 0xE3: "\u0302", 0xE4: "\u0303",
    0xE5: "\u0304", 0xE6: "\u0306", 0xE7: "\u0307", 0xE8: "\u0308", 0xE9: "\u030c",
    0xEA: "\u030a", 0xEB: "\ufe20", 0xEC: "\ufe21", 0xED: "\u0315", 0xEE: "\u030b",
    0xEF: "\u0310", 0xF0: "\u0327", 0xF1: "\u0328", 0xF2: "\u0323", 0xF3: "\u0324",
    0xF4: "\u0325", 0xF5: "\u0333", 0xF6: "\u0332", 0xF7: "\u0326", 0xF8: "\u031c",
    0xF9: "\u032e", 0xFA: "\ufe22", 0xFB: "\ufe23", 0xFE: "\u0313",
}  # fmt: skip


def clean_text(text: str) -> str:
    """A value without non-sorting marks and the punctuation that cataloguers end it with."""
    return _ISBD_END.sub("", " ".join(text.translate(_NON_SORTING).split()))


@dataclass(slots=True)
class MarcField:
    """A data field; its subfields by code, each in order."""

    tag: str
    first: str = " "
    second: str = " "
    subfields: dict[str, list[str]] = field(default_factory=dict)

    def add(self, code: str, text: str) -> None:
        if text.strip():
            self.subfields.setdefault(code, []).append(text)

    def all(self, codes: str) -> list[str]:
        """Every cleaned value of these codes, code by code."""
        values = (clean_text(text) for code in codes for text in self.subfields.get(code, ()))
        return [value for value in values if value]

    def text(self, codes: str) -> str:
        """The first cleaned value of these codes."""
        return next(iter(self.all(codes)), "")


@dataclass(slots=True)
class MarcRecord:
    """One record: leader, control fields by tag, data fields by tag."""

    line: int
    leader: str = ""
    control: dict[str, str] = field(default_factory=dict)
    fields: dict[str, list[MarcField]] = field(default_factory=dict)

    def add(self, data: MarcField) -> None:
        self.fields.setdefault(data.tag, []).append(data)

    def each(self, *tags: str) -> list[MarcField]:
        return [data for tag in tags for data in self.fields.get(tag, ())]

    def text(self, tag: str, codes: str) -> str:
        return next((text for data in self.each(tag) if (text := data.text(codes))), "")


def xml_records(content: str | bytes, answer: ImportResult) -> Iterator[MarcRecord]:
    """Every record of MARCXML, in whatever envelope it came."""
    root = read_xml(content, answer)
    for node in [root] if root.tag == "record" else root.deep("record"):
        if node.first("datafield") or node.first("leader"):
            yield _xml_record(node)


def _xml_record(node: XmlNode) -> MarcRecord:
    leader = node.first("leader")
    record = MarcRecord(node.line, "".join(leader.itertext()) if leader else "")
    for control in node.each("controlfield"):
        record.control[control.get("tag", "")] = "".join(control.itertext())
    for data in node.each("datafield"):
        found = MarcField(data.get("tag", ""), data.get("ind1", " "), data.get("ind2", " "))
        for part in data.each("subfield"):
            found.add(part.get("code", ""), part.all_text())
        record.add(found)
    return record


def binary_records(content: str | bytes, answer: ImportResult) -> Iterator[MarcRecord]:
    """Every record of ISO 2709. Fields are told by their end marks: lengths are often wrong."""
    raw = content.encode("utf-8") if isinstance(content, str) else content
    is_text = isinstance(content, str)
    for number, piece in enumerate(raw.split(_RECORD_END), start=1):
        current_budget().step(1 + len(piece) // 100)
        part = piece.lstrip(b" \r\n\t\x00\xef\xbb\xbf")
        if not part:
            continue
        record = _binary_record(part, number, is_unicode=is_text or part[9:10] == b"a")
        if record is None:
            answer.fail(number, f"Record {number} has no directory that can be read")
        else:
            yield record


def _binary_record(part: bytes, number: int, *, is_unicode: bool) -> MarcRecord | None:
    head, *values = part.split(_FIELD_END)
    directory = head[_LEADER_LENGTH:].decode("ascii", errors="replace")
    tags = [
        directory[place : place + 3]
        for place in range(0, len(directory) - _DIRECTORY_ENTRY + 1, _DIRECTORY_ENTRY)
    ]
    if not tags:
        return None
    record = MarcRecord(number, head[:_LEADER_LENGTH].decode("ascii", errors="replace"))
    for tag, value in zip(tags, values, strict=False):
        pieces = value.split(_SUBFIELD)
        indicators = _decode(pieces[0], is_unicode)
        if tag.startswith("00"):
            record.control[tag] = indicators
            continue
        data = MarcField(tag, indicators[:1] or " ", indicators[1:2] or " ")
        for piece in pieces[1:]:
            data.add(piece[:1].decode("ascii", errors="replace"), _decode(piece[1:], is_unicode))
        record.add(data)
    return record


def _decode(raw: bytes, is_unicode: bool) -> str:
    if is_unicode or raw.isascii():
        return raw.decode("utf-8", errors="replace")
    try:
        # Many records that do not say so are UTF-8.
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_ansel(raw)


def _decode_ansel(raw: bytes) -> str:
    letters: list[str] = []
    accents = ""
    for byte in raw:
        if byte in _ANSEL_ACCENTS:
            accents += _ANSEL_ACCENTS[byte]
            continue
        letters.append(_ANSEL_LETTERS.get(byte) or bytes((byte,)).decode("latin-1"))
        letters.append(accents)
        accents = ""
    return unicodedata.normalize("NFC", "".join(letters))
