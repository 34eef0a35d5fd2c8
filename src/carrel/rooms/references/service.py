"""The service of the references room, for the caller's library."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from carrel.core.answer import Explained, Explanation, Job, Text
from carrel.core.caller import Call
from carrel.core.completion import MAX_COMPLETION_VALUES, Completion, complete_titled
from carrel.core.errors import InvalidInputError
from carrel.core.nothing_found import NothingFound, PartlyFound
from carrel.core.paging import explain_past_end
from carrel.core.parsing import parse_in_thread
from carrel.core.work_notices import GONE, NoNotices, NoticesAbout, describe_notice, find_notices
from carrel.libraries import bibliography
from carrel.libraries.bibliography.file_links import declared_folders
from carrel.libraries.identifiers import identifier_keys
from carrel.rooms.references.citations import CitationStyles
from carrel.rooms.references.cited_items import CitedWork, parse_cited
from carrel.rooms.references.errors import (
    FileNotUsableError,
    ForceRequiredError,
    FullTextNotAvailableError,
    PathNotAllowedError,
    ReferenceNotFoundError,
    ReferencesNotFoundError,
)
from carrel.rooms.references.fulltext import FullTexts, cut_text
from carrel.rooms.references.identifier_lists import split_identifiers
from carrel.rooms.references.items import (
    Item,
    custom,
    identifier_work_keys,
    identifiers_of,
    names_text,
    text_of,
    work_identifiers,
    year_of,
)
from carrel.rooms.references.lookup_job import Additions
from carrel.rooms.references.models import (
    AboutWorks,
    AddedReferences,
    AddReferences,
    AttachedFile,
    AttachFulltext,
    Citation,
    Citations,
    CitedReference,
    CiteReferences,
    DetachedFiles,
    DetachFulltext,
    EditReference,
    ExportReferences,
    FoundStyle,
    FoundStyles,
    Fulltext,
    GetFulltext,
    GetReference,
    LibraryAnswer,
    ListCitationStyles,
    ListReferences,
    OneReference,
    ReferencePassage,
    References,
    RemovedReference,
    RemoveReference,
    SearchReferences,
)
from carrel.rooms.references.named_files import NamedFiles
from carrel.rooms.references.nearest_ids import find_nearest_ids
from carrel.rooms.references.organizing import give_groups
from carrel.rooms.references.ports import AttachedPassage, CorpusPapers, Files, Libraries, Library
from carrel.rooms.references.queries import parse_reference_query
from carrel.rooms.references.validation import check_changes

AnswerT = TypeVar("AnswerT", bound=LibraryAnswer)
AboutT = TypeVar("AboutT", bound=AboutWorks)
OWN_DOORS = frozenset({"stdio", "cli"})
READ_PAPERS = "papers:read"
_NO_PLACES = "A bibliography names no pages; kind in_text shows the places that are cited."
# What of a passage is shown beside a reference; get_fulltext has the whole text.
_PASSAGE_CHARACTERS = 400
_MAX_FILE_BYTES = 256 * 1024 * 1024


class ReferencesRoom:
    """The service; over HTTP it reads only `allowed_folders`, at local doors any file."""

    def __init__(
        self,
        libraries: Libraries,
        additions: Additions,
        styles: CitationStyles,
        files: Files,
        *,
        allowed_folders: Sequence[Path] = (),
        default_style: str = "apa",
        default_locale: str | None = None,
        papers: CorpusPapers | None = None,
        notices: NoticesAbout | None = None,
    ) -> None:
        self._libraries = libraries
        self._styles = styles
        self._files = files
        self._papers = papers
        self._notices = notices or NoNotices()
        self._allowed_folders = tuple(allowed_folders)
        self._default_locale = default_locale
        self.default_style = default_style
        self.additions = additions
        self._full_texts = FullTexts(files)

    async def search(self, question: SearchReferences, call: Call) -> References | Explained:
        """The best matches; beside an empty answer why it is, beside any what was misread."""
        library = self._libraries.of(call.caller)
        query = parse_reference_query(question.query)
        first = (question.page - 1) * question.limit
        found = await library.search(query, first, question.limit)
        answer = await self._with_notices(
            References(
                total=found.total,
                page=question.page,
                limit=question.limit,
                references=list(found.items),
                passages=[_passage(passage) for passage in found.passages],
            ),
            call,
        )
        answer = await self._about_works(answer, found.items)
        if not found.total:
            return Explained(answer, NothingFound.of(await library.explain_empty(query)))
        if first >= found.total:
            past = explain_past_end(question.page, question.limit, found.total, "references")
            return Explained(answer, past)
        if found.is_partial:
            return Explained(answer, PartlyFound.of(await library.explain_empty(query)))
        if query.unknown_fields:
            told = " ".join(unknown.message for unknown in query.unknown_fields)
            return Explained(answer, Explanation(message=told))
        return answer

    async def list_page(self, question: ListReferences, call: Call) -> References:
        library = self._libraries.of(call.caller)
        first = (question.page - 1) * question.limit
        total, items = await library.list_items(first, question.limit)
        answer = References(
            total=total, page=question.page, limit=question.limit, references=list(items)
        )
        chosen = answer.references or []
        match question.format:
            case "bibtex":
                text = await _write(chosen, bibliography.ExportFormat.BIBTEX)
                answer = answer.model_copy(update={"references": None, "text": text})
            case "pretty":
                text = "\n".join(_readable_line(item) for item in chosen)
                answer = answer.model_copy(update={"references": None, "text": text})
            case "json":
                pass
        return await self._about_works(await self._with_notices(answer, call), chosen)

    async def list_items(self, first: int, count: int, call: Call) -> tuple[int, Sequence[Item]]:
        """How many items there are, and some of them in the order of the library."""
        return await self._libraries.of(call.caller).list_items(first, count)

    async def get(self, question: GetReference, call: Call) -> OneReference:
        """One reference. Raises ReferenceNotFoundError."""
        item = await _find(self._libraries.of(call.caller), question.id)
        found = await self._about_works(OneReference(reference=item), [item])
        return await self._with_notices(found, call)

    async def find(self, reference_id: str, call: Call) -> Item:
        """One item, for searches: an error without the ids that come near."""
        item = await self._libraries.of(call.caller).find(reference_id)
        if item is None:
            raise ReferenceNotFoundError(reference_id)
        return item

    async def add(self, question: AddReferences, call: Call) -> AddedReferences | Job:
        given = question.input
        elements: Sequence[object] = [given] if isinstance(given, str) else given
        folders: dict[str, list[Path]] = {}
        named = NamedFiles(self._files, self._full_texts, partial(self.check_allowed, call=call))
        added = await self.additions.add(
            elements,
            partial(self._read_file, call=call, folders=folders),
            call,
            partial(named.attach, folders=folders),
        )
        if isinstance(added, Job):
            return added
        ids = [each.id for each in added.added]
        items = await self._libraries.of(call.caller).find_many(ids) if ids else ()
        answer = await self._about_works(added, items)
        return await self._with_notices(answer, call)

    async def remove(self, question: RemoveReference, call: Call) -> RemovedReference:
        library = self._libraries.of(call.caller)
        item = await _find(library, question.id)
        if not question.force:
            raise ForceRequiredError(question.id)
        # A key that it had before removes nothing: whoever wrote it down may mean another work.
        removed = await library.remove(question.id)
        if removed is None:
            raise ReferenceNotFoundError(question.id, [text_of(item, "id")])
        return await self._with_notices(RemovedReference(removed=removed), call)

    async def edit(self, question: EditReference, call: Call) -> OneReference:
        change = check_changes(question.changes)
        library = self._libraries.of(call.caller)
        changed = await library.change(question.id, change)
        if changed is None:
            raise ReferenceNotFoundError(question.id, await _nearest_ids(library, [question.id]))
        return await self._with_notices(OneReference(reference=changed), call)

    async def cite(self, question: CiteReferences, call: Call) -> Citations:
        works, found = await self._cited_works(question.ids, call)
        locale = question.locale or self._default_locale
        style = question.style or self.default_style
        entries: list[Citation] = []
        if question.kind == "in_text":
            text = await self._styles.render_in_text(found, style, question.format, locale, works)
        else:
            rendered = await self._styles.render_bibliography(found, style, question.format, locale)
            entries = [Citation(id=entry.id, text=entry.text) for entry in rendered]
            text = "\n".join(entry.text for entry in entries)
        answer = Citations(
            style=style, format=question.format, kind=question.kind, text=text, entries=entries
        )
        answer = await self._about_works(await self._with_notices(answer, call), found)
        if warnings := _warn_of_gone(answer):
            answer = answer.model_copy(update={"notices": [*answer.notices, *warnings]})
        if question.kind == "bibliography" and any(work.locator for work in works):
            return answer.model_copy(update={"notices": [*answer.notices, _NO_PLACES]})
        return answer

    async def _cited_works(
        self, ids: Sequence[str | CitedReference], call: Call
    ) -> tuple[list[CitedWork], list[Item]]:
        """What is cited, and each item once; ReferencesNotFoundError names all that are unknown."""
        library = self._libraries.of(call.caller)
        works: list[CitedWork] = []
        items: dict[str, Item] = {}
        missing: list[str] = []
        for given in ids:
            work, item = await self._cited_work(given, library, call)
            if item is None:
                missing.append(given if isinstance(given, str) else given.id)
                continue
            works.append(work)
            items.setdefault(work.id, item)
        if missing:
            raise ReferencesNotFoundError(missing, await _nearest_ids(library, missing))
        own = await _find_own_records(items, library)
        works = [replace(work, id=own[work.id]["id"]) if work.id in own else work for work in works]
        cited = [own.get(name, item) for name, item in items.items()]
        return works, list({text_of(item, "id"): item for item in cited}.values())

    async def _cited_work(
        self, given: str | CitedReference, library: Library, call: Call
    ) -> tuple[CitedWork, Item | None]:
        """A reference of the library by its id, else a paper of the corpus by any name."""
        if isinstance(given, str):
            item = await library.find(given)
            if item is not None:
                return CitedWork(text_of(item, "id")), item
            work = parse_cited(given)
        else:
            work = CitedWork(given.id, given.locator, given.label)
        item = await _find_by_name(library, work.id)
        if item is not None:
            # It may have been asked for by an identifier, or a key that it had before.
            work = replace(work, id=text_of(item, "id"))
        if item is not None or self._papers is None or READ_PAPERS not in call.caller.scopes:
            return work, item
        paper = await self._papers.cite(work.id)
        if paper is None:
            return work, None
        if paper.page is not None and not work.locator:
            work = replace(work, locator=str(paper.page), label="page")
        return replace(work, id=paper.paper_id), {**paper.item, "id": paper.paper_id}

    async def export(self, question: ExportReferences, call: Call) -> Text:
        """All references, those that match, or those that are named. ReferencesNotFoundError."""
        library = self._libraries.of(call.caller)
        items: Sequence[Item]
        if question.ids and question.query:
            raise InvalidInputError(
                "Give either query or ids", next_step="Leave one of them out and call again."
            )
        if question.ids:
            _, items = await self._cited_works(question.ids, call)
        elif question.query:
            items = await library.find_all(parse_reference_query(question.query))
        else:
            items = (await library.snapshot()).items
        form = bibliography.ExportFormat(question.format)
        return Text(await _write(items, form, lossless=question.lossless))

    async def attach(self, question: AttachFulltext, call: Call) -> AttachedFile:
        library = self._libraries.of(call.caller)
        item = await _find(library, question.id)
        source = self.check_allowed(Path(question.path), call)
        return await self._with_notices(await self._full_texts.attach(library, item, source), call)

    async def get_fulltext(self, question: GetFulltext, call: Call) -> Fulltext:
        library = self._libraries.of(call.caller)
        item = await _find(library, question.id)
        offset, max_chars = question.offset, question.max_chars
        try:
            answer = await self._full_texts.get(library, item, offset=offset, max_chars=max_chars)
        except FullTextNotAvailableError:
            found = await self._paper_text(item, call, offset=offset, max_chars=max_chars)
            if found is None:
                raise
            answer = found
        return await self._with_notices(answer, call)

    async def _paper_text(
        self, item: Item, call: Call, *, offset: int, max_chars: int | None
    ) -> Fulltext | None:
        """The text of the same work in the corpus, for those who may read papers."""
        if self._papers is None or READ_PAPERS not in call.caller.scopes:
            return None
        known = custom(item).get("paper_id")
        paper = await self._papers.read(
            work_identifiers(item), known if isinstance(known, str) else None
        )
        if paper is None:
            return None
        return Fulltext(
            id=str(item["id"]),
            markdown=cut_text(paper.markdown, offset, max_chars),
            paper_id=paper.paper_id,
            notice=f"Nothing is attached; this is the text of paper {paper.paper_id} of the "
            "corpus, which is the same work.",
        )

    async def detach(self, question: DetachFulltext, call: Call) -> DetachedFiles:
        library = self._libraries.of(call.caller)
        item = await _find(library, question.id)
        return await self._with_notices(await self._full_texts.detach(library, item), call)

    async def complete_ids(self, typed: str, call: Call) -> Completion:
        """Ids of the caller's references by id or title."""
        snapshot = await self._libraries.of(call.caller).snapshot()
        named = ((str(item.get("id", "")), str(item.get("title", ""))) for item in snapshot.items)
        return await asyncio.to_thread(complete_titled, named, typed)

    async def list_styles(self, question: ListCitationStyles) -> FoundStyles:
        """A page of the styles that have the words, and are of the kinds that were asked for."""
        words = question.query.strip("* ")
        found, dependents = await self._styles.select(
            words,
            citation_format=question.format,
            field=question.field,
            parent=question.parent,
            is_independent=question.is_independent,
        )
        first = (question.page - 1) * question.limit
        return FoundStyles(
            total=len(found),
            page=question.page,
            limit=question.limit,
            default=self.default_style,
            styles=[
                FoundStyle(
                    name=style.id,
                    title=style.title,
                    parent=style.parent or None,
                    format=style.citation_format,
                    fields=list(style.fields),
                    dependents=dependents[style.id],
                )
                for style in found[first : first + question.limit]
            ],
        )

    async def styles(self, words: str, *, first: int, count: int) -> dict[str, object]:
        found = await self._styles.search(words)
        rows = [
            {"name": style.id, "title": style.title, "parent": style.parent or None}
            for style in found[first : first + count]
        ]
        return {"total": len(found), "default": self.default_style, "styles": rows}

    async def complete_styles(self, typed: str) -> Completion:
        """Names of citation styles by the words of their names and titles."""
        found = await self._styles.search(typed)
        return Completion(tuple(style.id for style in found[:MAX_COMPLETION_VALUES]), len(found))

    async def _with_notices(self, answer: AnswerT, call: Call) -> AnswerT:
        """The answer with the library's notices since the last one."""
        notices = await self._libraries.of(call.caller).take_notices()
        return answer.model_copy(update={"notices": list(notices)}) if notices else answer

    async def _about_works(self, answer: AboutT, items: Sequence[Item]) -> AboutT:
        """The answer with the retractions and corrections of its works."""
        keys = [
            [key for each in work_identifiers(item) for key in identifier_keys(each)]
            for item in items
        ]
        found = await find_notices(self._notices, keys)
        about = {
            text_of(item, "id"): notices
            for item, notices in zip(items, found, strict=True)
            if notices
        }
        return answer.model_copy(update={"work_notices": about}) if about else answer

    async def _read_file(
        self, element: str, call: Call, folders: dict[str, list[Path]]
    ) -> bytes | None:
        """The bytes of a file that an element names, or None; its folder is put to the others."""
        if len(element) > 4096 or "\n" in element or not element.strip():
            return None
        if bibliography.recognise(element) is not None or split_identifiers(element):
            return None
        path = Path(element)
        looks_like_path = path.suffix != "" or "/" in element or "\\" in element
        if not looks_like_path:
            return None
        allowed = self.check_allowed(path, call)
        try:
            if not await self._files.exists(allowed):
                raise FileNotUsableError(
                    f"There is no file {element}",
                    next_step="Check the path, which must not be a folder, or send the text "
                    "itself.",
                    details={"path": element},
                )
            content = await self._files.read_bytes(allowed, _MAX_FILE_BYTES)
            beside = folders.setdefault(path.name, [])
            # EndNote keeps the files of `NAME` in `NAME.Data`.
            beside += [allowed.parent, allowed.with_suffix(".Data")]
            beside.extend(allowed.parent / folder for folder in declared_folders(content))
            return content
        except OSError as error:
            raise FileNotUsableError(
                f"{element} cannot be read: {error.strerror or error}",
                next_step="Check the file.",
                details={"path": element},
            ) from error

    def check_allowed(self, path: Path, call: Call) -> Path:
        """The path resolved; raises PathNotAllowedError where this door must not read it."""
        try:
            resolved = self._files.resolved(path)
        except (OSError, RuntimeError, ValueError) as error:
            # A NUL character, the home of nobody, links in a circle.
            raise FileNotUsableError(
                "The path names no file", next_step="Check the path."
            ) from error
        if call.visit.door in OWN_DOORS:
            return resolved
        if any(
            resolved.is_relative_to(self._files.resolved(folder))
            for folder in self._allowed_folders
        ):
            return resolved
        raise PathNotAllowedError


