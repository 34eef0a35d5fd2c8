"""Recognises a DOI, an arXiv id or a paper id that somebody pasted whole into the search box."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

_DOI = re.compile(
    r"^(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|info:doi/|doi\s*[:=]?\s*)?(10\.\d{4,9}(?:\.\d+)*/\S+)$", re.IGNORECASE
)
_ARXIV = re.compile(
    r"^(?:arxiv\s*[:=]?\s*|(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/)?"
    r"(\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z]+(?:-[a-z]+)*(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?/?$",
    re.IGNORECASE | re.ASCII,
)
_ARXIV_DOI = re.compile(r"^10\.48550/arxiv\.(.+)$")
_PAPER_ID = re.compile(r"^[0-9a-f]{32}$")


@dataclass(frozen=True, slots=True)
class Identifier:
    """One name of a paper, in the form snapshots keep it."""

    kind: Literal["doi", "arxiv", "paper_id"]
    value: str


def identifiers_in(text: str) -> tuple[Identifier, ...]:
    """The identifiers that the whole text stands for; none where it is anything else."""
    asked = text.strip().strip("<>\"'")
    found = _DOI.match(unquote(asked) if "%" in asked else asked)
    if found:
        doi = Identifier("doi", _without_tail(found.group(1)).lower())
        arxiv = _ARXIV_DOI.match(doi.value)
        return (doi, Identifier("arxiv", arxiv.group(1))) if arxiv else (doi,)
    found = _ARXIV.match(asked.rstrip(".,;"))
    if found:
        value = found.group(1).lower()
        return (Identifier("arxiv", value), Identifier("doi", f"10.48550/arxiv.{value}"))
    return (Identifier("paper_id", asked),) if _PAPER_ID.match(asked) else ()


def _without_tail(doi: str) -> str:
    """Sentence punctuation cut off; a closing bracket stays where its opening one is part of the DOI."""
    while doi and doi[-1] in ".,;)" and not (doi[-1] == ")" and doi.count("(") >= doi.count(")")):
        doi = doi[:-1]
    return doi
