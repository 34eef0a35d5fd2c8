"""Titles in one form for comparing: TeX, Greek letters and spellings as services differ in them."""

from __future__ import annotations

import re
from functools import lru_cache

from carrel.libraries.text.analysis import GREEK_NAMES
from carrel.libraries.text.spelling import unify_spelling

# Longer titles are those of broken records.
_MAX_TITLE = 2_000
# Publishers put it before the title of the work itself; a notice is called `Retraction`.
_RETRACTED = re.compile(
    r"^\W{0,3}(?:retracted|withdrawn|removed)(?:\s+(?:article|paper|chapter))?"
    r"\s*[:\].\u2013\u2014-]+\s*"
    r"|\s*[\[(]\s*(?:retracted|withdrawn)(?:\s+(?:article|paper))?\s*[\])]\W*$",
    re.IGNORECASE,
)
_ACCENT = re.compile(r"\\[`'^\"~=.]\s*\{?\\?([A-Za-z])\}?|\\[Hcuvbdkr]\{([A-Za-z])\}")
# Commands that print no letter: fonts, accents over formulas, roots, arrows, signs.
_SILENT = re.compile(
    r"\\(?:math[a-z]{1,8}|text[a-z]{0,6}|emph|operatorname|left|right|sqrt|bar|hat|tilde|vec"
    r"|overline|underline|widetilde|widehat|big[lr]?|rm|it|bf|em|sc|tt|sf|cal|frac|to|rightarrow"
    r"|leftrightarrow|longrightarrow|Rightarrow|mapsto|pm|mp|times|cdot|circ|sim|simeq|approx|leq?"
    r"|geq?|ll|gg|neq?|infty|prime|dagger|ast|star|propto|langle|rangle|ldots|dots|quad|ensuremath"
    r"|small|large|boldsymbol|bm)(?![A-Za-z])"
)
_TEX_SIGNS = str.maketrans("", "", "${}_^~")
_ROOT = re.compile(r"(?:\u221a|\bsqrt)[({\s]*([A-Za-z]+(?:_?\{?[A-Za-z]+\}?)?)[)}]*")
_GREEK = re.compile("[\u0370-\u03ff\u00b5]")
_WORD = re.compile(r"[A-Za-z]{3,}")
# Titles with a larger share of Greek letters are in Greek.
_MAX_GREEK_SHARE = 0.3


def strip_retraction_mark(title: str) -> str:
    """A title without the `RETRACTED:` that a publisher put before it later."""
    return (_RETRACTED.sub("", title) or title) if len(title) <= _MAX_TITLE else title


@lru_cache(8_192)
def make_comparable(title: str) -> str:
    """The title as linkage compares it: `\\alpha`, `α` and `alpha` are one, so are spellings."""
    if len(title) > _MAX_TITLE:
        return title
    text = strip_retraction_mark(title)
    if "\\" in text or "$" in text:
        text = _ACCENT.sub(lambda found: found[1] or found[2], text)
        text = _SILENT.sub("", text).replace("\\", "").translate(_TEX_SIGNS)
    if "\u221a" in text or "sqrt" in text:
        text = _ROOT.sub(r"\1", text)
    if not text.isascii() and len(_GREEK.findall(text)) < _MAX_GREEK_SHARE * len(text):
        text = _GREEK.sub(_name_letter, text)
    return _WORD.sub(_unify_word, text)


def _name_letter(found: re.Match[str]) -> str:
    letter = found[0].lower().replace("\u00b5", "\u03bc")
    return GREEK_NAMES.get(letter, found[0])


def _unify_word(found: re.Match[str]) -> str:
    word = found[0].lower()
    unified = unify_spelling(word)
    return found[0] if unified == word else unified
