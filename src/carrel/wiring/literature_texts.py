"""What finds texts outside: downloads into the cache, a reader process, and the corpus."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from carrel.core.answer import Job
from carrel.core.caller import Call
from carrel.core.clock import SystemClock
from carrel.libraries.bibliography.imports import ORIGIN_MARK
from carrel.libraries.literature.records import TextLocation
from carrel.rooms.literature.fulltext import OpenTexts, TextPolicy
from carrel.rooms.literature.fulltext_ports import AddedText, FetchedText
from carrel.rooms.literature.lookup import LiteratureLookup
from carrel.services.literature.catalogue import LazyServices
from carrel.services.literature.text_shelf import FolderShelf
from carrel.settings import Settings
from carrel.wiring.papers import OpenCorpus
from carrel.wiring.papers_adding import LazyReader

if TYPE_CHECKING:
    from carrel.services.literature.fulltext import NoDownloads, TextDownloads

_DOWNLOAD_MODES = ("live", "record")
# How files of the corpus are named, by what was downloaded; what has no reader there is Markdown.
_SUFFIXES = {"jats": ".xml", "pdf": ".pdf"}


class LazyDownloads:
    """The downloader and its reader, opened by the first place that is tried."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._reader = LazyReader()
        self._downloads: TextDownloads | NoDownloads | None = None

    async def fetch(self, place: TextLocation) -> FetchedText:
        return await self._open().fetch(place)

    async def find_link(self, page_url: str) -> str:
        return await self._open().find_link(page_url)

    def _open(self) -> TextDownloads | NoDownloads:
        if self._downloads is None:
            self._downloads = self._make()
        return self._downloads

    def _make(self) -> TextDownloads | NoDownloads:
        from carrel.services.literature.fulltext import NoDownloads, TextDownloads
        from carrel.services.literature.governor import Governor
        from carrel.services.paper_sources.downloaded_texts import DownloadedTexts
        from carrel.services.safe_download import DownloadLimits, SafeDownloader
        from carrel.stores.static_folder import PaperAssets

        chosen = self._settings.literature
        if chosen.mode not in _DOWNLOAD_MODES:
            return NoDownloads(chosen.mode)
        downloader = SafeDownloader(
            self._folder,
            private_hosts=chosen.private_hosts,
            limits=DownloadLimits(max_bytes=chosen.max_download_bytes),
            proxy=chosen.proxy,
        )
        governor = Governor(self._settings.cache_folder / "cache" / "literature" / "governor.db")
        return TextDownloads(
            downloader,
            DownloadedTexts(self._reader.open, PaperAssets),
            governor,
            SystemClock().now,
            chosen.private_hosts,
        )

    async def close(self) -> None:
        if self._downloads is not None:
            await self._downloads.close()
        await asyncio.to_thread(self._reader.close)


@dataclass(frozen=True, slots=True)
class FetchedTextAdditions:
    """Adds fetched texts by the papers room, with a record that says where each came from."""

    corpus: OpenCorpus

    async def add(self, text: FetchedText, item: dict[str, Any], call: Call) -> AddedText:
        adder = self.corpus.links.papers.adder
        suffix = _SUFFIXES.get(text.format, ".md")
        content = text.file if suffix != ".md" else await asyncio.to_thread(_write_beside, text)
        added = await adder.add_text(
            content, suffix, lambda place: describe_text(text, item, place), call
        )
        if isinstance(added, Job):
            return AddedText("", False, (added.message,), added.job_id)
        return AddedText(added.paper_id, added.is_new, tuple(added.notes), added.job_id)


def _write_beside(text: FetchedText) -> Path:
    """The text as Markdown beside the file that it was read from."""
    from carrel.services.atomic_files import write_atomically

    path = text.file.with_suffix(".md")
    write_atomically(path, text.markdown.encode("utf-8", "replace"))
    return path


def describe_text(text: FetchedText, item: dict[str, Any], place: Path) -> bytes:
    """The record of a work as CSL-JSON that names its text's file and where that came from."""
    custom = dict(item.get("custom") or {})
    fields = dict(custom.get("fields") or {})
    origin = {
        "url": text.url,
        "format": text.format,
        "version": text.version,
        "licence": text.licence,
        "sha256": text.sha256,
        "retrieved_at": text.retrieved_at,
        "service": text.service,
    }
    record = {
        **item,
        "title": item.get("title") or text.title,
        "custom": {
            **custom,
            ORIGIN_MARK: "publisher",
            "fields": {**fields, "file": place.name},
            "text_origin": {name: value for name, value in origin.items() if value},
        },
    }
    if text.licence:
        record["license"] = text.licence
    return orjson.dumps([record])


def open_full_texts(
    settings: Settings, corpus: OpenCorpus, services: LazyServices, lookup: LiteratureLookup
) -> tuple[OpenTexts, LazyDownloads]:
    """What finds texts, and the downloads that its owner closes."""
    chosen = settings.literature
    folder = settings.cache_folder / "cache" / "literature" / "texts"
    downloads = LazyDownloads(settings, folder)
    policy = TextPolicy(
        timeout_seconds=chosen.timeout_seconds,
        is_network_allowed=settings.network or chosen.mode not in _DOWNLOAD_MODES,
        has_semantic_scholar_key=bool(chosen.semantic_scholar_api_key),
        has_contact=bool(chosen.contact or settings.references.contact),
        arxiv_texts_url=chosen.addresses.arxiv_texts or "https://arxiv.org",
    )
    texts = OpenTexts(
        services,
        lookup,
        downloads,
        FolderShelf(folder),
        FetchedTextAdditions(corpus),
        policy,
        SystemClock(),
    )
    return texts, downloads
