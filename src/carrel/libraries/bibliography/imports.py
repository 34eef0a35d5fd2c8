"""What reading a bibliography answers: the items, and what was recovered or lost on the way, each
with its line.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from carrel.libraries.bibliography.errors import UnreadableXmlError, UnsafeXmlError
from carrel.libraries.text import xml

CslItem: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """One CSL-JSON item and the line of the input where it begins. An item whose file gave no key
    has no `id`.
    """

    item: CslItem
    line: int


@dataclass(frozen=True, slots=True)
class Recovery:
    """Something that was not as it should be and was recovered."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ImportFailure:
    """An entry that could not be read; the others could."""

    line: int
    reason: str


# More than this nobody reads, and a text of nothing but mistakes would make an answer much longer
# than itself.
MAX_WARNINGS = 10_000
MAX_FAILURES = 10_000
_SHOWN_CHARACTERS = 300


@dataclass(slots=True)
class Imported:
    """Everything that one input held, in its order."""

    items: list[ImportedItem] = field(default_factory=list)
    warnings: list[Recovery] = field(default_factory=list)
    failures: list[ImportFailure] = field(default_factory=list)

    def warn(self, line: int, message: str) -> None:
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(Recovery(line, _cut(message)))
        elif len(self.warnings) == MAX_WARNINGS:
            self.warnings.append(
                Recovery(line, f"There is more to warn of than these {MAX_WARNINGS}")
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


def read_xml(content: str | bytes, report: Imported) -> xml.XmlNode:
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
