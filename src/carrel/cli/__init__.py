"""The command line: one file per verb, and only the verb that is used is imported."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence

_ROOMS = "carrel.cli.rooms"
_ROOM_GROUP = "Rooms"
# Every verb with its module and its meaning, in the groups of help; each room is one, too.
_GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Every day": {
        "add": ("carrel.cli.add", "put files, folders and identifiers where they belong"),
        "find": ("carrel.cli.find", "search papers, references, notes and research at once"),
        "watch": ("carrel.cli.watch", "keep the papers in step with folders"),
        "alerts": ("carrel.cli.alerts", "save searches and be told what is new"),
    },
    _ROOM_GROUP: {},
    "For assistants": {
        "connect": ("carrel.cli.connect", "print or write a client's configuration"),
        "serve": ("carrel.cli.serve", "serve every open room over HTTP"),
        "mcp": ("carrel.cli.mcp", "speak MCP over standard input and output"),
    },
    "Keeping the desk": {
        "doctor": ("carrel.cli.doctor", "say what is configured, reachable and missing"),
        "jobs": (_ROOMS, "follow and cancel work that went on after its call"),
        "backup": (
            "carrel.cli.backup",
            "write everything embedded into one file; check such a file",
        ),
        "restore": ("carrel.cli.restore", "put a backup in place"),
        "move": ("carrel.cli.move", "copy a home into a shared database"),
        "migrate": ("carrel.cli.migrate", "bring the tables of the shared database forward"),
        "quotas": ("carrel.cli.quotas", "what people and groups may use in a day, and have used"),
        "databases": (
            "carrel.cli.databases",
            "say whether the embedded databases are there; begin one anew",
        ),
        "vocabularies": (
            "carrel.cli.vocabularies",
            "add, list and remove thesauri for research",
        ),
        "search": ("carrel.cli.search", "fill a real Elasticsearch from the local stores"),
    },
    "People": {
        "people": ("carrel.cli.people", "show and end what acts for each person"),
        "users": ("carrel.cli.users", "add, list and disable the people who can log in"),
        "tokens": ("carrel.cli.tokens", "make, list and revoke tokens for scripts"),
        "audit": ("carrel.cli.audit", "list, verify and export the audit log"),
    },
    "Beyond commands": {
        "operations": ("carrel.cli.catalogue", "find what assistants call, by plain words"),
        "call": ("carrel.cli.catalogue", "call any operation by its name"),
        "read": ("carrel.cli.catalogue", "print a resource by its address"),
        "prompt": ("carrel.cli.catalogue", "print a prompt for a whole job"),
        "completion": ("carrel.cli.completion", "print or write the completion of a shell"),
    },
}
_HELP_OPTIONS = {"-h", "--help"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `carrel`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["__complete"]:
        from carrel.cli.completion import answer_shell

        return answer_shell(words[1:])
    return _guard(lambda: _choose(_command_first(words)), words)


def run_reference_manager(arguments: Sequence[str] | None = None) -> int:
    """Runs `reference-manager`, the name under which others know the references room."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return _guard(lambda: _run("carrel.cli.reference_manager", words), words)


def _choose(given: Sequence[str]) -> int:
    words = list(given)
    if not words or (words[0] == "--home" and len(words) == 2):
        from carrel.cli.overview import show_overview

        return show_overview(words[1] if words else None)
    if words[0] in {"--version", "-V", "version"}:
        from carrel import __version__

        print(f"carrel {__version__}")
        return 0
    if words[0] in {*_HELP_OPTIONS, "help"}:
        return _show_help(words[1:])
    verbs = all_verbs()
    if words[0] not in verbs:
        return _refuse(words[:1], list(verbs))
    if _asks_for_help(words) and _show_indexed_help(words):
        return 0
    return _run(verbs[words[0]][0], words)


def _guard(run: Callable[[], int], words: list[str]) -> int:
    """Runs a command; whatever ends it is one line on standard error and an exit code."""
    _prepare_streams()
    try:
        code = run()
        sys.stdout.flush()
        return code
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - every end is told the same way
        from carrel.cli.errors import report_error

        _close_progress()
        return report_error(error, words)
    finally:
        # Only the commands that need it have imported what holds the home.
        if options := sys.modules.get("carrel.cli.options"):
            options.release_home()


def _close_progress() -> None:
    """Takes a bar away, so that what is told next stands on a line of its own."""
    if progress := sys.modules.get("carrel.cli.progress"):
        progress.close_progress()


def _prepare_streams() -> None:
    """Makes printing safe: closed streams lead nowhere, and no character is refused."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _run(module: str, words: list[str]) -> int:
    from carrel.cli.logs import silence_unconfigured_logs

    silence_unconfigured_logs()
    return int(importlib.import_module(module).run(words))


def all_verbs() -> dict[str, tuple[str, str]]:
    """The module and the meaning of every verb; each room is one."""
    return {verb: each for group in _groups().values() for verb, each in group.items()}


def _groups() -> dict[str, dict[str, tuple[str, str]]]:
    from carrel.rooms import declared_rooms

    rooms = {name: (_ROOMS, room.command_help) for name, room in declared_rooms().items()}
    return {**_GROUPS, _ROOM_GROUP: rooms}


def _overview() -> str:
    from carrel.cli.help import draw_overview

    return draw_overview(
        {
            title: {verb: meaning for verb, (_, meaning) in group.items()}
            for title, group in _groups().items()
        }
    )


def _show_help(asked: Sequence[str]) -> int:
    """`carrel help`, `carrel help options` and `carrel help COMMAND`."""
    words = list(asked)
    if not words:
        print(_overview())
        return 0
    if words == ["options"]:
        from carrel.cli.help import draw_options

        print(draw_options(), end="")
        return 0
    verbs = all_verbs()
    if words[0] not in verbs:
        return _refuse(words[:1], [*verbs, "options"])
    if _show_indexed_help(words):
        return 0
    return _run(verbs[words[0]][0], [*words, "--help"])


def _asks_for_help(words: list[str]) -> bool:
    before = words[: words.index("--")] if "--" in words else words
    return not _HELP_OPTIONS.isdisjoint(before)


def _show_indexed_help(words: list[str]) -> bool:
    """Prints the help of a command from the index; False where the index does not have it."""
    from carrel.cli.command_index import find_command
    from carrel.cli.help import draw_command

    named = [word for word in words if not word.startswith("-")]
    command = find_command(named)
    if command is None or (command.commands and len(named) > 1):
        return False
    print(draw_command(command), end="")
    return True


def _refuse(words: list[str], known: list[str]) -> int:
    from carrel.cli.suggestions import describe_unknown_command

    print(f"carrel: {describe_unknown_command(' '.join(words), known)}", file=sys.stderr)
    return 2


def _command_first(words: list[str]) -> list[str]:
    """Common options that stand before the command, put right after it."""
    from carrel.cli.common_options import COMMON_OPTIONS

    taken: list[str] = []
    rest = words
    while rest and (name := rest[0].partition("=")[0]) in COMMON_OPTIONS:
        has_value = name != "--json" and "=" not in rest[0]
        taken += rest[: 2 if has_value else 1]
        rest = rest[2 if has_value else 1 :]
    if not taken or not rest:
        return words
    from carrel.cli.command_index import find_command

    command = find_command(rest)
    count = len(command.path.split()) if command is not None else 1
    # What stands after a room names a command of it, also where the index does not know it.
    if command is None or command.commands:
        if len(rest) == count:
            return rest
        count += 1
    return [*rest[:count], *taken, *rest[count:]]
