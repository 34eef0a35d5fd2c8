"""Locations of embedded data: the home folder and folders named in the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from carrel.stores.backup.archive import is_archive
from carrel.stores.backup.backup_list import BACKUPS_FOLDER_NAME
from carrel.stores.backup.collection import FoundFile
from carrel.stores.backup.corpora import is_in_segments, is_manifest_draft
from carrel.stores.backup.database import DATABASE_PREFIX
from carrel.stores.backup.restore_journal import Root, is_reserved
from carrel.stores.corpus import MANIFEST_NAME, SEGMENTS_NAME
from carrel.stores.csl_json.library_places import LIBRARY_NAME, attachments_folder
from carrel.stores.csl_json.prepared_file import PREPARED
from carrel.stores.json_lines.audit import audit_files
from carrel.stores.paper_map import MAP_NAME
from carrel.stores.sqlite.papers import INBOX_NAME, SNAPSHOT_NAME, STATIC_NAME, SUMMARIES_NAME
from carrel.stores.sqlite.schema import is_upgrade_copy

SETTINGS_NAME = "carrel.toml"
STAGED_DATABASE_NAME = ".carrel-database"
BUILD_NAME = ".carrel-build"
# Not left out: a corpus of segments is listed by its manifest when it is carried.
CARRIED_WITH_MANIFEST = "carried with the manifest that lists it"
_AUDIT = PurePosixPath("audit.jsonl")
_BY_ITSELF = "made again by itself"
_OF_CORPUS = (INBOX_NAME, SUMMARIES_NAME, BUILD_NAME, MANIFEST_NAME, SEGMENTS_NAME, MAP_NAME)
_BACKUP_SUFFIXES = {".gz", ".tgz", ".part"}


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with names that are ours: for each name in an archive, the name here."""

    prefix: str
    folder: Path
    names: dict[str, str]

    def name_here(self, archived: str) -> str:
        return self.names.get(archived, archived)


@dataclass(frozen=True, slots=True)
class AuditPlace(Place):
    """The audit log; its full files carry the time in their names."""

    def name_here(self, archived: str) -> str:
        here = PurePosixPath(self.names[_AUDIT.name])
        return f"{here.stem}{archived.removeprefix(_AUDIT.stem).removesuffix(_AUDIT.suffix)}{here.suffix}"  # noqa: E501


class Places:
    """The home folder, the places beside it, and which of them are outside."""

    def __init__(
        self,
        *,
        home: Path,
        snapshot: Path,
        static: Path | None,
        library: Path,
        attachments: Path | None,
        audit_file: Path,
    ) -> None:
        """Texts and attachments that are not set lie beside the snapshot and the library."""
        self.home = home.absolute()
        self.audit_file = audit_file.absolute()
        snapshot = snapshot.absolute()
        static = (static or snapshot.parent / STATIC_NAME).absolute()
        attachments = (attachments or attachments_folder(library.absolute())).absolute()
        library = self._follow_link(library.absolute())
        every_place = (
            Place(
                "papers",
                snapshot.parent,
                {
                    SNAPSHOT_NAME: snapshot.name,
                    **{name: name for name in _OF_CORPUS},
                },
            ),
            Place("static", static.parent, {STATIC_NAME: static.name}),
            Place(
                "library",
                library.parent,
                {
                    LIBRARY_NAME: library.name,
                    f".{LIBRARY_NAME}.carrel": f".{library.name}.carrel",
                },
            ),
            Place("attachments", attachments.parent, {"attachments": attachments.name}),
            AuditPlace("audit", self.audit_file.parent, {_AUDIT.name: self.audit_file.name}),
        )
        self.by_prefix = {place.prefix: place for place in every_place}

    @property
    def outside(self) -> list[Place]:
        return [place for place in self.by_prefix.values() if not self._is_inside(place.folder)]

    def audit_log(self) -> list[FoundFile]:
        """The files of the audit log, oldest first, with their names in an archive."""
        files = audit_files(self.audit_file)
        if self._is_inside(self.audit_file.parent):
            folder = self.audit_file.parent.resolve().relative_to(self.home.resolve())
            return [FoundFile(file, f"home/{PurePosixPath(folder) / file.name}") for file in files]
        stem, suffix = self.audit_file.stem, self.audit_file.suffix
        middles = [file.name.removeprefix(stem).removesuffix(suffix) for file in files]
        return [
            FoundFile(file, f"audit/{_AUDIT.stem}{middle}{_AUDIT.suffix}")
            for file, middle in zip(files, middles, strict=True)
        ]

    def locate(self, archived: str) -> tuple[Path, PurePosixPath]:
        """Where a file of an archive belongs now: a folder, and the path below it."""
        prefix, *parts = archived.split("/")
        if prefix == "home":
            return self.home, PurePosixPath(*parts)
        if prefix == DATABASE_PREFIX:
            # Beside the home for a moment: from there it goes into the database.
            return self.home, PurePosixPath(STAGED_DATABASE_NAME, *parts)
        place = self.by_prefix[prefix]
        relative = PurePosixPath(place.name_here(parts[0]), *parts[1:])
        if self._is_inside(place.folder):
            return self.home, PurePosixPath(
                place.folder.resolve().relative_to(self.home.resolve())
            ) / relative
        return place.folder, relative

    def roots(self, archived: list[str]) -> list[Root]:
        """The folders that the files of an archive go to; outside the home only our names."""
        folders = {self.home: self._names_at_home(archived)}
        used = {name.partition("/")[0] for name in archived}
        for place in self.outside:
            if place.prefix in used:
                owned = self._names_of(place)
                folders[place.folder] = [*folders.get(place.folder, ()), *owned]
        return [Root(folder, tuple(owned)) for folder, owned in folders.items()]

    def _names_at_home(self, archived: list[str]) -> list[str]:
        """What is replaced; settings and backups stay where the archive brings none."""
        names = [path.name for path in self.home.iterdir()] if self.home.is_dir() else []
        brought = {name.removeprefix("home/").partition("/")[0] for name in archived}
        kept = {SETTINGS_NAME, BACKUPS_FOLDER_NAME} - brought
        return [name for name in names if not is_reserved(name) and name not in kept]

    def _names_of(self, place: Place) -> list[str]:
        if isinstance(place, AuditPlace):
            return [file.name for file in audit_files(self.audit_file)]
        names = list(place.names.values())
        if place.prefix == "papers":
            snapshot = place.names[SNAPSHOT_NAME]
            names += [f"{snapshot}{suffix}" for suffix in (".index", "-wal", "-shm")]
        return names

    def _follow_link(self, library: Path) -> Path:
        """The file behind a link outside of the home; what is linked inside is carried as is."""
        return library if self._is_inside(library.parent) else library.resolve()

    def _is_inside(self, folder: Path) -> bool:
        return folder.resolve().is_relative_to(self.home.resolve())


