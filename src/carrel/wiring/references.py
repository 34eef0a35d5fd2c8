"""The references room on CSL-JSON files, with the corpus and the literature services beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.caller import LOCAL_USER, Call
from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.errors import NotFoundError
from carrel.core.health import check_by
from carrel.policy.persistence import not_served, without_home
from carrel.rooms.knowledge.ports import LinkedThing
from carrel.rooms.papers.for_references import PapersForReferences
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.papers.service import CitablePapers
from carrel.rooms.references import ROOM
from carrel.rooms.references.attachment_service import AttachmentService
from carrel.rooms.references.citations import CitationStyles
from carrel.rooms.references.desk_search import ReferenceDeskSearch
from carrel.rooms.references.duplicate_merging import DuplicateMerging
from carrel.rooms.references.former_ids import ForwardingLibraries
from carrel.rooms.references.key_patterns import choose_key_maker
from carrel.rooms.references.key_renaming import KeyRenaming
from carrel.rooms.references.library_changes import LibraryChangeHistory
from carrel.rooms.references.library_editing import LibraryEditing
from carrel.rooms.references.library_organizing import LibraryOrganizing
from carrel.rooms.references.library_works import LibraryWorks
from carrel.rooms.references.lookup_job import KIND, Additions, LookupJob, LookupWaits
from carrel.rooms.references.operations import ReferencesOperations
from carrel.rooms.references.operations_for_care import LibraryCareOperations
from carrel.rooms.references.operations_for_people import LibraryEditingOperations
from carrel.rooms.references.ports import Libraries, LibraryPast
from carrel.rooms.references.resources import LibraryResources
from carrel.rooms.references.service import ReferencesRoom
from carrel.rooms.references.shared.libraries import OwnAndSharedLibraries
from carrel.rooms.references.shared.local_operations import LocalLibraryOperations
from carrel.rooms.references.shared.operations import SharedLibraryOperations
from carrel.rooms.references.shared.service import SharedLibraries
from carrel.rooms.references.upkeep_operations import UpkeepOperations
from carrel.services.attached_files import LocalFiles
from carrel.services.parser_process import ParserProcesses
from carrel.settings import Settings
from carrel.settings.home_rules import refuse_home
from carrel.settings.places import database_files
from carrel.settings.store_rules import need_database_url, refuse_library_files
from carrel.stores.csl_json.lagging_files import LaggingFiles
from carrel.stores.csl_json.library import FileSearch
from carrel.stores.csl_json.library_file import LibraryFile
from carrel.stores.csl_json.library_health import LibraryHealth
from carrel.stores.csl_json.library_history import LibraryHistory
from carrel.stores.csl_json.library_places import LIBRARY_NAME, user_library_path
from carrel.stores.csl_json.shared_files import SharedLibraryFiles
from carrel.stores.csl_json.user_libraries import UserLibraries
from carrel.stores.sql.library_members import SqlMembers
from carrel.wiring.desk import OpenRoom
from carrel.wiring.home import POSTGRES_ACTION, open_driver
from carrel.wiring.jobs import has_jobs, open_jobs
from carrel.wiring.papers import OpenCorpus, open_literature

if TYPE_CHECKING:
    from carrel.stores.sql.driver import Driver
    from carrel.stores.sql.references.attached_files import DatabaseFiles
    from carrel.stores.sql.references.libraries import RowLibraries
    from carrel.stores.sql.references.library import RowSearch
    from carrel.stores.sql.references.snapshots import RowState

# What needs no library, and so is served where libraries are not.
_WITHOUT_LIBRARY = frozenset({"styles", "styles-search"})


def library_path(settings: Settings) -> Path:
    """The library of the local user."""
    return settings.references.library or settings.home / "references" / LIBRARY_NAME


def users_folder(settings: Settings) -> Path:
    """Where everybody else's libraries are, each in a folder of its name."""
    return settings.home / "references" / "users"


def shared_folder(settings: Settings) -> Path:
    """Where shared libraries are, each in a folder of its id."""
    return settings.home / "references" / "shared"


