"""Titles and abstracts with JATS, HTML or MathML as plain text with `<i> <b> <sub> <sup>`."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from carrel.libraries.text.control_characters import remove_controls

_TAG = re.compile(
    r"<(/?)((?:[A-Za-z][\w.-]{0,20}:)?[A-Za-z][\w.-]{0,40})"
    r"((?:\s+[\w:.-]{1,60}\s*=\s*(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=]++))*+)\s*+(/?)>"
)
_NO_CONTENT = re.compile(r"<\?[^<>?]*+\?>|<!\[CDATA\[|\]\]>")
_MARKS = {
    "i": "i", "em": "i", "italic": "i", "it": "i", "b": "b", "strong": "b", "bold": "b",
    "sub": "sub", "inf": "sub", "sup": "sup", "super": "sup",
}  # fmt: skip
_BLOCKS = frozenset({
    "p", "sec", "section", "list", "list-item", "break", "br", "disp-formula", "div", "ul", "ol",
    "li", "table", "tr", "td", "th", "tbody", "thead", "dl", "dt", "dd", "abstract", "hr",
    "disp-quote", "blockquote", "caption", "fig", "abstracttext", "para", "def-list", "def-item",
})  # fmt: skip
_HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6", "label", "heading"})
_INLINE = frozenset({
    "span", "font", "sc", "scp", "small", "small-caps", "u", "underline", "tt", "monospace", "a",
    "sans-serif", "roman", "overline", "strike", "s", "ext-link", "xref", "inline-formula", "uri",
    "alternatives", "styled-content", "named-content", "email", "big", "code", "abbr", "cite", "q",
    "inline-graphic", "graphic", "img", "math", "tex-math", "inline-supplementary-material",
    "related-article", "related-object", "institution", "html", "body", "article-title",
})  # fmt: skip
_MATH_PARTS = frozenset({
    "mi", "mn", "mo", "ms", "mtext", "mrow", "msub", "msup", "msubsup", "mfrac", "msqrt", "mroot",
    "mover", "munder", "munderover", "mspace", "mstyle", "mfenced", "mpadded", "mphantom",
    "menclose", "mtable", "mtr", "mtd", "mmultiscripts", "mprescripts", "semantics", "annotation",
    "annotation-xml", "merror", "maction", "mlabeledtr", "none",
})  # fmt: skip
_NO_TEXT = frozenset({
    "annotation", "annotation-xml", "inline-graphic", "graphic", "img", "script", "style",
    "mphantom", "mspace", "none", "mprescripts",
})  # fmt: skip
_EMPTY_IN_HTML = frozenset({"br", "hr", "img", "mspace", "none", "mprescripts"})
_KNOWN = (
    frozenset(_MARKS) | _BLOCKS | _HEADINGS | _INLINE | _MATH_PARTS | _NO_TEXT | {"script", "style"}
)
_DEEPEST = 40
_MOST_CHARACTERS = 2_000_000
_WORDS_OF_ABSTRACT = (
    r"abstract|summary|zusammenfassung|résumé|resume|resumen|resumo|riassunto|sommario"
)
_ABSTRACT_HEADING = re.compile(rf"(?:{_WORDS_OF_ABSTRACT}|摘要|要旨|抄録|초록)\W*", re.IGNORECASE)
_LEADING_ABSTRACT = re.compile(
    r"(?:<b>|<i>)?\s*(?:"
    # A sign behind it, or the word in capitals.
    rf"(?:{_WORDS_OF_ABSTRACT})(?:</b>|</i>)?\s*[:.—–-]+\s*(?:</b>|</i>)?\s*(?=\S)"
    r"|(?-i:ABSTRACT)(?:</b>|</i>)?\s+(?=\S)"
    # A word that begins a sentence, but for terms such as `Abstract State Machines`.
    r"|(?-i:Abstract)(?:</b>|</i>)?\s+(?=(?-i:[^\W\da-z_]|<[ib]>[A-Z]))(?!(?:state|syntax|algebra|data"
    r"|argumentation|interpretation|meaning|wiener|harmonic|thinking|art|expressionis|nonsense|group"
    r"|object|class|window|factory|reasoning|concept|cauchy|hilbert|banach|evolution|simplicial"
    r"|elementary|model|machine|space|convex|parabolic|volterra|rewriting|homotopy|categor|entit"
    r"|labou?r|dialectical|tree|topolog|number|noun|word|painting|domain|polytope|regular))"
    r"|(?-i:Abstract(?=[A-Z][a-z])))",
    re.IGNORECASE,
)  # fmt: skip
# Publishers that print a tag a line part `CO` from its `2`; the number of an isotope stands alone.
_LINE_BEFORE_SCRIPT = re.compile(
    r"(?<!\s)(?=[^\S\n]*+\n)\s++(?=<(?:\w+:)?(?:sub|inf)\b"
    r"|<(?:\w+:)?sup\b[^<>]*>(?!\s*+\d++\s*+</(?:\w+:)?sup>\s*+[A-Z]))"
)
_OPEN_THEN_SPACE = re.compile(r"((?:<(?:i|b|sub|sup)>)+)(\s+)")
_SPACE_THEN_CLOSE = re.compile(r"(\s+)((?:</(?:i|b|sub|sup)>)+)")
_BRACKET_THEN_SPACE = re.compile(r"([(\[«“])\s+(?=<(?:i|b|sub|sup)>)")
_SPACE_THEN_SIGN = re.compile(r"(</(?:i|b|sub|sup)>)\s+(?=[,.;:)\]»”′″])")
_EMPTY_MARK = re.compile(r"<(i|b|sub|sup)>(\s*)</\1>")
_WHOLE_MARK = re.compile(r"<(i|b)>((?:(?!</?\1>).)*)</\1>", re.DOTALL)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_FOUR = re.compile(r"</?(?:i|b|sub|sup)>")


@dataclass(slots=True)
class _Element:
    name: str
    parts: list[_Element | str] = field(default_factory=list)
    # A mark that nothing closes is not put around all that follows.
    is_closed: bool = False


def read_title(value: object) -> str:
    """A title in one line, without marks that stand around all of it."""
    text = _render(value, is_abstract=False)
    while found := _WHOLE_MARK.fullmatch(text):
        text = found.group(2).strip()
    return text


def read_abstract(value: object) -> str:
    """An abstract in one line: no heading `Abstract`; names of its sections end with a colon."""
    text = _render(value, is_abstract=True)
    found = _LEADING_ABSTRACT.match(text)
    if found is None:
        return "" if _ABSTRACT_HEADING.fullmatch(text) else text
    rest = text[found.end() :]
    return rest if _are_balanced(rest) else text


def read_plain_line(value: object) -> str:
    """A name of a person, a venue or a publisher: one line without any mark."""
    return " ".join(_FOUR.sub("", _render(value, is_abstract=False)).split())


def _are_balanced(text: str) -> bool:
    return all(text.count(f"<{mark}>") == text.count(f"</{mark}>") for mark in ("i", "b"))


def _render(value: object, *, is_abstract: bool) -> str:
    if not isinstance(value, str):
        return ""
    text = value[:_MOST_CHARACTERS]
    if "&" in text:
        text = _unescape(text)
    if "<" in text:
        text = _LINE_BEFORE_SCRIPT.sub("", _NO_CONTENT.sub("", _drop_comments(text)))
        pieces = list(_write(_build(text), is_abstract=is_abstract, is_math=False))
        text = "".join(pieces)
    text = " ".join(text.split())
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFC", remove_controls(text))
        text = " ".join(_INVISIBLE.sub("", text).split())
    return _tidy_marks(text) if "<" in text else text


def _drop_comments(text: str) -> str:
    """The text without comments; one that does not end is no comment."""
    kept: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0 and (stop := text.find("-->", start + 4)) >= 0:
        kept.append(text[end:start])
        end = stop + len("-->")
    return "".join((*kept, text[end:]))


def _unescape(text: str) -> str:
    """Entities as characters, also where they were escaped two or three times."""
    for _ in range(3):
        plain = html.unescape(text)
        if plain == text:
            break
        text = plain
    return text


def _tidy_marks(text: str) -> str:
    """Blanks outside the marks, single, none inside brackets; no mark around nothing."""
    for _ in range(4):
        tidy = _OPEN_THEN_SPACE.sub(r" \1", text)
        tidy = _SPACE_THEN_CLOSE.sub(r"\2 ", tidy)
        tidy = _SPACE_THEN_SIGN.sub(r"\1", _BRACKET_THEN_SPACE.sub(r"\1", tidy))
        tidy = " ".join(_EMPTY_MARK.sub(r"\2", tidy).split())
        if tidy == text:
            break
        text = tidy
    return text


def _build(text: str) -> _Element:
    """A tree of the tags; what is no tag that we know or that is closed stays text."""
    closed = {found[2].lower() for found in _TAG.finditer(text) if found[1]}
    root = _Element("")
    open_elements = [root]
    end = 0
    for found in _TAG.finditer(text):
        closing, full_name, _, self_closing = found.groups()
        name = full_name.lower().rpartition(":")[2]
        if ":" not in full_name and name not in _KNOWN and full_name.lower() not in closed:
            continue
        open_elements[-1].parts.append(text[end : found.start()])
        end = found.end()
        if closing:
            _close(open_elements, name)
            continue
        element = _Element(name)
        open_elements[-1].parts.append(element)
        if not self_closing and name not in _EMPTY_IN_HTML and len(open_elements) < _DEEPEST:
            open_elements.append(element)
    open_elements[-1].parts.append(text[end:])
    return root


def _close(open_elements: list[_Element], name: str) -> None:
    """Close the nearest element of this name and all in it; nothing where there is none."""
    for at in range(len(open_elements) - 1, 0, -1):
        if open_elements[at].name == name:
            open_elements[at].is_closed = True
            del open_elements[at:]
            return


def _write(element: _Element, *, is_abstract: bool, is_math: bool) -> Iterator[str]:
    name = element.name
    if name in _NO_TEXT:
        return
    if name == "alternatives" and any(_is_math(part) for part in element.parts):
        element = _Element(name, [part for part in element.parts if _is_math(part)])
    is_math = is_math or name == "math"
    mark = _MARKS.get(name) if element.is_closed and not is_math else None
    if name in _HEADINGS and is_abstract:
        yield _write_heading(element)
        return
    if name in ("msub", "msup", "msubsup"):
        yield from _write_script(element)
        return
    if mark:
        yield f"<{mark}>"
    elif name in _BLOCKS or name in _HEADINGS:
        yield " "
    for part in element.parts:
        if isinstance(part, str):
            yield "".join(part.split()) if is_math and name != "mtext" else part
        else:
            yield from _write(part, is_abstract=is_abstract, is_math=is_math)
    if mark:
        yield f"</{mark}>"
    elif name in _BLOCKS or name in _HEADINGS:
        yield " "


def _is_math(part: _Element | str) -> bool:
    return isinstance(part, _Element) and part.name == "math"


def _write_heading(element: _Element) -> str:
    """The name of a section before its text; none where it only says that this is an abstract."""
    inside = _Element("", element.parts)
    heading = " ".join("".join(_write(inside, is_abstract=False, is_math=False)).split())
    if not heading or _ABSTRACT_HEADING.fullmatch(heading):
        return " "
    return f" {heading} " if heading[-1] in ".:;?!。：" else f" {heading}: "


def _write_script(element: _Element) -> Iterator[str]:
    """A base with what stands below or above it."""
    parts = [part for part in element.parts if isinstance(part, _Element)]
    marks = {"msub": ("sub",), "msup": ("sup",), "msubsup": ("sub", "sup")}[element.name]
    for at, part in enumerate(parts):
        inner = "".join(_write(part, is_abstract=False, is_math=True))
        mark = marks[at - 1] if 0 < at <= len(marks) else None
        yield f"<{mark}>{inner}</{mark}>" if mark and inner else inner
