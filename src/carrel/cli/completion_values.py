"""What may stand at the cursor: commands, options, choices, files, and names of the local desk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from carrel.cli.command_descriptions import ArgumentDescription, CommandDescription
from carrel.cli.command_index import read_index
from carrel.cli.common_options import COMMON_OPTIONS
from carrel.cli.help import COMMON_MEANINGS

# More are of no use at a prompt.
_MOST_VALUES = 200
_LOG_LEVELS = ("debug", "info", "warning", "error")
_ROOMS = ("papers", "references", "literature", "knowledge", "research")
_COMMON = {
    name: ArgumentDescription(
        (name,),
        value="" if name == "--json" else "VALUE",
        meaning=next(text for shown, text in COMMON_MEANINGS.items() if shown.split()[0] == name),
        choices={"--log-level": _LOG_LEVELS, "--rooms": _ROOMS}.get(name, ()),
        completes={"--home": "folders", "--json": ""}.get(name, "files"),
    )
    for name in COMMON_OPTIONS
}
# Offered before a letter is typed, out of ten thousand.
_WELL_KNOWN_STYLES = (
    "apa",
    "american-medical-association",
    "chicago-author-date",
    "harvard-cite-them-right",
    "ieee",
    "modern-language-association",
    "nature",
    "vancouver",
)


@dataclass(slots=True)
class Completions:
    """Values with their meanings; `places` is `files` or `folders` where the shell adds those."""

    values: list[tuple[str, str]] = field(default_factory=list)
    places: str = ""


def complete_words(words: Sequence[str]) -> Completions:
    """What may stand for the last of the words, which follow `carrel`."""
    *before, current = words or [""]
    before, given = _skip_common(before)
    if before and before[0] in _COMMON:
        return _values_of(_COMMON[before[0]], current, given)
    if before[:1] == ["help"]:
        return _complete_command(before[1:], current, {"options": "what most commands take"})
    command = _find(before)
    if command is None or command.commands:
        return _complete_command(before, current, {} if command else {"help": "explain a command"})
    rest = before[len(command.path.split()) :]
    return _complete_argument(command, rest, current, given)


def _skip_common(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The words without common options before the command, and the values of these options."""
    given: dict[str, str] = {}
    rest = list(words)
    while rest and (name := rest[0].partition("=")[0]) in _COMMON:
        if name == "--json" or "=" in rest[0]:
            given[name] = rest.pop(0).partition("=")[2]
        elif len(rest) > 1:
            given[name] = rest[1]
            del rest[:2]
        else:
            break
    return rest, given


def _find(words: Sequence[str]) -> CommandDescription | None:
    index = read_index()
    for count in (2, 1):
        path = " ".join(words[:count])
        if len(words) >= count and path in index:
            return index[path]
    return None


def _complete_command(before: Sequence[str], current: str, more: Mapping[str, str]) -> Completions:
    if current.startswith("-"):
        return _matching(((name, each.meaning) for name, each in _COMMON.items()), current)
    index = read_index()
    if not before:
        known = {path: each.meaning for path, each in index.items() if " " not in path}
        return _matching({**known, **more}.items(), current)
    room = index.get(before[0])
    if len(before) > 1 or room is None:
        return Completions()
    return _matching(room.commands.items(), current)


def _complete_argument(
    command: CommandDescription, rest: list[str], current: str, given: dict[str, str]
) -> Completions:
    options = {**command.options, **{name: _COMMON[name] for name in command.common}}
    given = {**given, **_given_options(rest, options)}
    if "--" not in rest:
        name, sign, value = current.partition("=")
        if sign and name in options:
            found = _values_of(options[name], value, given)
            return Completions([(f"{name}={each}", meaning) for each, meaning in found.values])
        if current.startswith("-"):
            unused = (
                (name, each.meaning)
                for name, each in options.items()
                if each.is_many or not set(each.names) & set(rest)
            )
            return _matching(unused, current)
        if (option := _open_option(rest, options)) is not None:
            return _values_of(option, current, given)
    place = _place(command, rest, options)
    return Completions() if place is None else _values_of(place, current, given)


def _given_options(
    rest: Sequence[str], options: Mapping[str, ArgumentDescription]
) -> dict[str, str]:
    return {
        name: rest[at + 1]
        for at, name in enumerate(rest[:-1])
        if name in options and options[name].value
    }


def _open_option(
    rest: Sequence[str], options: Mapping[str, ArgumentDescription]
) -> ArgumentDescription | None:
    """The option whose value comes next: the last word, or an earlier one that takes several."""
    for distance, word in enumerate(reversed(rest)):
        if word.startswith("-") and len(word) > 1:
            option = options.get(word)
            if option is None or not option.value:
                return None
            return option if distance == 0 or option.is_many else None
    return None


def _place(
    command: CommandDescription,
    rest: Sequence[str],
    options: Mapping[str, ArgumentDescription],
) -> ArgumentDescription | None:
    """The argument that comes next by its place."""
    places = [each for each in command.arguments if not each.is_option]
    used = len(list(_placed(rest, options)))
    if used < len(places):
        return places[used]
    return places[-1] if places and places[-1].is_many else None


def _placed(rest: Sequence[str], options: Mapping[str, ArgumentDescription]) -> Iterator[str]:
    """The words that are neither options nor their values."""
    skip = False
    for at, word in enumerate(rest):
        if word == "--":
            yield from rest[at + 1 :]
            return
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            option = options.get(word)
            skip = option is not None and bool(option.value)
        else:
            yield word


def _values_of(
    argument: ArgumentDescription, current: str, given: Mapping[str, str]
) -> Completions:
    if argument.choices:
        return _matching(((choice, "") for choice in argument.choices), current)
    if argument.completes in {"files", "folders"}:
        return Completions(places=argument.completes)
    if argument.completes == "styles":
        return _matching(_styles(current), current)
    if argument.completes:
        from carrel.wiring.local_names import find_names

        # A home that cannot be read has no names to offer, and a prompt is no place for errors.
        with suppress(Exception):
            found = find_names(argument.completes, current, given, _MOST_VALUES)
            # One that begins with a dash would be read as an option.
            return Completions([each for each in found if not each[0].startswith("-")])
    return Completions()


def _styles(current: str) -> Iterator[tuple[str, str]]:
    if not current:
        return ((name, "") for name in _WELL_KNOWN_STYLES)
    from carrel.libraries.csl.archive import archived_names

    names = [name for name in archived_names() if not name.startswith("locales-")]
    return ((name, "") for name in dict.fromkeys([*_WELL_KNOWN_STYLES, *names]))


def _matching(values: Iterable[tuple[str, str]], current: str) -> Completions:
    return Completions([each for each in values if each[0].startswith(current)][:_MOST_VALUES])
