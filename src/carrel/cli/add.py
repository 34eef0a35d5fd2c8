"""`carrel add THING…`: puts files, folders and identifiers where they belong on the desk."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from carrel.cli.acting import add_user_option, find_user
from carrel.cli.add_report import AddReport, shorten_home
from carrel.cli.calls import Terminal, at_terminal, local_operations
from carrel.cli.logs import configure_command_logs
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.output import show, show_page
from carrel.cli.page import Line, Page, Span
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress, close_progress
from carrel.cli.rooms import wait_for_job
from carrel.core.caller import Caller
from carrel.core.errors import AuditUnavailableError, CarrelError
from carrel.core.progress import NoProgress, Progress
from carrel.libraries.bibliography import identifier_of
from carrel.libraries.identifiers import ArxivId, Doi
from carrel.services.things_to_add import SortedThings, ThingLeftOut, sort_things
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.papers import snapshot_path
from carrel.wiring.papers_build import has_build_state

if TYPE_CHECKING:
    from carrel.rooms.knowledge.folder_import import ImportReport
    from carrel.rooms.papers.building.intake import Intake, TakenPaper
    from carrel.rooms.references.models import AddedReferences

_TARGETS = ("papers", "references", "notes")
_ROOM_OF = {"papers": "papers", "references": "references", "notes": "knowledge"}
# One write of the library holds this many works; an operation takes a thousand.
_REFERENCES_AT_ONCE = 500
_STOPPED_BY_KEYBOARD = 130


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel add",
        description="Adds files, folders and identifiers: PDFs, Markdown and JATS to the papers; "
        "BibTeX, RIS, NBIB and CSL-JSON to the library and the papers; DOIs, arXiv ids and PMIDs, "
        "looked up; notes and vaults to the notes. Run again, it does only what changed.",
    )
    parser.add_argument("things", nargs="+", metavar="THING", help="a file, a folder or a DOI …")
    parser.add_argument(
        "--as",
        dest="given_as",
        choices=_TARGETS,
        help="what the files are, where it is not what they look like",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=_TARGETS,
        help="put things nowhere else (--only papers: nothing into the library); may be repeated",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would go where")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_user_option(parser)
    add_desk_options(parser)
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    configure_command_logs(options.log_level, settings)
    things = sort_things(options.things, options.given_as)
    targets = _targets(options.only, options.given_as, settings)
    if options.dry_run:
        report = AddReport.planned(things, targets)
    else:
        progress: Progress = NoProgress() if options.quiet else TerminalProgress()
        adding = _Adding(settings, things, targets, progress, find_user(settings, options))
        if len(things.folders) == 1:
            adding.report.folder = shorten_home(things.folders[0], Path.home())
        try:
            report = asyncio.run(adding.run())
        except KeyboardInterrupt:
            close_progress()
            show("Stopped. What was added is kept; run the same command to go on.", file=sys.stderr)
            return _STOPPED_BY_KEYBOARD
    if options.json:
        show(orjson.dumps(report.to_facts(), option=orjson.OPT_INDENT_2).decode())
    else:
        show_page(report.to_page())
        failures = [Line((Span(line, "bad"),)) for line in report.failure_lines()]
        show_page(Page(failures), file=sys.stderr)
        if report.next_steps:
            steps = [Line("Next:"), *(Line(step.strip(), indent=2) for step in report.next_steps)]
            show_page(Page(steps), file=sys.stderr)
    return report.exit_code


def _targets(only: list[str] | None, given_as: str | None, settings: Settings) -> frozenset[str]:
    """Where things may go: what was asked for, in rooms that are open."""
    wanted = set(only or _TARGETS)
    if given_as == "references" and only is None:
        wanted = {"references"}
    return frozenset(each for each in wanted if _ROOM_OF[each] in settings.rooms)


@dataclass(slots=True)
class _Adding:
    """One run of the command: each part may fail without costing the others."""

    settings: Settings
    things: SortedThings
    targets: frozenset[str]
    progress: Progress
    user: Caller | None = None
    report: AddReport = field(default_factory=AddReport)

    async def run(self) -> AddReport:
        report = self.report
        report.left_out += self.things.left_out
        async with open_desk(self.settings).session() as desk:
            terminal = await at_terminal(desk, self.user)
            if "references" in self.targets:
                await self._add_lists(terminal)
            await self._add_identifiers(terminal)
            if "papers" in self.targets:
                await self._add_papers(terminal)
            self._leave_unwanted()
            if "notes" in self.targets:
                await self._add_notes(terminal)
            await self._count_desk(terminal)
        report.say_next()
        return report

    async def _add_lists(self, terminal: Terminal) -> None:
        """Each file of references into the library, alone, so that a bad one costs no other."""
        files = self.things.references
        if not files:
            return
        self.progress.begin("references", len(files), "files")
        for path in files:
            await self._add_to_library(terminal, [str(path)])
            self.progress.advance()
        self.progress.end()

    async def _add_to_library(
        self, terminal: Terminal, elements: list[str], *, is_offer: bool = False
    ) -> set[str]:
        """Adds works to the library; returns the elements that failed.

        An offer (a reference for a paper that is added anyway) does not fail the command.
        """
        try:
            answer = await terminal.ask("add_references", input=elements)
            added: AddedReferences = await wait_for_job(terminal, answer)
        except AuditUnavailableError:
            raise
        except CarrelError as error:
            self._fail(elements, error)
            return set(elements)
        found = self.report.references
        found.new += len(added.added)
        found.known += len(added.skipped)
        self.report.reference_ids += [each.id for each in added.added]
        for failure in added.failed:
            place = failure.source if failure.line is None else f"{failure.source}:{failure.line}"
            self.report.left_out.append(
                ThingLeftOut(place, failure.code, failure.reason, is_failure=not is_offer)
            )
        return {failure.source for failure in added.failed}

    async def _add_identifiers(self, terminal: Terminal) -> None:
        identifiers, failed = self.things.identifiers, set[str]()
        if identifiers and "references" in self.targets:
            self.progress.begin("looking up", len(identifiers), "works")
            failed = await self._add_to_library(terminal, identifiers)
            self.progress.advance(len(identifiers))
            self.progress.end()
        if "papers" not in self.targets:
            return
        for text in identifiers:
            is_paper = isinstance(identifier_of(text), Doi | ArxivId)
            if text in failed or not is_paper:
                continue
            try:
                answer = await terminal.ask("add_paper", identifier=text)
                added = await wait_for_job(terminal, answer)
            except AuditUnavailableError:
                raise
            except CarrelError as error:
                self._fail([text], error)
            else:
                self.report.papers.new += added.is_new
                self.report.papers.known += not added.is_new

    async def _add_papers(self, terminal: Terminal) -> None:
        files = [*self.things.papers, *self.things.references]
        folders = [str(folder) for folder in self.things.folder_paths]
        if not files and not (folders and has_build_state(snapshot_path(self.settings).parent)):
            return
        named = [str(path) for path in files if path in self.things.named]
        arguments = {"files": [str(path) for path in files], "named": named, "folders": folders}
        taken: Intake | None = await self._run_local(
            terminal, "papers", "add_paper_files", arguments, files
        )
        if taken is None:
            return
        found, report = self.report.papers, self.report
        found.new += sum(paper.is_new for paper in taken.papers)
        found.joined += sum(paper.is_joined for paper in taken.papers)
        found.known += sum(not paper.is_new for paper in taken.papers)
        report.files_unchanged += taken.unchanged
        report.doubtful += [paper.title for paper in taken.papers if paper.is_doubtful]
        report.in_doubt, report.files_gone = taken.in_doubt, list(taken.gone)
        for line in taken.lines:
            if line.is_skipped:
                # A reference without a title is in the library, and only no paper.
                is_failure = line.code != "no_title" or "references" not in self.targets
                report.left_out.append(
                    ThingLeftOut(line.source, line.code, line.message, is_failure)
                )
            else:
                report.notices.append(f"{line.source}: {line.message}")
        if "references" in self.targets:
            await self._offer_references(terminal, taken.papers)

    async def _offer_references(self, terminal: Terminal, papers: Iterable[TakenPaper]) -> None:
        """A reference for each paper whose title and authors, or DOI, nobody guessed."""
        lists = {str(path) for path in self.things.references}
        wanted = [
            paper.paper_id for paper in papers if paper.is_stated and not lists & set(paper.sources)
        ]
        for start in range(0, len(wanted), _REFERENCES_AT_ONCE):
            part = wanted[start : start + _REFERENCES_AT_ONCE]
            await self._add_to_library(terminal, part, is_offer=True)

    async def _add_notes(self, terminal: Terminal) -> None:
        for folder, names in self.things.notes.items():
            arguments = {"folder": str(folder), "only": names}
            files = [folder / name for name in names]
            imported: ImportReport | None = await self._run_local(
                terminal, "knowledge", "import_notes", arguments, files
            )
            if imported is None:
                continue
            found, counts = self.report.notes, imported.counts
            found.new += counts["new"]
            found.joined += counts["changed"] + counts["shared"]
            found.known += counts["unchanged"] + counts["kept"]
            for path, problem in imported.problems:
                self.report.left_out.append(ThingLeftOut(str(folder / path), "note", problem))

    async def _run_local(
        self,
        terminal: Terminal,
        room: str,
        name: str,
        arguments: Mapping[str, object],
        files: list[Path],
    ) -> Any:
        operation = local_operations(self.settings, room)[name]
        try:
            return await terminal.call_local(operation, arguments, self.progress, nullcontext())
        except AuditUnavailableError:
            # Nothing may be changed that cannot be written down.
            raise
        except CarrelError as error:
            self._fail([str(path) for path in files], error)
        except OSError as error:
            reason = f"{error.filename or ''}: {error.strerror or error}".lstrip(": ")
            self.report.left_out += [
                ThingLeftOut(str(path), "not_readable", reason) for path in files
            ]
        return None

    def _leave_unwanted(self) -> None:
        """What has no place because of --only or of rooms that are not open."""
        reason = "it would go where nothing is put (--only, --rooms)"
        things, targets = self.things, self.targets
        unwanted = [] if "papers" in targets else [str(path) for path in things.papers]
        if not targets & {"papers", "references"}:
            unwanted += [*map(str, things.references), *things.identifiers]
        if "notes" not in targets:
            unwanted += [str(root / name) for root, names in things.notes.items() for name in names]
        self.report.left_out += [
            ThingLeftOut(thing, "not_wanted", reason, is_failure=False) for thing in unwanted
        ]

    async def _count_desk(self, terminal: Terminal) -> None:
        """How much is on the desk now; a room that cannot tell is left out."""
        counts = self.report.desk
        try:
            if "papers" in self.settings.rooms:
                counts["papers"] = (await terminal.ask("get_corpus_statistics")).papers
        except CarrelError:
            counts["papers"] = 0
        try:
            if "references" in self.settings.rooms:
                counts["references"] = (await terminal.ask("list_references", limit=1)).total
            if "knowledge" in self.settings.rooms:
                operation = local_operations(self.settings, "knowledge")["count_notes"]
                quiet = NoProgress()
                counts["notes"] = await terminal.call_local(operation, {}, quiet, nullcontext())
        except CarrelError as error:
            self.report.notices.append(error.message)

    def _fail(self, things: Iterable[str], error: CarrelError) -> None:
        reason = f"{error.message.rstrip('.')}. {error.next_step}".strip()
        self.report.left_out += [ThingLeftOut(thing, error.code, reason) for thing in things]
