"""Adding one paper to a corpus that is being served: a text, a PDF, or an identifier that is looked
up.
"""

from __future__ import annotations

import asyncio
import base64
import binascii

from carrel.core.errors import InvalidInputError, NotConfiguredError, NotFoundError
from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.rooms.papers.building.models import AddedPaper
from carrel.rooms.papers.building.ports import Inbox, Rebuild, WorkLookup
from carrel.rooms.papers.errors import PaperNotAddedError

_ONE_OF = "Send exactly one of identifier, markdown and pdf_base64."


class PaperAdder:
    """Puts what is handed in into the inbox and has the corpus rebuilt with it, one at a time."""

    def __init__(self, inbox: Inbox, rebuild: Rebuild, lookup: WorkLookup | None) -> None:
        self._inbox = inbox
        self._rebuild = rebuild
        self._lookup = lookup
        self._turn = asyncio.Lock()

    async def add(
        self, *, identifier: str | None, markdown: str | None, pdf_base64: str | None
    ) -> AddedPaper:
        match (identifier, markdown, pdf_base64):
            case (str(), None, None):
                return await self._file(await self._looked_up(identifier), ".json")
            case (None, str(), None):
                if not markdown.strip():
                    raise InvalidInputError(
                        "markdown is required",
                        next_step="Send the paper's text; front matter may precede it.",
                    )
                return await self._file(markdown.encode("utf-8", "replace"), ".md")
            case (None, None, str()):
                return await self._file(_decoded(pdf_base64), ".pdf")
            case _:
                raise InvalidInputError(_ONE_OF, next_step=_ONE_OF)

    async def _file(self, content: bytes, suffix: str) -> AddedPaper:
        async with self._turn:
            path = await asyncio.to_thread(self._inbox.put, content, suffix)
            try:
                return await self._rebuild.add(path)
            except PaperNotAddedError:
                await asyncio.to_thread(self._inbox.take_back, path)
                raise

    async def _looked_up(self, text: str) -> bytes:
        identifier = _identifier(text)
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


def _identifier(text: str) -> Doi | ArxivId:
    for kind in (Doi, ArxivId):
        try:
            return kind.parse(text)
        except NotAnIdentifierError:
            continue
    raise InvalidInputError(
        f"{text[:120]!r} is neither a DOI nor an arXiv id.",
        next_step="Send a DOI such as 10.7554/eLife.00031 or an arXiv id such as 1706.03762.",
    )


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError(
            "pdf_base64 is not base64.", next_step="Encode the bytes of the PDF as base64."
        ) from error
