"""The references room on a CSL-JSON file, with the formats, lookups and styles it speaks through
its ports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from carrel.core.caller import LOCAL_USER, Caller, library_name
from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.health import Health
from carrel.core.parsing import parse_in_thread
from carrel.libraries.bibliography.recognition import IDENTIFIER_KINDS, identifier_of, recognise
from carrel.libraries.identifiers import ArxivId, Doi
from carrel.libraries.text.budget import parsing
from carrel.policy.persistence import HomeNotPersistentError, not_served, without_home
from carrel.rooms.papers.bibliography import cited_item
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.models import PaperMetadata
from carrel.rooms.papers.service import Papers
from carrel.rooms.references import ROOM
from carrel.rooms.references.errors import CitationFailedError, StyleNotFoundError
from carrel.rooms.references.items import Item
from carrel.rooms.references.lookup_job import (
    KIND,
    Additions,
    LookupHandler,
    LookupJobs,
    LookupWaits,
)
from carrel.rooms.references.operations import ReferencesOperations
from carrel.rooms.references.ports import (
    ExportFormat,
    Identifier,
    Output,
    ReadBibliography,
    ReadEntry,
    ReadProblem,
    StyleFacts,
)
from carrel.rooms.references.resources import LibraryResources
from carrel.rooms.references.service import ReferencesRoom
from carrel.services.attached_files import LocalFiles
from carrel.services.parser_process import ParserProcesses
from carrel.settings import Settings
from carrel.stores.csl_json.library import CslJsonLibrary, library_problem
from carrel.wiring.desk import OpenRoom
from carrel.wiring.jobs import background_jobs
from carrel.wiring.lookups import Services
from carrel.wiring.papers import papers_service, snapshot_path

LIBRARY_NAME = "library.json"
# What needs no library, and so is served where libraries are not.
_WITHOUT_LIBRARY = frozenset({"styles", "styles-search"})
# Shorter inputs are read on a thread, longer ones in a process of their own, which takes a quarter
# of a second to start.
_THREAD_AT_MOST_BYTES = 50_000


class UnreadableBibliographyError(InvalidInputError):
    """The text has the shape of a format but cannot be read as one."""


class BibliographyFormats:
    """The formats engine behind the room's port; long inputs are read in a process of their own."""

    def __init__(self) -> None:
        self._processes = ParserProcesses()

    def close(self) -> None:
        self._processes.close()

    def identifier(self, text: str) -> Identifier | None:
        return identifier_of(text) if len(text) < 400 and "\n" not in text.strip() else None

    def is_bibliography(self, text: str) -> bool:
        kind = recognise(text)
        return kind is not None and kind not in IDENTIFIER_KINDS

    async def read(self, content: str | bytes) -> ReadBibliography:
        # Readers and writers are imported at their first use: a session that only searches needs
        # none of them.
        from carrel.libraries.bibliography.formats import try_read_bibliography

        if len(content) <= _THREAD_AT_MOST_BYTES:
            found = await parse_in_thread(try_read_bibliography, content)
        else:
            found = await self._processes.run(try_read_bibliography, content, size=len(content))
        if isinstance(found, str):
            raise UnreadableBibliographyError(found, next_step="Check the input.")
        return ReadBibliography(
            [ReadEntry(entry.item, entry.line) for entry in found.items],
            [ReadProblem(warning.line, warning.message) for warning in found.warnings],
            [ReadProblem(failure.line, failure.reason) for failure in found.failures],
        )

    async def write(
        self, items: Sequence[Item], form: ExportFormat, *, lossless: bool = False
    ) -> str:
        from carrel.libraries.bibliography.formats import ExportFormat, write_bibliography

        return await parse_in_thread(
            lambda: write_bibliography(items, ExportFormat(form), lossless=lossless)
        )

    def date(self, text: str) -> dict[str, object] | None:
        from carrel.libraries.bibliography.dates import read_edtf

        return read_edtf(text)


