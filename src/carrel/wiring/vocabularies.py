"""The vocabularies of a home and of the setting `research.vocabulary`."""

from __future__ import annotations

from pathlib import Path

from carrel.settings import Settings
from carrel.stores.home.vocabularies import (
    StoredVocabulary,
    add_vocabulary,
    identify_vocabularies,
    list_vocabularies,
    read_vocabularies,
    remove_vocabulary,
    suggest_name,
    vocabulary_files,
)

__all__ = [
    "StoredVocabulary",
    "add_vocabulary",
    "identify_vocabularies",
    "list_vocabularies",
    "read_vocabularies",
    "remove_vocabulary",
    "suggest_name",
    "used_vocabularies",
    "vocabulary_folder",
]


def vocabulary_folder(settings: Settings) -> Path:
    """Where added vocabularies are."""
    return settings.home / "vocabularies"


def used_vocabularies(settings: Settings) -> list[Path]:
    """The files that research reads: that of the setting, then those added."""
    own = settings.research.vocabulary
    return [*([] if own is None else [own]), *vocabulary_files(vocabulary_folder(settings))]
