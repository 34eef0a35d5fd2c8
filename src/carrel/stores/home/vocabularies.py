"""Vocabularies kept in the home: one table each, read whenever a concept index is opened."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from carrel.core.errors import ConflictError, InvalidInputError, NotFoundError, describe_error
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.records import Term
from carrel.libraries.vocabularies import (
    VocabularyEntry,
    VocabularyFileError,
    read_vocabulary_file,
)

_SUFFIX = ".tsv.xz"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_FORMATS = (
    "MeSH as XML or ASCII, SKOS as RDF/XML, Turtle or JSON-LD, OBO, or a table (CSV, TSV) of "
    "terms with synonyms separated by |; plain, gz, xz or bz2."
)


@dataclass(frozen=True)
class StoredVocabulary:
    """One vocabulary of the home."""

    name: str
    terms: int
    synonyms: int
    size_bytes: int
    file: Path


def suggest_name(file: Path) -> str:
    """A name made from a file's name."""
    stem = file.name.split(".")[0].lower()
    return re.sub(r"[^a-z0-9_-]+", "-", stem).strip("-_")[:60] or "vocabulary"


def add_vocabulary(folder: Path, file: Path, name: str, *, replace: bool) -> StoredVocabulary:
    """Read a file and keep its terms under a name; raises what the user can mend."""
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"{name[:80]!r} cannot be the name of a vocabulary",
            next_step="Use small letters, digits, - and _, at most 60.",
        )
    if not file.is_file():
        raise NotFoundError("File", str(file), next_step="Name a file that exists.")
    target = folder / f"{name}{_SUFFIX}"
    if target.exists() and not replace:
        raise ConflictError(
            f"There is already a vocabulary called {name}",
            next_step="Choose another --name, or --replace it.",
        )
    try:
        entries = read_vocabulary_file(file)
    except VocabularyFileError as error:
        raise InvalidInputError(
            f"{file.name} cannot be read as a vocabulary: {error}", next_step=f"Give {_FORMATS}"
        ) from error
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{name}.{secrets.token_hex(8)}.draft"
    try:
        with lzma.open(draft, "wt", encoding="utf-8", preset=1) as lines:
            lines.writelines(map(_as_line, entries))
        os.replace(draft, target)  # noqa: PTH105 - the same call on every system
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return _describe(target, entries)


def remove_vocabulary(folder: Path, name: str) -> None:
    """Remove a vocabulary by its name; raises NotFoundError where there is none."""
    target = folder / f"{name}{_SUFFIX}"
    if not _NAME.fullmatch(name) or not target.is_file():
        known = ", ".join(file.name.removesuffix(_SUFFIX) for file in vocabulary_files(folder))
        raise NotFoundError(
            "Vocabulary",
            name[:80],
            next_step=f"There is: {known}." if known else "None was added yet.",
        )
    target.unlink()


def vocabulary_files(folder: Path) -> list[Path]:
    """The files of all vocabularies, by name."""
    return sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []


def list_vocabularies(folder: Path) -> list[StoredVocabulary]:
    """All vocabularies with their sizes."""
    return [_describe(file, list(read_stored(file))) for file in vocabulary_files(folder)]


def identify_vocabularies(files: Sequence[Path]) -> str:
    """A name for these files as they are now: an index made with others is made again."""
    if not files:
        return ""
    digest = hashlib.sha256()
    for file in files:
        # A file that is gone is said when it is read.
        facts = file.stat() if file.exists() else None
        told = (facts.st_size, facts.st_mtime_ns) if facts else ()
        digest.update(f"{file.name} {told}\n".encode())
    return f"{files[0].name} {digest.hexdigest()[:16]}"


def read_vocabularies(files: Sequence[Path]) -> Vocabulary:
    """The terms of all files as one vocabulary; of two that name one thing, the first is kept."""
    return Vocabulary(
        Term(entry.id, entry.label, entry.synonyms, entry.trees)
        for file in files
        for entry in read_stored(file)
    )


def read_stored(file: Path) -> Iterator[VocabularyEntry]:
    """The terms of a kept table, or of a file that the settings name."""
    try:
        yield from read_vocabulary_file(file)
    except (OSError, VocabularyFileError) as error:
        raise InvalidInputError(
            f"The vocabulary {file} cannot be read: {describe_error(error)}",
            next_step="Add it again (carrel vocabularies add --replace), or correct "
            "research.vocabulary.",
        ) from error


def _describe(file: Path, entries: Sequence[VocabularyEntry]) -> StoredVocabulary:
    synonyms = sum(len(entry.synonyms) for entry in entries)
    name = file.name.removesuffix(_SUFFIX)
    return StoredVocabulary(name, len(entries), synonyms, file.stat().st_size, file)


def _as_line(entry: VocabularyEntry) -> str:
    names = (name.replace("|", " ") for name in entry.synonyms)
    cells = (entry.id, entry.label, "|".join(names), "|".join(entry.trees))
    return "\t".join(" ".join(cell.split()) for cell in cells) + "\n"
