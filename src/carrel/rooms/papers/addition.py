"""Adds papers to a corpus in use, or takes one out.

A paper comes as a file or folder of the machine, an upload, a text, a PDF or an identifier.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path

from carrel.core.answer import Job
from carrel.core.background_jobs import BackgroundJobs
from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError, NotConfiguredError, NotFoundError
from carrel.core.operation import Effect
from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.rooms.papers.addition_job import (
    Addition,
    AdditionJob,
    AdditionProgress,
    AdditionWaits,
    LongAdditions,
)
from carrel.rooms.papers.errors import PaperNotAddedError, PathNotAllowedError
from carrel.rooms.papers.models import AddPaper, OnePaper, PaperAdded, PaperRemoved
from carrel.rooms.papers.ports import AddFile, PaperInbox, RemovePaper, TakeFiles, WorkLookup
from carrel.rooms.papers.uploads import UploadInUseError, Uploads, clean_file_name

_FORMS = ("path", "upload_id", "identifier", "markdown", "pdf_base64")
_ONE_OF = "Send exactly one of path, upload_id, identifier, markdown and pdf_base64."
# Doors of the person whose machine this is.
OWN_DOORS = frozenset({"stdio", "cli"})
OpenJobs = Callable[[AdditionJob], BackgroundJobs]


class PaperAdder:
    """Stores uploaded files, adds them to the corpus and takes papers out, one at a time.

    Without `open_jobs` a call waits for as long as the addition takes. Over HTTP a path must lie in
    one of `allowed_folders`.
    """

    def __init__(
        self,
        open_inbox: Callable[[], PaperInbox],
        add_file: AddFile,
        remove: RemovePaper,
        lookup: WorkLookup | None,
        *,
        take_files: TakeFiles | None = None,
        uploads: Uploads | None = None,
        open_jobs: OpenJobs | None = None,
        waits: AdditionWaits | None = None,
        allowed_folders: Sequence[Path] = (),
    ) -> None:
        self._open_inbox = open_inbox
        self._add_file = add_file
        self._take_files = take_files
        self._remove = remove
        self._lookup = lookup
        self._uploads = uploads
        self._allowed_folders = tuple(allowed_folders)
        self._lock = asyncio.Lock()
        handler = AdditionJob(self._run_addition)
        self.jobs = None if open_jobs is None else open_jobs(handler)
        self.long_additions = (
            None
            if self.jobs is None
            else LongAdditions(self.jobs, handler, waits or AdditionWaits(), self._name_job)
        )

    @operation(
        title="Add a paper",
        description=(
            "Adds a paper to the corpus by path, upload_id, identifier, markdown or pdf_base64. "
            "Answers with its paper_id; is_new false means the corpus had it and now knows more "
            "of it; long work goes on as job_id."
        ),
        scopes=frozenset({"papers:write"}),
        effect=Effect.WRITES,
        is_idempotent=True,
        reaches_outside=True,
        cost=5.0,
        timeout_seconds=300.0,
        command="add",
        next_command="carrel papers show PAPER_ID shows it.",
        phrases=(
            "add a paper to the corpus; upload a PDF; import an article into the corpus; put this "
            "arXiv paper into the corpus; add this PDF to the papers; ingest a new article; put a "
            "PDF into the corpus; here is a PDF for my papers; import a folder of PDFs; fetch an "
            "article from arXiv; get the paper from a link or DOI; load new articles; put it with "
            "my papers"
        ),
    )
    async def add_paper(self, question: AddPaper, call: Call) -> PaperAdded | Job:
        given = [name for name in _FORMS if getattr(question, name) is not None]
        if len(given) != 1:
            raise InvalidInputError(_ONE_OF, next_step=_ONE_OF)
        owner = call.caller.user_id
        if question.path is not None:
            addition = self._from_path(question.path, call)
        elif question.upload_id is not None:
            addition = await self._from_upload(question.upload_id, owner)
        elif question.identifier is not None:
            found = await self._look_up(question.identifier)
            addition = await self._from_content(found, ".json", owner)
        elif question.markdown is not None:
            if not question.markdown.strip():
                raise InvalidInputError(
                    "markdown is required",
                    next_step="Send the paper's text; front matter may precede it.",
                )
            content = question.markdown.encode("utf-8", "replace")
            addition = await self._from_content(content, ".md", owner)
        else:
            content = _decode_base64(question.pdf_base64 or "")
            addition = await self._from_content(content, ".pdf", owner)
        if self.long_additions is None:
            return await self._run_addition(addition, AdditionProgress())
        return await self.long_additions.add(addition, call)

    async def add_text(
        self, file: Path, suffix: str, describe: Callable[[Path], bytes], call: Call
    ) -> PaperAdded | Job:
        """Adds a text that another room fetched, with its record.

        `describe` writes the record as CSL-JSON and is told where the text lies, so that the two
        become one paper. The caller has checked that `papers:write` is held. Raises as add_paper.
        """
        owner = call.caller.user_id
        content = await asyncio.to_thread(file.read_bytes)
        inbox = self._open_inbox()
        text = await asyncio.to_thread(inbox.put, content, suffix)
        record = await asyncio.to_thread(inbox.put, describe(text), ".json")
        addition = Addition(kind="inbox", path=str(text), owner=owner, record=str(record))
        if self.long_additions is None:
            return await self._run_addition(addition, AdditionProgress())
        return await self.long_additions.add(addition, call)

    @operation(
        title="Remove a paper",
        description=(
            "Takes one paper out of the corpus; builds do not bring it back. edit_paper with undo "
            "and the number answered, or adding it again, puts it back under the same paper_id."
        ),
        scopes=frozenset({"papers:write"}),
        effect=Effect.DESTROYS,
        is_listed=False,
        cost=2.0,
        timeout_seconds=300.0,
        command="remove",
        next_command="carrel papers undo puts it back.",
        phrases=(
            "remove a paper from the corpus; delete an article from the papers; take a paper out "
            "of the corpus; drop this PDF from my papers; unpublish a paper; the paper should not "
            "be found any more; throw an article out of the corpus; uploaded the wrong PDF, "
            "delete it; get rid of a paper; I do not want this paper any more"
        ),
    )
    async def remove_paper(self, question: OnePaper, call: Call) -> PaperRemoved:
        async with self._lock:
            return await self._remove(question.paper_id, call.caller.user_id)

    async def add_content(self, content: bytes, suffix: str, owner: str) -> PaperAdded:
        """Add one file's content for another room, however long it takes. PaperNotAddedError."""
        addition = await self._from_content(content, suffix, owner)
        return await self._run_addition(addition, AdditionProgress())

    def _from_path(self, given: str, call: Call) -> Addition:
        try:
            path = Path(given).expanduser().resolve()
        except (OSError, RuntimeError, ValueError) as error:
            # A NUL character, the home of nobody, links in a circle.
            raise InvalidInputError(
                "The path names no file", next_step="Check the path."
            ) from error
        if call.visit.door in OWN_DOORS:
            return Addition(kind="path", path=str(path), owner=call.caller.user_id)
        within = tuple(str(folder.expanduser().resolve()) for folder in self._allowed_folders)
        if not any(path.is_relative_to(folder) for folder in within):
            raise PathNotAllowedError
        return Addition(kind="path", path=str(path), owner=call.caller.user_id, within=within)

    async def _from_upload(self, upload_id: str, owner: str) -> Addition:
        if self._uploads is None:
            raise NotConfiguredError(
                "This server takes no uploads.",
                next_step="Send the paper as path, markdown or pdf_base64 instead.",
            )
        file, upload = await self._uploads.take(upload_id, owner)
        path = await asyncio.to_thread(
            self._open_inbox().put_file,
            file,
            upload.sha256 or "",
            upload.ending or "",
            clean_file_name(upload.name),
        )
        return Addition(kind="inbox", path=str(path), owner=owner, upload_id=upload_id)

    async def _from_content(self, content: bytes, suffix: str, owner: str) -> Addition:
        path = await asyncio.to_thread(self._open_inbox().put, content, suffix)
        return Addition(kind="inbox", path=str(path), owner=owner)

    async def _run_addition(self, addition: Addition, progress: AdditionProgress) -> PaperAdded:
        path = Path(addition.path)
        if addition.kind == "path":
            if self._take_files is None:
                raise NotConfiguredError("This server adds no files by their path.")
            within = addition.within
            folders = None if within is None else tuple(Path(folder) for folder in within)
            async with self._lock:
                return await self._take_files(path, folders, progress)
        async with self._using(addition.upload_id), self._lock:
            try:
                added = await self._add_file(path)
            except PaperNotAddedError:
                await asyncio.to_thread(self._open_inbox().remove, path)
                if addition.record is not None:
                    await asyncio.to_thread(self._open_inbox().remove, Path(addition.record))
                raise
            if addition.record is not None:
                record = await self._add_file(Path(addition.record))
                # The record may have brought the text to a paper that the corpus had.
                now = await self._add_file(path)
                added = _join(added, record, now, Path(addition.record).name)
        if addition.upload_id is not None and self._uploads is not None:
            with suppress(NotFoundError, UploadInUseError):
                await self._uploads.discard(addition.upload_id, addition.owner)
        return added

    def _using(self, upload_id: str | None) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self._uploads is None else self._uploads.using(upload_id)

    async def _name_job(self, addition: Addition, job_id: str) -> None:
        if addition.upload_id is not None and self._uploads is not None:
            await self._uploads.name_job(addition.upload_id, addition.owner, job_id)

    async def _look_up(self, text: str) -> bytes:
        identifier = _parse_identifier(text)
        if self._lookup is None:
            raise NotConfiguredError(
                "This server does not look up identifiers.",
                next_step="Send the paper as markdown or pdf_base64 instead.",
            )
        found = await self._lookup.find_csl_json(identifier)
        if found is None:
            raise NotFoundError(
                "work", str(identifier), next_step="Check the identifier, or send the paper itself."
            )
        return found


def _join(text: PaperAdded, record: PaperAdded, now: PaperAdded, record_name: str) -> PaperAdded:
    """One answer for a text and its record; `now` is the paper that the text has become.

    That the two are one paper is what was asked for, and not told.
    """
    every = (*text.notes, *record.notes, *now.notes)
    notes = [note for note in every if record_name not in note]
    if record.paper_id != now.paper_id:
        notes.append(
            f"The text names another work than its record, which is the paper {record.paper_id}"
        )
    is_new = text.is_new and now.paper_id == text.paper_id
    return now.model_copy(update={"is_new": is_new, "notes": list(dict.fromkeys(notes))})


def _parse_identifier(text: str) -> Doi | ArxivId:
    for kind in (Doi, ArxivId):
        try:
            return kind.parse(text)
        except NotAnIdentifierError:
            continue
    raise InvalidInputError(
        f"{text[:120]!r} is neither a DOI nor an arXiv id.",
        next_step="Send a DOI such as 10.7554/eLife.00031 or an arXiv id such as 1706.03762.",
    )


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError(
            "pdf_base64 is not base64.", next_step="Encode the bytes of the PDF as base64."
        ) from error
