"""Citations of items in a CSL style, computed on a thread within the budget of foreign input."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from carrel.core.errors import CarrelError, InvalidInputError
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

    async def select(
        self,
        words: str,
        *,
        citation_format: str | None = None,
        field: str | None = None,
        parent: str | None = None,
        is_independent: bool | None = None,
    ) -> tuple[list[csl.StyleInfo], Counter[str]]:
        """The styles that have the words and fit, and how many other names each style has.

        A dependent style is of the format of its parent. Raises StyleNotFoundError for a parent.
        """

        def work() -> tuple[list[csl.StyleInfo], Counter[str]]:
            every = {style.id: style for style in csl.list_styles(folder=self._folder)}
            dependents = Counter(style.parent for style in every.values() if style.parent)
            parent_id = None if parent is None else csl.SHORT_NAMES.get(parent.lower(), parent)
            if parent_id is not None and parent_id not in every:
                raise self._explain(csl.StyleNotFoundError(parent_id), parent_id)
            known_field = None if field is None else _find_field(field, every.values())
            wanted = StyleFilter(citation_format, known_field, parent_id, is_independent)
            hits = csl.list_styles(words, folder=self._folder)
            if words and not hits:
                hits = _find_by_field(words, every.values())
            return [style for style in hits if wanted.fits(style, every)], dependents

        return await asyncio.to_thread(work)

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


@dataclass(frozen=True, slots=True)
class StyleFilter:
    """What styles must be; None where anything will do."""

    citation_format: str | None = None
    field: str | None = None
    parent: str | None = None
    is_independent: bool | None = None

    def fits(self, style: csl.StyleInfo, every: Mapping[str, csl.StyleInfo]) -> bool:
        if self.parent is not None and style.parent != self.parent:
            return False
        if self.is_independent is not None and self.is_independent is bool(style.parent):
            return False
        if self.field is not None and self.field not in style.fields:
            return False
        if self.citation_format is None:
            return True
        found = style.citation_format
        if not found and style.parent in every:
            found = every[style.parent].citation_format
        return found == self.citation_format


def _find_by_field(words: str, styles: Iterable[csl.StyleInfo]) -> list[csl.StyleInfo]:
    """Styles whose titles and fields of science have the words together."""
    wanted = words.lower().split()
    found = [
        style
        for style in styles
        if all(
            word in f"{style.id} {style.title} {' '.join(style.fields)}".lower() for word in wanted
        )
    ]
    return sorted(found, key=lambda style: (bool(style.parent), len(style.title)))


def _find_field(typed: str, styles: Iterable[csl.StyleInfo]) -> str:
    """A field of science as styles name it, such as `political_science`; InvalidInputError."""
    known = {field for style in styles for field in style.fields}
    by_words = {_field_words(field): field for field in sorted(known)}
    if (words := _field_words(typed)) in by_words:
        return by_words[words]
    raise InvalidInputError(
        f"No citation style is of the field {typed!r}",
        next_step=f"Use one of: {', '.join(sorted(known))}.",
        details={"field": "field"},
    )


def _field_words(text: str) -> str:
    return " ".join(text.lower().replace("-", " ").replace("_", " ").split())


def _without_resolver(item: Item) -> Item:
    """Drop the resolver from a DOI: styles add it, so it would appear twice."""
    doi = item.get("DOI")
    return {**item, "DOI": without_resolver(doi)} if isinstance(doi, str) else item
