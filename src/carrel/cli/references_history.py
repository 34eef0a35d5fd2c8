"""`carrel references history` and `restore`: what a library was, and the way back to some of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from carrel.cli.options import add_desk_options, settings_from
from carrel.core.errors import InvalidInputError
from carrel.wiring.audit import record_command
from carrel.wiring.references import open_library_history

_SHOWN_IDS = 8


def run(words: list[str]) -> int:
    return _show(words[1:]) if words[0] == "history" else _restore(words[1:])


def _show(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel references history",
        description="What was changed in the library, by whom, and which versions are kept; of "
        "one reference where it is named.",
    )
    add_desk_options(parser)
    parser.add_argument("id", nargs="?", metavar="ID", help="one reference")
    parser.add_argument(
        "--limit", type=int, default=20, metavar="NUMBER", help="changes to show (20)"
    )
    parser.add_argument("--user", metavar="NAME", help="the library of another user")
    options = parser.parse_args(words)
    history = open_library_history(settings_from(options), options.user)
    changes = history.list_changes(options.id)
    for change in changes[: options.limit]:
        parts = [
            f"{verb} {_some(ids)}"
            for verb, ids in (
                ("wrote", change.written),
                ("removed", change.removed),
                ("kept", change.kept),
            )
            if ids
        ]
        print(f"{change.revision}  {change.at}  {change.origin}: {'; '.join(parts)}")
    if len(changes) > options.limit:
        print(f"… and {len(changes) - options.limit} earlier changes (--limit)")
    if options.id is not None:
        for text in history.list_texts(options.id):
            print(
                f"\nfrom revision {text.revision}: "
                f"{text.text or ('a text that is not kept' if text.is_present else 'absent')}"
            )
        return 0
    print()
    for version in history.list_versions():
        kind = "saved by another program" if version.was_replaced else "accepted"
        print(f"version {version.number}: {kind}, {version.size_bytes} bytes, {version.path}")
    return 0


def _restore(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel references restore",
        description="Give one reference back what it said before, or the whole library a kept "
        "version.",
    )
    add_desk_options(parser)
    parser.add_argument(
        "id", nargs="?", metavar="ID", help="one reference, also one that was removed"
    )
    parser.add_argument(
        "--revision",
        type=int,
        metavar="NUMBER",
        help="what it said at this revision; before its last change",
    )
    parser.add_argument(
        "--version", type=int, metavar="NUMBER", help="the whole library as it was in this version"
    )
    parser.add_argument("--user", metavar="NAME", help="the library of another user")
    options = parser.parse_args(words)
    if (options.id is None) == (options.version is None):
        raise InvalidInputError(
            "Name either a reference or --version",
            next_step="carrel references history lists changes and versions.",
        )
    settings = settings_from(options)
    history = open_library_history(settings, options.user)
    parameters = {
        "id": options.id,
        "revision": options.revision,
        "version": options.version,
        "user": options.user,
    }
    with record_command(settings, "references:restore", f"references:{history.path}", parameters):
        if options.version is not None:
            print(
                f"The library is version {options.version} again: "
                f"{history.restore_version(options.version)} references."
            )
        else:
            history.restore_reference(options.id, options.revision)
            print(f"{options.id} is restored.")
    return 0


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else ""
    return ", ".join(ids[:_SHOWN_IDS]) + more
