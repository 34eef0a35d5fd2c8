"""`carrel connect --list`: which clients are here, and to which desk each is connected."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from carrel.cli.json_output import show_json
from carrel.cli.output import is_drawn, show_page
from carrel.cli.page import Line, Note, Page, Part, Table, dim
from carrel.core.errors import CarrelError
from carrel.libraries.configuration import find_entry
from carrel.services.mcp_clients.clients import CLIENTS, WITHOUT_FILE, Client
from carrel.services.mcp_clients.places import Machine
from carrel.services.mcp_clients.ways import Http, Stdio, Way, bridged_address, is_ours, read_way
from carrel.wiring.clients import open_client_file

_COLUMNS = ("client", "installed", "connected to", "program", "file")
_FIELDS = ("client", "is_installed", "connected_to", "program", "file")
_UNREADABLE, _MISSING = "unreadable", "missing: "
_IN_DATABASE = f"its settings are in its own database: carrel connect {WITHOUT_FILE}"


def list_clients(machine: Machine, wanted: str, *, is_json: bool = False) -> int:
    """Print one row for each client, or for each of its entries that leads to a desk."""
    rows = [row for client in CLIENTS.values() for row in _rows(client, machine, wanted)]
    rows.append((WITHOUT_FILE, "-", "-", "-", _IN_DATABASE))
    if is_json:
        show_json([_facts(row) for row in rows])
    elif is_drawn(sys.stdout):
        show_page(_page(rows))
    else:
        show_page(Page([Table(_COLUMNS, rows)]))
    return 0


def _page(rows: list[tuple[str, ...]]) -> Page:
    """For a terminal: who is connected to what, and below that where it is written."""
    parts: list[Part] = [Table(_COLUMNS[:3], [row[:3] for row in rows])]
    for client, _, target, program, file in rows:
        if target != "-":
            parts += [
                Line((client, ": ", dim(_short(file)))),
                Line(_start(target, program), indent=2),
            ]
    return Page((*parts, Note(f"{WITHOUT_FILE}: {_IN_DATABASE}")))


def _start(target: str, program: str) -> str:
    """What the client starts, or why it cannot."""
    if program == "-":
        return "opens the address"
    is_wrong = target == _UNREADABLE or program.startswith(_MISSING)
    return program if is_wrong else f"starts {_short(program)}"


def _short(path: str) -> str:
    """A path below the home folder as it is typed."""
    home = f"{Path.home()}{os.sep}"
    return f"~{os.sep}{path.removeprefix(home)}" if path.startswith(home) else path


def _facts(row: tuple[str, ...]) -> dict[str, object]:
    """A row as a record: what is not known is null."""
    values: list[object] = [None if cell == "-" else cell for cell in row]
    values[1] = {"yes": True, "no": False}.get(row[1])
    return dict(zip(_FIELDS, values, strict=True))


def _rows(client: Client, machine: Machine, wanted: str) -> Iterator[tuple[str, ...]]:
    installed = "yes" if client.is_installed(machine) else "no"
    is_shown = False
    # In the home folder a project's file is the person's own: each is shown once.
    for file in dict.fromkeys(client.file(machine, scope) for scope in client.scopes):
        if not file.exists():
            continue
        try:
            found = list(_entries(client, file, wanted))
        except (CarrelError, OSError) as error:
            is_shown = True
            yield client.name, installed, _UNREADABLE, _reason(error), str(file)
            continue
        for name, way in found:
            is_shown = True
            label = client.name if name == wanted else f"{client.name} ({name})"
            yield label, installed, _target(way), _program(way), str(file)
    if not is_shown:
        yield client.name, installed, "-", "-", str(client.file(machine))


def _entries(client: Client, file: Path, wanted: str) -> Iterator[tuple[str, Way]]:
    servers = find_entry(open_client_file(file, client.format).read(), client.keys)
    for name, entry in servers.items() if isinstance(servers, dict) else ():
        way = read_way(entry)
        if way is not None and is_ours(str(name), way, wanted):
            yield str(name), way


def _target(way: Way) -> str:
    if isinstance(way, Http):
        return way.url
    if address := bridged_address(way):
        return address
    if "--home" in way.arguments[:-1]:
        return way.arguments[way.arguments.index("--home") + 1]
    return "the usual home"


def _program(way: Way) -> str:
    if not isinstance(way, Stdio):
        return "-"
    return way.command if shutil.which(way.command) else f"{_MISSING}{way.command}"


def _reason(error: CarrelError | OSError) -> str:
    return error.message if isinstance(error, CarrelError) else str(error.strerror or error)