def _why_not_of_home(name: str) -> str | None:
    """Why a file or folder of this name, in the home itself, is not archived."""
    if name == "uploads":
        return "files that callers are sending; they send them again"
    is_made_again = name == "cache" or name.startswith(("search.sqlite", "limits.sqlite"))
    return _BY_ITSELF if is_made_again else None


def why_left_out(
    home: Path, audit_file: Path, but: frozenset[Path]
) -> Callable[[Path], str | None]:
    """A function that says why a file is not archived; `but` are files being written."""
    audit_lock = audit_file.with_name(f"{audit_file.name}.lock")
    audit_count = audit_file.with_name(f"{audit_file.stem}.count")

    def why_not(path: Path) -> str | None:
        name, folder = path.name, path.parent.name
        is_at_home = path.parent == home
        if path in but or (is_at_home and is_reserved(name)):
            return "of backup and restore themselves"
        if is_at_home and (reason := _why_not_of_home(name)):
            return reason
        if is_at_home and name.startswith(".") and name.endswith(".lock"):
            return "only of use while something runs"
        is_concepts = path.parent == home / "research" and name.startswith("concepts-")
        if is_concepts or _is_library_index(path):
            return _BY_ITSELF
        if is_index(path):
            return "made again by carrel restore"
        if is_in_segments(path):
            return CARRIED_WITH_MANIFEST
        if is_manifest_draft(path) or name.startswith(f".{MAP_NAME}."):
            return "only of use while something runs"
        is_draft = folder == BUILD_NAME and name.startswith(("draft.db", "lock.db"))
        is_lock = (
            folder.startswith(".") and folder.endswith(".carrel") and name == "lock"
        ) or path in {audit_lock, audit_count}
        is_draft = is_draft or (folder.endswith(".carrel") and name.startswith(PREPARED))
        is_lock = is_lock or (folder == "anchors" and name.endswith(".anchors.jsonl.lock"))
        if is_draft or is_lock:
            return "only of use while something runs"
        if is_upgrade_copy(name):
            return "a copy of before an upgrade"
        if path.suffix in _BACKUP_SUFFIXES and path.is_file() and is_archive(path):
            return "an earlier backup"
        return None

    return why_not


def _is_library_index(path: Path) -> bool:
    """Whether it is the folder of the search index beside a library."""
    folder = path.parent.name
    return path.name == "search" and folder.startswith(".") and folder.endswith(".carrel")


def is_index(path: Path) -> bool:
    """Whether this is the folder of indexes beside a snapshot."""
    return path.suffix == ".index" and path.is_dir() and path.with_suffix("").is_file()
