"""Numbers in fields: lists and ranges, written as digits, ordinals, romans or page ranges."""

import re
from dataclasses import dataclass
from functools import lru_cache

from .casing import apply_case
from .locale import Locale
from .tokens import plain

_romans = {
    1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x",
    9: "ix", 5: "v", 4: "iv", 1: "i",
}  # fmt: skip
_any_and = "et|und|y|e"
_numeric = re.compile(r"[^\W\d_]*\d+[^\W_]*(?:-[^\W_]+)?|\d+/\d+|[ivxl]+")
_range_end = re.compile(r"[^\W\d_]*\d+[a-zß-ÿ]*|[ivxlcdm]+|[IVXLCDM]+|\d+[^\W\d_]+\d+")
_labels = {
    "art.": "article", "bk.": "book", "ch.": "chapter", "chap.": "chapter", "col.": "column",
    "fig.": "figure", "fol.": "folio", "l.": "line", "n.": "note", "op.": "opus", "p.": "page",
    "pp.": "page", "para.": "paragraph", "pt.": "part", "sec.": "section", "s.v.": "sub-verbo",
    "vrs.": "verse", "vol.": "volume", "vols.": "volume",
}  # fmt: skip
_label = re.compile(r"((?:" + "|".join(re.escape(label) for label in _labels) + r"))\s+(?=\S)")
_letters = re.compile(r"[^\W\d_]+")
_with_digit = re.compile(r"\d")
_hidden = "\0"  # stands for a hyphen that the author escaped, so that it makes no range


@dataclass(frozen=True, slots=True)
class Numbers:
    """A field that may hold numbers: `texts` with what joins them, and a label before them."""

    label: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    joiners: tuple[str, ...]

    @property
    def is_numeric(self) -> bool:
        if not self.texts[0] or not _numeric.fullmatch(self.texts[0]):
            return False
        return all(
            self._is_dash(place) or _numeric.fullmatch(text)
            for place, text in enumerate(self.texts[1:])
        )

    @property
    def is_plural(self) -> bool:
        return (
            len(self.texts) > 1 and not self.labels[1] and bool(_numeric.fullmatch(self.texts[0]))
        )

    @property
    def first(self) -> int:
        """The first number, or 0 where the field does not begin with one."""
        found = re.match(r"\d{1,9}", self.texts[0])
        return int(found[0]) if found else 0

    def _is_dash(self, place: int) -> bool:
        return self.joiners[place].strip()[:1] in {"-", "–", "—"}

    def is_range(self, place: int, *, in_pages: bool = False) -> bool:
        """Whether a dash at this place joins a range; but in pages, one typed long stays typed."""
        joiner = self.joiners[place].strip() if place < len(self.joiners) else ""
        if joiner not in {"-", "–", "--"} or (joiner == "–" and not in_pages):
            return False
        if place + 1 < len(self.joiners) and self._is_dash(place + 1):
            return False
        first, last = self.texts[place], self.texts[place + 1]
        if not (_range_end.fullmatch(first) and _range_end.fullmatch(last)):
            return False
        letters, others = _letters.match(first), _letters.match(last)
        if not (_with_digit.search(first) and _with_digit.search(last)):
            return True
        if letters is None:
            return others is None
        # `e00127-20` is one number of an electronic page, `S12-S18` are pages of a supplement.
        return others is not None and letters[0] == others[0]


# Longer than any list of pages or volumes; what is longer is one text, and is not remembered.
_longest_numbers = 1_000


@lru_cache(maxsize=128)
def _joiner(words: str) -> re.Pattern[str]:
    return re.compile(rf"(\s*,?\s*&\s*|\s*,?\s+(?:and|{words})\s+|\s*[,;]\s+|\s*(?:-+|–)\s*)")


def read_numbers(text: str, locale: Locale | None = None) -> Numbers:
    """The numbers of a text with their labels and what joins them: signs, `and`, its translation.

    Without a locale, those of a few languages.
    """
    words = re.escape(locale.term("and") or "and") if locale is not None else _any_and
    return (
        _read_short(text, words)
        if len(text) <= _longest_numbers
        else Numbers("", (text.strip(),), ("",), ())
    )


@lru_cache(maxsize=8192)
def _read_short(text: str, words: str) -> Numbers:
    parts = _joiner(words).split(text.strip().replace("\\-", _hidden))
    texts, labels = [], []
    for part in parts[::2]:
        found = _label.match(part)
        labels.append(_labels[found[1]] if found else "")
        texts.append((part[found.end() :] if found else part).replace(_hidden, "-"))
    return Numbers(labels[0], tuple(texts), ("", *labels[1:]), tuple(parts[1::2]))


def is_numeric(text: str, variable: str = "") -> bool:
    """Whether a text is numbers alone; a label before them is that of another variable or none."""
    if not text:
        return False
    numbers = read_numbers(text)
    return numbers.is_numeric and numbers.label in {"", variable or numbers.label}


