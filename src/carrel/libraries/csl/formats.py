"""Output formats: plain text, HTML, Markdown, or runs of text with their formatting."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from .errors import OutputUnknownError
from .tokens import ELEMENT_QUOTES, MACRO_QUOTES, Mark, Tokens

OutputName = Literal["text", "html", "markdown"]
_normal: Final = {
    "font-style": "normal",
    "font-weight": "normal",
    "font-variant": "normal",
    "text-decoration": "none",
    "vertical-align": "baseline",
}


_silent: Final = "normal"
_UNSEEN: Final = frozenset({"part", "nocase"})


@dataclass(frozen=True, slots=True)
class TextRun:
    """A stretch of text and everything that is true of its looks, such as `font-style=italic`."""

    text: str
    formatting: tuple[tuple[str, str], ...] = ()

    @property
    def is_italic(self) -> bool:
        return self._value("font-style") in {"italic", "oblique"}

    @property
    def is_bold(self) -> bool:
        return self._value("font-weight") == "bold"

    @property
    def is_small_caps(self) -> bool:
        return self._value("font-variant") == "small-caps"

    @property
    def is_underlined(self) -> bool:
        return self._value("text-decoration") == "underline"

    @property
    def is_superscript(self) -> bool:
        return self._value("vertical-align") == "sup"

    @property
    def is_subscript(self) -> bool:
        return self._value("vertical-align") == "sub"

    @property
    def display(self) -> str:
        """The block it stands in: `left-margin`, `right-inline`, `block`, `indent`, or empty."""
        return self._value("display")

    def _value(self, kind: str) -> str:
        return next((value for each, value in self.formatting if each == kind), "")


@dataclass(frozen=True, slots=True)
class OutputFormat:
    name: OutputName
    escape: Callable[[str], str]
    edges: dict[tuple[str, str], tuple[str, str]]
    repeats: bool = False  # whether a mark is written although it changes nothing
    finish: Callable[[str], str] = str


_html_signs = {ord("&"): "&#38;", ord("<"): "&#60;", ord(">"): "&#62;"}
_markdown_signs = re.compile(r"([\\`*_\[\]<>~^$|])")
_markdown_start = re.compile(r"^(\s*)([#+\-=])(?=\s|$)|^(\s*\d+)([.)])(?=\s)")


def _superscript_tag(sign: re.Match[str]) -> str:
    return f"<sup>{unicodedata.normalize('NFKC', sign[0])}</sup>"


# Letters that Unicode itself sets above the line are written with the tag, so that fonts agree.
_superscripts = re.compile(
    "["
    + "".join(
        chr(code)
        for code in range(0xAA, 0x2200)
        if unicodedata.decomposition(chr(code)).startswith("<super>")
    )
    + "]"
)


def _escape_html(text: str) -> str:
    text = text.translate(_html_signs)
    if "  " in text:
        text = text.replace("  ", "\u00a0 ")
    return text if text.isascii() else _superscripts.sub(_superscript_tag, text)


def _escape_markdown(text: str) -> str:
    return _markdown_signs.sub(r"\\\1", text)


def _escape_markdown_start(text: str) -> str:
    """A line that would begin a heading or a list does not."""
    return _markdown_start.sub(
        lambda found: f"{found[1]}\\{found[2]}" if found[2] else f"{found[3]}\\{found[4]}", text
    )


HTML: Final = OutputFormat(
    "html",
    _escape_html,
    {
        ("font-style", "italic"): ("<i>", "</i>"),
        ("font-style", "oblique"): ("<em>", "</em>"),
        ("font-style", "normal"): ('<span style="font-style:normal;">', "</span>"),
        ("font-weight", "bold"): ("<b>", "</b>"),
        ("font-weight", "light"): ('<span style="font-weight:light;">', "</span>"),
        ("font-weight", "normal"): ('<span style="font-weight:normal;">', "</span>"),
        ("font-variant", "small-caps"): ('<span style="font-variant:small-caps;">', "</span>"),
        ("font-variant", "normal"): ('<span style="font-variant:normal;">', "</span>"),
        ("text-decoration", "underline"): ('<span style="text-decoration:underline;">', "</span>"),
        ("text-decoration", "none"): ('<span style="text-decoration:none;">', "</span>"),
        ("vertical-align", "sup"): ("<sup>", "</sup>"),
        ("vertical-align", "sub"): ("<sub>", "</sub>"),
        ("vertical-align", "baseline"): ('<span style="baseline">', "</span>"),
        ("display", "left-margin"): ('\n    <div class="csl-left-margin">', "</div>"),
        ("display", "right-inline"): ('<div class="csl-right-inline">', "</div>\n  "),
        ("display", "indent"): ('<div class="csl-indent">', "</div>\n  "),
        ("display", "block"): ('\n\n    <div class="csl-block">', "</div>\n"),
    },
    repeats=True,
)
TEXT: Final = OutputFormat(
    "text",
    str,
    {
        ("display", "block"): ("\n", ""),
        ("display", "indent"): ("\n    ", ""),
        ("display", "left-margin"): ("", " "),
    },
    finish=lambda text: text.removeprefix("\n"),
)
MARKDOWN: Final = OutputFormat(
    "markdown",
    _escape_markdown,
    {
        ("font-style", "italic"): ("*", "*"),
        ("font-style", "oblique"): ("*", "*"),
        ("font-style", "normal"): ("*", "*"),
        ("font-weight", "bold"): ("**", "**"),
        ("font-weight", "normal"): ("**", "**"),
        ("font-variant", "small-caps"): ('<span style="font-variant:small-caps">', "</span>"),
        ("font-variant", "normal"): ('<span style="font-variant:normal">', "</span>"),
        ("text-decoration", "underline"): ("<u>", "</u>"),
        ("vertical-align", "sup"): ("<sup>", "</sup>"),
        ("vertical-align", "sub"): ("<sub>", "</sub>"),
        ("display", "block"): ("\n\n", "\n"),
        ("display", "indent"): ("\n\n", ""),
        ("display", "left-margin"): ("", " "),
    },
    finish=_escape_markdown_start,
)
FORMATS: Final[dict[str, OutputFormat]] = {"text": TEXT, "html": HTML, "markdown": MARKDOWN}


def output_format(name: str) -> OutputFormat:
    """The format of that name. OutputUnknownError."""
    found = FORMATS.get(name) if isinstance(name, str) else None
    if found is None:
        raise OutputUnknownError(name, tuple(FORMATS))
    return found


_OF_ELEMENTS = frozenset({ELEMENT_QUOTES.value, MACRO_QUOTES.value})
_TYPED_QUOTES = {"double": ("“", "”"), "single": ("‘", "’")}


class _FormattingState:
    """What is in force at this point: one stack for each kind, and how deep in quotes we are."""

    __slots__ = ("foreign", "levels", "quotes", "stacks")

    def __init__(self, quotes: tuple[str, str, str, str]) -> None:
        self.stacks: dict[str, list[str]] = {kind: [] for kind in _normal}
        self.levels: list[int] = []
        self.foreign: list[str] = []
        self.quotes = quotes

    def open_quote(self, value: str) -> str:
        """Outer and inner marks take turns; typed ones stay outside of quotes as they are."""
        is_inner = False
        typed = _TYPED_QUOTES.get(value)
        if typed is not None:
            is_inner = typed == self.quotes[2:]
            if not is_inner and typed != self.quotes[:2]:
                # No marks of this locale: text like any other.
                self.foreign.append(typed[1])
                self.levels.append(0)
                return typed[0]
        level = next((each for each in reversed(self.levels) if each), 0) + 1
        if value in _OF_ELEMENTS:
            level = 1  # Quotes of an element inside of quotes of another do not take turns.
        if level == 1 and is_inner:
            level = 2
        self.levels.append(level)
        return self.quotes[0] if level % 2 else self.quotes[2]

    def close_quote(self) -> str:
        level = self.levels.pop()
        if not level:
            return self.foreign.pop()
        return self.quotes[1] if level % 2 else self.quotes[3]

    def value_of(self, kind: str) -> str:
        """The value in force; one that makes no difference is kept as an empty text."""
        stack = self.stacks[kind]
        return (stack and stack[-1]) or _normal[kind]

    def enter(self, token: Mark) -> str:
        """The value that comes into force; empty where nothing changes."""
        stack = self.stacks[token.kind]
        current = self.value_of(token.kind)
        value = token.value
        if value == current:
            value = _normal[token.kind] if token.flips else current
        stack.append(value)
        return "" if value == current else value

    def leave(self, token: Mark) -> str:
        stack = self.stacks[token.kind]
        value = stack.pop()
        return "" if value == self.value_of(token.kind) else value

    def apply(self, token: Mark) -> str:
        """Enter or leave the formatting of a mark; the value that changes, or empty."""
        return self.enter(token) if token.is_open else self.leave(token)

    def apply_normal(self, token: Mark) -> str:
        """Enter or leave a font that is set to normal: `normal` where it makes a difference."""
        stack = self.stacks[token.kind]
        if token.is_open:
            is_inside = any(value not in {"", token.value} for value in stack)
            makes_difference = is_inside or token.flips
            stack.append(token.value if makes_difference else "")
            return token.value if makes_difference else ""
        return stack.pop()

    def apply_plain(self, token: Mark) -> None:
        """Enter or leave a stretch without any formatting."""
        for kind, stack in self.stacks.items():
            if token.is_open:
                stack.append(_normal[kind])
            else:
                stack.pop()

    def current(self) -> tuple[tuple[str, str], ...]:
        """The formatting in force, each kind with its value."""
        return tuple(
            (kind, value) for kind in self.stacks if (value := self.value_of(kind)) != _normal[kind]
        )


def write_tokens(tokens: Tokens, output: OutputFormat, quotes: tuple[str, str, str, str]) -> str:
    """The tokens as one string of this format. Text between two marks is escaped at once."""
    pieces: list[str] = []
    waiting: list[str] = []
    escape, edges = output.escape, output.edges
    formatting = _FormattingState(quotes)
    for token in tokens:
        if token.__class__ is str:
            waiting.append(token)
            continue
        mark: Mark = token  # type: ignore[assignment]
        kind = mark.kind
        if kind == "quotes":
            waiting.append(
                formatting.open_quote(mark.value) if mark.is_open else formatting.close_quote()
            )
            continue
        if kind in _UNSEEN:
            continue
        if waiting:
            pieces.append(escape("".join(waiting)))
            waiting.clear()
        if kind in formatting.stacks:
            # A mark that changes nothing is written only where the format repeats marks.
            if output.repeats and mark.value == _silent:
                value = formatting.apply_normal(mark)
            else:
                value = formatting.apply(mark) or (mark.value if output.repeats else "")
            edge = edges.get((kind, value))
            if edge:
                pieces.append(edge[not mark.is_open])
        elif kind == "display":
            pieces.extend(_display(mark, edges.get((kind, mark.value), ("", "")), pieces))
        elif kind == "no-decoration":
            pieces.extend(_without_decoration(formatting, mark, edges))
    if waiting:
        pieces.append(escape("".join(waiting)))
    return output.finish("".join(pieces))


def _display(mark: Mark, edge: tuple[str, str], pieces: list[str]) -> list[str]:
    """The edge of a block; a space that would end the second of two aligned ones follows it."""
    if mark.is_open:
        return [edge[0]]
    if mark.flips and pieces and pieces[-1].endswith(" "):
        pieces[-1] = pieces[-1][:-1]
        return [edge[1], " "]
    return [edge[1]]


def _without_decoration(
    formatting: _FormattingState, mark: Mark, edges: dict[tuple[str, str], tuple[str, str]]
) -> list[str]:
    """Opens or closes a plain stretch for every kind that is in force."""
    pieces = []
    for kind, stack in formatting.stacks.items():
        normal = _normal[kind]
        if mark.is_open:
            if formatting.value_of(kind) != normal:
                pieces.append(edges.get((kind, normal), ("", ""))[0])
            stack.append(normal)
        else:
            stack.pop()
            if formatting.value_of(kind) != normal:
                pieces.insert(0, edges.get((kind, normal), ("", ""))[1])
    return pieces


def to_runs(tokens: Tokens, quotes: tuple[str, str, str, str]) -> list[TextRun]:
    """The tokens as runs: what any other format can be made from."""
    runs: list[TextRun] = []
    formatting = _FormattingState(quotes)
    displays: list[str] = []

    def add(text: str) -> None:
        now = formatting.current()
        if displays:
            now = (*now, ("display", displays[-1]))
        if runs and runs[-1].formatting == now:
            runs[-1] = TextRun(runs[-1].text + text, now)
        else:
            runs.append(TextRun(text, now))

    for token in tokens:
        if token.__class__ is str:
            add(token)
            continue
        mark: Mark = token  # type: ignore[assignment]
        if mark.kind in formatting.stacks:
            formatting.apply(mark)
        elif mark.kind == "quotes":
            add(formatting.open_quote(mark.value) if mark.is_open else formatting.close_quote())
        elif mark.kind == "display":
            if mark.is_open:
                displays.append(mark.value)
            elif displays:
                displays.pop()
        elif mark.kind == "no-decoration":
            formatting.apply_plain(mark)
    return runs
