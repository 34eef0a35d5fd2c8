"""Reads downloaded texts (JATS, LaTeXML pages, TeX sources, PDFs) in a process of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from carrel.libraries.literature.records import TextFormat
from carrel.rooms.papers.building.models import PartJob, Reading, SourcePart
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.html_text import read_html_article
from carrel.services.paper_sources.jats import JatsReader
from carrel.services.paper_sources.pdf_source import PdfSource
from carrel.services.paper_sources.source_reader import ReadersAndAssets, SourceReader
from carrel.services.paper_sources.tex_archives import TexArchiveError, unpack_tex_source
from carrel.services.paper_sources.tex_text import read_tex_article

MakeAssets = Callable[[Path], AssetStore]


class UnreadableDownloadError(Exception):
    """A file holds no text of a paper; the message says why."""


class PartReader(Protocol):
    """Reads one part where it can be ended: `WarmReader`."""

    def read(self, job: PartJob, equipment: ReadersAndAssets) -> Reading: ...


@dataclass(frozen=True, slots=True)
class ReadText:
    """The text of a file as Markdown, and what the file says of itself."""

    markdown: str
    title: str
    licence: str | None = None
    doi: str | None = None
    remarks: tuple[str, ...] = ()


class HtmlPageReader:
    """A page of LaTeXML, as arXiv serves papers."""

    name = "html"
    version = 1

    def accepts(self, path: Path, head: bytes) -> bool:
        return path.suffix.lower() in {".html", ".htm"}

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        yield SourcePart(path)

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        article = read_html_article(part.path.read_bytes())
        if article is None:
            return Reading.failed("no_text", "the page holds no text of a paper")
        text = assets.keep_markdown(f"{article.markdown}\n")
        record = PaperRecord(
            title=article.title,
            abstract=article.abstract or None,
            license=article.licence,
            markdown_sha256=text,
        )
        return Reading((record,))


class TexArchiveReader:
    """The source of a paper as arXiv gives it out: one file or an archive of them."""

    name = "tex"
    version = 1

    def accepts(self, path: Path, head: bytes) -> bool:
        return path.suffix.lower() in {".tex", ".source"}

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        yield SourcePart(path)

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        try:
            article = read_tex_article(unpack_tex_source(part.path))
        except TexArchiveError as error:
            return Reading.failed("no_text", error.reason)
        if article is None:
            return Reading.failed("no_text", "the source holds no TeX document")
        text = assets.keep_markdown(f"{article.markdown}\n")
        record = PaperRecord(
            title=article.title, abstract=article.abstract or None, markdown_sha256=text
        )
        return Reading((record,))


_READERS: dict[TextFormat, str] = {"jats": "jats", "html": "html", "tex": "tex", "pdf": "pdf"}


def equip_reader(
    make_assets: MakeAssets, folder: Path
) -> tuple[tuple[SourceReader, ...], AssetStore]:
    """The readers of downloads, and a place for what they read."""
    readers = (JatsReader(), HtmlPageReader(), TexArchiveReader(), PdfSource())
    return readers, make_assets(folder)


class DownloadedTexts:
    """Reads files in the process that `open_reader` keeps; blocks, so call it from a thread."""

    def __init__(self, open_reader: Callable[[], PartReader], make_assets: MakeAssets) -> None:
        self._open_reader = open_reader
        self._make_assets = make_assets

    def read(self, file: Path, form: TextFormat) -> ReadText:
        """Raises UnreadableDownloadError with the reader's reason."""
        with tempfile.TemporaryDirectory(prefix="carrel-text-") as name:
            folder = Path(name)
            job = PartJob(_READERS[form], SourcePart(file), file.stat().st_size)
            reading = self._open_reader().read(
                job, partial(equip_reader, self._make_assets, folder)
            )
            problems = [problem.message for problem in reading.problems]
            record = reading.records[0] if reading.records else None
            if record is None or record.markdown_sha256 is None:
                why = problems[0] if problems else "it has no text below its abstract"
                raise UnreadableDownloadError(why)
            markdown = (folder / "md" / f"{record.markdown_sha256}.md").read_text("utf-8")
        return ReadText(markdown.strip(), record.title, record.license, record.doi, tuple(problems))
