"""Adds one paper to a corpus in use (a text, a PDF, or an identifier), or takes one out."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError, NotConfiguredError, NotFoundError
from carrel.core.operation import Effect
from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.rooms.papers.errors import PaperNotAddedError
from carrel.rooms.papers.models import AddPaper, OnePaper, PaperAdded, PaperRemoved
from carrel.rooms.papers.ports import AddFile, PaperInbox, RemovePaper, WorkLookup

_ONE_OF = "Send exactly one of identifier, markdown and pdf_base64."


class PaperAdder:
    """Stores uploaded files, adds them to the corpus and takes papers out, one at a time."""

    def __init__(
        self,
        open_inbox: Callable[[], PaperInbox],
        add_file: AddFile,
        remove: RemovePaper,
        lookup: WorkLookup | None,
    ) -> None:
        self._open_inbox = open_inbox
        self._add_file = add_file
        self._remove = remove
        self._lookup = lookup
        self._lock = asyncio.Lock()

    @operation(
        title="Add a paper",
        description=(
            "Adds one paper to the corpus: identifier (DOI, arXiv id), markdown or pdf_base64. "
            "Answers with its paper_id; is_new false means the corpus had it and now knows more "
            "of it."
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
            "PDF into the corpus"
        ),
    )
    async def add_paper(self, question: AddPaper, call: Call) -> PaperAdded:
        match (question.identifier, question.markdown, question.pdf_base64):
            case (str() as identifier, None, None):
                return await self._add(await self._look_up(identifier), ".json")
            case (None, str() as markdown, None):
                if not markdown.strip():
                    raise InvalidInputError(
                        "markdown is required",
                        next_step="Send the paper's text; front matter may precede it.",
                    )
                return await self._add(markdown.encode("utf-8", "replace"), ".md")
            case (None, None, str() as pdf):
                return await self._add(_decode_base64(pdf), ".pdf")
            case _:
                raise InvalidInputError(_ONE_OF, next_step=_ONE_OF)

    @operation(
        title="Remove a paper",
        description=(
            "Takes one paper out of the corpus; builds do not bring it back. Adding it again "
            "undoes this and gives it the same paper_id."
        ),
        scopes=frozenset({"papers:write"}),
        effect=Effect.DESTROYS,
        is_listed=False,
        cost=2.0,
        timeout_seconds=300.0,
        command="remove",
        next_command="carrel papers add puts it back.",
        phrases=(
            "remove a paper from the corpus; delete an article from the papers; take a paper out "
            "of the corpus; drop this PDF from my papers; unpublish a paper; the paper should not "
            "be found any more"
        ),
    )
    async def remove_paper(self, question: OnePaper, call: Call) -> PaperRemoved:
        async with self._lock:
            return await self._remove(question.paper_id)

    async def _add(self, content: bytes, suffix: str) -> PaperAdded:
        async with self._lock:
            inbox = self._open_inbox()
            path = await asyncio.to_thread(inbox.put, content, suffix)
            try:
                return await self._add_file(path)
            except PaperNotAddedError:
                await asyncio.to_thread(inbox.remove, path)
                raise

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
