"""Drafts: the sentences of a text, with the works that each of them cites."""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.libraries.text.sentences import sentence_ends

_FENCES = ("```", "~~~")
_FRONT_MATTER = "---"
# Headings, tables and pictures say nothing that could be checked.
_NO_PROSE = re.compile(r"[ \t]{0,3}(?:#{1,6}[ \t]|\||!\[)")
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n|\f")
_KEY = r"[\w][\w:.#$%&+?<>~/-]{0,199}"
_CITATION = re.compile(
    # Pandoc's [@key; @other, p. 3], LaTeX's \cite{a,b}, links of notes, and DOIs.
    rf"\s*\[(?P<group>[^\[\]@]{{0,80}}@{_KEY}[^\[\]]{{0,400}})\]"
    r"|\s*\\[A-Za-z]{0,8}cite[A-Za-z]{0,8}\*?(?:\[[^\]]{0,80}\]){0,2}\{(?P<keys>[^{}]{1,400})\}"
    r"|\s*\[\[(?:paper|ref|doi|arxiv|passage):(?P<link>[^\]|]{1,300})(?:\|[^\]]{0,300})?\]\]"
    r"|\s*[(\[]?(?:https?://(?:dx\.)?doi\.org/|doi:\s?)(?P<doi>10\.\d{4,9}/[^\s,;()\[\]<>]{1,200})[)\]]?",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"@({_KEY})")


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence without its citations, and the keys, DOIs and ids that it cites."""

    text: str
    cited: tuple[str, ...] = ()


def read_draft(text: str) -> list[DraftSentence]:
    """The sentences of a text; a citation that stands alone belongs to the sentence before it."""
    found: list[DraftSentence] = []
    for paragraph in _PARAGRAPH.split(_read_prose(text)):
        of_paragraph: list[DraftSentence] = []
        start = 0
        for end in sentence_ends(paragraph, 0, len(paragraph)):
            piece, start = paragraph[start:end], end
            cited = tuple(
                dict.fromkeys(name for one in _CITATION.finditer(piece) for name in _names(one))
            )
            plain = _CITATION.sub("", piece).strip()
            if any(letter.isalnum() for letter in plain):
                of_paragraph.append(DraftSentence(plain, cited))
            elif cited and of_paragraph:
                last = of_paragraph[-1]
                of_paragraph[-1] = DraftSentence(last.text, (*last.cited, *cited))
        found += of_paragraph
    return found


def _read_prose(text: str) -> str:
    """The text without front matter, code, headings, tables and pictures."""
    lines = text.splitlines()
    if lines and lines[0].strip() == _FRONT_MATTER and _FRONT_MATTER in lines[1:]:
        lines = lines[lines.index(_FRONT_MATTER, 1) + 1 :]
    kept: list[str] = []
    fence: str | None = None
    for line in lines:
        mark = next((each for each in _FENCES if line.lstrip().startswith(each)), None)
        if fence is None and mark is None:
            kept.append("" if _NO_PROSE.match(line) else line)
            continue
        kept.append("")
        if fence is None or mark == fence:
            fence = mark if fence is None else None
    return "\n".join(kept)


def _names(found: re.Match[str]) -> list[str]:
    if found["group"]:
        return [key.rstrip(".,:;") for key in _NAMED.findall(found["group"])]
    if found["keys"]:
        return [key.strip() for key in found["keys"].split(",") if key.strip()]
    named = found["link"] or found["doi"]
    return [named.strip().rstrip(".")]
