"""Generates the reference of every operation, resource, prompt, error and setting."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from carrel.core.catalogue import Catalogue, Room
from carrel.core.desk_search import DESK_PURPOSE
from carrel.core.jobs import JOBS_PURPOSE
from carrel.core.operation import Operation
from carrel.doors.errors import EXIT_CODES, TABLE
from carrel.doors.mcp.desk_jobs import DESK_JOBS, DeskJob
from carrel.doors.schemas import input_schema
from carrel.policy.scopes import SCOPES
from carrel.settings import Settings
from carrel.settings.reading import known_settings, variable_name
from carrel.wiring.desk import open_desk


def reference(catalogue: Catalogue) -> str:
    """The whole page, in Markdown."""
    parts = [
        "# Reference",
        "Written by `make docs` from the catalogue, the error table and the settings; a test "
        "fails when it is out of date.",
        *(part for room in catalogue.rooms for part in _room(room)),
        *_jobs(catalogue),
        *_desk(catalogue),
        "## Scopes",
        _table(
            ("scope", "allows", "implies"),
            [(f"`{s.name}`", s.meaning, ", ".join(s.implies)) for s in SCOPES.values()],
        ),
        "## Errors",
        _table(
            ("code", "HTTP", "JSON-RPC", "exit"),
            [
                (
                    f"`{code}`",
                    str(shown.http_status),
                    str(shown.json_rpc_code),
                    str(shown.exit_code),
                )
                for code, shown in sorted(TABLE.items())
            ],
        ),
        "## Exit codes",
        _exit_codes(),
        "## Settings",
        _settings(),
    ]
    return "\n\n".join(parts) + "\n"


def _room(room: Room) -> list[str]:
    parts = [f"## {room.title}", room.purpose]
    parts.extend(_operation(operation) for operation in room.operations)
    if room.resources:
        rows = [
            (f"`{item.uri}`", item.description, _scopes(item.scopes)) for item in room.resources
        ]
        parts.extend(("### Resources", _table(("address", "what it is", "scopes"), rows)))
    if room.prompts:
        prompts = [
            (f"`{item.name}`", item.description, _scopes(item.scopes)) for item in room.prompts
        ]
        parts.extend(("### Prompts", _table(("name", "what it is", "scopes"), prompts)))
    return parts


def _jobs(catalogue: Catalogue) -> list[str]:
    if catalogue.jobs is None:
        return []
    return ["## Jobs", JOBS_PURPOSE, *(_operation(operation) for operation in catalogue.jobs.tools)]


def _desk(catalogue: Catalogue) -> list[str]:
    if catalogue.desk_search is None:
        return []
    prompts = [
        (f"`{job.name}`", job.description, _prompt_arguments(job), _scopes(job.scopes))
        for job in DESK_JOBS
    ]
    return [
        "## Desk",
        DESK_PURPOSE,
        _operation(catalogue.desk_search),
        "### Prompts",
        "At `/desk/mcp`, stdio with several rooms and the FastMCP server, where the rooms that "
        "they need are open.",
        _table(("name", "what it is", "arguments", "scopes"), prompts),
    ]


def _prompt_arguments(job: DeskJob) -> str:
    return ", ".join(
        f"`{each.name}`" + ("" if each.is_required else " (optional)") for each in job.arguments
    )


def _operation(operation: Operation[Any]) -> str:
    schema = input_schema(operation)
    required = set(schema.get("required", ()))
    rows = [
        (
            f"`{name}`",
            _kind(field),
            _need(field, name in required),
            str(field.get("description", "")),
        )
        for name, field in schema.get("properties", {}).items()
    ]
    names = f"`{operation.name}`" + (
        f" (alone: `{operation.name_alone}`)" if operation.name_alone else ""
    )
    command = (
        f" Command line: `carrel {operation.room} {operation.command}`."
        if operation.command
        else ""
    )
    about = f"{operation.effect.value.capitalize()}. Scopes: {_scopes(operation.scopes)}.{command}"
    table = (
        "\n\n" + _table(("parameter", "type", "required or default", "meaning"), rows)
        if rows
        else ""
    )
    return f"### {names}\n\n{operation.description}\n\n{about}{table}"


def _kind(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(str(value) for value in field["enum"])
    kind = field.get("type", "")
    bounds = [f"{word} {field[key]}" for key, word in _BOUNDS.items() if key in field]
    return " ".join([" or ".join(kind) if isinstance(kind, list) else str(kind), *bounds])


def _need(field: dict[str, Any], is_required: bool) -> str:
    return "required" if is_required else str(field.get("default", ""))


_BOUNDS = {
    "minimum": "from",
    "maximum": "to",
    "minLength": "at least",
    "maxLength": "at most",
    "maxItems": "at most",
}


def _exit_codes() -> str:
    rows = []
    for exit_code, meaning in EXIT_CODES.items():
        codes = [code for code, shown in sorted(TABLE.items()) if shown.exit_code == exit_code]
        rows.append((str(exit_code), meaning, ", ".join(f"`{code}`" for code in codes)))
    about = (
        "What a command that failed prints is one line on standard error, `carrel: what happened. "
        "What to do next`; its exit code says of which kind it was."
    )
    return f"{about}\n\n{_table(('exit', 'meaning', 'error codes'), rows)}"


def _settings() -> str:
    rows = [
        (
            f"`{'.'.join(path)}`",
            f"`{variable_name(path)}`",
            "the platform's data folder" if path == ("home",) else _default(_field(path)),
        )
        for path in known_settings()
    ]
    lists = (
        "Lists are separated by commas in the environment, or JSON lists: "
        '`CARREL_PAPERS_ALLOWED_FOLDERS=["/a", "/b"]` is `/a,/b`.'
    )
    return f"{lists}\n\n{_table(('in carrel.toml', 'in the environment', 'default'), rows)}"


def _field(path: tuple[str, ...]) -> Any:
    section: Any = Settings
    for name in path[:-1]:
        section = section.model_fields[name].annotation
    return section.model_fields[path[-1]]


def _default(field: Any) -> str:
    value = field.get_default(call_default_factory=True)
    return "" if value is None else f"`{value}`"


def _scopes(scopes: frozenset[str]) -> str:
    return ", ".join(f"`{scope}`" for scope in sorted(scopes)) or "none"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines.extend(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"
        for row in rows
    )
    return "\n".join(lines)


def main() -> int:
    settings = Settings.model_validate({"audit": {"enabled": False}})
    sys.stdout.write(reference(open_desk(settings).catalogue))
    return 0


if __name__ == "__main__":
    sys.exit(main())
