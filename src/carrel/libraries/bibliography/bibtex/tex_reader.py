"""One TeX value, read token by token."""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from carrel.libraries.bibliography.bibtex.tex_symbols import (
    ACCENTS,
    BLACKBOARD,
    DECLARATIONS,
    FRACTIONS,
    HIDDEN,
    JOURNALS,
    LAST_ARGUMENT_SHOWN,
    LINES,
    MARKUP,
    OPERATORS,
    SIGNS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    SYMBOLS,
)
from carrel.libraries.bibliography.bibtex.tex_units import (
    QUANTITIES,
    formula_text,
    quantity_text,
)

_TOKEN = re.compile(r"\\([A-Za-z]+)\*?|\\(.)|([{}$~^_`'-]|\\\Z)|([^\\{}$~^_`'-]+)", re.DOTALL)
SPACES = re.compile(r"[ \t\r\n\f\v]+")
# Bounded, so that a bracket without an end does not make the search quadratic.
_OPTIONAL = re.compile(r"\s{0,50}\[[^\]]{0,500}\]")
_TAG = re.compile(r"</?(?:i|b|sup|sub|span|sc)(?:\s[^<>]*)?>")
_DIGITS = re.compile(r"\d+")
_MAX_DEPTH = 60
# An accent over nothing is the sign itself, as in `\\~{}name`.
_BARE_ACCENTS = {"\u0303": "~", "\u0302": "^"}

_MOVES = frozenset({"kern", "mkern", "raise", "lower", "hskip", "vskip", "mskip"})
_DIMENSION = re.compile(r"\s*=?\s*[-+]?[\d.,]+\s*(?:em|ex|pt|pc|in|bp|cm|mm|dd|cc|sp|mu)?")
_CHARACTER_COMMANDS = frozenset({"symbol", "char", "unichar"})


@dataclass(frozen=True, slots=True)
class TexText:
    """Text with the tags that CSL-JSON allows, and the stretches of it whose case is protected."""

    text: str
    protected: tuple[tuple[int, int], ...] = ()

    @property
    def plain(self) -> str:
        return _TAG.sub("", self.text) if "<" in self.text else self.text


_UNKNOWN_COMMANDS: ContextVar[set[str] | None] = ContextVar("unknown_commands", default=None)
# Letters of other alphabets that stand inside of words.
LETTERS_BY_COMMAND = {
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ",
    "oe": "œ", "OE": "Œ", "ss": "ß",
}  # fmt: skip


@contextmanager
def collect_unknown_commands(found: set[str]) -> Iterator[None]:
    """Unknown commands that are read inside are added to the set."""
    token = _UNKNOWN_COMMANDS.set(found)
    try:
        yield
    finally:
        _UNKNOWN_COMMANDS.reset(token)


def _report_unknown(name: str) -> None:
    found = _UNKNOWN_COMMANDS.get()
    if found is not None and len(found) < 20:
        found.add(name[:40])


def _find_letter_command(name: str) -> str:
    """The longest command for a letter that an unknown command of small letters begins with."""
    return next(
        (
            name[:size]
            for size in (2, 1)
            if name[:size] in LETTERS_BY_COMMAND and name[size:].islower()
        ),
        "",
    )


