"""What callers name a paper by: our id, a DOI, arXiv id, PMID, PMCID, OpenAlex id, a passage."""

from __future__ import annotations

import re
from collections.abc import Sequence

from carrel.libraries.identifiers import ArxivId, Doi, Pmcid, Pmid, identifier_keys, parse_or_none

MAX_NAME_CHARACTERS = 300
PASSAGE_JOINT = "~"
_PAPER_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SHORT_NUMBER = re.compile(r"[0-9]{1,5}", re.ASCII)
_OPENALEX_ID = re.compile(
    r"(?:openalex:|https?://(?:api\.)?openalex\.org/(?:works/)?)?(W[1-9][0-9]{3,14})",
    re.IGNORECASE | re.ASCII,
)
_ADDRESS = re.compile(r"paper://([^/?#]+)")
_PASSAGE_ID = re.compile(r"([a-zA-Z0-9_-]{1,64})~[0-9a-f]{10}(?:\.[0-9]{1,6})?")


def check_paper_name(text: str) -> str:
    """The text itself; ValueError where it can name no paper."""
    if bare_paper_id(text) is None and not paper_keys(text):
        raise ValueError(
            "not a paper id, a DOI, an arXiv id, a PMID or a PMCID; search_papers finds papers"
        )
    return text


def bare_paper_id(text: str) -> str | None:
    """The id of ours in a name: alone, in an address `paper://…`, or in a passage id."""
    name = text.strip()
    if address := _ADDRESS.match(name):
        name = address[1]
    if passage := _PASSAGE_ID.fullmatch(name):
        return passage[1]
    return name if _PAPER_ID.fullmatch(name) else None


def former_id_key(paper_id: str) -> str:
    """The key of a paper by an id of ours that it or one of its parts had."""
    return f"id:{paper_id}"


def paper_keys(text: str) -> tuple[str, ...]:
    """The keys under which a corpus may know the work that an identifier names."""
    if _SHORT_NUMBER.fullmatch(text.strip()):
        # A year or a count rather than one of the oldest PubMed numbers.
        return ()
    if named := _OPENALEX_ID.fullmatch(text.strip()):
        return (f"openalex:{named[1].lower()}",)
    for kind in (Doi, ArxivId, Pmcid, Pmid):
        if identifier := parse_or_none(kind, text):
            return identifier_keys(identifier)
    return ()


def split_passage_id(text: str) -> tuple[str, str] | None:
    """The paper of a passage id and the mark of the passage in it; None for any other text."""
    name = text.strip()
    paper_id, joint, mark = name.partition(PASSAGE_JOINT)
    return (paper_id, mark) if joint and _PASSAGE_ID.fullmatch(name) else None


def first_known(keys: Sequence[str], found: dict[str, str]) -> str | None:
    """The paper that the first known key names."""
    return next((found[key] for key in keys if key in found), None)
