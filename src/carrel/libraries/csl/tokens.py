"""Rendered text as a flat list of strings, with marks around the parts that are formatted."""

import re
from functools import lru_cache
from typing import Final


class Mark:
    """One edge of a formatted stretch. Marks are shared and compared by identity."""

    __slots__ = ("close", "flips", "is_open", "kind", "value")

    def __init__(self, kind: str, value: str, is_open: bool, flips: bool) -> None:
        self.kind = kind
        self.value = value
        self.is_open = is_open
        self.flips = flips
        self.close: Mark = self

    def __repr__(self) -> str:
        return f"{'<' if self.is_open else '</'}{self.kind}={self.value}>"


Token = str | Mark
Tokens = list[Token]

_marks: dict[tuple[str, str, bool], Mark] = {}


def mark(kind: str, value: str, *, flips: bool = False) -> Mark:
    """The opening mark of this kind with its `close`; one that `flips` is upright in its like."""
    key = (kind, value, flips)
    found = _marks.get(key)
    if found is None:
        found = Mark(kind, value, True, flips)
        found.close = Mark(kind, value, False, flips)
        _marks[key] = found
    return found


ITALIC: Final = mark("font-style", "italic", flips=True)
BOLD: Final = mark("font-weight", "bold", flips=True)
SMALL_CAPS: Final = mark("font-variant", "small-caps", flips=True)
SUPERSCRIPT: Final = mark("vertical-align", "sup", flips=True)
SUBSCRIPT: Final = mark("vertical-align", "sub", flips=True)
NO_DECORATION: Final = mark("no-decoration", "true")
QUOTES: Final = mark("quotes", "true")
# Marks that somebody typed as such: they change with the locale only where they are its own.
DOUBLE_QUOTES: Final = mark("quotes", "double")
SINGLE_QUOTES: Final = mark("quotes", "single")
# Quotes that an element asks for around its own text, not around the texts of others.
ELEMENT_QUOTES: Final = mark("quotes", "element")
# And those that it asks for around the texts of others.
MACRO_QUOTES: Final = mark("quotes", "macro")
NO_CASE: Final = mark("nocase", "true")
# Before a text that belongs to the field before it: punctuation there was the author's own.
GLUE: Final = mark("part", "glue")
# After a text in a font of its own: its last sign and a sign of the style stay both.
FONT_END: Final = mark("part", "font-end")
# Before a group's delimiter: it stays where an affix before it ends with another sign.
DELIMITER: Final = mark("part", "delimiter")
# After a group that ends with such a sign: a delimiter behind it gives way.
PART_SIGNS: Final = frozenset(":;")
GROUP_END: Final = mark("part", "group-end")
# After a macro or a group without a suffix that ends with a sign: no suffix behind it repeats that.
SIGN_END: Final = mark("part", "sign-end")
# After an element with a font, and before a prefix whose own element has one or has none: a prefix
# stays apart from what stands before it where either of the two elements has a font.
DECORATED: Final = mark("part", "decorated")
PREFIX: Final = mark("part", "prefix")
DECORATED_PREFIX: Final = mark("part", "decorated-prefix")
# Before a prefix that has words: what comes first is what stands behind it.
WORDS: Final = mark("part", "words")
# Before the digits of a date in a sort key.
DATE_KEY: Final = mark("part", "date-key")
# After a number: signs that meet its suffix are all kept.
NUMBER_END: Final = mark("part", "number-end")
YEAR_SUFFIX: Final = mark("part", "year-suffix")
TERM: Final = mark("part", "term")
NAMES: Final = mark("part", "names")
CITATION_NUMBER: Final = mark("part", "citation-number")
# Innermost first: italics stand inside bold, quotes stand around both.
FORMATTING: Final = (
    "font-style",
    "font-variant",
    "font-weight",
    "text-decoration",
    "vertical-align",
)


def plain(tokens: Tokens) -> str:
    """The text alone, for comparing and sorting."""
    return "".join([token for token in tokens if token.__class__ is str])


_tags = {
    "<i>": ITALIC, "<b>": BOLD, "<sup>": SUPERSCRIPT, "<sub>": SUBSCRIPT, "<sc>": SMALL_CAPS,
    '<span class="nocase">': NO_CASE, '<span class="nodecor">': NO_DECORATION,
    '<span style="font-variant:small-caps;">': SMALL_CAPS,
    '<span style="font-variant: small-caps;">': SMALL_CAPS,
    '<span style="font-variant:small-caps">': SMALL_CAPS,
    '<span style="font-variant: small-caps">': SMALL_CAPS,
}  # fmt: skip
_closing = {
    "</i>": "<i>",
    "</b>": "<b>",
    "</sup>": "<sup>",
    "</sub>": "<sub>",
    "</sc>": "<sc>",
    "</span>": "<span",
}
_pieces = re.compile(
    r"(</?(?:i|b|sup|sub|sc)>|<span (?:class|style)=\"[^\"<>]*\">|</span>|[\"'“”‘’])"
)
_special = re.compile(r"[<\"'“”‘’«]")
# French sets these signs off with a narrow space, which must not break.
_loose_sign = re.compile(r" ([:;?!»])")
_after_guillemet = re.compile(r"(«) ")
_pairs = {"“": "”", "‘": "’"}
_openings = {closing: opening for opening, closing in _pairs.items()}
_longest_remembered = 2_000
_before_open = re.compile(r"(?:^|[\s(\[{/\-–—:;,.=…\u00a0“‘\"'])$")
_after_close = re.compile(r"^(?:$|[\s)\]}/\-–—:;,.!?=…\u00a0”’\"'])")


