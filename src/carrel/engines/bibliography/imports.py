"""What reading a bibliography answers: the items, and what was recovered or lost on the way, each with its line."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

CslItem: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """One CSL-JSON item and the line of the input where it begins. An item whose file gave no key has no `id`."""

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


@dataclass(slots=True)
class Imported:
    """Everything that one input held, in its order."""

    items: list[ImportedItem] = field(default_factory=list)
    warnings: list[Recovery] = field(default_factory=list)
    failures: list[ImportFailure] = field(default_factory=list)

    def warn(self, line: int, message: str) -> None:
        self.warnings.append(Recovery(line, message))

    def fail(self, line: int, reason: str) -> None:
        self.failures.append(ImportFailure(line, reason))