class TexReader:
    """Reads one value; holds the pieces that came out so far."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._position = 0
        self._pieces: list[str] = []
        self._flags: list[bool] = []
        self._is_math = False
        self._open_quotes = 0

    def result(self) -> TexText:
        text: list[str] = []
        spans: list[tuple[int, int]] = []
        length = 0
        ends_in_space = True
        for piece, is_protected in zip(self._pieces, self._flags, strict=True):
            kept = SPACES.sub(" ", piece)
            if ends_in_space and kept.startswith(" "):
                kept = kept[1:]
            if not kept:
                continue
            ends_in_space = kept.endswith(" ")
            if is_protected:
                if spans and spans[-1][1] == length:
                    spans[-1] = (spans[-1][0], length + len(kept))
                else:
                    spans.append((length, length + len(kept)))
            text.append(kept)
            length += len(kept)
        whole = "".join(text).rstrip(" ")
        composed = unicodedata.normalize("NFC", whole)
        if len(composed) != len(whole):
            measured = _ComposedLengths(whole)
            spans = [(measured.up_to(start), measured.up_to(end)) for start, end in spans]
        return TexText(
            composed,
            tuple(
                (start, min(end, len(composed))) for start, end in spans if start < len(composed)
            ),
        )

    def _put(self, piece: str, is_protected: bool) -> None:
        if piece:
            self._pieces.append(piece)
            self._flags.append(is_protected)

    def read_group(self, depth: int, *, is_protected: bool, stop: str = "") -> None:
        """Everything up to the closing brace of this group, or the sign that stops it."""
        closing: list[str] = []
        raw = self._raw
        while self._position < len(raw):
            found = _TOKEN.match(raw, self._position)
            if found is None:
                self._position += 1
                continue
            self._position = found.end()
            command, sign, special, plain = found.groups()
            if plain is not None:
                self._put(plain, is_protected)
            elif command is not None:
                declared = self._command(command, depth, is_protected)
                if declared:
                    self._put(declared[0], is_protected=True)
                    closing.append(declared[1])
            elif sign is not None:
                if sign == ")" and stop == ")":
                    break
                self._sign(sign, depth, is_protected)
            elif special == "}":
                if depth and not stop:
                    break
            elif special == stop:
                break
            else:
                self._special(special or "", depth, is_protected)
        for tag in reversed(closing):
            self._put(tag, is_protected=True)

    def _special(self, special: str, depth: int, is_protected: bool) -> None:
        raw = self._raw
        if special == "{":
            if depth >= _MAX_DEPTH:
                return
            # BibTeX's special characters, {\'e}, are letters and not protected.
            is_letter = raw.startswith("\\", self._position) and not _is_shown_marked(
                raw, self._position
            )
            self.read_group(depth + 1, is_protected=is_protected or not is_letter)
        elif special == "$":
            self._math("$", depth, is_protected)
        elif special == "~":
            self._put("\u00a0", is_protected)
        elif special in "^_" and self._is_math:
            self._script(special, depth)
        elif special == "`":
            if raw.startswith("`", self._position):
                self._position += 1
                self._put("“", is_protected)
            else:
                self._open_quotes += 1
                self._put("‘", is_protected)
        elif special == "'":
            self._apostrophe(is_protected)
        elif special == "-" and not self._is_math:
            dashes = 1
            while dashes < 3 and raw.startswith("-", self._position):
                dashes += 1
                self._position += 1
            self._put(("-", "–", "—")[dashes - 1], is_protected)
        else:
            self._put(special, is_protected)

    def _apostrophe(self, is_protected: bool) -> None:
        raw = self._raw
        if self._is_math:
            self._put("′", is_protected)
        elif raw.startswith("'", self._position):
            self._position += 1
            self._put("”", is_protected)
        elif self._open_quotes and not raw[self._position : self._position + 1].isalnum():
            self._open_quotes -= 1
            self._put("’", is_protected)
        else:
            self._put("'", is_protected)

    def _math(self, stop: str, depth: int, is_protected: bool) -> None:
        if stop == "$" and self._raw.startswith("$", self._position):
            self._position += 1
        if stop == "$" and self._raw.find("$", self._position) < 0:
            self._put("$", is_protected)
            return
        was_math, self._is_math = self._is_math, True
        self.read_group(depth + 1, is_protected=True, stop=stop)
        if stop == "$" and self._raw.startswith("$", self._position):
            self._position += 1
        self._is_math = was_math

    def _sign(self, sign: str, depth: int, is_protected: bool) -> None:
        if sign in ACCENTS and not self._is_math:
            self._accent(ACCENTS[sign], depth, is_protected)
        elif sign == "(":
            self._math(")", depth, is_protected)
        else:
            self._put(SIGNS.get(sign, sign), is_protected)

    def _command(self, name: str, depth: int, is_protected: bool) -> tuple[str, str] | None:
        """Execute a command; returns what a declaration opens and closes in its group."""
        if name in ACCENTS and (name not in SYMBOLS or not self._at_end_of_command()):
            self._skip_spaces()
            self._accent(ACCENTS[name], depth, is_protected)
        elif name in MARKUP:
            before, after = MARKUP[name]
            self._put(before, is_protected=True)
            self._argument(depth, is_protected=True)
            self._put(after, is_protected=True)
        elif name in HIDDEN:
            for _ in range(HIDDEN[name]):
                self._argument_text(depth)
        elif name in LAST_ARGUMENT_SHOWN:
            for _ in range(LAST_ARGUMENT_SHOWN[name] - 1):
                self._argument_text(depth)
            self._argument(depth, is_protected)
            if name == "texorpdfstring":
                self._argument_text(depth)
        elif name in _MOVES:
            dimension = _DIMENSION.match(self._raw, self._position)
            self._position = dimension.end() if dimension else self._position
        elif name in DECLARATIONS:
            self._skip_spaces()
            return DECLARATIONS[name]
        elif name in SYMBOLS:
            self._symbol(name, is_protected)
        else:
            self._rarer_command(name, depth, is_protected)
        return None

    def _symbol(self, name: str, is_protected: bool) -> None:
        text = SYMBOLS[name]
        before = self._raw[self._position - len(name) - 2 : self._position - len(name) - 1]
        is_spaced = before == " " and self._raw.startswith(" ", self._position)
        is_operator = self._is_math and name in OPERATORS
        if is_operator and self._pieces and self._pieces[-1][-1:].isalnum():
            text = f" {text}"
        self._put(text, is_protected)
        self._skip_command_end()
        if is_operator and (self._following().isalnum() or self._following() == "\\"):
            self._put(" ", is_protected)
        if self._is_math and is_spaced and not text.isalpha():
            # TeX sets blanks around relations itself.
            self._put(" ", is_protected)

    def _rarer_command(self, name: str, depth: int, is_protected: bool) -> None:
        if name == "ensuremath":
            was_math, self._is_math = self._is_math, True
            self._argument(depth, is_protected=True)
            self._is_math = was_math
        elif name in {"mathbb", "Bbb"}:
            letters = self._argument_text(depth)
            self._put(
                "".join(BLACKBOARD.get(letter, letter) for letter in letters), is_protected=True
            )
        elif name == "verb" and not self._at_end_of_command():
            start = self._position + 1
            end = self._raw.find(self._raw[self._position], start)
            self._position = len(self._raw) if end < 0 else end + 1
            self._put(self._raw[start:] if end < 0 else self._raw[start:end], is_protected=True)
        elif name in {"url", "path", "nolinkurl"}:
            self._put(self._verbatim(), is_protected=True)
        elif name in {"frac", "tfrac", "dfrac", "nicefrac", "sfrac"}:
            above, below = self._argument_text(depth), self._argument_text(depth)
            fraction = f"{above}/{below}"
            self._put(FRACTIONS.get(fraction, fraction), is_protected=True)
        elif name in _CHARACTER_COMMANDS:
            self._character(depth, is_protected)
        elif name in QUANTITIES and self._has_argument():
            self._quantity(name)
        elif name in {"ce", "cf"} and self._has_argument():
            self._put(formula_text(self._verbatim()), is_protected=True)
        elif name in JOURNALS:
            self._put(JOURNALS[name], is_protected=True)
            self._skip_command_end()
        else:
            self._unknown(name, depth, is_protected)

    def _unknown(self, name: str, depth: int, is_protected: bool) -> None:
        """Show the arguments of an unknown command, or its name where it has none."""
        _report_unknown(name)
        optional = _OPTIONAL.match(self._raw, self._position)
        if optional and self._raw.startswith("{", optional.end()):
            self._position = optional.end()
        if self._raw.startswith("{", self._position) and not self._raw.startswith(
            "{}", self._position
        ):
            self._argument(depth, is_protected=True)
            return
        start = self._position - len(name) - 1
        inner = _find_letter_command(name) if self._raw[start - 1 : start].isalpha() else ""
        if inner:
            # `M\olgaard`: a letter command that no brace or blank ends.
            self._put(LETTERS_BY_COMMAND[inner] + name[len(inner) :], is_protected=True)
            return
        shown = name if any(letter.isupper() for letter in name) else f"\\{name}"
        self._put(shown, is_protected=True)
        if self._raw.startswith("{}", self._position):
            self._position += 2
        elif self._raw.startswith(" ", self._position):
            self._put(" ", is_protected=True)

    def _following(self) -> str:
        return self._raw[self._position : self._position + 1]

    def _has_argument(self) -> bool:
        optional = _OPTIONAL.match(self._raw, self._position)
        return self._raw.startswith("{", optional.end() if optional else self._position)

    def _quantity(self, name: str) -> None:
        """A number, its unit or both; options in brackets are not shown."""
        if optional := _OPTIONAL.match(self._raw, self._position):
            self._position = optional.end()
        arguments = [self._verbatim() for _ in range(QUANTITIES[name][0])]
        self._put(quantity_text(name, arguments), is_protected=True)

    def _at_end_of_command(self) -> bool:
        following = self._raw[self._position : self._position + 1]
        return not following or following in "}$"

    def _skip_spaces(self) -> None:
        raw = self._raw
        while self._position < len(raw) and raw[self._position] in " \t\r\n":
            self._position += 1

    def _skip_command_end(self) -> None:
        """Skip the spaces behind a command, or the empty group that protects them."""
        self._skip_spaces()
        if self._raw.startswith("{}", self._position):
            self._position += 2

    def _accent(self, mark: str, depth: int, is_protected: bool) -> None:
        self._skip_spaces()
        base = self._argument_text(depth)
        base = base.replace("ı", "i").replace("ȷ", "j")
        if mark in LINES and len(base) > 1:
            # A line under or over words is no accent.
            mark = ""
        if mark == "\u0327" and base == "\u0361":
            mark = ""
        letter = (
            unicodedata.normalize("NFC", base[:1] + mark) + base[1:]
            if base
            else _BARE_ACCENTS.get(mark, mark)
        )
        self._put(letter, is_protected)

    def _argument(self, depth: int, is_protected: bool) -> None:
        self._skip_spaces()
        raw = self._raw
        if self._position >= len(raw) or depth >= _MAX_DEPTH:
            return
        if raw[self._position] == "{":
            self._position += 1
            self.read_group(depth + 1, is_protected=is_protected)
        elif raw[self._position] == "\\":
            found = _TOKEN.match(raw, self._position)
            if found:
                self._position = found.end()
                if found.group(1) is not None:
                    self._command(found.group(1), depth + 1, is_protected)
                elif found.group(2) is not None:
                    self._sign(found.group(2), depth + 1, is_protected)
        elif raw[self._position] != "}":
            self._put(raw[self._position], is_protected)
            self._position += 1

    def _argument_text(self, depth: int) -> str:
        kept_pieces, kept_flags = self._pieces, self._flags
        self._pieces, self._flags = [], []
        self._argument(depth, is_protected=False)
        text = _TAG.sub("", "".join(self._pieces))
        self._pieces, self._flags = kept_pieces, kept_flags
        return text

    def _script(self, sign: str, depth: int) -> None:
        text = self._argument_text(depth)
        small = SUPERSCRIPTS if sign == "^" else SUBSCRIPTS
        if text and all(letter in small for letter in text):
            self._put("".join(small[letter] for letter in text), is_protected=True)
        elif sign == "^" and text in {"∘", "°"}:
            self._put("°", is_protected=True)
        elif sign == "^" and text in {"′", "†", "‡", "*", "∗", "®", "™"}:
            self._put(text, is_protected=True)
        elif text:
            tag = "sup" if sign == "^" else "sub"
            self._put(f"<{tag}>{text}</{tag}>", is_protected=True)

    def _verbatim(self) -> str:
        self._skip_spaces()
        raw = self._raw
        if not raw.startswith("{", self._position):
            return ""
        depth, start = 0, self._position + 1
        for place in range(self._position, len(raw)):
            depth += (raw[place] == "{") - (raw[place] == "}")
            if depth == 0:
                self._position = place + 1
                return raw[start:place]
        self._position = len(raw)
        return raw[start:]

    def _character(self, depth: int, is_protected: bool) -> None:
        self._skip_spaces()
        digits = _DIGITS.match(self._raw, self._position)
        if digits:
            self._position = digits.end()
            number = digits.group()
        else:
            number = self._argument_text(depth)
        if number.isascii() and number.isdigit() and 31 < int(number) < 0x110000:
            self._put(chr(int(number)), is_protected)


class _ComposedLengths:
    """Lengths in NFC of the beginnings of a text, asked for in rising order in linear time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._anchor = 0
        self._length = 0

    def up_to(self, end: int) -> int:
        anchor = self._anchor
        place = end - 1
        while place > anchor and not self._text[place] < "\u0300":
            place -= 1
        if place > anchor:
            # Nothing composes across a letter of Latin-1 or Latin Extended that follows it.
            self._length += len(unicodedata.normalize("NFC", self._text[anchor:place]))
            self._anchor = anchor = place
        return self._length + len(unicodedata.normalize("NFC", self._text[anchor:end]))


def _is_shown_marked(raw: str, position: int) -> bool:
    found = _TOKEN.match(raw, position)
    return bool(
        found
        and found.group(1)
        and (
            found.group(1) in MARKUP or found.group(1) in {"mbox", "hbox", "text", "textrm", "url"}
        )
    )
