"""Which files of folders are notes on the desk already, so that a build makes no papers of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from carrel.services.folder_watch import look_at
from carrel.services.things_to_add import is_note
from carrel.settings import Settings
from carrel.stores.note_folders import FILE_NAME, NoteFoldersFile
from carrel.wiring.papers import snapshot_path


async def find_imported_notes(
    settings: Settings, into: Path, sources: Sequence[Path], user_id: str
) -> frozenset[str]:
    """The files below the sources that a person imported as notes and that look like notes.

    None for a corpus elsewhere, which has no notes beside it.
    """
    is_own = await asyncio.to_thread(_is_same, into, snapshot_path(settings).parent)
    if not is_own or "knowledge" not in settings.rooms:
        return frozenset()
    known = [
        row for row in NoteFoldersFile(settings.home / FILE_NAME).all() if row.user_id == user_id
    ]
    if not known:
        return frozenset()
    from carrel.wiring.knowledge import open_stores

    found: set[str] = set()
    stores = open_stores(settings)
    try:
        folders = {Path(row.folder): row.source for row in known}
        for path, place, folder in await asyncio.to_thread(_find_notes, sources, [*folders]):
            name = place.relative_to(folder).as_posix()
            if await stores.notes.find(folders[folder].note_id(user_id, name)) is not None:
                found.add(str(path))
    finally:
        await stores.notes.close()
    return frozenset(found)


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _find_notes(sources: Sequence[Path], folders: Sequence[Path]) -> list[tuple[Path, Path, Path]]:
    """What looks like a note: its path, its true place, and the imported folder it is in."""
    places = [(path, path.resolve()) for path in _markdown_files(sources)]
    return [
        (path, place, folder)
        for path, place in places
        for folder in folders
        if place.is_relative_to(folder) and is_note(place, [folder])
    ]


def _markdown_files(sources: Sequence[Path]) -> Iterator[Path]:
    for source in sources:
        paths = look_at([source]).files if source.is_dir() else [str(source.absolute())]
        yield from (Path(path) for path in paths if path.lower().endswith((".md", ".markdown")))
