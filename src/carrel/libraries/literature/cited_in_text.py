"""Works that a draft cites: identifiers and citation keys anywhere in its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid, parse_or_none

_KEY = r"[^\W_][\w:.#$%&+?<>~/-]{0,199}"
_DOI = re.compile(r"\b10\.\d{4,9}(?:\.\d{1,9}){0,4}/[^\s\"<>“”{}|\\^`]{1,300}", re.IGNORECASE)
# SICI DOIs have angle brackets: 10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2
_SICI = re.compile(r"\b10\.\d{4,9}/\(SICI\)[^\s\"“”{}|\\^`]{1,300}", re.IGNORECASE)
_PMID = re.compile(r"\bPMID\s{0,2}[:=]?\s{0,2}(\d{1,9})\b", re.IGNORECASE)
_PUBMED = re.compile(
    r"\b(?:pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/)(\d{1,9})\b", re.IGNORECASE
)
_PMCID = re.compile(r"\bPMC\d{3,9}\b", re.IGNORECASE)
_ARXIV = re.compile(
    r"\b(?:arxiv\s{0,2}:\s{0,2}|arxiv\.org/(?:abs|pdf|html)/)"
    r"(\d{4}\.\d{4,5}|[a-z]{2,10}(?:-[a-z]{2,10})?(?:\.[a-z]{2})?/\d{7})(?:v\d{1,2})?",
    re.IGNORECASE,
)
# Pandoc's @key and @{key}, LaTeX's \cite{a,b}, links of notes.
_PANDOC = re.compile(rf"(?<![\w@/.+-])-?@(?:\{{([^{{}}\s]{{1,200}})\}}|({_KEY}))")
_LATEX = re.compile(
    r"\\[A-Za-z]{0,8}cite[A-Za-z]{0,8}\*?(?:\s?\[[^\]]{0,200}\]){0,2}\s?\{([^{}]{1,2000})\}",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[\[ref:([^\]|]{1,300})(?:\|[^\]]{0,300})?\]\]", re.IGNORECASE)
_TAIL = ".,;:)]}'’>*_"


@dataclass(frozen=True, slots=True)
class CitedInText:
    """What a text cites, each once, in the order of the text."""

    identifiers: tuple[Identifier, ...]
    keys: tuple[str, ...]


def find_cited(text: str) -> CitedInText:
    """Every DOI, PMID, PMCID, arXiv id and citation key of a text."""
    found: list[tuple[int, Identifier]] = []
    sici = [(each.start(), each.end()) for each in _SICI.finditer(text)]
    dois = [*_SICI.finditer(text), *(one for one in _DOI.finditer(text) if not _in(one, sici))]
    found += _parse(Doi, [(each.start(), _trim(each.group())) for each in dois])
    numbers = [*_PMID.finditer(text), *_PUBMED.finditer(text)]
    found += _parse(Pmid, [(each.start(), each[1]) for each in numbers])
    found += _parse(Pmcid, [(each.start(), each.group()) for each in _PMCID.finditer(text)])
    found += _parse(ArxivId, [(each.start(), each[1]) for each in _ARXIV.finditer(text)])
    named: list[tuple[int, str]] = [
        (each.start(), each[1] or each[2].rstrip(_TAIL)) for each in _PANDOC.finditer(text)
    ]
    for each in _LATEX.finditer(text):
        named += [(each.start(), key.strip()) for key in each[1].split(",")]
    named += [(each.start(), each[1].strip()) for each in _LINK.finditer(text)]
    return CitedInText(
        tuple(dict.fromkeys(one for _, one in sorted(found, key=lambda each: each[0]))),
        tuple(dict.fromkeys(key for _, key in sorted(named) if key)),
    )


def _in(found: re.Match[str], spans: list[tuple[int, int]]) -> bool:
    return any(start <= found.start() < end for start, end in spans)


def _parse(kind: type[Identifier], texts: list[tuple[int, str]]) -> list[tuple[int, Identifier]]:
    parsed = ((place, parse_or_none(kind, text)) for place, text in texts)
    return [(place, each) for place, each in parsed if each is not None]


def _trim(value: str) -> str:
    """A DOI without the marks of the sentence it stands in; its own brackets stay."""
    while value and value[-1] in _TAIL:
        opening = {")": "(", "]": "[", ">": "<"}.get(value[-1])
        if opening and value.count(opening) >= value.count(value[-1]):
            break
        value = value[:-1]
    return value
