"""Names for completion from the home at hand, found without reading all settings.

Reading all settings takes longer than a person waits for a key; the few that say where names are
kept are looked up here, in the same order: option, environment, carrel.toml, default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from carrel.core.caller import LOCAL_USER, library_name
from carrel.stores import local_names
from carrel.stores.local_names import Named


def find_names(kind: str, beginning: str, options: Mapping[str, str], most: int) -> Named:
    """Values of a kind (references, projects, users) that begin so, each with its meaning."""
    home, settings = _find_home(options)
    match kind:
        case "references":
            return local_names.citation_keys(_library(home, settings, options), beginning, most)
        case "projects":
            found = local_names.research_projects(home, options.get("--user") or LOCAL_USER)
        case "users":
            found = local_names.user_names(home)
        case _:
            return []
    return [each for each in found if each[0].startswith(beginning)][:most]


def _find_home(options: Mapping[str, str]) -> tuple[Path, dict[str, Any]]:
    """The home, and what carrel.toml says."""
    named = options.get("--home") or os.environ.get("CARREL_HOME")
    config = options.get("--config") or os.environ.get("CARREL_CONFIG")
    folders = [Path(), *([Path(named).expanduser()] if named else [])]
    usual = None
    if named is None:
        import platformdirs

        usual = platformdirs.user_data_path("carrel")
        folders += [usual, platformdirs.user_config_path("carrel")]
    places = [Path(config)] if config else [folder / "carrel.toml" for folder in folders]
    file = next((place for place in places if place.is_file()), None)
    settings = {} if file is None else _read(file)
    if named is None and file is not None and isinstance(settings.get("home"), str):
        return file.parent / Path(settings["home"]).expanduser(), settings
    return Path(named).expanduser() if named else (usual or Path()), settings


def _read(file: Path) -> dict[str, Any]:
    import tomllib

    settings = tomllib.loads(file.read_text(encoding="utf-8"))
    return {**settings, "_folder": file.parent}


def _library(home: Path, settings: Mapping[str, Any], options: Mapping[str, str]) -> Path:
    given = options.get("--library") or os.environ.get("CARREL_REFERENCES_LIBRARY")
    if given and not options.get("--user"):
        return Path(given).expanduser()
    section = settings.get("references")
    named = section.get("library") if isinstance(section, dict) else None
    if isinstance(named, str) and not options.get("--user"):
        return Path(settings["_folder"]) / Path(named).expanduser()
    user = options.get("--user")
    folder = home / "references"
    return (folder / "users" / library_name(user) if user else folder) / "library.json"
