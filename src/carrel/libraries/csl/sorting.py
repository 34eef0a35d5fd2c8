"""cs:sort: keys compiled to comparable text, and the ordering; empty values come last both ways."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from carrel.libraries.text.xml import Element

from .context import RenderContext
from .date_element import sort_key
from .elements import compile_element, compile_macro
from .errors import StyleBrokenError
from .items import DATE_VARIABLES, NUMBER_VARIABLES
from .locale import Locale
from .schema import NAME_VARIABLES
from .scope import CompileScope, Render
from .tokens import plain

_foreign = {
    "ß": "ss", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "œ": "oe", "ı": "i", "þ": "th", "ð": "d",
    "ħ": "h", "ŋ": "n",
}  # fmt: skip
_foreign_letter = re.compile("|".join(_foreign))
# Taken out first, so that what stands on both sides is one word.
# A sign between spaces leaves both of them, but not one that takes a space in French.
_joined = re.compile(r"\s+(?=[:!?»])|(?<=«)\s+|[^\w\s$¢£¤¥€+<=>|~^`]|_")
_chunks = re.compile(r"\d+|[^\W\d_]+|\s|[$¢£¤¥€+<=>|~^`]")

SortText = tuple[tuple[int, int, str], ...]


# What stands behind this many characters decides no order that anybody looks at.
_longest_compared = 2_000


# Letters of a language's own script come before those of others (CLDR, collation reordering).
_CYRILLIC, _HAN = ("\u0400", "\u052f"), ("\u3040", "\u9fff")
_scripts = {
    "bg": _CYRILLIC, "mn": _CYRILLIC, "ru": _CYRILLIC, "uk": _CYRILLIC, "el": ("\u0370", "\u03ff"),
    "hy": ("\u0530", "\u058f"), "he": ("\u0590", "\u05ff"), "ar": ("\u0600", "\u06ff"),
    "fa": ("\u0600", "\u06ff"), "hi": ("\u0900", "\u097f"), "th": ("\u0e00", "\u0e7f"),
    "km": ("\u1780", "\u17ff"), "ko": ("\u3400", "\ud7af"), "pa": ("\u0600", "\u06ff"), "zh": _HAN,
}  # fmt: skip
# Letters that a language counts as its own, not as a variant: each is written as what it follows
# and a letter that sorts behind all others.
_DANISH = {"æ": "zǀ", "ä": "zǀ", "ø": "zǁ", "ö": "zǁ", "å": "zǂ", "aa": "zǂ"}
_SWEDISH = {"å": "zǀ", "ä": "zǁ", "æ": "zǁ", "ö": "zǂ", "ø": "zǂ"}
_CZECH = {"ch": "hǀ", "č": "cǀ", "ř": "rǀ", "š": "sǀ", "ž": "zǀ"}
_WELSH = {
    "ng": "gǀ", "ch": "cǀ", "dd": "dǀ", "ff": "fǀ", "ll": "lǀ", "ph": "pǀ", "rh": "rǀ", "th": "tǀ",
}  # fmt: skip
_own_letters = {
    "cy": _WELSH,
    "da": _DANISH, "nb": _DANISH, "nn": _DANISH, "sv": _SWEDISH, "fi": _SWEDISH,
    "is": {"þ": "zǀ", "æ": "zǁ", "ö": "zǂ", "ø": "zǂ", "å": "zǃ"}, "cs": _CZECH, "sk": _CZECH,
    "tr": {"ç": "cǀ", "ğ": "gǀ", "ö": "oǀ", "ş": "sǀ", "ü": "uǀ"}, "es": {"ñ": "nǀ"},
}  # fmt: skip


def sort_text(text: str, language: str = "") -> SortText:
    """A key for `sorted`; runs of digits go by their size."""
    return _sort_text(text[:_longest_compared], language[:2])


@lru_cache(maxsize=16384)
def _sort_text(text: str, language: str) -> SortText:
    text = text.lower()
    for letters, sorted_as in _own_letters.get(language, {}).items():
        text = text.replace(letters, sorted_as)
    script = _scripts.get(language)
    if not text.isascii():
        spread = unicodedata.normalize(
            "NFKD", _foreign_letter.sub(lambda found: _foreign[found[0]], text)
        )
        text = "".join([letter for letter in spread if not unicodedata.combining(letter)])
    return tuple([_weight(chunk, script) for chunk in _chunks.findall(_joined.sub("", text))])


def _weight(chunk: str, script: tuple[str, str] | None) -> tuple[int, int, str]:
    first = chunk[0]
    if first.isalpha():
        is_own = script is None or script[0] <= first <= script[1]
        return (3 if is_own else 4, 0, chunk)
    if first.isdecimal():
        return (2, int(chunk[:400]), "")
    if first.isspace():
        return (0, 0, "")
    return (1, 0, first)


T = TypeVar("T")
# Each key may look through the whole style. Real styles have fewer than ten.
_most_keys = 100
_overrides = {
    "names-min": "et-al-min",
    "names-use-first": "et-al-use-first",
    "names-use-last": "et-al-use-last",
}


@dataclass(frozen=True, slots=True)
class SortKey:
    text: Callable[[RenderContext], str]
    is_descending: bool = False
    has_citation_number: bool = False
    language: str = ""


def compile_sort(
    area: Element | None, style_id: str, root: Element, locale: Locale, inherited: dict[str, str]
) -> list[SortKey]:
    sort = area.find("sort") if area is not None else None
    if sort is None:
        return []
    found = sort.findall("key")
    if len(found) > _most_keys:
        raise StyleBrokenError(style_id, f"it sorts by more than {_most_keys} keys.")
    keys = []
    scopes: dict[tuple[tuple[str, str], ...], CompileScope] = {}
    for key in found:
        forced = {
            name: key.attrib[given] for given, name in _overrides.items() if given in key.attrib
        }
        scope = scopes.get(tuple(forced.items()))
        if scope is None:
            scope = scopes[tuple(forced.items())] = CompileScope(
                style_id, root, locale, "sort", inherited
            )
            scope.forced = forced
        variable = key.get("variable", "")
        text = (
            _macro_text(compile_macro(key.get("macro", ""), scope))
            if "macro" in key.attrib
            else _variable_text(variable, scope)
        )
        keys.append(
            SortKey(
                text,
                key.get("sort") == "descending",
                variable == "citation-number" or _counts_citations(key.get("macro", ""), scope),
                locale.language,
            )
        )
    return keys


def _counts_citations(macro: str, scope: CompileScope) -> bool:
    """Whether a macro, or one that it calls, writes the number of a citation."""
    waiting, seen = [macro], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in scope.macros:
            continue
        seen.add(name)
        for element in scope.macros[name].iter():
            if element.get("variable") == "citation-number" and element.tag in {"text", "number"}:
                return True
            waiting.append(element.get("macro", ""))
    return False


def _macro_text(render: Render) -> Callable[[RenderContext], str]:
    def text(context: RenderContext) -> str:
        out: list[object] = []
        render(context, out)  # type: ignore[arg-type]
        return plain(out).rstrip(" ")  # type: ignore[arg-type]

    return text


def _variable_text(variable: str, scope: CompileScope) -> Callable[[RenderContext], str]:
    if variable in NAME_VARIABLES:
        names = Element("names", {"variable": variable})
        names.append(Element("name", {"name-as-sort-order": "all"}))
        render = compile_element(names, scope)
        return _macro_text(render) if render is not None else (lambda context: "")
    if variable in DATE_VARIABLES:
        every = ["year", "month", "day"]
        return lambda context: (
            sort_key(context.dates[variable], every) if variable in context.dates else ""
        )
    if variable == "citation-number":
        return lambda context: f"{context.citation_number:09d}"
    if variable == "citation-label":
        return lambda context: context.citation_label
    if variable in NUMBER_VARIABLES and variable != "page-first":
        return lambda context: first_number(context.fields.get(variable, ""))
    return lambda context: (
        plain(context.item.tokens(variable)) if variable in context.fields else ""
    )


_first_number = re.compile(r"\d+")


def first_number(text: str) -> str:
    """The integer that a number variable sorts as: its first, or its text where it has none."""
    found = _first_number.search(text)
    return found[0].zfill(9) if found else text


def sort_by_keys(
    values: Iterable[T], keys: list[SortKey], context_of: Callable[[T], RenderContext]
) -> list[T]:
    """Stable order by all keys; a later key is only rendered where the earlier ones are equal."""
    found = list(values)
    if not keys or len(found) < 2:
        return found
    key, rest = keys[0], keys[1:]
    filled: dict[SortText, list[T]] = {}
    empty: list[T] = []
    for value in found:
        text = key.text(context_of(value))
        if text:
            filled.setdefault(sort_text(text, key.language), []).append(value)
        else:
            empty.append(value)
    result: list[T] = []
    for text_key in sorted(filled, reverse=key.is_descending):
        result += sort_by_keys(filled[text_key], rest, context_of)
    return result + sort_by_keys(empty, rest, context_of)
