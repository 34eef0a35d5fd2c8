"""What the doctor looks at beside the rooms: settings, the home, its disk, the clock and tools."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from carrel import __version__
from carrel.core.health import Health
from carrel.libraries.csl.archive import ARCHIVE, archive_edition
from carrel.policy.origin import is_loopback
from carrel.settings import Settings
from carrel.settings.home_rules import list_data_places
from carrel.settings.places import audit_store
from carrel.settings.reading import variable_name
from carrel.wiring.desk import sqlite_version
from carrel.wiring.home import is_open_to_others, unserved_files
from carrel.wiring.home_care import find_leftovers

_EXTRAS = {
    "fastmcp": "fastmcp",
    "postgres": "psycopg",
    "semantic": "onnxruntime",
    "elasticsearch": "elasticsearch",
    "firestore": "google.cloud.firestore",
    "objects": "obstore",
}
# How far the clock may be behind what the desk wrote last, before something must be wrong.
_CLOCK_TOLERANCE_SECONDS = 600
_WRITTEN_OFTEN = (
    "audit/audit.jsonl",
    "papers/manifest.json",
    "references/library.json",
    "knowledge.sqlite",
)
_FIX = "carrel doctor --fix"


def check_settings(settings: Settings, address_note: str = "") -> dict[str, Health]:
    """The version, and what the settings name: files, folders, the address and the audit log."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    host = settings.server.host
    return {
        "carrel": Health(True, f"{__version__} on Python {version}, SQLite {sqlite_version()}"),
        "settings": Health(
            True,
            str(settings.source)
            if settings.source
            else "defaults and environment; no carrel.toml found",
        ),
        **_variables(settings),
        "home": _home(settings.home),
        "address": Health(
            is_loopback(host) or settings.auth.mode not in {None, "local"},
            f"{host} port {settings.server.port}{address_note}, "
            f"auth.mode {settings.auth.mode or 'local'}",
            "Listen on 127.0.0.1, or set auth.mode.",
        ),
        "audit": _audit(settings),
        **check_data_places(settings),
        **_folders(settings),
    }


def check_machine(settings: Settings) -> dict[str, Health]:
    """Findings that need no room."""
    home = settings.home
    return {
        **_modes(home),
        "disk": check_disk(home, settings.server.min_free_disk_bytes),
        **_clock(home),
        **_leftovers(home),
        "pdf": _pdf_tools(),
        "styles": _styles(),
        "extras": _extras(),
    }


def find_closed_modes(home: Path) -> Iterator[tuple[Path, int]]:
    """Own files of a home that their owner cannot write, with the mode each should have."""
    own = getattr(os, "geteuid", None)
    if own is None or not home.is_dir():
        return
    for path in (home, *sorted(home.rglob("*"))):
        try:
            facts = path.lstat()
        except OSError:
            # A draft that was finished meanwhile.
            continue
        if path.is_symlink() or facts.st_uid != own():
            continue
        needed = stat.S_IRWXU if path.is_dir() else stat.S_IRUSR | stat.S_IWUSR
        if facts.st_mode & needed != needed and path.suffix != ".pem":
            yield path, stat.S_IMODE(facts.st_mode) | needed


def _modes(home: Path) -> dict[str, Health]:
    closed = [path for path, _ in find_closed_modes(home)]
    if not closed:
        return {}
    count = f"{len(closed):,} {'file or folder' if len(closed) == 1 else 'files or folders'}"
    owner = "its owner" if len(closed) == 1 else "their owner"
    says = f"{count} cannot be written by {owner}: {closed[0]}"
    return {"modes": Health(False, says, f"{_FIX} gives them their usual modes.")}


def check_disk(home: Path, needed: int) -> Health:
    """Whether the disk of a home has the free space that the settings ask for."""
    place = home
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    says = f"{free / 1e9:,.1f} GB free" if free > 1e9 else f"{free / 1e6:,.1f} MB free"
    return Health(free >= needed, says, f"Free some space where {place} lies.")


def _clock(home: Path) -> dict[str, Health]:
    """Only a clock that is behind the desk's own files is told."""
    written = [(home / name).stat().st_mtime for name in _WRITTEN_OFTEN if (home / name).is_file()]
    behind = max(written, default=0.0) - time.time()
    if behind <= _CLOCK_TOLERANCE_SECONDS:
        return {}
    says = f"it is {behind / 3600:,.1f} hours behind what the desk wrote last"
    return {"clock": Health(False, says, "Set the clock of this machine.")}


