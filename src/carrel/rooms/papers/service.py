"""The service of the papers room: search, look up and read papers."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from carrel.core.answer import Text
from carrel.core.errors import InvalidInputError
from carrel.core.nothing_found import NothingFound
from carrel.libraries.identifiers import Identifier, identifier_keys
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.bibliography import cited_item, is_entry_outdated, write_papers
from carrel.rooms.papers.empty_searches import EmptySearches
from carrel.rooms.papers.errors import (
    AssetFetchFailedError,
    PaperNotFoundError,
    SectionNotFoundError,
    SourceNotAvailableError,
    TemplateNotAvailableError,
    TranslationNotAvailableError,
)
from carrel.rooms.papers.models import (
    DEFAULT_MAX_CHARS,
    MAX_DEPTH,
    CorpusStatistics,
    FacetCount,
    ListedCategory,
    Paper,
    PaperHit,
    PaperMetadata,
)
from carrel.rooms.papers.outlines import find_section, list_headings, write_outline
from carrel.rooms.papers.paper_names import (
    bare_paper_id,
    first_known,
    former_id_key,
    paper_keys,
)
from carrel.rooms.papers.ports import Assets, PaperStore, PaperToCite

_NOT_IN_TEMPLATE = re.compile(r"[^a-z0-9_-]")


class Papers:
    """The room itself, over a store of papers and their static texts."""

    def __init__(self, store: PaperStore, assets: Assets, *, follows_folders: bool = False) -> None:
        self._store = store
        self._assets = assets
        # Whether a server takes in what lies in folders, which takes a while at first.
        self._follows_folders = follows_folders

    async def search(self, text: str, *, page: int, limit: int) -> list[PaperHit]:
        first = first_of_page(page, limit)
        query = parse_paper_query(text)
        return [] if query.is_empty else await self._store.search(query, first=first, count=limit)

    async def search_by_keyword(self, keyword: str, *, page: int, limit: int) -> list[PaperHit]:
        return await self._store.search_by_keyword(
            keyword, first=first_of_page(page, limit), count=limit
        )

    async def explain_empty(self, text: str, *, within: int = 0) -> NothingFound:
        """Why a search of all or so many papers finds nothing, and what comes near."""
        return await EmptySearches(self._store, follows_folders=self._follows_folders).explain(
            text, within=within
        )

    async def statistics(self) -> CorpusStatistics:
        return await self._store.statistics()

    async def export(self, form: str, query: str | None, *, page: int, limit: int) -> str:
        """A page of papers, all or the matching ones, as JSON lines or a bibliography."""
        if query is None:
            ids = await self._store.list_ids(first=(page - 1) * limit, count=limit)
        else:
            first = first_of_page(page, limit)
            ids = [
                hit.paper_id
                for hit in await self._store.search(
                    parse_paper_query(query), first=first, count=limit
                )
            ]
        return await self.export_named(form, ids)

    async def export_named(self, form: str, names: Sequence[str]) -> str:
        """These papers, each once, as JSON lines or a bibliography. PaperNotFoundError."""
        named = [await self.metadata(name) for name in names]
        papers = list({paper.paper_id: paper for paper in named}.values())
        if form == "jsonl":
            return "".join(f"{paper.model_dump_json()}\n" for paper in papers)
        return await write_papers([await self._to_cite(paper) for paper in papers], form)

    async def metadata(self, paper_id: str) -> PaperMetadata:
        paper = await self.find_paper(paper_id)
        if paper.has_author_order:
            return paper.metadata
        return paper.metadata.model_copy(update={"authors": await self._authors_in_order(paper)})

    async def ids_by_keys(self, keys: Sequence[str]) -> dict[str, str]:
        """Which papers are named by keys such as `doi:10.1000/x` and `arxiv:2101.00001`."""
        return await self._store.find_by_keys(keys) if keys else {}

    async def stored_metadata(self, paper_id: str) -> PaperMetadata:
        """The metadata in the index; the order of authors may be known to the summary alone."""
        return (await self.find_paper(paper_id)).metadata

    async def ids_like(self, text: str, count: int) -> tuple[list[str], int]:
        """Ids of papers whose id or title begins with the text, and their total number."""
        return await self._store.ids_like(" ".join(text.split()), count)

    async def summary(
        self,
        paper_id: str,
        template: str | None,
        *,
        offset: int = 0,
        max_chars: int | None = DEFAULT_MAX_CHARS,
    ) -> Text:
        body = await self._summary_text(await self.find_paper(paper_id), template)
        return _part(body, offset, max_chars, "application/json")

    async def source(
        self,
        paper_id: str,
        *,
        section: str | None = None,
        offset: int = 0,
        max_chars: int | None = DEFAULT_MAX_CHARS,
    ) -> Text:
        """The text or one section of it. SourceNotAvailableError, SectionNotFoundError."""
        paper = await self.find_paper(paper_id)
        body = await self.source_text(paper)
        if body is None:
            raise SourceNotAvailableError(paper.metadata.paper_id)
        if section is not None:
            found = await asyncio.to_thread(find_section, body, section)
            if found is None:
                raise SectionNotFoundError(paper.metadata.paper_id, section, list_headings(body))
            body = body[found.start : found.end]
        return _part(body, offset, max_chars, "text/markdown")

    async def outline(self, paper_id: str) -> Text:
        """The headings of the text with their numbers, pages and lengths."""
        paper = await self.find_paper(paper_id)
        body = await self.source_text(paper)
        if body is None:
            raise SourceNotAvailableError(paper.metadata.paper_id)
        return Text(await asyncio.to_thread(write_outline, body), "text/markdown")

    async def translation(self, paper_id: str, language: str) -> Text:
        paper = await self.find_paper(paper_id)
        hashes = {known.lower(): (known, value) for known, value in paper.translation_hashes}
        if language.lower() not in hashes:
            raise TranslationNotAvailableError(
                paper.metadata.paper_id, language, paper.metadata.available_translations
            )
        folder, name = hashes[language.lower()]
        body = await self._read(
            paper_id, f"translation '{folder}'", (f"md_translate/{folder}/{name}.md",)
        )
        return _part(body, 0, DEFAULT_MAX_CHARS, "text/markdown")

    async def bibtex(self, paper_id: str) -> Text:
        """The stored entry where it is still true, else one made from the metadata too."""
        facts = await self.metadata(paper_id)
        stored = await self._store.bibtex(facts.paper_id)
        paper = PaperToCite(facts, stored)
        if stored is not None and not is_entry_outdated(paper):
            return Text(stored, "application/x-bibtex")
        return Text(await write_papers([paper], "bibtex"), "application/x-bibtex")

    async def to_cite(self, paper_id: str) -> PaperToCite:
        """A paper with its citation data."""
        return await self._to_cite(await self.metadata(paper_id))

    async def _to_cite(self, facts: PaperMetadata) -> PaperToCite:
        return PaperToCite(
            facts, await self._store.bibtex(facts.paper_id) if facts.has_bibtex else None
        )

    async def top_facets(self, category: ListedCategory, limit: int) -> list[FacetCount]:
        if category == "year":
            years = (await self._store.statistics()).years
            known = [each for each in years if each.year.isdigit()]
            often = sorted(known, key=lambda each: -each.paper_count)
            return [
                FacetCount(value=each.year, paper_count=each.paper_count) for each in often[:limit]
            ]
        return await self._store.top_facets(category, limit)

    async def find_paper(self, name: str) -> Paper:
        """The paper of an id, a DOI, an arXiv id or an address; PaperNotFoundError without one."""
        bare, keys = bare_paper_id(name), paper_keys(name)
        paper = await self._store.find(bare) if bare is not None else None
        if bare is not None:
            # An id that the paper had before it became part of another one.
            keys = (former_id_key(bare), *keys)
        if paper is None and keys:
            known = first_known(keys, await self._store.find_by_keys(keys))
            paper = await self._store.find(known) if known is not None else None
        if paper is None:
            has_papers = bool(await self._store.list_ids(first=0, count=1))
            raise PaperNotFoundError(
                name, is_identifier=bool(paper_keys(name)), is_corpus_empty=not has_papers
            )
        return paper

    async def source_text(self, paper: Paper) -> str | None:
        """The whole stored text of a paper; None where it has none."""
        if paper.source_hash is None:
            return None
        names = (f"md/{paper.source_hash}.md",)
        return await self._read(paper.metadata.paper_id, "source text", names)

    async def other_texts(self, paper: Paper) -> list[str]:
        """Texts of papers that became part of this one, which shows another."""
        named = [(f"md/{name}.md",) for name in paper.other_texts]
        paper_id = paper.metadata.paper_id
        return [await self._read(paper_id, "source text", names) for names in named]

    async def _summary_text(self, paper: Paper, template: str | None) -> str:
        facts = paper.metadata
        available = facts.available_summary_templates
        tag = (
            facts.preferred_summary_template
            if template is None
            else _NOT_IN_TEMPLATE.sub("_", template.strip().lower())
        )
        if tag not in available:
            raise TemplateNotAvailableError(facts.paper_id, template or tag, available)
        own, preferred = f"summary/{facts.paper_id}/{tag}.json", f"summary/{facts.paper_id}.json"
        names = (
            (preferred, own)
            if template is None
            else (own, preferred)
            if tag == facts.preferred_summary_template
            else (own,)
        )
        body = await self._read(facts.paper_id, "summary", names, template=tag)
        try:
            json.loads(body)
        except ValueError as error:
            raise AssetFetchFailedError(
                facts.paper_id, "summary", "unreadable", template=tag
            ) from error
        return body

    async def _authors_in_order(self, paper: Paper) -> tuple[str, ...]:
        """The authors in the summary's order, or as stored if there is no summary."""
        known = paper.metadata.authors
        try:
            summary = json.loads(await self._summary_text(paper, None))
        except TemplateNotAvailableError:
            return known
        except AssetFetchFailedError as error:
            # Fail if a summary exists but is unreadable: `known` has not the authors' own order.
            if error.details.get("reason") != "not_found":
                raise
            return known
        authors = summary.get("paper_authors") if isinstance(summary, dict) else None
        is_list = (
            isinstance(authors, list)
            and bool(authors)
            and all(isinstance(author, str) for author in authors)
        )
        return (
            tuple(" ".join(author.split()) for author in authors) if is_list and authors else known
        )

    async def _read(
        self, paper_id: str, what: str, names: Sequence[str], *, template: str | None = None
    ) -> str:
        """The first of these static files that exists, as text."""
        for name in names:
            try:
                return (await self._assets.read(name)).decode("utf-8-sig")
            except FileNotFoundError:
                continue
            except TimeoutError as error:
                raise AssetFetchFailedError(
                    paper_id, what, "timed_out", template=template
                ) from error
            except (OSError, UnicodeDecodeError) as error:
                raise AssetFetchFailedError(
                    paper_id, what, "unreadable", template=template
                ) from error
        raise AssetFetchFailedError(paper_id, what, "not_found", template=template)


