"""`carrel connect --check`: start what a client's file says, or open its address, and ask it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from carrel.cli.output import show, show_page
from carrel.cli.page import Fields, Page
from carrel.core.errors import UnauthenticatedError, UnavailableError
from carrel.policy.origin import is_loopback
from carrel.services.mcp_clients.clients import Client
from carrel.services.mcp_clients.places import Machine
from carrel.services.mcp_clients.ways import Http, Stdio, Way, read_way
from carrel.wiring.clients import EntryMissingError, open_client_file, probe_address, probe_command

if TYPE_CHECKING:
    from carrel.services.mcp_probe import ProbeError, ProbeReport

# As long as Claude Desktop waits; the bridge may have to be fetched first.
_WAIT_SECONDS = 60.0
_SHOWN_TOOLS = 8
_CREDENTIAL_KINDS = frozenset({"credentials", "login", "token_missing", "token_refused"})
# What desktop programs hand down; all else, such as CARREL_HOME, is not there for them.
_HANDED_DOWN = (
    "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "TMP", "TEMP", "APPDATA", "LOCALAPPDATA",
    "USERPROFILE", "SYSTEMROOT", "SYSTEMDRIVE", "PROGRAMFILES", "HOMEDRIVE", "HOMEPATH", "PATHEXT",
    "COMSPEC", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HTTP_PROXY", "HTTPS_PROXY",
    "NO_PROXY",
)  # fmt: skip
_POOR_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


@dataclass(frozen=True, slots=True)
class CheckedWay:
    """A way to a desk that was used, and what came back."""

    way: Way
    report: ProbeReport
    source: str
    seconds: float

    def to_facts(self) -> dict[str, object]:
        return {
            "read_from": self.source,
            "used": self.way.describe(),
            "server": self.report.server,
            "seconds": round(self.seconds, 3),
            "protocols": self.report.versions,
            "tools": self.report.tools,
            "called": self.report.called,
        }


def check_file(client: Client, file: Path, name: str, machine: Machine) -> CheckedWay:
    """Read the entry back from the client's file and use it as the client would."""
    entry = open_client_file(file, client.format).entry((*client.keys, name))
    way = read_way(entry)
    if way is None:
        raise EntryMissingError(
            f"{file} has no server called {name}",
            next_step=f"carrel connect {client.name} --write puts it there.",
        )
    return check_way(way, f"carrel connect {client.name} --write --replace", machine, str(file))


def check_way(way: Way, repair: str, machine: Machine, source: str) -> CheckedWay:
    """Use a way to a desk as a client would; raises where nothing comes back."""
    started = perf_counter()
    outcome = (
        probe_address(way.url, way.headers, _WAIT_SECONDS)
        if isinstance(way, Http)
        else _start(way, machine)
    )
    if isinstance(outcome, Exception):
        _refuse(way, outcome, repair)
    return CheckedWay(way, outcome, source, perf_counter() - started)


def poor_environment(environment: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """What a program started by a desktop client finds in its environment."""
    kept = {key: value for key, value in environment.items() if key.upper() in _HANDED_DOWN}
    path = environment.get("PATH", "") if os.name == "nt" else _POOR_PATH
    return {**kept, "PATH": path, **own}


def _start(way: Stdio, machine: Machine) -> ProbeReport | ProbeError:
    environment = poor_environment(machine.environment, way.environment)
    command = way.command
    if not Path(command).is_absolute():
        usual = shutil.which(command, path=environment["PATH"])
        found = usual or shutil.which(command, path=machine.environment.get("PATH"))
        if found is None:
            from carrel.services.mcp_probe import ProbeError

            return ProbeError("missing", f"there is no program {command}")
        if usual is None:
            show(
                f"{command} is at {found}, where a program started from the desktop may not look.",
                file=sys.stderr,
            )
            environment["PATH"] = f"{Path(found).parent}{os.pathsep}{environment['PATH']}"
        command = found
    return probe_command(
        command, way.arguments, environment, machine.home.anchor or os.sep, _WAIT_SECONDS
    )


def show_check(checked: CheckedWay) -> None:
    """Print what came back."""
    report, way = checked.report, checked.way
    shown = ", ".join(report.tools[:_SHOWN_TOOLS])
    more = (
        f" and {len(report.tools) - _SHOWN_TOOLS} more" if len(report.tools) > _SHOWN_TOOLS else ""
    )
    rows = [
        ("read from", checked.source),
        ("opened" if isinstance(way, Http) else "started", way.describe()),
        ("server", f"{report.server}, after {checked.seconds:.1f} s"),
        ("protocol", ", ".join(report.versions)),
        ("tools", f"{len(report.tools)}: {shown}{more}"),
        (
            "called",
            f"{report.called}, which answered" if report.called else "no tool without arguments",
        ),
    ]
    show_page(Page([Fields(rows)]))


def _refuse(way: Way, error: ProbeError, repair: str) -> NoReturn:
    last = error.detail.strip().splitlines()[-1:] or [""]
    said = f": {last[0]}" if last[0] else ""
    message = f"{error.message}{said}"
    if error.kind in _CREDENTIAL_KINDS:
        raise UnauthenticatedError(message, next_step=_credentials_step(way, error.kind, repair))
    raise UnavailableError(message, next_step=_next_step(way, error.kind, repair))


def _credentials_step(way: Way, kind: str, repair: str) -> str:
    address = way.describe()
    with_token = f"{repair} --url {address} --token TOKEN --check"
    match kind:
        case "login":
            return (
                "The client opens the log-in page itself; --check cannot log in. "
                f"With a token it can: {with_token}"
            )
        case "token_refused":
            return (
                "The token is not valid or was revoked; ask the server's administrator for "
                f"another, then {with_token}"
            )
        case "token_missing":
            return f"Ask the server's administrator for a token, then {with_token}"
        case _ if is_loopback(urlsplit(address).hostname or ""):
            return f"{repair} --url {address} writes the secret of this home."
        case _:
            return f"Ask the server's administrator for a token, then {with_token}"


def _next_step(way: Way, kind: str, repair: str) -> str:
    is_node = isinstance(way, Stdio) and Path(way.command).stem == "npx"
    match kind:
        case "missing" if is_node:
            return "Install Node.js, which the bridge to a running server runs on."
        case "missing":
            return f"The program was moved or removed; {repair} writes where carrel is now."
        case "unreachable" if not is_loopback(urlsplit(way.describe()).hostname or ""):
            return "Check the address, and with its administrator whether the server runs."
        case "unreachable":
            return "Start it with carrel serve, or correct the address with --url."
        case "forbidden":
            return "The server does not take this caller or this name; see its allowed_hosts."
        case "address":
            return "The address should end in /desk/mcp; correct it with --url."
        case "ended" if is_node:
            return "Check that the server runs and that Node.js can fetch mcp-remote."
        case _ if isinstance(way, Stdio):
            return f"Run it by hand to see more: {shlex.join((way.command, *way.arguments))}"
        case _:
            return "Ask the server's administrator; its log says more."
