"""The report of a build: its figures, problems with sources, and files that changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A problem with one source; `is_skipped` if it cost a paper or file."""

    source: str
    code: str
    message: str
    is_skipped: bool
    line: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{'skipped' if self.is_skipped else 'note'}  {place}: {self.message} [{self.code}]"

    def to_facts(self) -> dict[str, object]:
        facts: dict[str, object] = {
            "source": self.source,
            "code": self.code,
            "message": self.message,
            "skipped": self.is_skipped,
        }
        return facts if self.line is None else {**facts, "line": self.line}


ChangeKind = Literal["new", "changed", "renamed", "removed"]


@dataclass(frozen=True, slots=True)
class SourceChange:
    """One file that came, changed, moved (from `before`) or left."""

    kind: ChangeKind
    path: str
    before: str | None = None

    def __str__(self) -> str:
        return f"{self.kind:8} {self.path}" + (f" (was {self.before})" if self.before else "")


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The end of a build in figures, with every line that a person should see."""

    build_id: str
    papers: int
    papers_added: int
    papers_changed: int
    papers_removed: int
    sources_read: int
    sources_unchanged: int
    sources_removed: int
    records: int
    seconds_reading: float
    seconds_writing: float
    is_changed: bool
    lines: tuple[ReportLine, ...] = field(default=())
    changes: tuple[SourceChange, ...] = field(default=())
    papers_in_doubt: int = 0

    @property
    def skipped(self) -> tuple[ReportLine, ...]:
        return tuple(line for line in self.lines if line.is_skipped)

    def to_facts(self) -> dict[str, object]:
        return {
            "build_id": self.build_id,
            "papers": {
                "total": self.papers,
                "added": self.papers_added,
                "changed": self.papers_changed,
                "removed": self.papers_removed,
                "in_doubt": self.papers_in_doubt,
            },
            "sources": {
                "read": self.sources_read,
                "unchanged": self.sources_unchanged,
                "removed": self.sources_removed,
            },
            "records": self.records,
            "seconds": {
                "reading": round(self.seconds_reading, 3),
                "writing": round(self.seconds_writing, 3),
            },
            "changed": self.is_changed,
            "skipped": len(self.skipped),
            "lines": [line.to_facts() for line in self.lines],
        }

    def to_text(self, longest: int = 50) -> str:
        """Lines for a person: at most `longest` problems, the rest counted by code."""
        head = [
            f"{self.papers:,} papers: {self.papers_added:,} new, {self.papers_changed:,} changed, "
            f"{self.papers_removed:,} gone.",
            f"Sources: {self.sources_read:,} read, {self.sources_unchanged:,} unchanged, "
            f"{self.sources_removed:,} gone; "
            f"{self.records:,} records in all.",
            f"Reading took {self.seconds_reading:.1f} s, writing {self.seconds_writing:.1f} s.",
        ]
        ordered = sorted(self.lines, key=lambda line: not line.is_skipped)
        shown, rest = ordered[:longest], ordered[longest:]
        if not ordered:
            head.append("Nothing was skipped.")
        more = [
            f"and {count:,} more: {code}"
            for code, count in Counter(line.code for line in rest).most_common()
        ]
        doubts = (
            [
                f"{_count(self.papers_in_doubt, 'paper has', 'papers have')} doubtful fields: "
                f"carrel papers review"
            ]
            if self.papers_in_doubt
            else []
        )
        return "\n".join([*head, *(str(line) for line in shown), *more, *doubts])


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
