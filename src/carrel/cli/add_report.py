"""What `carrel add` says at its end: what was added, what was not and why, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from carrel.cli.page import Line, Page, Span, dim, strong
from carrel.doors.errors import exit_of_failures
from carrel.services.things_to_add import SortedThings, ThingLeftOut, count_endings

_SHOWN_FAILURES = 20
_SHOWN_NAMES = 5
_SHOWN_STEPS = 3
_NOTHING = 2
_NO_FOLDER = "FOLDER"
_SOME_FAILED = 1


@dataclass(slots=True)
class Outcome:
    """Counts of one place: new, joined with what was there (notes: changed), known before."""

    new: int = 0
    joined: int = 0
    known: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.new or self.joined or self.known)


@dataclass(slots=True)
class AddReport:
    """The outcome of one run."""

    papers: Outcome = field(default_factory=Outcome)
    references: Outcome = field(default_factory=Outcome)
    notes: Outcome = field(default_factory=Outcome)
    files_unchanged: int = 0
    left_out: list[ThingLeftOut] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    # How many papers of the whole desk the list to be reviewed has.
    in_doubt: int = 0
    # Files that are no more below the folders, and whose papers stay.
    files_gone: list[str] = field(default_factory=list)
    reference_ids: list[str] = field(default_factory=list)
    desk: dict[str, int] = field(default_factory=dict)
    next_steps: list[str] = field(default_factory=list)
    plan: dict[str, list[str]] | None = None
    folder: str = _NO_FOLDER

    @classmethod
    def planned(cls, things: SortedThings, targets: frozenset[str]) -> AddReport:
        """What a run would do, with nothing done."""
        papers = [str(path) for path in (*things.papers, *things.references)]
        notes = [str(root / name) for root, names in things.notes.items() for name in names]
        plan = {
            "papers": [*papers, *things.identifiers],
            "references": [*map(str, things.references), *things.identifiers],
            "notes": notes,
        }
        report = cls(left_out=list(things.left_out))
        report.plan = {name: each for name, each in plan.items() if name in targets}
        return report

    @property
    def failures(self) -> list[ThingLeftOut]:
        return [each for each in self.left_out if each.is_failure]

    @property
    def is_anything_done(self) -> bool:
        outcomes = (self.papers, self.references, self.notes)
        if self.plan is not None:
            return any(self.plan.values())
        return bool(self.files_unchanged) or not all(each.is_empty for each in outcomes)

    @property
    def exit_code(self) -> int:
        """0 where all was added, 1 where some failed, 2 where nothing was done, 5 where that may
        work later.
        """
        if not self.is_anything_done:
            return exit_of_failures([each.code for each in self.failures], _NOTHING)
        return _SOME_FAILED if self.failures else 0

    def say_next(self) -> None:
        """The commands that make sense after this run, the most useful first."""
        steps: list[str] = []
        if self.files_gone:
            steps.append(f"carrel watch {self.folder} --once takes out papers of files that left")
        if self.is_anything_done:
            steps.append('carrel find "WORDS" searches everything on the desk')
            steps.append(
                "carrel connect CLIENT --write gives the desk to an assistant (--list names them)"
            )
        if self.folder != _NO_FOLDER and (self.papers.new or self.papers.joined):
            steps.append(f"carrel watch {self.folder} keeps the papers in step with the folder")
        self.next_steps = [f"  {step}" for step in steps[:_SHOWN_STEPS]]

    def to_page(self) -> Page:
        """What was added first, then what is doubtful or was left out, then what there is now."""
        lines = list(self._plan_lines() if self.plan is not None else self._outcome_lines())
        parts = [*map(Line, lines), *(Line((dim(line),)) for line in self._left_out_lines())]
        parts += [Line((dim(f"note: {notice}"),)) for notice in self.notices[:_SHOWN_FAILURES]]
        if self.files_gone:
            parts.append(Line(f"gone, and their papers stay: {_some(self.files_gone)}"))
        if self.in_doubt:
            parts.append(Line((Span(self._describe_doubt(), "doubt"),)))
        if self.desk:
            units = {"papers": "paper", "references": "reference", "notes": "note"}
            held = ", ".join(_count(count, units[name]) for name, count in self.desk.items())
            parts.append(Line((strong(f"On the desk: {held}."),)))
        return Page(parts)

    def _describe_doubt(self) -> str:
        review = "(carrel papers review)"
        if not self.doubtful:
            return f"{_with_doubt(self.in_doubt, ' on the desk')} {review}"
        said = f"{_with_doubt(len(self.doubtful))}: {_some(self.doubtful)}"
        if self.in_doubt > len(self.doubtful):
            said += f"; with those before, {self.in_doubt:,}"
        return f"{said} {review}"

    def failure_lines(self) -> Iterator[str]:
        failures = self.failures
        for one in failures[:_SHOWN_FAILURES]:
            yield f"not added: {one.thing}: {one.reason} [{one.code}]"
        more = Counter(one.code for one in failures[_SHOWN_FAILURES:])
        for code, count in more.most_common():
            yield f"not added: {count:,} more [{code}]"

    def to_facts(self) -> dict[str, object]:
        if self.plan is not None:
            facts: dict[str, object] = {"dry_run": True, "plan": self.plan}
        else:
            facts = {
                "papers": {
                    "new": self.papers.new,
                    "joined": self.papers.joined,
                    "known": self.papers.known,
                    "files_unchanged": self.files_unchanged,
                    "doubtful": self.doubtful,
                    "in_doubt": self.in_doubt,
                    "files_gone": self.files_gone,
                },
                "references": {
                    "new": self.references.new,
                    "known": self.references.known,
                    "added_ids": self.reference_ids,
                },
                "notes": {
                    "new": self.notes.new,
                    "changed": self.notes.joined,
                    "known": self.notes.known,
                },
                "desk": self.desk,
                "notices": self.notices,
            }
        facts["left_out"] = [
            {"thing": one.thing, "code": one.code, "reason": one.reason, "failed": one.is_failure}
            for one in self.left_out
        ]
        return {**facts, "exit_code": self.exit_code}

    def _plan_lines(self) -> Iterator[str]:
        assert self.plan is not None
        for name, things in self.plan.items():
            if things:
                yield f"{name}: {len(things):,} would be added: {_some(things)}"
        if not self.is_anything_done:
            yield "Nothing would be added."

    def _outcome_lines(self) -> Iterator[str]:
        papers, references, notes = self.papers, self.references, self.notes
        if not papers.is_empty or self.files_unchanged:
            yield _line(
                "papers",
                (papers.new, "new"),
                (papers.joined, "made of several files"),
                (papers.known, "known before"),
                (self.files_unchanged, f"file{'' if self.files_unchanged == 1 else 's'} unchanged"),
            )
        if not references.is_empty:
            yield _line(
                "references", (references.new, "new"), (references.known, "in the library before")
            )
        if not notes.is_empty:
            yield _line(
                "notes", (notes.new, "new"), (notes.joined, "changed"), (notes.known, "unchanged")
            )
        if not self.is_anything_done:
            yield "Nothing was added."

    def _left_out_lines(self) -> Iterator[str]:
        endings = [f"{ending} {count:,}" for ending, count in count_endings(self.left_out)]
        if endings:
            yield f"Of no known kind and left out: {', '.join(endings)}."
        others = [one for one in self.left_out if not one.is_failure and one.code != "unknown_kind"]
        for one in others[:_SHOWN_FAILURES]:
            yield f"left out: {one.thing}: {one.reason} [{one.code}]"
        if len(others) > _SHOWN_FAILURES:
            yield f"and {len(others) - _SHOWN_FAILURES:,} more left out"


def _line(name: str, *counts: tuple[int, str]) -> str:
    return f"{name}: " + ", ".join(f"{count:,} {what}" for count, what in counts if count)


def _count(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


def _with_doubt(count: int, where: str = "") -> str:
    return f"{_count(count, 'paper')}{where} {'has' if count == 1 else 'have'} doubtful fields"


def shorten_home(folder: str, home: Path) -> str:
    """A folder as a word of a shell, with ~ for the home of the person."""
    path = Path(folder)
    if path == home or not path.is_relative_to(home):
        return quote(folder)
    return f"~/{quote(path.relative_to(home).as_posix())}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN_NAMES:,} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more
