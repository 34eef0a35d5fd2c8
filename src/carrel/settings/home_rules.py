"""Which data would be kept in the home alone, and how a server refuses them where it may not last.

A home is doubted beside a shared database, on platforms whose instances come and go, and where
`server.replicas` says that there are several servers, unless it is declared persistent.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from carrel.policy.persistence import HomeNotPersistentError
from carrel.settings import Settings, SettingsError
from carrel.settings.places import audit_store

HomeData = Literal[
    "notes", "references", "research", "alerts", "papers", "uploads", "works", "vocabularies"
]
# The room, and how a sentence about the data begins.
_REFUSED: dict[HomeData, tuple[str, str]] = {
    "notes": ("knowledge", "Notes and nodes are"),
    "references": ("references", "References and their files are"),
    "research": ("research", "Research projects are"),
    "alerts": ("literature", "Alerts, notices and completions are"),
    "papers": ("papers", "Added, corrected and removed papers are"),
    "uploads": ("papers", "Uploads are"),
    "works": ("literature", "Works from outside are"),
    "vocabularies": ("research", "Vocabularies are"),
}
_HOME, _DATABASE = "home folder", "PostgreSQL"


@dataclass(frozen=True, slots=True)
class DataPlace:
    """Where one kind of data lives; `is_safe` where an acknowledged write lasts."""

    kind: str
    place: str
    is_safe: bool


def refuse_home(settings: Settings, data: HomeData) -> HomeNotPersistentError:
    """The refusal of data that only the home could keep."""
    room, what = _REFUSED[data]
    return HomeNotPersistentError(
        room, what, because=_doubt(settings), instead=_remedy(settings, data)
    )


def find_refused(settings: Settings) -> list[HomeNotPersistentError]:
    """What the open rooms refuse to keep with these settings; nothing where the home lasts."""
    if settings.keeps_home:
        return []
    refused: list[HomeData] = []
    if settings.knowledge_store == "sqlite":
        refused.append("notes")
    if not settings.has_library_rows:
        refused.append("references")
    if not settings.database.url:
        refused += ["research", "alerts"]
    if not settings.keeps_papers:
        refused.append("papers")
    return [refuse_home(settings, each) for each in refused if _REFUSED[each][0] in settings.rooms]


def refuse_lost_files(settings: Settings) -> None:
    """Raises SettingsError where a setting names a place in a home that may not last."""
    if settings.keeps_home:
        return
    named: dict[str, Path | None] = {
        "references.library": settings.references.library,
        "audit.file": settings.audit_file if audit_store(settings) == "file" else None,
    }
    for setting, file in named.items():
        if file is None or (setting == "audit.file" and not settings.audit.enabled):
            continue
        if file.absolute().is_relative_to(settings.home.absolute()):
            raise SettingsError(
                f"{setting} is {file}, in the home folder, and {_doubt(settings)} nothing says "
                "that this folder lasts",
                next_step=f"Leave {setting} out where DATABASE_URL is set, name a file on a disk "
                "that lasts, or set server.home_is_persistent = true.",
                details={"setting": setting},
            )


def list_data_places(settings: Settings) -> list[DataPlace]:
    """Where each kind of data of the desk lives with these settings."""
    in_database = bool(settings.database.url)
    shared = _DATABASE if in_database else _HOME
    lasts = in_database or settings.keeps_home
    notes = {"sqlite": _HOME, "postgres": _DATABASE, "firestore": "Firestore"}
    papers = settings.papers.corpus_url or settings.papers.snapshot
    has_notes = settings.knowledge_store != "sqlite" or settings.keeps_home
    return [
        DataPlace("notes and nodes", notes[settings.knowledge_store], has_notes),
        DataPlace(
            "libraries, their history and files",
            _DATABASE if settings.has_library_rows else _HOME,
            settings.serves_libraries,
        ),
        *(
            DataPlace(kind, shared, lasts)
            for kind in (
                "research",
                "alerts, notices and completions",
                "background jobs",
                "users, tokens, programs, grants and keys",
            )
        ),
        DataPlace("limits", _DATABASE if in_database else "memory", True),
        DataPlace("audit log", _audit_place(settings), True),
        DataPlace("papers", _HOME if papers is None else str(papers), settings.keeps_papers),
        DataPlace("uploads", settings.papers.corpus_url or _HOME, settings.keeps_papers),
        DataPlace("vocabularies", _HOME, settings.keeps_home),
    ]


def _audit_place(settings: Settings) -> str:
    if not settings.audit.enabled:
        return "nowhere (turned off)"
    match audit_store(settings):
        case "postgres":
            return _DATABASE
        case "stdout":
            return "standard output"
        case "file":
            folder = settings.audit_file.parent
            return _HOME if folder.is_relative_to(settings.home) else str(folder)


def _doubt(settings: Settings) -> str:
    if settings.platform:
        return f"on {settings.platform}, whose instances keep no files of their own,"
    if settings.database.url:
        return "beside a shared database"
    if settings.is_one_of_several:
        return "beside other servers (server.replicas)"
    return "where server.home_is_persistent is false"


def _remedy(settings: Settings, data: HomeData) -> str:
    has_database = bool(settings.database.url)
    match data:
        case "notes" if has_database:
            return "leave knowledge.store at auto, so that the database keeps them"
        case "notes":
            return "set DATABASE_URL, or knowledge.store = firestore"
        case "references" if has_database:
            return "leave references.store at auto, so that the database keeps them"
        case "references" | "research" | "alerts":
            return "set DATABASE_URL"
        case "vocabularies":
            return "name a file that every server has with research.vocabulary"
        case "papers" | "uploads" | "works":
            missing = "papers.corpus_url (an object store or a shared folder)"
            return f"set {missing}" if has_database else f"set DATABASE_URL and {missing}"