async def _write(
    items: Sequence[Item], form: bibliography.ExportFormat, *, lossless: bool = False
) -> str:
    is_whole = lossless or form is bibliography.ExportFormat.CSL_JSON
    written = items if is_whole else [give_groups(item) for item in items]
    return await parse_in_thread(
        lambda: bibliography.write_bibliography(written, form, lossless=lossless)
    )


async def _find_by_name(library: Library, name: str) -> Item | None:
    """The reference of a key, or else of a DOI, PMID, PMCID, arXiv id or ISBN."""
    item = await library.find(name)
    identifier = bibliography.identifier_of(name) if item is None else None
    if identifier is None:
        return item
    found = await library.find_works(identifier_work_keys(identifier))
    return dict(found[0]) if found else None


async def _find(library: Library, reference_id: str) -> Item:
    item = await _find_by_name(library, reference_id)
    if item is None:
        raise ReferenceNotFoundError(reference_id, await _nearest_ids(library, [reference_id]))
    return item


async def _nearest_ids(library: Library, wanted: Sequence[str]) -> list[str]:
    items = (await library.snapshot()).items
    return await parse_in_thread(
        lambda: find_nearest_ids(wanted, [str(item["id"]) for item in items])
    )


def _warn_of_gone(answer: Citations) -> list[str]:
    """A sentence for each cited work that was retracted, withdrawn or removed."""
    return [
        f"{reference_id}: this work was {describe_notice(each)}."
        for reference_id, notices in answer.work_notices.items()
        for each in notices[:1]
        if each.kind in GONE
    ]


