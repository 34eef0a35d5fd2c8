"""The declaration of a room, cheap to import, so that start-up can read every room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

ErrorDialect = Literal["tool_result", "json_rpc"]


@dataclass(frozen=True, slots=True)
class RoomDeclaration:
    """The static description of a room.

    `opener`, `commands`, `pages`, `console` and `local_operations` name objects as
    `module:attribute`, imported at first use: `opener` opens the room, `commands` are run instead
    of an operation, `pages` maps operations to functions that format their answers for a terminal,
    `console` is the room's part of the web console (RoomPages), and `local_operations` makes the
    operator's own operations, which a server never loads.
    """

    name: str
    title: str
    purpose: str
    opener: str = ""
    # Which tool comes first and what to call next, for doors that serve several rooms.
    guidance: str = ""
    command_help: str = ""
    commands: Mapping[str, str] = field(default_factory=dict)
    pages: str = ""
    console: str = ""
    local_operations: str = ""
    # Of the room's resources, such as `paper` for `paper://…`.
    schemes: tuple[str, ...] = ()
    # How errors are told where the room is served alone, and for resources that are not there.
    error_dialect: ErrorDialect = "tool_result"
    # Told to clients before the room is open; a test holds them to what it then offers.
    has_prompts: bool = False
    has_completions: bool = False
    has_jobs: bool = False
    # Whether search_desk searches it, which is offered where two rooms or more are searched.
    is_searched: bool = False
    # Whether its operations search what other open rooms hold; else a command opens it alone.
    searches_other_rooms: bool = False


def load(reference: str) -> Any:
    """The object that `module:attribute` names."""
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)
