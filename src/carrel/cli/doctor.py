"""`carrel doctor`: what is configured, what can be reached, what is missing, and what to do."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from carrel import __version__
from carrel.cli.options import add_desk_options, settings_from
from carrel.core.errors import UnavailableError
from carrel.policy.origin import is_loopback
from carrel.settings import Settings
from carrel.wiring.databases import refuse_damaged_databases
from carrel.wiring.desk import Health, open_desk, sqlite_version
from carrel.wiring.occupancy import is_open_to_others


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="carrel doctor", description="Say what is configured, reachable and missing.")
    add_desk_options(parser)
    settings = settings_from(parser.parse_args(words[1:]))
    findings = {**_machine(settings), **asyncio.run(_rooms(settings))}
    width = max(len(name) for name in findings)
    for name, finding in findings.items():
        print(f"{'ok  ' if finding.is_well else 'MISS'} {name:{width}}  {finding.says}")
        if not finding.is_well and finding.next_step:
            print(f"     {'':{width}}  → {finding.next_step}")
    return 0 if all(finding.is_well for finding in findings.values()) else 1


def _machine(settings: Settings) -> dict[str, Health]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    host = settings.server.host
    return {
        "carrel": Health(True, f"{__version__} on Python {version}, SQLite {sqlite_version()}"),
        "settings": Health(True, str(settings.source) if settings.source else "defaults and environment; no carrel.toml found"),
        **_variables(settings),
        "home": _home(settings.home),
        "address": Health(
            is_loopback(host) or settings.auth.mode not in {None, "local"},
            f"{host} port {settings.server.port}, auth.mode {settings.auth.mode or 'local'}",
            "Listen on 127.0.0.1, or set auth.mode.",
        ),
        "audit": _writable(settings.audit_file.parent) if settings.audit.enabled else Health(True, "turned off"),
    }


def _variables(settings: Settings) -> dict[str, Health]:
    return {
        f"variable {name}": Health(
            False,
            "is not a setting and is ignored",
            f"Rename it to {nearest}." if nearest else "Unset it; docs/reference.md lists every variable.",
        )
        for name, nearest in settings.unknown_variables.items()
    }


def _home(home: Path) -> Health:
    """A command closes the home of its own account when it starts, so that one still open belongs to another account."""
    if not is_open_to_others(home):
        return _writable(home)
    return Health(
        False,
        f"{home} can be read by other accounts of this machine",
        f"Run chmod -R go-rwx {home} as the account that owns it.",
    )


def _writable(folder: Path) -> Health:
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if os.access(place, os.W_OK):
        return Health(True, f"{folder}{'' if folder.exists() else ' (made on first use)'}")
    return Health(False, f"{folder} cannot be written", "Choose another place with --home or CARREL_HOME.")


async def _rooms(settings: Settings) -> dict[str, Health]:
    try:
        await asyncio.to_thread(refuse_damaged_databases, settings)
        async with open_desk(settings).opened() as desk:
            return await desk.health()
    except UnavailableError as error:
        return {"databases": Health(False, error.message, error.next_step)}
