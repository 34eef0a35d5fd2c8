"""Descriptions of commands: what help and completion know of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PROGRAM = "carrel"


@dataclass(frozen=True, slots=True)
class ArgumentDescription:
    """One argument or option; `completes` names what its values are taken from."""

    names: tuple[str, ...]
    value: str = ""
    meaning: str = ""
    choices: tuple[str, ...] = ()
    is_required: bool = False
    is_many: bool = False
    completes: str = ""
    # The field of the operation, where the command is one.
    field: str = ""

    @property
    def is_option(self) -> bool:
        return bool(self.names)


@dataclass(frozen=True, slots=True)
class CommandDescription:
    """A command by the words that name it, such as `papers search`."""

    path: str
    meaning: str = ""
    details: str = ""
    examples: tuple[str, ...] = ()
    arguments: tuple[ArgumentDescription, ...] = ()
    common: tuple[str, ...] = ()
    # The next words of a command that is only the beginning of others, with their meanings.
    commands: Mapping[str, str] = field(default_factory=dict)
    program: str = PROGRAM

    @property
    def options(self) -> dict[str, ArgumentDescription]:
        """Every option by each of its names."""
        return {name: each for each in self.arguments for name in each.names}
