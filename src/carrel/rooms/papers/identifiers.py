"""Recognises a DOI, an arXiv id or a paper id that somebody pasted whole into the search box."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError

_PAPER_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Identifier:
    """One name of a paper, in the form snapshots keep it."""

    kind: Literal["doi", "arxiv", "paper_id"]
    value: str


def identifiers_in(text: str) -> tuple[Identifier, ...]:
    """The identifiers that the whole text stands for; none where it is anything else."""
    asked = text.strip().strip("<>\"'")
    try:
        doi = Doi.parse(asked)
    except NotAnIdentifierError:
        pass
    else:
        named = (Identifier("doi", doi.value),)
        return named if doi.arxiv is None else (*named, Identifier("arxiv", doi.arxiv.value))
    try:
        arxiv = ArxivId.parse(asked)
    except NotAnIdentifierError:
        return (Identifier("paper_id", asked),) if _PAPER_ID.fullmatch(asked) else ()
    return (Identifier("arxiv", arxiv.value), Identifier("doi", f"10.48550/arxiv.{arxiv.value}"))
