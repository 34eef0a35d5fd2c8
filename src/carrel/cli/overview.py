"""`carrel` alone: what is on the desk, what is missing or doubtful, and the next command."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from carrel.cli.connections import Connection, find_connections
from carrel.cli.output import say_next_step, show_page
from carrel.cli.page import Fields, Heading, Line, Page, Paragraph, Part, Verbatim
from carrel.cli.value_formats import count_things
from carrel.services.mcp_clients.places import this_machine
from carrel.wiring.inventory import Inventory, Shelf, UnreadFile, take_inventory

_LONGEST_TITLE = 60
_LONGEST_REASON = 120
_SHOWN_FILES = 3
_PORT = 8080
_SECONDS_TO_ANSWER = 0.3
# Variables that change where a desk lies; with any of them the settings are read, which is slower.
_FOREIGN = ("DATABASE_URL", "PAPER_DB_SNAPSHOT_DB", "REFERENCE_MANAGER_LIBRARY", "PORT")
_FIRST_COMMANDS = """carrel add ~/papers
carrel find "blood viscosity"
carrel connect claude-desktop --write"""


def show_overview(home: str | None = None) -> int:
    """Prints the overview; nothing is made, changed or recorded."""
    place, port = _place(home, os.environ)
    inventory = take_inventory(place)
    connections = list(find_connections(this_machine()))
    if inventory.is_empty:
        show_page(_empty_page(place, connections))
        return 0
    show_page(_page(place, inventory, connections, _describe_server(port)))
    say_next_step(_next_command(inventory, connections))
    return 0


def _place(home: str | None, environment: Mapping[str, str]) -> tuple[Path, int]:
    """The home and the server's port; without other settings, at no cost."""
    given = home or environment.get("CARREL_HOME")
    own = [name for name in environment if name.startswith("CARREL_") and name != "CARREL_HOME"]
    if not own and not any(environment.get(name) for name in _FOREIGN):
        import platformdirs

        place = Path(given).expanduser() if given else platformdirs.user_data_path("carrel")
        folders = (Path(), place, platformdirs.user_config_path("carrel"))
        if not any((folder / "carrel.toml").is_file() for folder in folders):
            return place.absolute(), _PORT
    from carrel.settings import read_settings

    settings = read_settings({("home",): home})
    return settings.home, settings.server.port


def _empty_page(home: Path, connections: Sequence[Connection]) -> Page:
    return Page(
        [
            *_describe_other_desks(connections),
            Line(f"Nothing is on the desk yet. Everything will be kept in {home}."),
            Heading("To begin"),
            Verbatim(_FIRST_COMMANDS),
            Paragraph(
                "They add a folder of papers, references and notes, search it, and give it to an "
                "assistant. carrel help lists every command."
            ),
        ]
    )


def _describe_other_desks(connections: Sequence[Connection]) -> list[Part]:
    """The desks of servers that assistants here use, which are not the one in this home."""
    desks: dict[str, set[str]] = {}
    for each in connections:
        if each.address:
            desks.setdefault(each.address, set()).add(each.client.name)
    return [
        Line(f"Assistants here use the desk at {address}: {', '.join(sorted(clients))}.")
        for address, clients in desks.items()
    ]


def _page(home: Path, inventory: Inventory, connections: Sequence[Connection], server: str) -> Page:
    clients = sorted({each.client.name for each in connections if not each.is_program_missing})
    parts: list[Part] = [
        Line(f"The desk in {home}"),
        Fields(
            [
                ("papers", _describe(inventory.papers)),
                ("references", _describe(inventory.references)),
                ("notes", _describe(inventory.notes)),
                ("projects", _describe(inventory.projects)),
                ("assistants", ", ".join(clients) or "none connected"),
                ("server", server),
            ]
        ),
    ]
    doubtful = _doubts(inventory, connections)
    if doubtful:
        parts += [Heading("To look at"), *(Line(each) for each in doubtful)]
    return Page(parts)


def _describe(shelf: Shelf) -> str:
    if not shelf.is_readable:
        return "cannot be read"
    said = f"{shelf.count:,}"
    if shelf.changed_at:
        said += f", changed {shelf.changed_at[:16].replace('T', ' ')}"
    if shelf.newest:
        title = " ".join(shelf.newest.split())
        short = title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
        said += f", last: {short}"
    return said


def _doubts(inventory: Inventory, connections: Sequence[Connection]) -> list[str]:
    found = [f"{problem}: carrel doctor" for problem in inventory.unreadable]
    if inventory.doubtful_papers:
        papers = count_things(inventory.doubtful_papers, "paper")
        found.append(f"{papers} to review: carrel papers review")
    if inventory.unread_files:
        found += _describe_unread(inventory.unread_files)
    if inventory.new_works:
        works = count_things(inventory.new_works, "new work")
        found.append(f"{works} of alerts: carrel alerts digest")
    found += [
        f"{each.client.title} starts {each.way.describe().split(' ')[0]}, which is not there: "
        f"carrel doctor --fix"
        for each in connections
        if each.is_program_missing
    ]
    if not connections:
        found.append("no assistant is connected: carrel connect CLIENT --write")
    return found


def _describe_unread(files: Sequence[UnreadFile]) -> list[str]:
    """How many files lost something, the first of them with the reason, and what helps."""
    told = [f"{count_things(len(files), 'file')} not read, or only in part:"]
    for each in files[:_SHOWN_FILES]:
        reason = " ".join(each.reason.split()).rstrip(".")
        short = reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 1]}…"
        told.append(f"  {Path(each.path).name}: {short}")
    if len(files) > _SHOWN_FILES:
        told.append(f"  and {len(files) - _SHOWN_FILES:,} more")
    told.append(f"  when mended, read again with: carrel add {shlex.quote(files[0].path)}")
    return told


def _next_command(inventory: Inventory, connections: Sequence[Connection]) -> str:
    if inventory.unreadable:
        return "carrel doctor"
    if not inventory.papers.count:
        return "carrel add FOLDER"
    return "carrel find WORDS" if connections else "carrel connect CLIENT --write"


def _describe_server(port: int) -> str:
    """Whether one answers where it usually does; a home does not show those at other ports."""
    address = f"127.0.0.1:{port}"
    if _is_served(port):
        return f"running at {address}"
    return f"no server at {address}; assistants start their own"


def _is_served(port: int) -> bool:
    """Whether a Carrel answers at the usual address of this machine."""
    try:
        with socket.create_connection(("127.0.0.1", port), _SECONDS_TO_ANSWER) as server:
            server.settimeout(_SECONDS_TO_ANSWER)
            server.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return b"healthy" in server.recv(4096)
    except OSError:
        return False
