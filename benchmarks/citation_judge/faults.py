"""What a fault of citeproc-js is, and how texts are compared to recognise one."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from benchmarks.citation_judge.engines import render_ours
from benchmarks.citation_judge.jobs import Job
from carrel.libraries.csl.archive import read_archived

Detector = Callable[[Job, str, str], bool]


@dataclass(frozen=True)
class Fault:
    """A fault of citeproc-js 2.4.63: its name, the sentence of CSL 1.0.2 that it misses, its signs.

    Where CSL has no sentence on it, `misses` is empty: the difference has a name, and counts.
    """

    name: str
    misses: str
    shows: Detector


# White space that opens a block of its own is not shown, nor is a second space behind a tag.
_block_space = re.compile(r'(<div class="csl-[\w-]+">)\s+')
_second_space = re.compile(r"(?<=\s)((?:</?(?:i|b|sup|sub|span)\b[^<>]*>)+)\s+")
_ENTRY = re.compile(r'^\s*<div class="csl-entry">(.*)</div>\s*$', re.DOTALL)


def normal(text: str) -> str:
    """A text as compared: how a character is escaped and which space it is say nothing."""
    entry = _ENTRY.match(text)
    text = _block_space.sub(r"\1", entry[1] if entry else text)
    text = _second_space.sub(r"\1", text)
    return " ".join(html.unescape(text).replace("\u00a0", " ").replace("\u202f", " ").split())


def says(job: Job, text: str) -> bool:
    """Whether ours writes exactly this text for a job: what a job would say without a feature."""
    return any(
        normal(each) == text
        for output in ("text", "html")
        for rendering in [render_ours(job, output)]
        for each in (*rendering.citations, *rendering.bibliography)
    )


def find_lost_signs(whole: str, less: str) -> list[tuple[int, str]] | None:
    """Signs and spaces of the first text, with their places, that the second has lost.

    None where more than that differs.
    """
    lost = []
    for kind, start, end, _, _ in SequenceMatcher(None, whole, less, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if kind != "delete" or any(sign.isalnum() for sign in whole[start:end]):
            return None
        lost.append((start, whole[start:end]))
    return lost


@lru_cache(maxsize=50)
def find_style_text(style: str) -> str:
    return read_archived(style) or style


def strip_signs(text: str) -> str:
    """Letters and digits alone."""
    return re.sub(r"[\W_]", "", text)


def list_words(text: str) -> Counter[str]:
    """The words of a text, counted."""
    return Counter(re.findall(r"[^\W_]+", text.lower()))
