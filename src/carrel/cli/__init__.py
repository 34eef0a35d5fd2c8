"""The command line: one file per verb, and only the verb that is used is imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

_VERBS = {
    "serve": ("carrel.cli.serve", "serve every open room over HTTP"),
    "mcp": ("carrel.cli.mcp", "speak MCP over standard input and output"),
    "add": ("carrel.cli.add", "put files, folders and identifiers where they belong"),
    "watch": ("carrel.cli.watch", "keep the papers in step with folders"),
}
_ROOMS = "carrel.cli.rooms"
_MORE_VERBS = {
    "find": ("carrel.cli.find", "search papers, references, notes and research at once"),
    "jobs": (_ROOMS, "follow and cancel work that went on after its call"),
    "users": ("carrel.cli.users", "add, list and disable the people who can log in"),
    "tokens": ("carrel.cli.tokens", "make, list and revoke tokens for scripts"),
    "audit": ("carrel.cli.audit", "list, verify and export the audit log"),
    "search": ("carrel.cli.search", "fill a real Elasticsearch from the local stores"),
    "backup": ("carrel.cli.backup", "write everything embedded into one file; check such a file"),
    "restore": ("carrel.cli.restore", "put a backup in place"),
    "databases": (
        "carrel.cli.databases",
        "say whether the embedded databases are there; begin one anew",
    ),
    "connect": ("carrel.cli.connect", "print or write a client's configuration"),
    "doctor": ("carrel.cli.doctor", "say what is configured, reachable and missing"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `carrel`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in {"-h", "--help", "help"}:
        print(_help())
        return 0 if words else 2
    if words[0] in {"--version", "-V", "version"}:
        from carrel import __version__

        print(f"carrel {__version__}")
        return 0
    verbs = _verbs()
    if words[0] not in verbs:
        print(f"carrel: there is no command {words[0]!r}\n\n{_help()}", file=sys.stderr)
        return 2
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


def _verbs() -> dict[str, tuple[str, str]]:
    """The module and the meaning of every verb; each room is one."""
    from carrel.rooms import declared_rooms

    rooms = {name: (_ROOMS, room.command_help) for name, room in declared_rooms().items()}
    return {**_VERBS, **rooms, **_MORE_VERBS}


def _help() -> str:
    rows = "\n".join(f"  {verb:10} {meaning}" for verb, (_, meaning) in _verbs().items())
    return (
        "carrel: a research desk for AI assistants\n\nusage: carrel COMMAND [options]\n\n"
        f"{rows}\n\n  carrel COMMAND --help says more; carrel --version prints the version."
    )
