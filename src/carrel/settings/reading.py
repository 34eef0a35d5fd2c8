"""How settings are read: flags over environment over carrel.toml over defaults; what is wrong is
said with where it came from.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import platformdirs
from pydantic import ValidationError

from carrel.core.secrets import MASK
from carrel.rooms import room_names
from carrel.settings.sections import Section, Settings, SettingsError

# Names that mean the same everywhere, or that neighbours of ours already use; the CARREL_ name wins
# over them.
_FOREIGN_NAMES = {
    "PORT": ("server", "port"),
    "DATABASE_URL": ("database", "url"),
    "GOOGLE_CLOUD_PROJECT": ("knowledge", "project"),
    "ELASTICSEARCH_URL": ("elasticsearch", "url"),
    "ELASTICSEARCH_HOST": ("elasticsearch", "host"),
    "ELASTICSEARCH_PORT": ("elasticsearch", "port"),
    "ELASTICSEARCH_API_KEY": ("elasticsearch", "api_key"),
    "PAPER_DB_SNAPSHOT_DB": ("papers", "snapshot"),
    "PAPER_DB_STATIC_BASE_URL": ("papers", "static"),
    "PAPER_DB_STATIC_EXPORT_DIR": ("papers", "static"),
    "REFERENCE_MANAGER_LIBRARY": ("references", "library"),
}
# Cloud Run's own name. The files of an instance end with it, unless the operator has mounted
# something and says so.
_EPHEMERAL_PLATFORM = "K_SERVICE"
_HOME_IS_PERSISTENT = ("server", "home_is_persistent")
# Names of ours that are not settings: where the file is, what a server hands its workers, and what
# tests use.
_OTHER_NAMES = {"CARREL_CONFIG", "CARREL_RESOLVED_SETTINGS", "CARREL_MODEL_BASE_URL"}
_TEST_PREFIX = "CARREL_TEST_"
# Neither is for an operator to set: reading fills them in.
_NOT_SETTABLE = {"source", "unknown_variables"}

Flat = dict[tuple[str, ...], object]


def read_settings(
    flags: Mapping[tuple[str, ...], object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """Reads all sources and merges them; a bad value names the source it came from."""
    environment = os.environ if environment is None else environment
    from_environment = _from_environment(environment)
    home = (flags or {}).get(("home",)) or from_environment.get(("home",))
    file = _config_file(config, environment, Path(str(home)) if home else None)
    merged = _from_file(file) if file else {}
    origins: dict[tuple[str, ...], str] = dict.fromkeys(_flatten(merged), str(file))
    for path, value in from_environment.items():
        _put(merged, path, value)
        origins[path] = "the environment"
    for path, value in (flags or {}).items():
        if value is not None:
            is_place = path in known_settings() and known_settings()[path].is_place
            _put(
                merged,
                path,
                _resolve(str(value) if isinstance(value, Path) else value, Path())
                if is_place
                else value,
            )
            origins[path] = "the command line"
    if environment.get(_EPHEMERAL_PLATFORM) and _get(merged, _HOME_IS_PERSISTENT) is None:
        _put(merged, _HOME_IS_PERSISTENT, False)
        origins[_HOME_IS_PERSISTENT] = _EPHEMERAL_PLATFORM
    try:
        settings = Settings.model_validate(
            {**merged, "source": file, "unknown_variables": unknown_variables(environment)}
        )
    except ValidationError as error:
        raise _explained(error, origins) from None
    unknown = sorted(set(settings.rooms) - set(room_names()))
    if unknown:
        raise SettingsError(
            f"There is no room called {', '.join(unknown)}",
            next_step=f"Choose from {', '.join(room_names())}.",
            details={"rooms": unknown},
        )
    return settings


def _config_file(
    given: Path | None, environment: Mapping[str, str], home: Path | None
) -> Path | None:
    named = given or (
        Path(environment["CARREL_CONFIG"]) if environment.get("CARREL_CONFIG") else None
    )
    if named is not None:
        if not named.is_file():
            raise SettingsError(
                f"There is no settings file at {named}",
                next_step="Correct --config or CARREL_CONFIG.",
            )
        return named
    folders = [Path(), *([home] if home is not None else [])]
    try:
        folders += [
            *([platformdirs.user_data_path("carrel")] if home is None else []),
            platformdirs.user_config_path("carrel"),
        ]
    except RuntimeError:
        # A user whom the system does not know, as in a container with any number for a user, has no
        # folders.
        if home is None:
            raise SettingsError(
                "This user has no home folder",
                next_step="Name a folder with --home or CARREL_HOME.",
            ) from None
    places = [folder / "carrel.toml" for folder in folders]
    return next((place.resolve() for place in places if place.is_file()), None)


def _from_file(file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{file} cannot be read: {error}", next_step="Mend the file; it must be TOML in UTF-8."
        ) from None
    for path, kind in known_settings().items():
        value = _get(values, path)
        if kind.is_place and value is not None:
            _put(values, path, _resolve(value, file.parent))
    return values


def _resolve(value: object, folder: Path) -> object:
    """A place, or a list of places, as an absolute path; an address (`https://…`) stays as it
    is.
    """
    if isinstance(value, list):
        return [_resolve(each, folder) for each in value]
    if not isinstance(value, str) or "://" in value:
        return value
    return str((folder / Path(value).expanduser()).absolute())


def _from_environment(environment: Mapping[str, str]) -> Flat:
    found: Flat = {}
    for name, foreign in _FOREIGN_NAMES.items():
        if environment.get(name):
            found[foreign] = environment[name]
    for path, kind in known_settings().items():
        value = environment.get(variable_name(path))
        if value is not None and not (kind.is_place and not value):
            found[path] = (
                [item.strip() for item in value.split(",") if item.strip()]
                if kind.is_list
                else value
            )
    return {
        path: _resolve(value, Path()) if known_settings()[path].is_place else value
        for path, value in found.items()
    }


def variable_name(path: tuple[str, ...]) -> str:
    """The environment variable of a setting."""
    return "CARREL_" + "_".join(path).upper()


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Variables that look like ours and are not, each with the nearest real name, if one is
    near.
    """
    known = {variable_name(path) for path in known_settings()} | _OTHER_NAMES
    unknown = sorted(
        name
        for name in environment
        if name.startswith("CARREL_") and name not in known and not name.startswith(_TEST_PREFIX)
    )
    return {name: _nearest_variable(name, known) for name in unknown}


