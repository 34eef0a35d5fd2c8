"""Texts of the console by language: one TOML file per language in each part's `messages` folder."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

DEFAULT_LANGUAGE = "en"
LANGUAGES = {"en": "English", "de": "Deutsch"}


class UnknownMessageError(KeyError):
    """A page names a message that no file has."""


class Messages:
    """The messages of one language; what it lacks is told in English."""

    def __init__(self, language: str, tables: Mapping[str, Any], fallback: Mapping[str, Any]):
        self.language = language
        self._tables = tables
        self._fallback = fallback

    def text(self, key: str, **values: object) -> str:
        """The message with its values; one with `count` may have a form for one and for others."""
        found = self._tables.get(key)
        if found is None:
            found = self._fallback.get(key)
        if found is None:
            raise UnknownMessageError(key)
        if isinstance(found, dict):
            found = found["one" if values.get("count") == 1 else "other"]
        return str(found).format_map(values) if values else str(found)

    def has(self, key: str) -> bool:
        return key in self._tables or key in self._fallback


def read_messages(packages: Iterable[str]) -> dict[str, Messages]:
    """The messages of every language, gathered from the parts of the console."""
    gathered: dict[str, dict[str, Any]] = {language: {} for language in LANGUAGES}
    for package in packages:
        for language, table in gathered.items():
            file = files(package) / "messages" / f"{language}.toml"
            for key, value in _flatten(tomllib.loads(file.read_text("utf-8")), ""):
                if key in table:
                    raise ValueError(f"the message {key} is there twice in {language}")
                table[key] = value
    fallback = gathered[DEFAULT_LANGUAGE]
    return {name: Messages(name, table, fallback) for name, table in gathered.items()}


def _flatten(table: Mapping[str, Any], before: str) -> Iterable[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict) and set(value) != {"one", "other"}:
            yield from _flatten(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def choose_language(accepted: str, preferred: str) -> str:
    """The person's choice, else the first language of an Accept-Language header that we have."""
    if preferred in LANGUAGES:
        return preferred
    weighted: list[tuple[float, str]] = []
    for part in accepted[:400].split(",")[:20]:
        tag, _, weight = part.partition(";q=")
        try:
            weighted.append((-float(weight or 1), tag.strip().lower().partition("-")[0]))
        except ValueError:
            continue
    weighted.sort(key=lambda each: each[0])
    return next((tag for _, tag in weighted if tag in LANGUAGES), DEFAULT_LANGUAGE)