class PapersAndServices:
    """Works from the papers at hand, and from the network."""

    def __init__(
        self, papers: Papers, snapshot: Path, formats: BibliographyFormats, services: Services
    ) -> None:
        self._papers = papers
        self._snapshot = snapshot
        self._services = services

    async def at_hand(self, identifiers: Sequence[Identifier]) -> dict[Identifier, Item]:
        keys = {identifier: _paper_keys(identifier) for identifier in identifiers}
        wanted = [key for names in keys.values() for key in names]
        if not wanted or not self._has_papers():
            return {}
        ids = await self._papers.ids_by_keys(wanted)
        found: dict[Identifier, Item] = {}
        for identifier, names in keys.items():
            paper_id = next((ids[name] for name in names if name in ids), None)
            if paper_id is not None:
                found[identifier] = await self._item(await self._papers.metadata(paper_id))
        return found

    async def find(self, identifier: Identifier) -> Item:
        return await self._services.find(identifier)

    async def paper(self, paper_id: str) -> Item | None:
        if not self._has_papers():
            return None
        try:
            return await self._item(await self._papers.metadata(paper_id))
        except PaperNotFoundError:
            return None

    def _has_papers(self) -> bool:
        """A desk without a corpus has no papers at hand, which is no fault."""
        try:
            self._snapshot.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            # It is there and cannot be looked at: opening it says what is wrong.
            return True
        return True

    async def _item(self, metadata: PaperMetadata) -> Item:
        return await paper_as_csl(self._papers, metadata.paper_id)


def _paper_keys(identifier: Identifier) -> tuple[str, ...]:
    """The keys under which a corpus may know the work; it knows no PubMed numbers."""
    match identifier:
        case Doi():
            arxiv = identifier.arxiv
            return (
                f"doi:{identifier.value}",
                *((f"arxiv:{arxiv.value}",) if arxiv is not None else ()),
            )
        case ArxivId():
            return (f"arxiv:{identifier.value}", f"doi:10.48550/arxiv.{identifier.value}")
        case _:
            return ()


async def paper_as_csl(papers: Papers, paper_id: str) -> Item:
    """A paper of the corpus as a reference without a key, its title in sentence case as CSL wants
    it.
    """
    item = await asyncio.to_thread(
        cited_item, await papers.to_cite(paper_id), has_sentence_case=True
    )
    return {name: value for name, value in item.items() if name != "id"}


class CitationStyles:
    """The citation engine behind the room's port. It is imported at the first citation, and works
    on a thread.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    async def bibliography(
        self, items: Sequence[Item], style: str, output: Output, locale: str | None
    ) -> list[tuple[str, str]]:
        return await parse_in_thread(self._bibliography, items, style, output, locale)

    async def in_text(
        self, items: Sequence[Item], style: str, output: Output, locale: str | None
    ) -> str:
        return await parse_in_thread(self._in_text, items, style, output, locale)

    async def search(self, words: str, first: int, count: int) -> tuple[int, list[StyleFacts]]:
        return await asyncio.to_thread(self._search, words, first, count)

    def _bibliography(
        self, items: Sequence[Item], style: str, output: Output, locale: str | None
    ) -> list[tuple[str, str]]:
        import carrel.libraries.csl as engine

        try:
            with parsing("the references", _size(items)):
                entries = engine.render_bibliography(
                    items, style, output=output, locale=locale, folder=self._folder
                )
        except engine.CitationStyleError as error:
            raise self._explained(error, style) from None
        return [(entry.id, entry.text) for entry in entries]

    def _in_text(
        self, items: Sequence[Item], style: str, output: Output, locale: str | None
    ) -> str:
        import carrel.libraries.csl as engine

        try:
            with parsing("the references", _size(items)):
                loaded = engine.load_style(style, folder=self._folder)
                processor = engine.Processor(loaded, items, locale=locale, output=output)
                cites = [engine.Cite(str(item["id"])) for item in items]
                return processor.cite([engine.Cluster(cites)])[0]
        except engine.CitationStyleError as error:
            raise self._explained(error, style) from None

    def _search(self, words: str, first: int, count: int) -> tuple[int, list[StyleFacts]]:
        import carrel.libraries.csl as engine

        found = engine.list_styles(words, folder=self._folder)
        return len(found), [
            StyleFacts(each.id, each.title, each.parent or None)
            for each in found[first : first + count]
        ]

    def _explained(self, error: Exception, style: str) -> CarrelError:
        import carrel.libraries.csl as engine

        if isinstance(error, engine.StyleNotFoundError):
            similar = [
                each.id
                for each in engine.list_styles(style.replace("-", " "), folder=self._folder)[:5]
            ]
            return StyleNotFoundError(style, similar or list(engine.SHORT_NAMES))
        next_step = error.next_step if isinstance(error, engine.CitationStyleError) else ""
        message = error.message if isinstance(error, engine.CitationStyleError) else str(error)
        return CitationFailedError(message, next_step=next_step, details={"style": style})


def _size(items: Sequence[Item]) -> int:
    return sum(len(str(item)) for item in items)


class LibraryShelves:
    """The one library of the local user, and one for each recognised user."""

    def __init__(self, path: Path, users: Path, attachments: Path | None) -> None:
        self._path = path
        self._users = users
        self._attachments = attachments
        self._open: dict[str, CslJsonLibrary] = {}

    def of(self, caller: Caller) -> CslJsonLibrary:
        library = self._open.get(caller.user_id)
        if library is None:
            library = self._open[caller.user_id] = self._opened(caller.user_id)
            library.watch()
        return library

    def _opened(self, user_id: str) -> CslJsonLibrary:
        if user_id == LOCAL_USER:
            return CslJsonLibrary(self._path, self._attachments)
        folder = self._users / library_name(user_id)
        folder.mkdir(parents=True, exist_ok=True)
        return CslJsonLibrary(folder / LIBRARY_NAME)

    async def close(self) -> None:
        for library in self._open.values():
            await library.close()


def library_path(settings: Settings) -> Path:
    """The library of the local user."""
    return settings.references.library or settings.home / "references" / LIBRARY_NAME


def users_folder(settings: Settings) -> Path:
    """Where everybody else's libraries are, each in a folder of its name."""
    return settings.home / "references" / "users"


