"""Attaches the files that the entries of an imported bibliography file name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

from carrel.core.errors import CarrelError
from carrel.libraries.bibliography.file_links import item_file_links
from carrel.rooms.references.attachments import SUPPLEMENT, Attachments
from carrel.rooms.references.errors import FullTextExistsError
from carrel.rooms.references.fulltext import FullTexts
from carrel.rooms.references.items import Item
from carrel.rooms.references.models import Added, AddedReferences, Warned
from carrel.rooms.references.ports import Files, Library

# Of one call; the others are named in the answer's warnings.
MAX_FILES = 500


class NamedFiles:
    """The room's own rules of attaching hold for each file; none of them stops the import."""

    def __init__(
        self, files: Files, full_texts: FullTexts, check_allowed: Callable[[Path], Path]
    ) -> None:
        """`check_allowed` resolves a path. Raises CarrelError where it must not be read."""
        self._files = files
        self._full_texts = full_texts
        self._attachments = Attachments(files)
        self._check_allowed = check_allowed

    async def attach(
        self, library: Library, answer: AddedReferences, folders: Mapping[str, Sequence[Path]]
    ) -> None:
        """Say in the answer what was attached and what not; `folders` are those of the sources."""
        left = MAX_FILES
        for place, added in enumerate(answer.added):
            beside = folders.get(added.source, ())
            item = await library.find(added.id) if beside else None
            links = () if item is None else tuple(dict.fromkeys(item_file_links(item)))
            attached: list[str] = []
            for link in links:
                if left <= 0:
                    _warn(answer, added, link, f"more than {MAX_FILES} files are named")
                    continue
                left -= 1
                if problem := await self._attach_one(library, added.id, beside, link):
                    _warn(answer, added, link, problem)
                else:
                    attached.append(link)
            if attached:
                answer.added[place] = added.model_copy(update={"attached": tuple(attached)})

    async def _attach_one(
        self, library: Library, reference_id: str, beside: Sequence[Path], link: str
    ) -> str | None:
        """Why the file is not attached; None where it is."""
        try:
            path = await self._find(beside, link)
            if path is None:
                return "there is no such file"
            item = await library.find(reference_id)
            if item is None:
                return "the reference was removed meanwhile"
            await self._attach_text(library, item, path)
        except CarrelError as error:
            return error.message.rstrip(".")
        except OSError as error:
            return error.strerror or "it cannot be read"
        return None

    async def _attach_text(self, library: Library, item: Item, path: Path) -> None:
        """The first PDF and Markdown as full text, further ones as supplements."""
        try:
            await self._full_texts.attach(library, item, path)
        except FullTextExistsError:
            await self._attachments.attach(library, item, path, path.name, SUPPLEMENT, "")

    async def _find(self, beside: Sequence[Path], link: str) -> Path | None:
        name = link.replace("\\", "/")
        # Mendeley leaves out the first slash of an absolute path.
        names = [name, f"/{name}"] if name.startswith(("home/", "Users/")) else [name]
        for folder, each in product(beside, names):
            path = self._check_allowed(folder / each)
            if await self._files.exists(path):
                return path
        return None


def _warn(answer: AddedReferences, added: Added, link: str, problem: str) -> None:
    shown = link if len(link) <= 200 else f"…{link[-200:]}"
    message = f"{added.id} names the file {shown}, which was not attached: {problem}"
    answer.warnings.append(Warned(source=added.source, line=added.line, message=message))