def _is_local_file(settings: Settings, user_id: str | None) -> bool:
    """Whether a file was named for the library of this user."""
    return settings.references.library is not None and user_id in {None, LOCAL_USER}


def open_past(
    settings: Settings, user_id: str | None, shared_library: str | None = None
) -> LibraryPast:
    """The past of the local user's library, of another user's or of a shared one.

    Raises NotFoundError where there is none.
    """
    if shared_library is not None:
        return _open_shared_past(settings, shared_library)
    if not settings.has_library_rows or _is_local_file(settings, user_id):
        return open_library_history(settings, user_id)
    from carrel.stores.sql.references.libraries import personal_name
    from carrel.stores.sql.references.past import RowPast

    return RowPast(partial(open_row_libraries, settings), personal_name(user_id or LOCAL_USER))


def _open_shared_past(settings: Settings, library_id: str) -> LibraryPast:
    if settings.has_library_rows:
        from carrel.stores.sql.references.libraries import shared_name
        from carrel.stores.sql.references.past import RowPast

        return RowPast(partial(open_row_libraries, settings), shared_name(library_id))
    path = shared_folder(settings) / library_id / LIBRARY_NAME
    if path.parent.parent != shared_folder(settings) or not path.is_file():
        raise NotFoundError(
            "Shared library",
            library_id[:200],
            next_step="carrel references all-libraries names them.",
        )
    return LibraryHistory(path)


def open_members(settings: Settings) -> SqlMembers:
    """Who is a member of which shared library; nothing is opened before the first question."""
    return SqlMembers(open_members_driver(settings))


def open_members_driver(settings: Settings) -> Driver:
    """Where members of shared libraries are kept."""
    steps = SqlMembers.schema_steps
    if settings.has_library_rows:
        return open_driver(settings, "library_members", steps)
    # Beside the files, also where a database keeps other things.
    from carrel.stores.sqlite.driver import SqliteDriver

    return SqliteDriver(database_files(settings)["library_members"], steps)


def open_row_libraries(settings: Settings, local: Libraries | None = None) -> RowLibraries:
    """Libraries as rows; nothing is opened before the first statement."""
    from carrel.stores.sql.references.libraries import RowLibraries

    cache = settings.cache_folder / "cache" / "libraries"
    return RowLibraries(open_library_rows(settings), cache, _open_row_search, local)


def open_library_rows(settings: Settings) -> Driver:
    """The database of the libraries, whose tables are made by the first statement."""
    from carrel.stores.sql.references.libraries import RowLibraries

    need_database_url(settings, "references.store is database")
    return open_driver(settings, "references", RowLibraries.schema_steps)


def _open_row_search(
    read_state: Callable[[], RowState], files: DatabaseFiles, folder: Path
) -> RowSearch:
    """The search of one library of rows; the index is loaded at the first search."""
    from carrel.stores.sql.references.search import RowLibrarySearch

    return RowLibrarySearch(read_state, files, folder)


def _refuse_left_files(settings: Settings) -> None:
    """Raises SettingsError where the database would hide libraries in files of the home."""
    own = settings.home / "references" / LIBRARY_NAME
    refuse_library_files(settings, [*([own] if own.exists() else []), *_others_files(settings)])


def _others_files(settings: Settings) -> Iterator[Path]:
    """The libraries in the home but the operator's own."""
    for folder in (users_folder(settings), shared_folder(settings)):
        yield from folder.glob(f"*/{LIBRARY_NAME}")


def _served_files(settings: Settings) -> Iterator[Path]:
    """Every library that is a file with these settings."""
    if not settings.has_library_rows or settings.references.library is not None:
        yield library_path(settings)
    if not settings.has_library_rows:
        yield from _others_files(settings)


def open_library_history(settings: Settings, user_id: str | None) -> LibraryHistory:
    """The past of a library file. NotFoundError without one."""
    if not settings.keeps_home and not _is_local_file(settings, user_id):
        raise refuse_home(settings, "references")
    if user_id is None or user_id == LOCAL_USER:
        return LibraryHistory(library_path(settings))
    path = user_library_path(users_folder(settings), user_id)
    if not path.parent.is_dir():
        raise NotFoundError(
            "Library", user_id, next_step="carrel users list names the users there are."
        )
    return LibraryHistory(path)