def _nearest_variable(name: str, known: set[str]) -> str | None:
    by_end = {each.removeprefix("CARREL_"): each for each in known}
    near = difflib.get_close_matches(name.removeprefix("CARREL_"), by_end, n=1, cutoff=0.6)
    return by_end[near[0]] if near else None


@dataclass(frozen=True, slots=True)
class SettingKind:
    """How the text of a setting is read."""

    is_list: bool
    is_place: bool


@cache
def known_settings() -> dict[tuple[str, ...], SettingKind]:
    """Every setting by its path, in the order of the sections."""
    return dict(_settings_of(Settings))


def known_paths() -> list[tuple[str, ...]]:
    return list(known_settings())


def _settings_of(
    section: type[Section], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], SettingKind]]:
    for name, field in section.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, Section):
            yield from _settings_of(annotation, (*before, name))
        elif before or name not in _NOT_SETTABLE:
            parts = {annotation, *_parts_of(annotation)}
            # `static` is a folder or an address, so its type is text.
            is_place = Path in parts or (*before, name) == ("papers", "static")
            yield (
                (*before, name),
                SettingKind(any(get_origin(part) is tuple for part in parts), is_place),
            )


def _parts_of(annotation: object) -> Iterator[object]:
    for part in get_args(annotation):
        yield part
        yield from _parts_of(part)


def _explained(error: ValidationError, origins: Mapping[tuple[str, ...], str]) -> SettingsError:
    first = error.errors(include_url=False)[0]
    path = tuple(str(part) for part in first["loc"])
    name = ".".join(path)
    origin = next(
        (origins[path[:length]] for length in range(len(path), 0, -1) if path[:length] in origins),
        "the settings",
    )
    if first["type"] == "extra_forbidden":
        known = sorted(
            ".".join(known) for known in known_paths() if known[0] == path[0] or len(path) == 1
        )
        nearest = difflib.get_close_matches(
            name, [".".join(known) for known in known_paths()], n=1, cutoff=0.6
        )
        meant = f"Did you mean {nearest[0]}? " if nearest else ""
        return SettingsError(
            f"{origin} sets {name}, which is not a setting",
            next_step=f"{meant}Settings there: {', '.join(known)}.",
        )
    return SettingsError(
        f"{name} = {_shown_value(name, first['input'])} from {origin} cannot be used: "
        f"{first['msg'].lower()}",
        next_step="Correct the value and start again.",
        details={"setting": name, "origin": origin},
    )


def _shown_value(name: str, value: object) -> str:
    return (
        MASK
        if any(word in name for word in ("key", "secret", "password", "token", "url"))
        else repr(value)
    )


def _flatten(values: Mapping[str, Any], before: tuple[str, ...] = ()) -> Flat:
    flat: Flat = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, (*before, key)))
        flat[(*before, key)] = value
    return flat


def _get(values: Mapping[str, Any], path: tuple[str, ...]) -> object:
    for key in path:
        values = values.get(key, {}) if isinstance(values, Mapping) else {}
    return values or None


def _put(values: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    for key in path[:-1]:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            inner = values[key] = {}
        values = inner
    values[path[-1]] = value
