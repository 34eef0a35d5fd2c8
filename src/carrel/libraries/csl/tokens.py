"""The flat form every element renders to: a list of strings with marks around the parts that are
formatted.
"""

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
    """The opening mark of this kind; its `close` attribute is the partner. One that flips turns
    upright inside its like.
    """
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
INNER_QUOTES: Final = mark("quotes", "inner")
NO_CASE: Final = mark("nocase", "true")
# Before a text that belongs to the field before it: punctuation there was the author's own.
GLUE: Final = mark("part", "glue")
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