def find_library_to_restore(settings: Settings) -> int | None:
    """The version that can replace the operator's library where its file is damaged."""
    try:
        return open_library_history(settings, None).find_damage()
    except OSError:
        return None


def local_operations(settings: Settings) -> LocalLibraryOperations:
    return LocalLibraryOperations(
        partial(open_past, settings), partial(open_members, settings), SystemClock()
    )


def open_search(file: LibraryFile, attachments: Path) -> FileSearch:
    """The search of one library file; the index is loaded at the first search."""
    from carrel.stores.csl_json.search.library_search import LibrarySearch

    return LibrarySearch(file, attachments)


def open_references(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """Nothing is read yet; a missing library is made by the first write."""
    path = library_path(settings)
    chosen = settings.references
    user_files = UserLibraries(path, users_folder(settings), chosen.attachments, open_search)
    rows: RowLibraries | None = None
    if settings.has_library_rows:
        _refuse_left_files(settings)
        rows = open_row_libraries(settings, user_files if chosen.library is not None else None)
    shared_files = SharedLibraryFiles(shared_folder(settings), open_search)
    members = open_members(settings)
    libraries: Libraries = OwnAndSharedLibraries(
        rows or user_files, rows.open_shared if rows is not None else shared_files.open_library
    )
    shared = SharedLibraries(members, rows or shared_files, SystemClock())
    papers = CitablePapers(corpus.service, corpus.place.exists)
    health = LibraryHealth(path)
    literature, parsers, clock = open_literature(settings), ParserProcesses(), SystemClock()
    make_key = choose_key_maker(chosen.key_pattern)
    lookups = LookupJob(
        libraries, literature, clock, make_key, partial(shared.enter, needed="writer")
    )
    jobs = open_jobs(settings, {KIND: lookups}, clock)
    waits = LookupWaits(chosen.lookup_wait_seconds, chosen.task_after_seconds)
    styles, files = CitationStyles(chosen.styles), LocalFiles()
    forwarding = ForwardingLibraries(libraries)
    service = ReferencesRoom(
        forwarding,
        Additions(libraries, papers, parsers, jobs, clock, waits, chosen.import_titles, make_key),
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
        forwarding,
        styles,
        files,
        default_style=chosen.default_style,
        default_locale=chosen.default_locale,
    )

    async def find_reference(name: str, call: Call) -> LinkedThing:
        found = await service.find(name, call)
        return LinkedThing(str(found["id"]), str(found.get("title") or ""))

    corpus.links.things.register(("ref",), "references:read", find_reference)
    if settings.serves_libraries:
        corpus.links.libraries.bind(LibraryWorks(libraries, clock, make_key))

    lagging = LaggingFiles(partial(_served_files, settings))

    async def start() -> None:
        jobs.take_up_work(has_jobs(settings))
        lagging.start()

    async def close() -> None:
        await jobs.close()
        await lagging.close()
        await literature.close()
        await user_files.close()
        await shared_files.close()
        await members.close()
        if rows is not None:
            await rows.close()
        parsers.close()

    described = Room.collect(
        ROOM,
        ReferencesOperations(service, corpus.links.notes),
        LibraryEditingOperations(editing),
        LibraryCareOperations(
            LibraryOrganizing(forwarding, clock), LibraryChangeHistory(libraries, files)
        ),
        UpkeepOperations(
            DuplicateMerging(forwarding, files),
            KeyRenaming(forwarding, chosen.key_pattern),
            AttachmentService(forwarding, files, service.check_allowed),
        ),
        SharedLibraryOperations(shared),
        LibraryResources(service),
        jobs=service.additions,
        search=ReferenceDeskSearch(service),
    )
    described = replace(
        described, operations=tuple(map(shared.admit_members, described.operations))
    )
    if rows is not None:
        return OpenRoom(
            described,
            {"references": check_by(rows.check, POSTGRES_ACTION)},
            close,
            start,
            {"references": check_by(rows.ping, POSTGRES_ACTION)},
        )
    if not settings.keeps_home:
        error = refuse_home(settings, "references")
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
