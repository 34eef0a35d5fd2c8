"""What `carrel doctor --fix` mends. Nothing is removed: what is in the way is moved aside."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from carrel.cli.connections import Connection
from carrel.cli.doctor_checks import broken_connections
from carrel.cli.errors import SHOW_CAUSE
from carrel.cli.options import release_home
from carrel.cli.value_formats import count_things
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError, InternalError, UnavailableError
from carrel.core.health import Health
from carrel.rooms.papers.errors import DamagedCorpusError
from carrel.settings import Settings
from carrel.wiring.home_care import find_leftovers, move_aside, readable_by_others
from carrel.wiring.machine_checks import find_closed_modes
from carrel.wiring.papers import snapshot_path
from carrel.wiring.references import find_library_to_restore

_PROGRAM_KEYS = ("command", "cmd", "args")


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that can be mended; `mend` returns what was done."""

    part: str
    plan: str
    mend: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a repair."""

    part: str
    state: str
    says: str


def find_repairs(settings: Settings, findings: Mapping[str, Health]) -> Iterator[Repair]:
    """What can be mended of what was found."""
    home = settings.home
    modes = _find_modes(home)
    if modes:
        yield Repair(
            "modes",
            f"give {_count_files(modes)} of {home} the usual modes",
            lambda: _mend_modes(home),
        )
    leftovers = find_leftovers(home)
    if leftovers:
        yield Repair(
            "leftovers",
            f"move {len(leftovers):,} drafts of killed writes aside",
            lambda: _move_leftovers(home, leftovers),
        )
    papers = findings.get("papers")
    if papers is not None and not papers.is_well and _has_own_corpus(settings):
        yield Repair(
            "papers",
            "make the index of the papers again from their records",
            lambda: _make_index(settings),
        )
    references = findings.get("references")
    if references is not None and not references.is_well:
        version = find_library_to_restore(settings)
        if version is not None:
            yield Repair(
                "references",
                f"move the damaged library aside and put back version {version} of it",
                partial(_restore_library, settings, version),
            )
    for each in broken_connections():
        if each.starts_carrel:
            yield Repair(
                f"client {each.client.name}",
                f"name this program in {each.file}",
                partial(_name_program, each),
            )


def mend(repair: Repair) -> Outcome:
    """Tries a repair; one that fails says why, and the others go on."""
    try:
        return Outcome(repair.part, "fixed", repair.mend())
    except CarrelError as error:
        # Here is no server whose log has the cause.
        step = f"{SHOW_CAUSE}." if isinstance(error, InternalError) else error.next_step
        said = f"{error.message.rstrip('.')}. {step}".strip()
        return Outcome(repair.part, "could not", f"{repair.plan}: {said}")
    except OSError as error:
        return Outcome(repair.part, "could not", f"{repair.plan}: {error}")


def list_unmendable(findings: Mapping[str, Health], mended: set[str]) -> list[Outcome]:
    """What is not well and has no repair, with what a person can do."""
    return [
        Outcome(name, "left", f"{finding.says}. {finding.next_step}".strip())
        for name, finding in findings.items()
        if not finding.is_well and name not in mended
    ]


def _find_modes(home: Path) -> dict[Path, int]:
    modes = dict(find_closed_modes(home))
    for path, mode in readable_by_others(home):
        modes[path] = modes.get(path, mode) & stat.S_IRWXU
    return modes


def _mend_modes(home: Path) -> str:
    mended: set[Path] = set()
    # What a closed folder holds is seen when it is open.
    while modes := {path: mode for path, mode in _find_modes(home).items() if path not in mended}:
        for path, mode in modes.items():
            path.chmod(mode)
        mended |= modes.keys()
    return f"{_count_files(mended)} {'has' if len(mended) == 1 else 'have'} the usual modes"


def _count_files(modes: Sized) -> str:
    return count_things(len(modes), "file or folder", "files and folders")


def _move_leftovers(home: Path, leftovers: list[Path]) -> str:
    # Only whoever is alone in the home knows that a draft is nobody's.
    release_home()
    return f"{len(leftovers):,} drafts are in {move_aside(home, leftovers, SystemClock())}"


def _has_own_corpus(settings: Settings) -> bool:
    return (snapshot_path(settings).parent / "manifest.json").is_file()


def _make_index(settings: Settings) -> str:
    from carrel.cli.calls import call_local

    if settings.papers.corpus_url is not None:
        call_local(settings, "papers", "fetch_papers", {"check": True})
        return "what was damaged of the published corpus was fetched again"
    try:
        call_local(settings, "papers", "index_papers", {})
    except DamagedCorpusError as error:
        raise _move_corpus(settings, error) from error
    return "the index of the papers was made again"


def _restore_library(settings: Settings, version: int) -> str:
    from carrel.cli.calls import call_local

    restored = call_local(settings, "references", "restore_library", {"version": version})
    count = count_things(restored.references or 0, "reference", "references")
    return (
        f"version {version} with {count} was put back; the damaged file is beside it, its name "
        f"ends in .damaged and the time"
    )


def _move_corpus(settings: Settings, damage: DamagedCorpusError) -> UnavailableError:
    """Moves a corpus aside whose records are damaged; the error says where and what is next."""
    folder = snapshot_path(settings).parent
    if not folder.is_relative_to(settings.home):
        return damage
    # Only whoever is alone in the home may take the corpus away.
    release_home()
    aside = move_aside(settings.home, [folder], SystemClock()) / folder.relative_to(settings.home)
    return UnavailableError(
        "the records themselves are damaged",
        next_step=f"carrel restore FILE --force puts a backup in place; or carrel papers build "
        f"FOLDER reads the papers again from each folder they came from. What was damaged is in "
        f"{aside}.",
    )


def _name_program(connection: Connection) -> str:
    from carrel.cli.connect.own_program import own_command
    from carrel.services.mcp_clients.ways import OWN_MODULE, Stdio, read_way
    from carrel.wiring.clients import open_client_file

    way = connection.way
    assert isinstance(way, Stdio)
    words = way.arguments[2:] if way.arguments[:2] == OWN_MODULE else way.arguments
    entry = connection.client.make_entry(
        connection.name, Stdio(own_command(), tuple(words), way.environment)
    )
    place = (*connection.client.keys, connection.name)
    file = open_client_file(connection.file, connection.client.format)
    kept = file.entry(place)
    if isinstance(kept, dict):
        # What a person added to the entry or turned off in it stays.
        entry |= {**kept, **{key: entry[key] for key in _PROGRAM_KEYS if key in entry}}
    file.put_entry(
        place,
        entry,
        replace=True,
        is_same=lambda found: read_way(found) == read_way(entry),
        describe=str,
    )
    return f"{connection.file} starts {own_command()}"
