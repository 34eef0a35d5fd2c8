"""TeX to Unicode: accents, symbols, markup and simple mathematics, with what braces protect from
changes of case.
"""

import re

from carrel.libraries.bibliography.bibtex.tex_reader import SPACES, Rich, TexReader
from carrel.libraries.text.budget import MAX_DEPTH, current_budget, too_deep

_NEEDS_TEX = re.compile(r"[\\{}$~^_`]|''|--")
_LINE_JOINED = re.compile(r"(?<!\\)%[ \t]*\r?\n\s*")
_BREAK = re.compile("(?<! )[ ]*\u2029[ ]*")
_BRACE = re.compile(r"[{}]")
_OUTER_BRACES_AT_MOST = 10


def to_paragraphs(raw: str) -> str:
    """The text of a longer field, where \\par parts lines."""
    if "\\" not in raw:
        return to_rich(raw).text
    return _BREAK.sub("\n", _read(raw).text).strip()


def to_rich(raw: str) -> Rich:
    """The text of a field where markup is welcome, such as a title."""
    rich = _read(raw)
    return Rich(rich.text.replace("\u2029", " "), rich.protected) if "\u2029" in rich.text else rich


def _read(raw: str) -> Rich:
    if "%" in raw:
        raw = _LINE_JOINED.sub("", raw)
    if not _NEEDS_TEX.search(raw):
        return Rich(SPACES.sub(" ", raw).strip())
    budget = current_budget()
    budget.step(1 + len(raw) // 10)
    raw = _without_outer_braces(raw.strip())
    if raw.count("{") > MAX_DEPTH and _depth(raw) > MAX_DEPTH:
        raise too_deep("a TeX value")
    reader = TexReader(raw)
    reader.read_group(0, is_protected=False)
    return reader.result()


def _depth(raw: str) -> int:
    depth = deepest = 0
    for sign in _BRACE.findall(raw):
        depth = depth + 1 if sign == "{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def to_plain(raw: str) -> str:
    """The text of a field where markup is not, such as a publisher."""
    if not _NEEDS_TEX.search(raw) and "%" not in raw:
        return SPACES.sub(" ", raw).strip()
    return to_rich(raw).plain.replace("\u00a0", " ").replace("\u2009", " ").strip()


def _without_outer_braces(raw: str) -> str:
    """Braces around everything protect nothing: exporters write them by habit."""
    for _ in range(_OUTER_BRACES_AT_MOST):
        lead, trail = len(raw) - len(raw.lstrip("{")), len(raw) - len(raw.rstrip("}"))
        if not lead or not trail:
            break
        depth = lowest = lead
        for sign in _BRACE.findall(raw, lead, len(raw) - trail):
            depth += 1 if sign == "{" else -1
            lowest = min(lowest, depth)
        layers = min(lowest, trail) if depth == trail else 0
        if not layers:
            break
        raw = raw[layers:-layers].strip()
    return raw
