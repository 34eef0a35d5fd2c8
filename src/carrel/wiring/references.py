"""The references room on CSL-JSON files, with the corpus and the literature services beside it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from carrel.core.caller import LOCAL_USER, Call
from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.errors import NotFoundError
from carrel.policy.persistence import HomeNotPersistentError, not_served, without_home
from carrel.rooms.knowledge.ports import LinkedThing
from carrel.rooms.papers.for_references import PapersForReferences
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.papers.service import CitablePapers
from carrel.rooms.references import ROOM
from carrel.rooms.references.citations import CitationStyles
from carrel.rooms.references.desk_search import ReferenceDeskSearch
from carrel.rooms.references.library_editing import LibraryEditing
from carrel.rooms.references.library_works import LibraryWorks
from carrel.rooms.references.local_operations import LibraryPastOperations
from carrel.rooms.references.lookup_job import KIND, Additions, LookupJob, LookupWaits
from carrel.rooms.references.operations import ReferencesOperations
from carrel.rooms.references.operations_for_people import LibraryEditingOperations
from carrel.rooms.references.resources import LibraryResources
from carrel.rooms.references.service import ReferencesRoom
from carrel.services.attached_files import LocalFiles
from carrel.services.parser_process import ParserProcesses
from carrel.settings import Settings
from carrel.stores.csl_json.library import (
    LIBRARY_NAME,
    FileSearch,
    LibraryHealth,
    LibraryHistory,
    UserLibraries,
    user_library_path,
)
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.wiring.desk import OpenRoom
from carrel.wiring.jobs import has_jobs, open_jobs
from carrel.wiring.papers import OpenCorpus, open_literature

# What needs no library, and so is served where libraries are not.
_WITHOUT_LIBRARY = frozenset({"styles", "styles-search"})


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


def find_library_to_restore(settings: Settings) -> int | None:
    """The version that can replace the operator's library where its file is damaged."""
    try:
        return open_library_history(settings, None).find_damage()
    except OSError:
        return None


def local_operations(settings: Settings) -> LibraryPastOperations:
    return LibraryPastOperations(partial(open_library_history, settings))


def open_search(file: LibraryFile, attachments: Path) -> FileSearch:
    """The search of one library file; the index is loaded at the first search."""
    from carrel.stores.csl_json.search.library_search import LibrarySearch

    return LibrarySearch(file, attachments)


def open_references(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """Nothing is read yet; a missing library is made by the first write."""
    path = library_path(settings)
    chosen = settings.references
    libraries = UserLibraries(path, users_folder(settings), chosen.attachments, open_search)
    papers = CitablePapers(corpus.service, corpus.place.exists)
    health = LibraryHealth(path)
    literature, parsers, clock = open_literature(settings), ParserProcesses(), SystemClock()
    jobs = open_jobs(settings, {KIND: LookupJob(libraries, literature, clock)}, clock)
    waits = LookupWaits(chosen.lookup_wait_seconds, chosen.task_after_seconds)
    styles, files = CitationStyles(chosen.styles), LocalFiles()
    service = ReferencesRoom(
        libraries,
        Additions(libraries, papers, parsers, jobs, clock, waits, chosen.import_titles),
        styles,
        files,
        allowed_folders=chosen.allowed_folders,
        default_style=chosen.default_style,
        default_locale=chosen.default_locale,
        papers=PapersForReferences(
            corpus.service,
            PaperPassages(corpus.service, corpus.store, corpus.store),
            corpus.place.exists,
        ),
        notices=corpus.notices,
    )

    editing = LibraryEditing(
        libraries,
        styles,
        files,
        default_style=chosen.default_style,
        default_locale=chosen.default_locale,
    )

    async def find_reference(name: str, call: Call) -> LinkedThing:
        found = await service.find(name, call)
        return LinkedThing(str(found["id"]), str(found.get("title") or ""))

    corpus.links.things.register(("ref",), "references:read", find_reference)
    if settings.keeps_home:
        corpus.links.libraries.bind(LibraryWorks(libraries, clock))

    async def start() -> None:
        jobs.take_up_work(has_jobs(settings))

    async def close() -> None:
        await jobs.close()
        await literature.close()
        await libraries.close()
        parsers.close()

    described = Room.collect(
        ROOM,
        ReferencesOperations(service, corpus.links.notes),
        LibraryEditingOperations(editing),
        LibraryResources(service),
        jobs=service.additions,
        search=ReferenceDeskSearch(service),
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
        described,
        {"references": health.check},
        close,
        start,
        {"references": health.probe},
    )
