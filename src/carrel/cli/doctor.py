"""`carrel doctor`: checks the desk and its surroundings, says what to do, and mends (`--fix`)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict

from carrel.cli.doctor_checks import check_assistants, is_port_taken
from carrel.cli.doctor_repairs import Outcome, find_repairs, list_unmendable, mend
from carrel.cli.options import add_desk_options, continue_unrecorded, settings_from
from carrel.cli.output import show, show_table
from carrel.cli.parsers import CommandParser
from carrel.core.errors import UnavailableError
from carrel.core.health import Health
from carrel.settings import Settings, SettingsError
from carrel.settings.home_rules import list_data_places
from carrel.wiring.audit import record_command
from carrel.wiring.desk import open_desk
from carrel.wiring.home import embedded_databases
from carrel.wiring.machine_checks import check_machine, check_settings, check_unserved

# For a finding whose cause is not known well enough to say more.
_UNKNOWN_ACTION = "Run it again with --log-level debug; the log says what failed."


def run(words: list[str]) -> int:
    parser = CommandParser(
        prog="carrel doctor",
        description="Say what is configured, reachable and missing, and what to do about it.",
    )
    add_desk_options(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--fix", action="store_true", help="mend what can be mended; nothing is removed"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="with --fix: only say what would be mended"
    )
    parser.add_argument(
        "--online",
        action="store_true",
        help="also ask each literature service once, which leaves this machine",
    )
    options = parser.parse_args(words[1:])
    if options.dry_run and not options.fix:
        parser.error("--dry-run goes with --fix")
    settings = settings_from(options)
    # The findings say what the driver would repeat with every attempt.
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    online = _ask_services(settings) if options.online else {}
    findings = {**_examine(settings), **online}
    outcomes = _fix(settings, findings, is_dry=options.dry_run) if options.fix else []
    if any(outcome.state == "fixed" for outcome in outcomes):
        findings = {**_examine(settings), **online}
    is_well = all(finding.is_well for finding in findings.values())
    if options.json:
        facts: dict[str, object] = {
            "is_well": is_well,
            "findings": [_as_facts(name, finding) for name, finding in findings.items()],
            "data": [asdict(each) for each in list_data_places(settings)],
        }
        if options.fix:
            facts["repairs"] = [asdict(outcome) for outcome in outcomes]
        print(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        _print_findings(findings)
        for outcome in outcomes:
            show(f"{outcome.state}: {outcome.part}: {outcome.says}")
    return 0 if is_well else 1


def _examine(settings: Settings) -> dict[str, Health]:
    return {**_machine(settings), **asyncio.run(_rooms(settings))}


def _ask_services(settings: Settings) -> dict[str, Health]:
    from carrel.wiring.literature_probes import probe_literature

    return asyncio.run(probe_literature(settings))


def _fix(settings: Settings, findings: dict[str, Health], *, is_dry: bool) -> list[Outcome]:
    """Mends what can be mended, after recording that it begins; or only says what."""
    repairs = list(find_repairs(settings, findings))
    mendable = {repair.part for repair in repairs}
    left = list_unmendable(findings, mendable)
    if is_dry:
        return [*(Outcome(each.part, "would", each.plan) for each in repairs), *left]
    parts: dict[str, object] = {"parts": sorted(mendable)}
    with record_command(settings, "doctor:fix", "home:", parts, on_unavailable=continue_unrecorded):
        return [*(mend(repair) for repair in repairs), *left]


def _print_findings(findings: dict[str, Health]) -> None:
    width = max(len(name) for name in findings)

    def as_line(row: Sequence[str]) -> str:
        mark, name, says, action = row
        line = f"{mark:4} {name:{width}}  {says}"
        return f"{line}\n     {'':{width}}  → {action}" if action else line

    rows = [
        ("ok" if finding.is_well else "MISS", name, finding.says, _action(finding))
        for name, finding in findings.items()
    ]
    show_table(("", "part", "finding", "what to do"), rows, as_line)


def _as_facts(name: str, finding: Health) -> dict[str, object]:
    facts: dict[str, object] = {"name": name, "is_well": finding.is_well, "says": finding.says}
    action = _action(finding)
    return {**facts, "action": action} if action else facts


def _action(finding: Health) -> str:
    """The next step for a finding; a healthy one may have a note."""
    if finding.is_well:
        return finding.next_step if finding.note else ""
    return finding.next_step or _UNKNOWN_ACTION


def _machine(settings: Settings) -> dict[str, Health]:
    host, port = settings.server.host, settings.server.port
    return {
        **check_settings(settings, _taken(host, port)),
        **check_machine(settings),
        **check_assistants(),
        **check_unserved(settings),
    }


def _taken(host: str, port: int) -> str:
    return " (something listens there already)" if is_port_taken(host, port) else ""


async def _rooms(settings: Settings) -> dict[str, Health]:
    found: dict[str, Health] = {}
    try:
        await asyncio.to_thread(embedded_databases(settings).refuse_damaged)
    except UnavailableError as error:
        found["databases"] = Health(False, error.message, error.next_step)
    try:
        async with open_desk(settings).session() as desk:
            said = {finding.says for finding in found.values()}
            health = await desk.health()
            return found | {name: each for name, each in health.items() if each.says not in said}
    except UnavailableError as error:
        return found or {"databases": Health(False, error.message, error.next_step)}
    except SettingsError as error:
        return found | {"rooms": Health(False, error.message, error.next_step)}