def roman(value: int) -> str:
    letters = []
    for size, name in _romans.items():
        count, value = divmod(value, size)
        letters.append(name * count)
    return "".join(letters)


def ordinal_suffix(value: int, locale: Locale, gender: str) -> str:
    """The most specific ordinal term of the locale that fits this number."""
    for digits, rule in ((value % 100, "last-two-digits"), (value % 10, "last-digit")):
        name = f"ordinal-{digits:02d}"
        term = locale.gendered.get((name, "long", gender)) if gender else None
        term = term or locale.terms.get((name, "long"))
        if term is None:
            continue
        match = term.match or ("last-two-digits" if digits >= 10 else "last-digit")
        if (
            (match == "whole-number" and value == digits)
            or match == rule
            or (match == "last-digit" and digits < 10 and value % 10 == digits)
        ):
            return term.single
    return locale.term("ordinal", gender=gender) or ""


def format_number(value: int, form: str, locale: Locale, gender: str = "") -> str:
    if form == "long-ordinal" and 1 <= value <= 10:
        word = locale.term(f"long-ordinal-{value:02d}", gender=gender)
        if word:
            return word
    if form in {"ordinal", "long-ordinal"}:
        return f"{value}{ordinal_suffix(value, locale, gender)}"
    if form == "roman" and 0 < value < 6000:
        return roman(value)
    return str(value)


@dataclass(frozen=True, slots=True)
class NumberForm:
    """How a style writes the numbers of one variable."""

    locale: Locale
    form: str = "numeric"
    gender: str = ""
    dash: str = "–"
    page_format: str = ""
    makes_ranges: bool = True
    in_pages: bool = False
    rises_only: bool = False
    case: str = ""

    def write(self, numbers: Numbers) -> str:
        pieces = [self._number(numbers.texts[0])]
        labelled = False
        for place, joiner in enumerate(numbers.joiners):
            text = numbers.texts[place + 1]
            if self.makes_ranges and numbers.is_range(place, in_pages=self.in_pages):
                if self.rises_only and _falls(numbers.texts[place], text):
                    pieces += ["-", self._number(text)]
                    continue
                pieces += [self.dash, text] if labelled else self._range(numbers.texts[place], text)
                continue
            pieces.append(_plain_joiner(joiner))
            if numbers.labels[place + 1]:
                many = place + 1 < len(numbers.joiners) and numbers.is_range(place + 1)
                labelled = True
                pieces.append(
                    f"{self.locale.term(numbers.labels[place + 1], 'short', many) or numbers.labels[place + 1]} "  # noqa: E501
                )
            pieces.append(text if labelled else self._number(text))
        return "".join(pieces)

    def _number(self, text: str) -> str:
        written = text
        if (
            self.form != "numeric"
            and text.isascii()
            and text.isdigit()
            and text[0] != "0"
            and len(text) <= 9
        ):
            written = format_number(int(text), self.form, self.locale, self.gender)
        return plain(apply_case([written], self.case, True)) if self.case else written

    def _range(self, first: str, last: str) -> list[str]:
        if not self.page_format:
            return [self.dash, self._number(last)]
        prefix, start = _split_prefix(first)
        other, end = _split_prefix(last)
        if not start or not end:
            return [self.dash, self._number(last)]
        if prefix != other:
            return ["-", last]
        kept = prefix if self.page_format == "expanded" else ""
        return [self.dash, kept + self._number(page_range(start, end, self.page_format))]


def _falls(first: str, last: str) -> bool:
    """Whether the second of two numbers is no greater than the first."""
    return first.isdecimal() and last.isdecimal() and int(last[-400:]) <= int(first[-400:])


def _plain_joiner(joiner: str) -> str:
    sign = joiner.strip()
    if sign in {",", ";"}:
        return f"{sign} "
    if sign == "&":
        return " & "
    return sign if sign == "-" else joiner


def _split_prefix(text: str) -> tuple[str, str]:
    digits = len(text) - len(text.rstrip("0123456789"))
    return (text[:-digits], text[-digits:]) if digits else (text, "")


def page_range(first: str, last: str, style: str) -> str:
    """The second number of a range of plain digits, shortened or completed as the style asks."""
    full = first[: len(first) - len(last)] + last if len(last) < len(first) else last
    if style == "expanded" or len(full) != len(first) or int(full[:400]) <= int(first[:400]):
        return full
    if style == "minimal":
        return _shorten(first, full, 1)
    if style == "minimal-two":
        return _shorten(first, full, 2)
    return _chicago(first, full, style)


def _chicago(first: str, last: str, style: str) -> str:
    tail = int(first[-2:])
    if len(first) < 3 or tail == 0:
        return last
    if tail < 10:
        return _shorten(first, last, 1)
    if (
        style != "chicago-16"
        and len(first) == 4
        and sum(a != b for a, b in zip(first, last, strict=True)) >= 3
    ):
        return last
    return _shorten(first, last, 2)


def _shorten(first: str, last: str, least: int) -> str:
    same = 0
    while same < len(last) - least and first[same] == last[same]:
        same += 1
    return last[same:]
