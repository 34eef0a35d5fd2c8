"""Results and errors of reading a bibliography, and decoding and parsing its bytes."""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from carrel.libraries.bibliography.dates import doubtful_dates
from carrel.libraries.text import xml


class BibliographyError(Exception):
    """A whole input cannot be read; what is wrong with one entry is an ImportFailure instead."""


class UnknownFormatError(BibliographyError):
    """The text has the shape of no format that is read here."""

    def __init__(self, beginning: str) -> None:
        super().__init__(f"Not a bibliography format or identifier that is known: {beginning!r}")
        self.beginning = beginning


class UnsafeXmlError(BibliographyError):
    """The XML declares entities, which could fill the memory or read other files."""

    def __init__(self, line: int) -> None:
        super().__init__(f"The XML declares entities (line {line}); they are not expanded here")
        self.line = line


class UnreadableXmlError(BibliographyError):
    """The XML is not well formed."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"The XML is not well formed (line {line}): {reason}")
        self.line = line
        self.reason = reason


CslItem: TypeAlias = dict[str, Any]

# In an item's `custom`: whose word it is (`publisher` for the answer of a literature service).
ORIGIN_MARK = "carrel_origin"


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """A CSL-JSON item and its line in the input; without a key in the file it has no `id`."""

    item: CslItem
    line: int


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """Something that was not as it should be and was recovered."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ImportFailure:
    """An entry that could not be read; the others could."""

    line: int
    reason: str


# Bounded, because a text of nothing but mistakes would give a result longer than itself.
MAX_WARNINGS = 10_000
MAX_FAILURES = 10_000
_SHOWN_CHARACTERS = 300
# Of the high bytes of a bibliography; the others are those of its accented and foreign letters.
_ZEROS_OF_UTF16 = 0.75


@dataclass(slots=True)
class ImportResult:
    """Everything that one input held, in its order."""

    items: list[ImportedItem] = field(default_factory=list)
    warnings: list[ReadWarning] = field(default_factory=list)
    failures: list[ImportFailure] = field(default_factory=list)

    def add(self, item: CslItem, line: int, what: str = "record") -> None:
        """Add an item, or a failure where nothing but its type could be read."""
        if item.keys() <= {"type"}:
            self.fail(line, f"The {what} has no field that can be read")
        else:
            self.keep(item, line)

    def keep(self, item: CslItem, line: int) -> None:
        """Add an item whatever it says, with a warning of dates that no calendar has."""
        for doubt in doubtful_dates(item):
            self.warn(line, doubt)
        self.items.append(ImportedItem(item, line))

    def warn(self, line: int, message: str) -> None:
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(ReadWarning(line, _cut(message)))
        elif len(self.warnings) == MAX_WARNINGS:
            self.warnings.append(
                ReadWarning(line, f"There is more to warn of than these {MAX_WARNINGS}")
            )

    def fail(self, line: int, reason: str) -> None:
        if len(self.failures) < MAX_FAILURES:
            self.failures.append(ImportFailure(line, _cut(reason)))
        elif len(self.failures) == MAX_FAILURES:
            self.failures.append(
                ImportFailure(
                    line, f"More than {MAX_FAILURES} entries cannot be read; the rest is not listed"
                )
            )


def _cut(message: str) -> str:
    return message if len(message) <= _SHOWN_CHARACTERS else f"{message[: _SHOWN_CHARACTERS - 1]}…"


def open_text(content: str | bytes) -> tuple[str, ImportResult]:
    """The text of an input, and a result that begins with what decoding it had to guess."""
    if isinstance(content, str):
        return content, ImportResult()
    text, warnings = decode(content)
    return text, ImportResult(warnings=warnings)


def read_xml_records(
    content: str | bytes,
    name: str,
    read_record: Callable[[xml.XmlNode], CslItem],
    what: str = "record",
) -> ImportResult:
    """The items of all elements of this name, or of the root where it has that name."""
    answer = ImportResult()
    root = read_xml(content, answer)
    for record in [root] if root.tag == name else root.deep(name):
        answer.add(read_record(record), record.line, what)
    return answer


def read_xml(content: str | bytes, report: ImportResult) -> xml.XmlNode:
    """The root of an XML export; where the document breaks off, a warning says so."""

    def warn(error: xml.XmlError) -> None:
        message = f"The XML is broken here ({error.reason}); what stands before was read"
        report.warn(error.line, message)

    try:
        return xml.parse_xml_nodes(content, warn)
    except xml.UnsafeXmlError as error:
        raise UnsafeXmlError(error.line) from error
    except xml.XmlError as error:
        raise UnreadableXmlError(error.line, error.reason) from error


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"^\s*%+\s*(?:-\*-\s*coding:|Encoding:|Saved with string encoding)\s*([^\r\n]{1,60})",
    re.IGNORECASE | re.MULTILINE,
)
_NAMES_OF_OTHERS = {
    "unicode (utf-8)": "utf-8",
    "western (iso latin 1)": "cp1252",
    "western (windows latin 1)": "cp1252",
}
_DECLARATION_WITHIN_BYTES = 2000
_CP1252_HOLES = {0x81: "\x81", 0x8D: "\x8d", 0x8F: "\x8f", 0x90: "\x90", 0x9D: "\x9d"}


def decode(content: bytes) -> tuple[str, list[ReadWarning]]:
    """The text, with a warning for each line that was not in the encoding of the rest."""
    for bom, name in _BOMS:
        if content.startswith(bom):
            return content[len(bom) :].decode(name, errors="replace"), []
    if unmarked := _unmarked_utf16(content[:_DECLARATION_WITHIN_BYTES]):
        return content.decode(unmarked, errors="replace"), []
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError:
        pass
    declared = _declared_encoding(content)
    if declared is not None:
        try:
            return content.decode(declared), []
        except UnicodeDecodeError:
            pass
    return _line_by_line(content)


def _unmarked_utf16(start: bytes) -> str | None:
    """UTF-16 without a byte order mark: of a beginning in ASCII every second byte is zero."""
    first, second = start[::2], start[1::2]
    for name, zeros, letters in (("utf-16-le", second, first), ("utf-16-be", first, second)):
        if len(zeros) > 1 and 0 not in letters and zeros.count(0) > _ZEROS_OF_UTF16 * len(zeros):
            return name
    return None


def _declared_encoding(content: bytes) -> str | None:
    found = _DECLARED.search(content[:_DECLARATION_WITHIN_BYTES])
    if not found:
        return None
    name = (
        found.group(1).decode("ascii", errors="replace").strip().removesuffix("-*-").strip().lower()
    )
    try:
        codec = codecs.lookup(_NAMES_OF_OTHERS.get(name, name)).name
    except LookupError:
        return None
    return None if codec == "utf-8" else codec


def _line_by_line(content: bytes) -> tuple[str, list[ReadWarning]]:
    """Decode each line alone, because old files are joined from parts in different encodings."""
    lines: list[str] = []
    warnings: list[ReadWarning] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            lines.append("".join(_cp1252(byte) for byte in line))
            warnings.append(
                ReadWarning(number, "This line is not UTF-8; it was read as Windows-1252")
            )
    return "\n".join(lines), warnings


def _cp1252(byte: int) -> str:
    return _CP1252_HOLES.get(byte) or bytes((byte,)).decode("cp1252")
