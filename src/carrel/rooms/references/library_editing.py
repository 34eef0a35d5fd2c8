"""The table, the editor and the history of a library, as the pages for people need them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from carrel.core.caller import Call
from carrel.rooms.references.browsing import LibraryBrowser
from carrel.rooms.references.browsing_models import (
    BrowsedReferences,
    BrowseReferences,
    CitationPreview,
    ListReferenceVersions,
    OpenAttachment,
    PreviewCitation,
    PreviewProblem,
    ReferenceVersion,
    ReferenceVersions,
    RemovedReferences,
    RemoveReferences,
    RestoredReferences,
    RestoreReferences,
    SaveReference,
)
from carrel.rooms.references.citation_runs import read_citation_runs
from carrel.rooms.references.citations import CitationStyles
from carrel.rooms.references.errors import (
    ForceRequiredError,
    ReferenceChangedError,
    ReferenceNotFoundError,
)
from carrel.rooms.references.fulltext import FullTexts
from carrel.rooms.references.item_versions import item_version
from carrel.rooms.references.items import Item
from carrel.rooms.references.models import LibraryAnswer, OneReference
from carrel.rooms.references.ports import Change, Files, Libraries, PastVersion
from carrel.rooms.references.shared.members import library_key
from carrel.rooms.references.validation import check_changes, check_storable, conform_item

AnswerT = TypeVar("AnswerT", bound=LibraryAnswer)


class LibraryEditing:
    """The service behind the operations for people; a stale editor is refused."""

    def __init__(
        self,
        libraries: Libraries,
        styles: CitationStyles,
        files: Files,
        *,
        default_style: str = "apa",
        default_locale: str | None = None,
    ) -> None:
        self._libraries = libraries
        self._styles = styles
        self._full_texts = FullTexts(files)
        self._default_style = default_style
        self._default_locale = default_locale
        self._browser = LibraryBrowser()

    async def browse(self, question: BrowseReferences, call: Call) -> BrowsedReferences:
        library = self._libraries.of(call.caller)
        answer = await self._browser.browse(question, library_key(call.caller), library)
        return await self._with_notices(answer, call)

    async def save(self, question: SaveReference, call: Call) -> OneReference:
        """Raises ReferenceChangedError unless the reference is the version that was edited."""
        change = check_changes(question.changes)

        def decide(present: Item) -> Change:
            version = item_version(present)
            if version != question.version:
                raise ReferenceChangedError(question.id, version)
            return change(present)

        changed = await self._libraries.of(call.caller).change(question.id, decide)
        if changed is None:
            raise ReferenceNotFoundError(question.id)
        return await self._with_notices(OneReference(reference=changed), call)

    async def remove(self, question: RemoveReferences, call: Call) -> RemovedReferences:
        if not question.force:
            raise ForceRequiredError(", ".join(question.ids[:5]))
        removed = await self._libraries.of(call.caller).remove_many(question.ids)
        missing = [one for one in question.ids if one not in set(removed)]
        return await self._with_notices(
            RemovedReferences(removed=list(removed), missing=missing), call
        )

    async def preview(self, question: PreviewCitation) -> CitationPreview:
        """The citation of what is valid in the item; the rest is named."""
        item = {**question.item, "id": "preview"}
        check_storable(item)
        conformed = conform_item(item)
        faulty = {
            problem.field.partition("[")[0].partition(".")[0] for problem in conformed.problems
        }
        shown = {name: value for name, value in conformed.item.items() if name not in faulty}
        shown.setdefault("type", "document")
        style = question.style or self._default_style
        locale = question.locale or self._default_locale
        entries = await self._styles.render_bibliography([shown], style, "html", locale)
        runs = read_citation_runs(entries[0].text) if entries else []
        return CitationPreview(
            style=style,
            text="".join(run.text for run in runs),
            runs=runs,
            problems=[
                PreviewProblem(field=problem.field, expected=problem.expected, found=problem.found)
                for problem in conformed.problems
            ],
        )

    async def list_versions(self, question: ListReferenceVersions, call: Call) -> ReferenceVersions:
        """Raises ReferenceNotFoundError for an id that the library never had."""
        library = self._libraries.of(call.caller)
        past = list(await library.list_past(question.id))
        present = await library.find(question.id)
        if not past:
            if present is None:
                raise ReferenceNotFoundError(question.id)
            past = [PastVersion(0, "", "", is_present=True, item=present)]
        elif present is not None:
            past[0] = replace(past[0], item=present)
        return await self._with_notices(
            ReferenceVersions(id=question.id, versions=[_describe_version(one) for one in past]),
            call,
        )

    async def restore(self, question: RestoreReferences, call: Call) -> RestoredReferences:
        """Raises NotFoundError for the first reference of which no earlier text is kept."""
        library = self._libraries.of(call.caller)
        for reference_id in dict.fromkeys(question.ids):
            await library.restore(reference_id, question.revision)
        return await self._with_notices(RestoredReferences(restored=question.ids), call)

    async def read_pdf(self, question: OpenAttachment, call: Call) -> bytes:
        library = self._libraries.of(call.caller)
        item = await library.find(question.id)
        if item is None:
            raise ReferenceNotFoundError(question.id)
        return await self._full_texts.read_pdf(library, item)

    async def _with_notices(self, answer: AnswerT, call: Call) -> AnswerT:
        """The answer with the library's notices since the last one."""
        notices = await self._libraries.of(call.caller).take_notices()
        return answer.model_copy(update={"notices": list(notices)}) if notices else answer


def _describe_version(past: PastVersion) -> ReferenceVersion:
    return ReferenceVersion(
        revision=past.revision,
        at=past.at,
        origin=past.origin,
        state="absent" if not past.is_present else "not kept" if past.item is None else "kept",
        item=past.item if past.is_present else None,
    )
