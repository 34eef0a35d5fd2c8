"""The abstract and the keywords of a first page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.pdf_layout.content import Line
from carrel.libraries.pdf_layout.title_zone import (
    ABSTRACT_HEADING,
    ABSTRACT_RUN_IN,
    FrontPage,
    begins_abstract,
    join_spaces,
)

_SHORTEST = 80
_LONGEST = 6_000
_LONGEST_KEYWORD = 80
_MOST_KEYWORDS = 30
_LINE_STEP = 2.2
_SAME_SIZE = 0.7
_KEYWORDS = re.compile(
    r"^\W{0,3}(?:key\s?words?(?:\s+and\s+phrases)?|index\s+terms|mots[- ]cl[ée]s|palabras\s+clave"
    r"|schl[üu]sselw[öo]rter|palavras-chave|parole\s+chiave|ключевые\s+слова|关\s?键\s?词|キーワード)"
    r"\s{0,4}[.:：—–-]?\s{0,4}",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"^\W{0,3}(?:(?:\d{1,2}|[IVX]{1,4})\.?\s+)?(?:introduction|einleitung|introducci[óo]n|background"
    r"|contents|table\s+of\s+contents|references|ccs\s+concepts|acm\s+reference\s+format|jel\b"
    r"|msc\b|ams\s+subject|categories\s+and\s+subject|general\s+terms|motivation|received"
    r"|correspondence|corresponding\s+author|©|copyright|how\s+to\s+cite|citation|open\s+access"
    r"|doi\b|https?://|\*\s|†|abbreviations|funding|data\s+availability|plain\s+language"
    r"|significance|author\s+summary|graphical\s+abstract|введение|引言|résumé|zusammenfassung"
    r"|resumen|1\.?\s+[A-Z])",
    re.IGNORECASE,
)
_GLUED = re.compile(r"^\W{0,3}(?:abstract|summary|zusammenfassung)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundAbstract:
    text: str | None = None
    keywords: tuple[str, ...] = ()


def find_abstract(front: FrontPage) -> FoundAbstract:
    """The abstract under its heading, and the keywords."""
    return FoundAbstract(_find_text(front), _find_keywords(front.lines))


def _find_text(front: FrontPage) -> str | None:
    start = next(
        (at for at, line in enumerate(front.lines) if begins_abstract(line, front.body_size)), None
    )
    if start is None:
        return None
    heading = front.lines[start]
    text = join_spaces(heading.text)
    parts: list[Line] = []
    first_text = ""
    if not ABSTRACT_HEADING.match(text):
        found = ABSTRACT_RUN_IN.match(text) or _GLUED.match(text)
        first_text = text[found.end() :] if found else text
        parts.append(heading)
    parts += _take_lines(front.lines[start + 1 :], heading, has_first=bool(parts))
    texts = [line.text for line in parts]
    if first_text:
        texts[0] = first_text
    joined = join_lines(texts)
    return joined[:_LONGEST] if len(joined) >= _SHORTEST else None


def _take_lines(lines: Sequence[Line], heading: Line, *, has_first: bool) -> list[Line]:
    """The lines of the block under the heading, in its column."""
    taken: list[Line] = []
    last: Line = heading
    size = heading.size if has_first else None
    for line in lines:
        if line.baseline <= last.baseline + 0.3 * line.size or not _is_in_column(line, last, taken):
            continue
        step = line.baseline - last.baseline
        is_far = step > (_LINE_STEP if taken else 2 * _LINE_STEP) * max(line.size, last.size)
        if is_far or (size is not None and abs(line.size - size) > _SAME_SIZE):
            break
        if _ENDS.match(join_spaces(line.text)) or _KEYWORDS.match(join_spaces(line.text)):
            break
        taken.append(line)
        size = size or line.size
        last = line
    return taken


def _is_in_column(line: Line, last: Line, taken: Sequence[Line]) -> bool:
    if not taken:
        return line.box.x0 < last.box.x1 and last.box.x0 < line.box.x1
    left = min(each.box.x0 for each in taken[:3])
    right = max(each.box.x1 for each in taken[:3])
    return line.box.x0 < right and line.box.x1 > left and line.box.x0 > left - 40


def join_lines(texts: Sequence[str]) -> str:
    """Lines as one text; a word broken by a hyphen before a small letter is joined."""
    joined = ""
    for text in texts:
        stripped = join_spaces(text)
        if joined.endswith("-") and stripped[:1].islower():
            joined = joined[:-1] + stripped
        else:
            joined = f"{joined} {stripped}" if joined else stripped
    return joined


def _find_keywords(lines: Sequence[Line]) -> tuple[str, ...]:
    for at, line in enumerate(lines):
        text = join_spaces(line.text)
        found = _KEYWORDS.match(text)
        if not found:
            continue
        texts = [text[found.end() :]]
        last = line
        for other in lines[at + 1 : at + 12]:
            if not _goes_on(line, last, other) or _ENDS.match(join_spaces(other.text)):
                continue
            texts.append(other.text)
            last = other
        return _split_keywords(texts)
    return ()


def _goes_on(first: Line, last: Line, line: Line) -> bool:
    step = line.baseline - last.baseline
    return (
        0.3 * line.size < step < 1.6 * line.size
        and abs(line.size - first.size) < _SAME_SIZE
        and line.box.x0 < first.box.x1
        and line.box.x0 > first.box.x0 - 20
    )


def _split_keywords(texts: list[str]) -> tuple[str, ...]:
    joined = join_lines([text for text in texts if text.strip()])
    if ";" not in joined and "," not in joined and "·" not in joined and "•" not in joined:
        # One to a line, as some publishers print them.
        words = [join_spaces(text) for text in texts]
    else:
        separator = r"[;；]" if ";" in joined or "；" in joined else r"[,，、·•]"
        words = re.split(separator, joined)
    tidy = [word.strip(" .,;·•–—-") for word in words]
    kept = [word for word in tidy if 1 < len(word) <= _LONGEST_KEYWORD]
    return (
        tuple(dict.fromkeys(kept))[:_MOST_KEYWORDS]
        if len(kept) == len([w for w in tidy if w])
        else ()
    )