def _passage(found: AttachedPassage) -> ReferencePassage:
    text = found.text
    if len(text) > _PASSAGE_CHARACTERS:
        text = f"{text[:_PASSAGE_CHARACTERS].rstrip()} …"
    return ReferencePassage(
        id=found.id,
        reference=found.reference_id,
        section=found.section,
        page=found.page,
        text=text,
    )


def _readable_line(item: Item) -> str:
    year = year_of(item)
    people = names_text(item) or "anonymous"
    container = text_of(item, "container-title")
    tail = f". {container}" if container else ""
    return (
        f"[{item.get('id')}] {people} ({'n.d.' if year is None else year}). "
        f"{text_of(item, 'title') or 'untitled'}{tail}"
    )


async def _find_own_records(items: Mapping[str, Item], library: Library) -> dict[str, Item]:
    """The library's records of works that were named as papers, by the names of the papers."""
    papers = {name: item for name, item in items.items() if await library.find(name) is None}
    wanted = {key: name for name, item in papers.items() for key in reversed(identifiers_of(item))}
    found: dict[str, Item] = {}
    if wanted:
        for item in await library.find_works(wanted):
            name = next((wanted[key] for key in identifiers_of(item) if key in wanted), None)
            if name is not None:
                found.setdefault(name, dict(item))
    return found