def open_references(settings: Settings) -> OpenRoom:
    """Nothing is read yet; a missing library is made by the first write."""
    path = library_path(settings)
    chosen = settings.references
    shelves = LibraryShelves(path, users_folder(settings), chosen.attachments)
    formats = BibliographyFormats()
    papers = papers_service(settings)
    services = Services(settings)
    lookup = PapersAndServices(papers.service, snapshot_path(settings), formats, services)
    clock = SystemClock()
    background = background_jobs(settings, {KIND: LookupHandler(shelves, lookup, clock)}, clock)
    waits = LookupWaits(chosen.lookup_wait_seconds, chosen.task_after_seconds)
    additions = Additions(shelves, formats, lookup, LookupJobs(background.jobs), clock, waits)
    service = ReferencesRoom(
        shelves,
        formats,
        additions,
        CitationStyles(chosen.styles),
        LocalFiles(),
        allowed_folders=chosen.allowed_folders,
        default_style=chosen.default_style,
        default_locale=chosen.default_locale,
    )

    async def check() -> Health:
        if path.is_dir():
            return Health(
                False, f"{path} is a folder", "Name a file with references.library or --library."
            )
        library = CslJsonLibrary(path, chosen.attachments)
        try:
            count = len((await library.shelf()).items) if path.exists() else 0
        except CarrelError as error:
            return Health(False, f"{path}: {error.message}", error.next_step)
        finally:
            await library.close()
        return Health(
            True,
            f"{path} ({count} references)"
            if path.exists()
            else f"{path} (made by the first reference)",
        )

    async def probe() -> Health:
        problem = await asyncio.to_thread(library_problem, path)
        return Health(problem is None, f"{path}: {problem or 'there'}")

    async def close() -> None:
        await background.jobs.close()
        await services.close()
        await shelves.close()
        await papers.close()
        formats.close()

    described = Room.collect(
        ROOM,
        ReferencesOperations(service),
        LibraryResources(service),
        jobs=service.additions.jobs,
    )
    if not settings.keeps_home:
        error = HomeNotPersistentError(
            "References and their files are", has_database=bool(settings.database.url)
        )
        unserved = {"references": not_served(error)}
        return OpenRoom(
            without_home(described, error, still_served=_WITHOUT_LIBRARY),
            unserved,
            close,
            probes=unserved,
        )
    return OpenRoom(
        described, {"references": check}, close, background.start, {"references": probe}
    )
