"""Numbers in fields: what counts as numeric, how many there are, ordinals, romans and page ranges."""

import re
from functools import lru_cache

from .locale import Locale

# A number may carry letters on either side (D2, 2b, 12a-3); joined by comma, hyphen, ampersand and the like.
_joiner = re.compile(r"(\s*(?:,\s*)?(?:&|–|—|-|\band\b|\bet\b|\bund\b|\by\b|\be\b|\\-)\s*|\s*[,;]\s*)")
_numeric = re.compile(r"[^\W\d_]*\.?\d[^\W_]*(?:\.[^\W\d_]\w*)?\.?")
_with_digit = re.compile(r"\d")
_roman = re.compile(r"[ivxlcdm]+\.?", re.IGNORECASE)
_romans = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


@lru_cache(maxsize=4096)
def split_numbers(text: str) -> tuple[str, ...]:
    """Numbers at even places, what joins them at odd ones."""
    return tuple(_joiner.split(text))


@lru_cache(maxsize=4096)
def is_numeric(text: str) -> bool:
    if not _with_digit.search(text):
        return False
    parts = split_numbers(text.strip())
    return all(part and _numeric.fullmatch(part) and _with_digit.search(part) for part in parts[::2])


def roman(value: int) -> str:
    letters = []
    for size, name in _romans:
        count, value = divmod(value, size)
        letters.append(name * count)
    return "".join(letters)


def ordinal_suffix(value: int, locale: Locale, gender: str) -> str:
    """The most specific ordinal term of the locale that fits this number."""
    candidates = ((f"ordinal-{value % 100:02d}", value % 100), (f"ordinal-{value % 10:02d}", value % 10))
    for (name, number), default in zip(candidates, ("last-two-digits", "last-digit"), strict=True):
        term = locale.gendered.get((name, "long", gender)) if gender else None
        term = term or locale.terms.get((name, "long"))
        if term is None:
            continue
        match = term.match or ("last-two-digits" if number >= 10 else "last-digit")
        if match == "whole-number":
            if value == number:
                return term.single
        elif match == "last-two-digits":
            if default == match:
                return term.single
        elif default == "last-digit":
            return term.single
        elif value % 10 == number and number < 10 and default == "last-two-digits":
            return term.single
    return locale.term("ordinal", gender=gender) or ""


def format_number(value: int, form: str, locale: Locale, gender: str = "") -> str:
    if form == "ordinal":
        return f"{value}{ordinal_suffix(value, locale, gender)}"
    if form == "long-ordinal":
        if 1 <= value <= 10:
            word = locale.term(f"long-ordinal-{value:02d}", gender=gender)
            if word:
                return word
        return f"{value}{ordinal_suffix(value, locale, gender)}"
    if form == "roman" and 0 < value < 6000:
        return roman(value)
    return str(value)


@lru_cache(maxsize=4096)
def is_plural(text: str) -> bool:
    """More than one number: a range or a list, but not an escaped hyphen."""
    parts = split_numbers(text.strip().replace("\\-", "\0"))
    return len(parts) > 2 and _is_countable(parts[0]) and _is_countable(parts[2])


def _is_countable(text: str) -> bool:
    return bool(_with_digit.search(text) or _roman.fullmatch(text.strip()))


def page_range(first: str, last: str, style: str) -> str:
    """The second number of a range of plain digits, shortened or completed as the style asks."""
    full = first[: len(first) - len(last)] + last if len(last) < len(first) else last
    if style == "expanded" or len(full) != len(first) or int(full) <= int(first):
        return full
    if style == "minimal":
        return _shorten(first, full, 1)
    if style == "minimal-two":
        return _shorten(first, full, 2)
    return _chicago(first, full, style)


def _chicago(first: str, last: str, style: str) -> str:
    start = int(first)
    if start < 100 or start % 100 == 0:
        return last
    if start % 100 < 10:
        return _shorten(first, last, 1)
    if style != "chicago-16" and len(first) == 4 and sum(a != b for a, b in zip(first, last, strict=True)) >= 3:
        return last
    return _shorten(first, last, 2)


def _shorten(first: str, last: str, least: int) -> str:
    same = 0
    while same < len(last) - least and first[same] == last[same]:
        same += 1
    return last[same:]


def format_pages(text: str, style: str, delimiter: str) -> str:
    """A page field with its ranges in the style's form and joined by the locale's sign."""
    parts = re.split(r"(\s*(?:,|;|&)\s*)", text)
    for index in range(0, len(parts), 2):
        parts[index] = _format_one_range(parts[index], style, delimiter)
    for index in range(1, len(parts), 2):
        sign = parts[index].strip()
        parts[index] = f" {sign} " if sign == "&" else f"{sign} "
    return "".join(parts)


_range = re.compile(r"(.*?)(\d+)\s*(?:-|–|—|--)\s*(.*?)(\d+)")
_loose_range = re.compile(r"([^\W_]*\d[^\W_]*|[ivxlcdm]+)\s*(?:-|–|—|--)\s*([^\W_]*\d[^\W_]*|[ivxlcdm]+)", re.IGNORECASE)


def _format_one_range(text: str, style: str, delimiter: str) -> str:
    if "\\-" in text:
        return text.replace("\\-", "-")
    if style:
        found = _range.fullmatch(text.strip())
        if found:
            prefix, first, other, last = found.groups()
            if prefix != other:
                return re.sub(r"\s*-\s*", "-", text)
            return f"{prefix}{first}{delimiter}{prefix if style == 'expanded' else ''}{page_range(first, last, style)}"
    loose = _loose_range.fullmatch(text.strip())
    return f"{loose[1]}{delimiter}{loose[2]}" if loose else text
