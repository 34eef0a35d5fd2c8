"""What a corpus folder has in common with a published corpus, kept in the folder."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from carrel.core.process_name import process_name
from carrel.stores.corpus.manifest import sync_folder
from carrel.stores.corpus.published import NOTE_NAME


@dataclass(frozen=True, slots=True)
class PublishedNote:
    """The generation of `url` that a folder holds.

    `is_copy` says that the folder follows the store, so that changes are published before they are
    acknowledged; otherwise it is the folder that somebody publishes from. `is_changing` stands
    there from before the first change until it is published or undone.
    """

    url: str
    generation: int
    token: str
    is_copy: bool
    is_changing: bool = False


def read_note(corpus: Path) -> PublishedNote | None:
    """None where the folder has nothing to do with a published corpus."""
    try:
        facts: dict[str, Any] = orjson.loads((corpus / NOTE_NAME).read_bytes())
        return PublishedNote(**facts)
    except (OSError, ValueError, TypeError):
        return None


def write_note(corpus: Path, note: PublishedNote) -> None:
    """Replace the note by one rename, synced."""
    corpus.mkdir(parents=True, exist_ok=True)
    aside = corpus / f".{NOTE_NAME}.{process_name()}"
    try:
        with aside.open("wb") as file:
            file.write(orjson.dumps(asdict(note)))
            file.flush()
            os.fsync(file.fileno())
        aside.replace(corpus / NOTE_NAME)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(corpus)
