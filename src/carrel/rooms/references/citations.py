"""Citations of items in a CSL style, computed on a thread within the budget of foreign input."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from carrel.core.errors import CarrelError
from carrel.core.parsing import parse_in_thread
from carrel.libraries import csl
from carrel.libraries.identifiers import without_resolver
from carrel.libraries.text.budget import parsing
from carrel.rooms.references.cited_items import CitedWork
from carrel.rooms.references.errors import CitationFailedError, StyleNotFoundError
from carrel.rooms.references.items import Item

ResultT = TypeVar("ResultT")
Output = Literal["text", "html"]


class CitationStyles:
    """The styles of the CSL library, and those of a folder of one's own."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    async def render_bibliography(
        self, items: Sequence[Item], style: str, output: Output, locale: str | None
    ) -> list[csl.BibliographyEntry]:
        """An entry for each item, in the order of the style."""
        return await self._render(
            lambda cited: csl.render_bibliography(
                cited, style, output=output, locale=locale, folder=self._folder
            ),
            items,
            style,
        )

    async def render_in_text(
        self,
        items: Sequence[Item],
        style: str,
        output: Output,
        locale: str | None,
        works: Sequence[CitedWork] = (),
    ) -> str:
        """One in-text citation of the works, which name the items; without them of all items."""

        def render(cited: Sequence[Item]) -> str:
            loaded = csl.load_style(style, folder=self._folder)
            processor = csl.Processor(loaded, cited, locale=locale, output=output)
            cites = [
                csl.Cite(work.id, work.locator, work.label)
                for work in works or [CitedWork(str(item["id"])) for item in cited]
            ]
            return processor.cite([csl.Cluster(cites)])[0]

        return await self._render(render, items, style)

    async def search(self, words: str) -> list[csl.StyleInfo]:
        """Every style with the words in its name or title."""
        return await asyncio.to_thread(csl.list_styles, words, folder=self._folder)

    async def _render(
        self, render: Callable[[Sequence[Item]], ResultT], items: Sequence[Item], style: str
    ) -> ResultT:
        def work() -> ResultT:
            try:
                with parsing("the references", sum(len(str(item)) for item in items)):
                    return render([_without_resolver(item) for item in items])
            except csl.CitationStyleError as error:
                raise self._explain(error, style) from None

        return await parse_in_thread(work)

    def _explain(self, error: csl.CitationStyleError, style: str) -> CarrelError:
        if isinstance(error, csl.StyleNotFoundError):
            alike = csl.list_styles(style.replace("-", " "), folder=self._folder)[:5]
            return StyleNotFoundError(style, [each.id for each in alike] or list(csl.SHORT_NAMES))
        return CitationFailedError(
            error.message, next_step=error.next_step, details={"style": style}
        )


def _without_resolver(item: Item) -> Item:
    """Drop the resolver from a DOI: styles add it, so it would appear twice."""
    doi = item.get("DOI")
    return {**item, "DOI": without_resolver(doi)} if isinstance(doi, str) else item