def _leftovers(home: Path) -> dict[str, Health]:
    found = find_leftovers(home)
    if not found:
        return {}
    says = f"{len(found):,} drafts of writes that were killed or are under way: {found[0]}"
    return {"leftovers": Health(True, says, f"{_FIX} moves them aside.", note="leftovers")}


def _pdf_tools() -> Health:
    if importlib.util.find_spec("pypdfium2") is None:
        return Health(False, "pypdfium2 is missing, so no PDF can be read", "Install Carrel again.")
    version = importlib.metadata.version("pypdfium2")
    scans = "tesseract reads scans" if shutil.which("tesseract") else "no tesseract for scans"
    return Health(True, f"pypdfium2 {version}, {scans}")


def _styles() -> Health:
    try:
        edition = archive_edition()
    except OSError:
        edition = None
    if edition is None:
        return Health(False, f"{ARCHIVE} is missing or damaged", "Install Carrel again.")
    return Health(True, f"citation styles of {edition}")


def _extras() -> Health:
    there = [name for name, module in _EXTRAS.items() if _is_installed(module)]
    missing = [name for name in _EXTRAS if name not in there]
    return Health(
        True,
        f"installed: {', '.join(there) or 'none'}; not installed: {', '.join(missing) or 'none'}",
    )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _folders(settings: Settings) -> dict[str, Health]:
    """The folders that settings name, where one of them is not there."""
    named = {
        "papers.allowed_folders": settings.papers.allowed_folders,
        "papers.watch": settings.papers.watch,
        "references.allowed_folders": settings.references.allowed_folders,
    }
    missing = {
        name: [str(folder) for folder in folders if not folder.expanduser().is_dir()]
        for name, folders in named.items()
    }
    return {
        name: Health(
            False,
            f"{', '.join(folders)}: there is no such folder",
            f"Make it, or correct {name}; in {variable_name(tuple(name.split('.')))} folders are "
            f"separated by commas or written as a JSON list.",
        )
        for name, folders in missing.items()
        if folders
    }


def _audit(settings: Settings) -> Health:
    if not settings.audit.enabled:
        return Health(True, "turned off")
    match audit_store(settings):
        case "file":
            return _writable(
                settings.audit_file.parent,
                "Name another file with audit.file, or mend the rights of the folder.",
            )
        case "postgres":
            return Health(True, "in PostgreSQL")
        case "stdout":
            return Health(True, "on standard output of the server; whoever collects that keeps it")


def check_data_places(settings: Settings) -> dict[str, Health]:
    """Where every kind of data lives, one finding for each place and one for what is refused."""
    places: dict[str, list[str]] = {}
    refused = []
    for each in list_data_places(settings):
        if each.is_safe:
            places.setdefault(each.place, []).append(each.kind)
        else:
            refused.append(each.kind)
    findings = {
        f"data in {place}": Health(True, "; ".join(kinds)) for place, kinds in places.items()
    }
    if refused:
        database = "" if settings.database.url else ", or set DATABASE_URL"
        findings["data refused"] = Health(
            True,
            f"only this home would keep it: {'; '.join(refused)}",
            "Mount one persistent folder for all replicas and set server.home_is_persistent = "
            f"true{database}.",
            note="refused",
        )
    return findings


def check_unserved(settings: Settings) -> dict[str, Health]:
    """What lies in files of the home and is not served, because a database is named."""
    return {
        f"home: {what}": Health(
            False,
            f"{file} holds {what} that are not served, because DATABASE_URL is set",
            f"Start without DATABASE_URL to use them, or move {file} away where they are no "
            f"longer wanted.",
        )
        for what, file in unserved_files(settings).items()
    }


def _variables(settings: Settings) -> dict[str, Health]:
    return {
        f"variable {name}": Health(
            False,
            "is not a setting and is ignored",
            f"Rename it to {nearest}."
            if nearest
            else "Unset it; docs/reference.md lists every variable.",
        )
        for name, nearest in settings.unknown_variables.items()
    }


def _home(home: Path) -> Health:
    """Commands close the home of their own account, so one still open belongs to another."""
    if not is_open_to_others(home):
        return _writable(home)
    return Health(
        False,
        f"{home} can be read by other accounts of this machine",
        f"Run chmod -R go-rwx {home} as the account that owns it.",
    )


def _writable(
    folder: Path, action: str = "Choose another place with --home or CARREL_HOME."
) -> Health:
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if os.access(place, os.W_OK):
        return Health(True, f"{folder}{'' if folder.exists() else ' (made on first use)'}")
    return Health(False, f"{folder} cannot be written", action)
