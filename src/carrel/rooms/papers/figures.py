"""Figures and tables of papers: lists them, and shows one as an image or as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from pydantic import Field

from carrel.core.answer import Binary, Blocks, Embedded, Text
from carrel.core.operation import Answer
from carrel.libraries.text.folding import fold_text
from carrel.libraries.works.cited_works import decode_cited_works
from carrel.libraries.works.figures import PaperFigure, decode_figures
from carrel.rooms.papers.errors import AssetFetchFailedError, AssetTrouble, FigureNotFoundError
from carrel.rooms.papers.models import OnePaper, Paper
from carrel.rooms.papers.ports import Assets
from carrel.rooms.papers.service import Papers

MAX_IMAGE_BYTES = 5_000_000
_SHOWN_CAPTION_CHARACTERS = 400
_IMAGE_NAME = re.compile(r"images/[0-9a-f]{64}\.([a-z0-9]{1,5})")
# What clients show as pictures; others are handed over as files.
_SHOWN_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}
_FILE_TYPES = {
    "svg": "image/svg+xml",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "bmp": "image/bmp",
    "avif": "image/avif",
}
_NAME = re.compile(
    r"(?P<kind>fig(?:ures?|s)?|abb(?:ildung(?:en)?)?|figura|tab(?:les?|elle|leau|la)?)?\.?\s*"
    r"(?P<number>.*)"
)


class GetPaperFigure(OnePaper):
    """One figure or table of a paper."""

    figure: str = Field(
        min_length=1, max_length=200, description="Its label or number: Figure 3, 3, Table 2"
    )


class FigureEntry(Answer):
    """A figure or table of a paper; `has_image` and `has_table` say what can be read of it."""

    label: str
    kind: str
    page: int | None = Field(default=None, exclude_if=lambda value: value is None)
    caption: str
    has_image: bool
    has_table: bool


class PaperFigures:
    """Reads the lists of figures and references that were kept when a paper was read."""

    def __init__(self, papers: Papers, assets: Assets) -> None:
        self._papers = papers
        self._assets = assets

    async def list_entries(self, paper_id: str) -> list[FigureEntry]:
        """Every figure and table that is known, in the order of the paper."""
        paper = await self._papers.find_paper(paper_id)
        return [_entry(figure) for figure in await self._read(paper)]

    async def show(self, paper_id: str, name: str) -> Blocks:
        """Caption, page, table and image of one. FigureNotFoundError, AssetFetchFailedError."""
        paper = await self._papers.find_paper(paper_id)
        figures = await self._read(paper)
        figure = find_figure(figures, name)
        if figure is None:
            labels = [each.label for each in figures]
            raise FigureNotFoundError(paper.metadata.paper_id, name, labels)
        image, note = await self._image(paper.metadata.paper_id, figure)
        pieces = [_heading(figure), figure.markdown or "", note]
        text = Text("\n\n".join(piece for piece in pieces if piece), "text/markdown")
        return Blocks((text,) if image is None else (text, image))

    async def counts(self, paper_id: str) -> dict[str, int]:
        """How many `figures` (tables among them) and `references` are known; none of zero."""
        paper = await self._papers.find_paper(paper_id)
        counts = {"figures": len(await self._read(paper))}
        if paper.references_hash is not None:
            name = f"references/{paper.references_hash}.json"
            body = await self._bytes(paper.metadata.paper_id, "list of references", name)
            try:
                counts["references"] = len(decode_cited_works(body))
            except ValueError as error:
                raise _unreadable(paper, "list of references", "unreadable") from error
        return {name: count for name, count in counts.items() if count}

    async def _read(self, paper: Paper) -> tuple[PaperFigure, ...]:
        if paper.figures_hash is None:
            return ()
        name = f"figures/{paper.figures_hash}.json"
        body = await self._bytes(paper.metadata.paper_id, "list of figures", name)
        try:
            return decode_figures(body)
        except ValueError as error:
            raise _unreadable(paper, "list of figures", "unreadable") from error

    async def _image(
        self, paper_id: str, figure: PaperFigure
    ) -> tuple[Binary | Embedded | None, str]:
        """The image, and what to say where there is none or it is not shown."""
        named = _IMAGE_NAME.fullmatch(figure.image) if figure.image else None
        if figure.image is None or named is None:
            is_read = figure.kind == "table" and figure.markdown
            return (
                None,
                "" if is_read else "_No image of it was kept._",
            )
        body = await self._bytes(paper_id, f"image of {figure.label}", figure.image)
        if len(body) > MAX_IMAGE_BYTES:
            size = f"{len(body):,} bytes, more than the {MAX_IMAGE_BYTES:,} that are sent"
            return None, f"_Its image has {size}._"
        extension = named.group(1)
        if extension in _SHOWN_TYPES:
            return Binary(body, _SHOWN_TYPES[extension]), ""
        media_type = _FILE_TYPES.get(extension, "application/octet-stream")
        uri = f"paper://{paper_id}/figures/{quote(figure.label, safe='')}"
        return Embedded(uri, Binary(body, media_type)), f"_Its image is a file of {media_type}._"

    async def _bytes(self, paper_id: str, what: str, name: str) -> bytes:
        try:
            return await self._assets.read(name)
        except FileNotFoundError as error:
            raise AssetFetchFailedError(paper_id, what, "not_found") from error
        except TimeoutError as error:
            raise AssetFetchFailedError(paper_id, what, "timed_out") from error
        except OSError as error:
            raise AssetFetchFailedError(paper_id, what, "unreadable") from error


def _unreadable(paper: Paper, what: str, trouble: AssetTrouble) -> AssetFetchFailedError:
    return AssetFetchFailedError(paper.metadata.paper_id, what, trouble)


def _entry(figure: PaperFigure) -> FigureEntry:
    caption = figure.caption
    if len(caption) > _SHOWN_CAPTION_CHARACTERS:
        caption = caption[: _SHOWN_CAPTION_CHARACTERS - 1].rstrip() + "…"
    return FigureEntry(
        label=figure.label,
        kind=figure.kind,
        page=figure.page,
        caption=caption,
        has_image=figure.image is not None,
        has_table=figure.markdown is not None,
    )


def _heading(figure: PaperFigure) -> str:
    page = f" (page {figure.page})" if figure.page is not None else ""
    return f"**{figure.label}**{page}. {figure.caption}".rstrip(". ") + "."


def find_figure(figures: Sequence[PaperFigure], name: str) -> PaperFigure | None:
    """The figure of a label ("Figure 3") or number ("3"; of figures before tables)."""
    wanted = fold_text(name).strip(" .:")
    for figure in figures:
        if fold_text(figure.label).strip(" .:") == wanted:
            return figure
    kind, number = _parse_name(wanted)
    # A panel ("3a") is shown with its figure.
    for sought in dict.fromkeys((number, re.sub(r"(?<=\d)[a-z]$", "", number))):
        for figure in sorted(figures, key=lambda each: each.kind != "figure"):
            if _parse_name(fold_text(figure.label).strip(" .:"))[1] == sought and (
                kind is None or kind == figure.kind
            ):
                return figure
    return None


def _parse_name(folded: str) -> tuple[str | None, str]:
    found = _NAME.fullmatch(folded)
    if found is None or not found["kind"]:
        return None, folded
    return "table" if found["kind"].startswith("tab") else "figure", found["number"].strip(" .:")
