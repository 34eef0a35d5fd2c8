"""The command line: one file per verb, and only the verb that is used is imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

_ROOMS = "carrel.cli.rooms"
_ROOM_GROUP = "Rooms"
# Every verb with its module and its meaning, in the groups of help; each room is one, too.
_GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Every day": {
        "add": ("carrel.cli.add", "put files, folders and identifiers where they belong"),
        "find": ("carrel.cli.find", "search papers, references, notes and research at once"),
        "watch": ("carrel.cli.watch", "keep the papers in step with folders"),
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
        "databases": (
            "carrel.cli.databases",
            "say whether the embedded databases are there; begin one anew",
        ),
        "search": ("carrel.cli.search", "fill a real Elasticsearch from the local stores"),
    },
    "People": {
        "users": ("carrel.cli.users", "add, list and disable the people who can log in"),
        "tokens": ("carrel.cli.tokens", "make, list and revoke tokens for scripts"),
        "audit": ("carrel.cli.audit", "list, verify and export the audit log"),
    },
}
_HELP_OPTIONS = {"-h", "--help"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `carrel`."""
    words = _command_first(list(sys.argv[1:] if arguments is None else arguments))
    if not words:
        print(_overview())
        return 2
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


def reference_manager(arguments: Sequence[str] | None = None) -> int:
    """Runs `reference-manager`, the name under which others know the references room."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return _run("carrel.cli.reference_manager", words)


def _run(module: str, words: list[str]) -> int:
    from carrel.cli.options import release_home
    from carrel.cli.output import show
    from carrel.core.errors import CarrelError

    try:
        return int(importlib.import_module(module).run(words))
    except CarrelError as error:
        from carrel.doors.errors import error_mapping

        show(f"carrel: {error.message}", file=sys.stderr)
        if error.next_step:
            show(f"        {error.next_step}", file=sys.stderr)
        return error_mapping(error).exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        show(f"carrel: {where}{error.strerror or error}", file=sys.stderr)
        show("        Check that the path is right and may be read and written.", file=sys.stderr)
        return 5
    finally:
        release_home()


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
    from difflib import get_close_matches

    near = get_close_matches(words[-1], known, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    print(
        f"carrel: there is no command {' '.join(words)!r}.{meant} carrel help lists them.",
        file=sys.stderr,
    )
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
    # A room that the index does not know has commands of its own, as all rooms have.
    if command is None and len(rest) > 1:
        count = 2
    return [*rest[:count], *taken, *rest[count:]]
