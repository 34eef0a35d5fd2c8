"""Sentence ends in running text of many scripts, safe for abbreviations, initials and decimals."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A stop with closing quotes and brackets behind it, and what follows; scripts without spaces
# between sentences need none.
_END = re.compile(
    r"""[.!?\u2026\u037e]["'\u2019\u201d\u00bb)\]*_]{0,6}(?=\s|$)"""
    r"""|[\u3002\uff0e\uff01\uff1f\uff61\u0964\u0965\u061f\u06d4\u1362\u104b\u17d4]["'\u2019\u201d\u300d\u300f\uff09\u3011)\]]{0,6}"""
    # The last line of a list item ends a sentence, whatever its last sign.
    r"""|[^\s](?=[ \t]*\r?\n[ \t]{0,8}(?:[-*+\u2022]|\d{1,3}[.)])[ \t])"""
)
# A blank line, a page, or the line of a heading.
_PARAGRAPH_END = re.compile(r"\n[ \t]*\r?\n|\f|(?<![^\n])#{1,6} [^\n]*\n|\n(?=#{1,6} )")
# How far from a stretch the ends of its sentences are looked for.
_FARTHEST_END = 2_000
_NEXT = re.compile(r"\s*(\S)")
# The word a full stop stands behind, dots inside it included.
_LAST_WORD = re.compile(r"(?:[^\W_]|[.'\u2019-])+$")
_LONGEST_WORD = 20
_ABBREVIATION_LIST = """
al fig figs eq eqs eqn eqns ref refs sec sect tab tabs ch chap app suppl vol vols no nos nr art pp p
ed eds e.g eg i.e ie vs cf viz ca approx resp incl dr drs prof mr mrs ms st jr sr dept univ ltd co
inc corp sp spp var subsp cv ssp gen nov min max avg temp conc etc cit ibid op seq jan feb mar apr
jun jul aug sep sept oct nov dec z.b bzw usw d.h u.a vgl s.o s.u abb bd p.ej p.ex pág núm cap
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
# These end a sentence as often as not: a capital behind them decides.
_OFTEN_LAST = frozenset(
    {"etc", "co", "inc", "ltd", "corp", "min", "max", "no", "art", "dec", "mar"}
)


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """The positions behind each sentence of a stretch, in order; the last is its end."""
    for found in _END.finditer(text, start, end):
        if found.end() < end and _is_sentence_end(text, start, end, found):
            yield found.end()
    yield end


def surrounding_sentences(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch of the whole sentences, of their paragraphs, that a stretch lies in."""
    first, last = max(0, start - _FARTHEST_END), min(len(text), end + _FARTHEST_END)
    for found in _PARAGRAPH_END.finditer(text, first, start):
        first = found.end()
    after = _PARAGRAPH_END.search(text, end, last)
    if after is not None:
        last = after.start()
    begin = first
    for at in sentence_ends(text, first, last):
        if at > start:
            break
        begin = at
    stop = next(at for at in sentence_ends(text, begin, last) if at >= end)
    while begin < start and text[begin].isspace():
        begin += 1
    while stop > end and text[stop - 1].isspace():
        stop -= 1
    return begin, stop


def _is_sentence_end(text: str, start: int, end: int, found: re.Match[str]) -> bool:
    if text[found.start()] != ".":
        following = _NEXT.match(text, found.end(), end)
        return text[found.start()] != "\u2026" or not (following and following[1].islower())
    following = _NEXT.match(text, found.end(), end)
    if following is None:
        return True
    if following[1].islower() or following[1] in ",;:)":
        return False
    if found.end() > found.start() + 1:
        return True
    before = _LAST_WORD.search(text, max(start, found.start() - _LONGEST_WORD), found.start())
    return before is None or _may_end_sentence(text, before, following[1])


def _may_end_sentence(text: str, before: re.Match[str], following: str) -> bool:
    word = before[0]
    if len(word) == 1 and word.isupper():
        return False
    if word.isdigit() and len(word) <= 3:
        before_number = text[max(0, before.start() - 8) : before.start()]
        return bool(before_number.rpartition("\n")[2].strip(" \t*([>-")) or (
            before.start() > 8 and "\n" not in before_number
        )
    folded = word.lower()
    if folded in _OFTEN_LAST:
        return following.isupper()
    # `U.S.`, `J.R.`, `Ph.D.`: letters with dots between them.
    is_dotted = "." in folded and all(len(part) <= 2 for part in folded.split("."))
    return folded not in _ABBREVIATIONS and not is_dotted