def read_markup(text: str) -> Tokens:
    """Tokens of one field. Tags that are not ours, and tags without a partner, are left as text."""
    if not _special.search(text):
        return [_loose_sign.sub("\u202f\\1", text) if " " in text else text]
    return list(_remembered(text) if len(text) <= _longest_remembered else _read(text))


@lru_cache(maxsize=4096)
def _remembered(text: str) -> tuple[Token, ...]:
    return _read(text)


def _read(text: str) -> tuple[Token, ...]:
    text = _loose_sign.sub("\u202f\\1", _after_guillemet.sub("\\1\u202f", text))
    pieces = [piece for piece in _pieces.split(text) if piece]
    roles: list[Mark | None] = [None] * len(pieces)
    _match_tags(pieces, roles)
    _match_quotes(pieces, roles)
    tokens: list[Token] = []
    run: list[str] = []
    for piece, role in zip(pieces, roles, strict=True):
        if role is None:
            run.append("’" if piece in {"'", "’"} else piece)
            continue
        _put_run(tokens, run)
        tokens.append(role)
    _put_run(tokens, run)
    return tuple(tokens)


def _put_run(tokens: list[Token], run: list[str]) -> None:
    if run:
        if tokens and run[0][0] in " .,:;!?":
            tokens.append(GLUE)
        tokens.append("".join(run))
        run.clear()


def _match_tags(pieces: list[str], roles: list[Mark | None]) -> None:
    waiting = _Waiting()
    for index, piece in enumerate(pieces):
        if piece in _tags or piece.startswith("<span "):
            waiting.push(index, "<span" if piece.startswith("<span ") else piece)
        elif piece in _closing and waiting.has(_closing[piece]):
            start = waiting.pop(_closing[piece])
            found = _tags.get(pieces[start])
            if found is not None:
                roles[start], roles[index] = found, found.close


class _Waiting:
    """Openings without a partner yet; a partner removes all opened since, so the cost is linear."""

    def __init__(self) -> None:
        self._places: list[tuple[int, str]] = []
        self._counts: dict[str, int] = {}

    def push(self, place: int, kind: str) -> None:
        self._places.append((place, kind))
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def has(self, kind: str) -> bool:
        return self._counts.get(kind, 0) > 0

    def pop(self, kind: str) -> int:
        """The place of the last opening of this kind."""
        while True:
            place, found = self._places.pop()
            self._counts[found] -= 1
            if found == kind:
                return place


def _match_quotes(pieces: list[str], roles: list[Mark | None]) -> None:
    """Pair the quotation marks; one without a partner stays, an apostrophe becomes curved."""
    waiting = _Waiting()
    for index, piece in enumerate(pieces):
        if roles[index] is not None:
            continue
        if piece in _pairs:
            waiting.push(index, piece)
        elif piece in {"”", "’"}:
            if piece == "’" and _is_inside_word(pieces, index):
                continue
            if waiting.has(_openings[piece]):
                _close(roles, waiting, _openings[piece], index)
        elif piece in {'"', "'"}:
            if piece == "'" and _is_inside_word(pieces, index):
                continue
            can_open, can_close = _can_open(pieces, index), _can_close(pieces, index)
            if piece == "'" and (_before(pieces, index) == "'" or _after(pieces, index) == "'"):
                continue
            if (
                waiting.has(piece)
                and can_close
                and not (can_open and _before(pieces, index)[-1:].isspace())
            ):
                _close(roles, waiting, piece, index)
            elif can_open:
                waiting.push(index, piece)


def _close(roles: list[Mark | None], waiting: _Waiting, sign: str, index: int) -> None:
    start = waiting.pop(sign)
    found = {"“": DOUBLE_QUOTES, "‘": SINGLE_QUOTES}.get(sign, QUOTES)
    roles[start], roles[index] = found, found.close


def _before(pieces: list[str], index: int) -> str:
    while index > 0:
        index -= 1
        if not (pieces[index].startswith("<") and pieces[index].endswith(">")):
            return pieces[index]
    return ""


def _after(pieces: list[str], index: int) -> str:
    while index < len(pieces) - 1:
        index += 1
        if not (pieces[index].startswith("<") and pieces[index].endswith(">")):
            return pieces[index]
    return ""


def _can_open(pieces: list[str], index: int) -> bool:
    after = _after(pieces, index)
    return (
        bool(_before_open.search(_before(pieces, index)[-1:]))
        and bool(after)
        and not after[0].isspace()
    )


def _can_close(pieces: list[str], index: int) -> bool:
    before = _before(pieces, index)
    return (
        bool(before)
        and not before[-1].isspace()
        and bool(_after_close.match(_after(pieces, index)[:1]))
    )


def _is_inside_word(pieces: list[str], index: int) -> bool:
    before, after = _before(pieces, index)[-1:], _after(pieces, index)[:1]
    return before.isalnum() and after.isalnum()
