"""Moves what an embedded home keeps into a database."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.caller import LOCAL_USER, library_name
from carrel.core.errors import NotFoundError
from carrel.settings import Settings
from carrel.settings.places import database_files
from carrel.settings.store_rules import need_psycopg
from carrel.stores.backup.errors import RestoreUnderWayError
from carrel.stores.csl_json.library_places import LIBRARY_NAME, attachments_folder
from carrel.stores.home.lock import has_unfinished_restore, hold_home_alone
from carrel.stores.home.owners import find_owners
from carrel.stores.home.vocabularies import vocabulary_files
from carrel.stores.json_lines.audit import audit_files
from carrel.stores.note_folders import FILE_NAME
from carrel.wiring.audit import anchor_places
from carrel.wiring.references import library_path, shared_folder, users_folder
from carrel.wiring.vocabularies import vocabulary_folder

if TYPE_CHECKING:
    from carrel.stores.postgres.moving.kinds import Kind, MovedKind
    from carrel.stores.postgres.moving.libraries import LibraryPlace

# What the parts are called for people, in the order in which they move.
_PART_NAMES = {
    "access": "people and access",
    "research": "research",
    "literature": "alerts and completions",
    "jobs": "jobs",
    "quotas": "quotas",
    "library_members": "members of shared libraries",
}
_SETTINGS = (
    'knowledge.store = "postgres"',
    'references.store = "database"',
)


@dataclass(frozen=True, slots=True)
class Move:
    """What was done with each kind, what stays in the home, and the settings from now on."""

    kinds: tuple[MovedKind, ...]
    stays: tuple[str, ...]
    settings: tuple[str, ...] = _SETTINGS


def check_move(settings: Settings, url: str, report: Callable[[str], None]) -> Move:
    """What a move would copy; changes neither the home nor the database."""
    from carrel.stores.postgres.moving.kinds import look_at_kind

    return _each_kind(settings, url, look_at_kind, report)


def move_home(settings: Settings, url: str, report: Callable[[str], None]) -> Move:
    """Copies everything that the database can keep; what arrived before is not copied again."""
    need_psycopg()
    from carrel.stores.postgres import migration
    from carrel.stores.postgres.moving.kinds import move_kind

    with _hold_home(settings):
        migration.migrate_database(url)
    return _each_kind(settings, url, move_kind, report)


def _each_kind(
    settings: Settings,
    url: str,
    handle: Callable[[str, Kind], MovedKind],
    report: Callable[[str], None],
) -> Move:
    need_psycopg()
    done = []
    with _hold_home(settings), tempfile.TemporaryDirectory(prefix="carrel-move-") as name:
        for kind in _kinds(settings, Path(name)):
            report(kind.name)
            done.append(handle(url, kind))
    return Move(tuple(done), tuple(_what_stays(settings)))


@contextmanager
def _hold_home(settings: Settings) -> Iterator[None]:
    """The home alone; raises HomeInUseError while a server or a command uses it."""
    home = settings.home
    if not home.is_dir():
        raise NotFoundError("Home folder", str(home), next_step="Name it with --home.")
    if has_unfinished_restore(home):
        raise RestoreUnderWayError(home)
    with hold_home_alone(home):
        yield


def _kinds(settings: Settings, scratch: Path) -> Iterator[Kind]:
    """Each kind, with copies of its files made when it is its turn."""
    from carrel.stores.postgres.database import PostgresDatabase
    from carrel.stores.postgres.moving.audit_log import move_audit_log
    from carrel.stores.postgres.moving.libraries import move_libraries
    from carrel.stores.postgres.moving.notes import move_nodes, move_notes
    from carrel.stores.postgres.moving.rows import move_part
    from carrel.stores.postgres.moving.scratch import copy_database
    from carrel.stores.postgres.parts import DATABASE_PARTS
    from carrel.stores.sqlite.knowledge import STEPS

    files = database_files(settings)
    for part, name in _PART_NAMES.items():
        copy = copy_database(files[part], DATABASE_PARTS[part].steps, scratch / part)
        yield move_part(part, name, copy)
    notes = copy_database(files["knowledge"], STEPS, scratch / "knowledge")
    # Only makes the statements; nothing is opened.
    statements = PostgresDatabase("", "knowledge", ())
    yield move_notes(notes, statements)
    yield move_nodes(notes, statements)
    copies = {part: scratch / part / file.name for part, file in files.items()}
    yield move_libraries(list(_libraries(settings, scratch / "libraries", find_owners(copies))))
    if audit_files(settings.audit_file):
        yield move_audit_log(
            settings.audit_file,
            anchor_places(settings),
            has_key_of_its_own=settings.audit.signing_key is None,
        )


def _libraries(settings: Settings, scratch: Path, people: set[str]) -> Iterator[LibraryPlace]:
    from carrel.stores.postgres.moving.libraries import LibraryPlace
    from carrel.stores.postgres.moving.scratch import copy_library
    from carrel.stores.sql.references.libraries import personal_name, shared_name
    from carrel.stores.sql.references.statements import LibraryName

    own, chosen = library_path(settings), settings.references
    if own.exists() and chosen.library is None:
        attachments = chosen.attachments or attachments_folder(own)
        copy = copy_library(own, scratch / "own")
        yield LibraryPlace(personal_name(LOCAL_USER), copy, attachments)
    found = sorted(users_folder(settings).glob(f"*/{LIBRARY_NAME}"))
    owners = {library_name(user): user for user in people}
    for file in found:
        folder = file.parent.name
        name = LibraryName(f"own-{folder}", "personal", owners.get(folder, ""))
        yield LibraryPlace(name, copy_library(file, scratch / folder), attachments_folder(file))
    for file in sorted(shared_folder(settings).glob(f"*/{LIBRARY_NAME}")):
        copy = copy_library(file, scratch / "shared" / file.parent.name)
        yield LibraryPlace(shared_name(file.parent.name), copy, attachments_folder(file))


def _what_stays(settings: Settings) -> Iterator[str]:
    home = settings.home
    if (home / "papers").is_dir():
        yield "papers: the corpus, its texts and the files of added papers"
    if settings.references.library is not None:
        yield f"the library that references.library names ({settings.references.library})"
    if (home / FILE_NAME).exists():
        yield "folders of notes that are synced by hand"
    if vocabulary_files(vocabulary_folder(settings)):
        yield "vocabularies: name one at every server with research.vocabulary"
    yield "settings, secrets of this machine, caches, uploads under way"
