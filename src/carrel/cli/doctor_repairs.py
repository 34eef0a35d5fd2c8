"""What `carrel doctor --fix` mends. Nothing is removed: what is in the way is moved aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from carrel.cli.connections import Connection
from carrel.cli.doctor_checks import broken_connections, find_closed_modes
from carrel.cli.options import release_home
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError
from carrel.core.health import Health
from carrel.settings import Settings
from carrel.wiring.home_care import find_leftovers, move_aside, readable_by_others
from carrel.wiring.papers import snapshot_path

# `python -m carrel mcp` becomes `carrel mcp`, wherever the program is now.
_MODULE = ("-m", "carrel")


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
    modes = [*find_closed_modes(home), *readable_by_others(home)]
    if modes:
        yield Repair(
            "modes",
            f"give {len(modes):,} files and folders of {home} their usual modes",
            lambda: _mend_modes(dict(modes)),
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
    for each in broken_connections():
        yield Repair(
            f"client {each.client.name}",
            f"name this program in {each.file}",
            lambda each=each: _name_program(each),  # type: ignore[misc]
        )


def mend(repair: Repair) -> Outcome:
    """Tries a repair; one that fails says why, and the others go on."""
    try:
        return Outcome(repair.part, "fixed", repair.mend())
    except CarrelError as error:
        said = f"{error.message.rstrip('.')}. {error.next_step}".strip()
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


def _mend_modes(modes: Mapping[Path, int]) -> str:
    for path, mode in modes.items():
        path.chmod(mode)
    return f"{len(modes):,} files and folders have their usual modes"


def _move_leftovers(home: Path, leftovers: list[Path]) -> str:
    # Only whoever is alone in the home knows that a draft is nobody's.
    release_home()
    return f"{len(leftovers):,} drafts are in {move_aside(home, leftovers, SystemClock())}"


def _has_own_corpus(settings: Settings) -> bool:
    return (snapshot_path(settings).parent / "manifest.json").is_file()


def _make_index(settings: Settings) -> str:
    from carrel.cli.calls import call_local

    call_local(settings, "papers", "index_papers", {})
    return "the index of the papers was made again"


def _name_program(connection: Connection) -> str:
    from carrel.cli.connect.own_program import own_command
    from carrel.cli.connect.ways import Stdio, read_way
    from carrel.wiring.clients import open_client_file

    way = connection.way
    assert isinstance(way, Stdio)
    if not connection.starts_carrel:
        raise CarrelError(f"{way.command} is not Carrel", next_step="Install it.")
    words = way.arguments[2:] if way.arguments[:2] == _MODULE else way.arguments
    entry = connection.client.make_entry(
        connection.name, Stdio(own_command(), tuple(words), way.environment)
    )
    open_client_file(connection.file, connection.client.format).put(
        (*connection.client.keys, connection.name),
        entry,
        replace=True,
        is_same=lambda found: read_way(found) == read_way(entry),
        describe=str,
    )
    return f"{connection.file} starts {own_command()}"
