"""The operation that finds open texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.literature.fulltext import OpenTexts
from carrel.rooms.literature.fulltext_models import FindFulltext, FullText


def _text(arguments: Mapping[str, Any], answer: FullText, caller: Caller) -> Iterable[QuotedSource]:
    return [QuotedSource("work", answer.identifier, answer.title)]


class FulltextOperations:
    """Open texts of works, by any identifier."""

    def __init__(self, texts: OpenTexts) -> None:
        self._texts = texts

    @operation(
        title="Find a full text",
        description=(
            "The open full text of a work as Markdown, from JATS, arXiv or open PDFs; "
            "add_to_corpus keeps it. places says what was tried; no_open_text only if every "
            "service answered."
        ),
        scopes=frozenset({"literature:read"}),
        effect=Effect.WRITES,
        is_idempotent=True,
        reaches_outside=True,
        cost=5.0,
        timeout_seconds=300.0,
        quotes=_text,
        command="fulltext",
        next_command="carrel literature fulltext ID --add-to-corpus puts it into the corpus.",
        phrases=(
            "get the full text of a paper that I do not have; download the PDF of a DOI; is there "
            "an open access version; free version of an article; read a paper from arXiv; fetch "
            "the text from PubMed Central; open access PDF by Unpaywall; full text of a PMID; "
            "download a paper into the corpus; find the preprint of an article and read it"
        ),
    )
    async def find_fulltext(self, question: FindFulltext, call: Call) -> FullText:
        return await self._texts.find(question, call)
