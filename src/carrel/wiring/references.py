"""The references room on CSL-JSON files, with the corpus and the literature services beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from carrel.core.caller import LOCAL_USER
from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError, NotFoundError
from carrel.core.health import Health
from carrel.libraries.identifiers import ArxivId, Doi, Identifier
from carrel.policy.persistence import HomeNotPersistentError, not_served, without_home
from carrel.rooms.papers.bibliography import cited_item
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.service import Papers
from carrel.rooms.references import ROOM
from carrel.rooms.references.citations import CitationStyles
from carrel.rooms.references.items import Item
from carrel.rooms.references.local_operations import LibraryPastOperations
from carrel.rooms.references.lookup_job import KIND, Additions, LookupJob, LookupWaits
from carrel.rooms.references.operations import ReferencesOperations
from carrel.rooms.references.resources import LibraryResources
from carrel.rooms.references.service import ReferencesRoom
from carrel.services.attached_files import LocalFiles
from carrel.services.parser_process import ParserProcesses
from carrel.settings import Settings
from carrel.stores.csl_json.library import (
    LIBRARY_NAME,
    CslJsonLibrary,
    LibraryHistory,
    UserLibraries,
    library_problem,
    user_library_path,
)
from carrel.wiring.desk import OpenRoom
from carrel.wiring.jobs import background_jobs
from carrel.wiring.lookups import LazyLiterature
from carrel.wiring.papers import OpenCorpus

# What needs no library, and so is served where libraries are not.
_WITHOUT_LIBRARY = frozenset({"styles", "styles-search"})


class CorpusPapers:
    """The papers room as the references room asks it. A desk without a corpus has no papers."""

    def __init__(self, papers: Papers, snapshot: Path) -> None:
        self._papers = papers
        self._snapshot = snapshot

    async def find_many(self, identifiers: Sequence[Identifier]) -> dict[Identifier, Item]:
        keys = {identifier: _paper_keys(identifier) for identifier in identifiers}
        names = [key for several in keys.values() for key in several]
        ids = await self._papers.ids_by_keys(names) if names and self._has_papers() else {}
        return {
            identifier: await paper_as_csl(self._papers, paper_id)
            for identifier, several in keys.items()
            if (paper_id := next((ids[name] for name in several if name in ids), None)) is not None
        }

    async def find(self, paper_id: str) -> Item | None:
        if not self._has_papers():
            return None
        try:
            return await paper_as_csl(self._papers, paper_id)
        except PaperNotFoundError:
            return None

    def _has_papers(self) -> bool:
        try:
            self._snapshot.lstat()
        except FileNotFoundError:
            return False
        except OSError:
            # It is there and cannot be looked at: opening it says what is wrong.
            return True
        return True


def _paper_keys(identifier: Identifier) -> tuple[str, ...]:
    """The keys under which a corpus may know the work; it knows no PubMed numbers."""
    match identifier:
        case Doi(value=value) if identifier.arxiv is not None:
            return (f"doi:{value}", f"arxiv:{identifier.arxiv.value}")
        case Doi(value=value):
            return (f"doi:{value}",)
        case ArxivId(value=value):
            return (f"arxiv:{value}", f"doi:10.48550/arxiv.{value}")
        case _:
            return ()


async def paper_as_csl(papers: Papers, paper_id: str) -> Item:
    """A paper of the corpus as a CSL item without a key, its title in sentence case."""
    paper = await papers.to_cite(paper_id)
    item = await asyncio.to_thread(cited_item, paper, has_sentence_case=True)
    return {name: value for name, value in item.items() if name != "id"}


def library_path(settings: Settings) -> Path:
    """The library of the local user."""
    return settings.references.library or settings.home / "references" / LIBRARY_NAME


def users_folder(settings: Settings) -> Path:
    """Where everybody else's libraries are, each in a folder of its name."""
    return settings.home / "references" / "users"


def open_library_history(settings: Settings, user_id: str | None) -> LibraryHistory:
    """The past of the local user's library, or of another user's. NotFoundError without one."""
    if not settings.keeps_home:
        raise _not_persistent(settings)
    if user_id is None or user_id == LOCAL_USER:
        return LibraryHistory(library_path(settings))
    path = user_library_path(users_folder(settings), user_id)
    if not path.parent.is_dir():
        raise NotFoundError(
            "Library", user_id, next_step="carrel users list names the users there are."
        )
    return LibraryHistory(path)


def _not_persistent(settings: Settings) -> HomeNotPersistentError:
    return HomeNotPersistentError(
        "References and their files are", has_database=bool(settings.database.url)
    )


def local_operations(settings: Settings) -> LibraryPastOperations:
    return LibraryPastOperations(partial(open_library_history, settings))


def open_references(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """Nothing is read yet; a missing library is made by the first write."""
    path = library_path(settings)
    chosen = settings.references
    libraries = UserLibraries(path, users_folder(settings), chosen.attachments)
    papers = CorpusPapers(corpus.service, corpus.snapshot.path)
    literature, parsers, clock = LazyLiterature(settings), ParserProcesses(), SystemClock()
    background = background_jobs(settings, {KIND: LookupJob(libraries, literature, clock)}, clock)
    waits = LookupWaits(chosen.lookup_wait_seconds, chosen.task_after_seconds)
    service = ReferencesRoom(
        libraries,
        Additions(libraries, papers, parsers, background.jobs, clock, waits),
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
            count = len((await library.snapshot()).items) if path.exists() else 0
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
        await literature.close()
        await libraries.close()
        parsers.close()

    described = Room.collect(
        ROOM,
        ReferencesOperations(service),
        LibraryResources(service),
        jobs=service.additions,
    )
    if not settings.keeps_home:
        error = _not_persistent(settings)
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