def first_of_page(page: int, limit: int) -> int:
    """How many items stand before a page. InvalidInputError past the deepest one."""
    if page * limit > MAX_DEPTH:
        raise InvalidInputError(
            f"page × limit is {page * limit}; nothing past item {MAX_DEPTH} is listed.",
            next_step="Ask a narrower question.",
            details={"page": page, "limit": limit, "max_items": MAX_DEPTH},
        )
    return (page - 1) * limit


def _part(body: str, offset: int, max_chars: int | None, media_type: str) -> Text:
    """A part of a text with a note of what is left; without `max_chars` all that follows."""
    if offset and offset >= len(body):
        raise InvalidInputError(
            f"offset {offset} is past the end; the text has {len(body)} characters.",
            next_step="Call again with a smaller offset.",
            details={"offset": offset, "length": len(body)},
        )
    end = len(body) if max_chars is None else offset + max_chars
    left = len(body) - end
    part = body[offset:end]
    if left > 0:
        part = f"{part}\n[truncated: {left} more chars]"
    # A piece of JSON is not JSON any more.
    is_whole = offset == 0 and left <= 0
    kept_type = media_type if is_whole or media_type != "application/json" else "text/plain"
    return Text(part, kept_type, left_out=max(left, 0))


class CitablePapers:
    """Items without a key. A desk without a corpus has no papers, which is no fault."""

    def __init__(self, papers: Papers, has_papers: Callable[[], bool]) -> None:
        self._papers = papers
        self._has_papers = has_papers

    async def find_many(self, identifiers: Sequence[Identifier]) -> dict[Identifier, Any]:
        """The papers that the identifiers name, as far as the corpus has them."""
        keys = {identifier: identifier_keys(identifier) for identifier in identifiers}
        names = [key for several in keys.values() for key in several]
        ids = await self._papers.ids_by_keys(names) if names and self._has_papers() else {}
        return {
            identifier: await paper_as_csl(self._papers, paper_id)
            for identifier, several in keys.items()
            if (paper_id := first_known(several, ids)) is not None
        }

    async def find(self, paper_id: str) -> dict[str, Any] | None:
        """The paper of that id, or None."""
        if not self._has_papers():
            return None
        try:
            return await paper_as_csl(self._papers, paper_id)
        except PaperNotFoundError:
            return None


async def paper_as_csl(papers: Papers, paper_id: str) -> dict[str, Any]:
    """A paper as a CSL item without a key, its title as written. PaperNotFoundError."""
    paper = await papers.to_cite(paper_id)
    item = await asyncio.to_thread(cited_item, paper)
    return {name: value for name, value in item.items() if name != "id"}
