"""What the doctor looks at beside the rooms: this machine, its disk, clock, tools and clients."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from carrel.cli.connections import Connection, find_connections
from carrel.cli.value_formats import count_things
from carrel.core.health import Health
from carrel.libraries.csl.archive import ARCHIVE, archive_edition
from carrel.services.mcp_clients.places import this_machine
from carrel.settings import Settings
from carrel.wiring.home_care import find_leftovers

_EXTRAS = {
    "fastmcp": "fastmcp",
    "postgres": "psycopg",
    "semantic": "onnxruntime",
    "elasticsearch": "elasticsearch",
    "firestore": "google.cloud.firestore",
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


def check_machine(settings: Settings) -> dict[str, Health]:
    """Findings that need no room."""
    home = settings.home
    return {
        **_modes(home),
        "disk": _disk(home, settings.server.min_free_disk_bytes),
        **_clock(home),
        **_leftovers(home),
        "pdf": _pdf_tools(),
        "styles": _styles(),
        "extras": _extras(),
        **_assistants(),
    }


def is_port_taken(host: str, port: int) -> bool:
    """Whether something answers where the server would listen."""
    try:
        with socket.create_connection((host, port), timeout=0.3):
            return True
    except (OSError, OverflowError):
        return False


def broken_connections() -> list[Connection]:
    """Entries of clients whose program is not there."""
    return [each for each in find_connections(this_machine()) if each.is_program_missing]


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
    count = count_things(len(closed), "file or folder", "files or folders")
    owner = "its owner" if len(closed) == 1 else "their owner"
    says = f"{count} cannot be written by {owner}: {closed[0]}"
    return {"modes": Health(False, says, f"{_FIX} gives them their usual modes.")}


def _disk(home: Path, needed: int) -> Health:
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


def _assistants() -> dict[str, Health]:
    found = list(find_connections(this_machine()))
    broken = {
        f"client {each.client.name}": Health(
            False,
            f"{each.file} starts {each.way.describe().split(' ')[0]}, which is not there",
            f"{_FIX} names this program instead." if each.starts_carrel else "Install it.",
        )
        for each in found
        if each.is_program_missing
    }
    well = sorted({each.client.name for each in found if not each.is_program_missing})
    if not broken:
        says = f"connected: {', '.join(well)}" if well else "none connected"
        step = "" if well else "carrel connect CLIENT --write connects one."
        return {"assistants": Health(True, says, step, note="" if well else "none")}
    return broken
