"""How settings are read: flags over environment over carrel.toml over defaults; what is wrong is said with where it came from."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError

from carrel.settings.sections import ROOM_NAMES, Section, Settings, SettingsError

# Names that mean the same everywhere, or that neighbours of ours already use; the CARREL_ name wins over them.
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
_LISTS = {
    ("rooms",),
    ("references", "allowed_folders"),
    *(("server", name) for name in ("allowed_origins", "allowed_hosts", "trusted_proxies")),
    *(("auth", name) for name in ("audience", "algorithms", "redirect_hosts", "platform_scopes", "platform_admins")),
    ("elasticsearch", "indices"),
}

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
    file = _config_file(config, environment, Path(str(home)) if home else platformdirs.user_data_path("carrel"))
    merged = _from_file(file) if file else {}
    origins: dict[tuple[str, ...], str] = dict.fromkeys(_flatten(merged), str(file))
    for path, value in from_environment.items():
        _put(merged, path, value)
        origins[path] = "the environment"
    for path, value in (flags or {}).items():
        if value is not None:
            _put(merged, path, value)
            origins[path] = "the command line"
    try:
        settings = Settings.model_validate({**merged, "source": file})
    except ValidationError as error:
        raise _explained(error, origins) from None
    unknown = sorted(set(settings.rooms) - set(ROOM_NAMES))
    if unknown:
        raise SettingsError(
            f"There is no room called {', '.join(unknown)}",
            next_step=f"Choose from {', '.join(ROOM_NAMES)}.",
            details={"rooms": unknown},
        )
    return settings


def _config_file(given: Path | None, environment: Mapping[str, str], home: Path) -> Path | None:
    named = given or (Path(environment["CARREL_CONFIG"]) if environment.get("CARREL_CONFIG") else None)
    if named is not None:
        if not named.is_file():
            raise SettingsError(f"There is no settings file at {named}", next_step="Correct --config or CARREL_CONFIG.")
        return named
    places = (Path("carrel.toml"), home / "carrel.toml", platformdirs.user_config_path("carrel") / "carrel.toml")
    return next((place.resolve() for place in places if place.is_file()), None)


def _from_file(file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{file} cannot be read: {error}", next_step="Mend the file; it must be TOML in UTF-8.") from None
    folder = file.parent
    for path in (("home",), ("papers", "snapshot"), ("references", "library"), ("research", "vocabulary"), ("audit", "file")):
        value = _get(values, path)
        if isinstance(value, str):
            _put(values, path, str((folder / Path(value).expanduser()).absolute()))
    return values


def _from_environment(environment: Mapping[str, str]) -> Flat:
    found: Flat = {}
    for name, foreign in _FOREIGN_NAMES.items():
        if environment.get(name):
            found[foreign] = environment[name]
    for path in known_paths():
        value = environment.get("CARREL_" + "_".join(path).upper())
        if value is not None:
            found[path] = [item.strip() for item in value.split(",") if item.strip()] if path in _LISTS else value
    return found


def known_paths() -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            paths.extend((name, inner) for inner in section.model_fields)
        elif name != "source":
            paths.append((name,))
    return paths


def _explained(error: ValidationError, origins: Mapping[tuple[str, ...], str]) -> SettingsError:
    first = error.errors(include_url=False)[0]
    path = tuple(str(part) for part in first["loc"])
    name = ".".join(path)
    origin = next((origins[path[:length]] for length in range(len(path), 0, -1) if path[:length] in origins), "the settings")
    if first["type"] == "extra_forbidden":
        known = ", ".join(sorted(".".join(known) for known in known_paths() if known[0] == path[0] or len(path) == 1))
        return SettingsError(f"{origin} sets {name}, which is not a setting", next_step=f"Settings there: {known}.")
    return SettingsError(
        f"{name} = {first['input']!r} from {origin} cannot be used: {first['msg'].lower()}",
        next_step="Correct the value and start again.",
        details={"setting": name, "origin": origin},
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
