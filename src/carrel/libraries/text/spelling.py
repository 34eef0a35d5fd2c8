"""British and American spellings, and irregular plurals, brought to one form for searching.

The form is American. Rules name the stems they apply to wherever English has other words with the
same letters (`four`, `aerosol`, `exercise`), so that no word is joined with a different one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from carrel.libraries.text.spelling_data import (
    DOUBLED_L,
    OGUE,
    OUR,
    REPLACED_PARTS,
    REPLACED_WORDS,
    TRUE_ISE,
    TRUE_ISE_ENDINGS,
    YSE,
)

_CACHED_WORDS = 65_536
_MAX_PASSES = 8
# Shorter beginnings than this, in our form, begin too many other words.
_SHORTEST_PREFIX = 3

# Most words have none of these endings and letters and need no closer look.
_ENDINGS = (
    "re", "res", "red", "ring", "lled", "lling", "llings", "ller", "llers", "llor", "llors",
    "llable", "ogue", "ogues", "ogued", "yse", "ysed", "yser", "ysers", "ysing", "ysable",
    "ysation", "ysations", "ise", "ises", "ised", "iser", "isers", "ising", "isings", "isingly",
    "isable", "isability", "isation", "isations", "isational",
)  # fmt: skip
_OTHER_HINT = "lph|cep|oul|lou|efac|umini|ell|ool|lful|lm|gem|rett|iali|ncel|gei|eg|ntr"
_RE_STEMS = "cent|fib|lit|met|theat|calib|tit|goit|spect|lust|meag|somb|sab|och"


class _SpellingRules:
    """The patterns, compiled at the first word, because importing must stay cheap."""

    def __init__(self) -> None:
        classical = [part for part in REPLACED_PARTS if "ae" in part or "oe" in part]
        self.our = re.compile(rf"({OUR})our")
        self.our_begun = re.compile(rf"({OUR})ou$")
        self.classical = re.compile("|".join(classical))
        self.other = re.compile("|".join(part for part in REPLACED_PARTS if part not in classical))
        self.other_hint = re.compile(_OTHER_HINT)
        self.re_ending = re.compile(rf"({_RE_STEMS})re(s|d)?$")
        self.ring = re.compile(r"(cent|fib)ring$")
        self.doubled_l = re.compile(
            rf"^((?:{'|'.join(DOUBLED_L)}))l(ed|ing|ings|er|ers|or|ors|able)$"
        )
        self.ogue = re.compile(rf"({'|'.join(OGUE)})ogue(s|d)?$")
        self.yse = re.compile(rf"({'|'.join(YSE)})ys(e|ed|er|ers|ing|able|ation|ations)$")
        self.ise = re.compile(
            r"^(.{2,}[^aou])is(e|es|ed|er|ers|ing|ings|ingly|able|ability|ation|ations|ational)$"
        )


_rules = lru_cache(1)(_SpellingRules)


@lru_cache(_CACHED_WORDS)
def unify_spelling(word: str) -> str:
    """The one form of a folded word: `tumours` is `tumors`, `summarised` is `summarized`.

    Doing it twice changes nothing. A word of other letters than a to z stays as it is.
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    for _ in range(_MAX_PASSES):
        changed = _apply_rules(word)
        if changed == word:
            break
        word = changed
    return word


def unify_prefix(prefix: str) -> tuple[str, ...]:
    """The beginnings to look for when somebody asks for `prefix*`: as typed, and in our form."""
    forms = [prefix, unify_spelling(prefix)]
    if _rules().our_begun.search(prefix):
        forms.append(prefix[:-1])
    if len(prefix) > _SHORTEST_PREFIX and any(stem.startswith(prefix) for stem in _PREFIX_STEMS):
        forms.append(prefix.replace("ae", "e").replace("oe", "e"))
    return tuple(dict.fromkeys(forms))


def _apply_rules(word: str) -> str:
    known = REPLACED_WORDS.get(word)
    if known is not None:
        return known
    rules = _rules()
    if "our" in word:
        word = rules.our.sub(r"\1or", word)
    if "ae" in word or "oe" in word:
        word = rules.classical.sub(_replace_part, word)
    if rules.other_hint.search(word):
        word = rules.other.sub(_replace_part, word)
    return _change_ending(word) if word.endswith(_ENDINGS) else word


def _change_ending(word: str) -> str:
    rules = _rules()
    word = rules.re_ending.sub(_swap_re, word)
    word = rules.ring.sub(r"\1ering", word)
    word = rules.doubled_l.sub(r"\1\2", word)
    word = rules.ogue.sub(_shorten_ogue, word)
    word = rules.yse.sub(r"\1yz\2", word)
    found = rules.ise.match(word)
    if found is not None and not _is_true_ise(found[1]):
        word = f"{found[1]}iz{found[2]}"
    return word


def _replace_part(found: re.Match[str]) -> str:
    return REPLACED_PARTS[found[0]]


def _swap_re(found: re.Match[str]) -> str:
    return f"{found[1]}er{_ending(found[2])}"


def _shorten_ogue(found: re.Match[str]) -> str:
    return f"{found[1]}og{_ending(found[2])}"


def _ending(typed: str | None) -> str:
    return "ed" if typed == "d" else typed or ""


def _is_true_ise(stem: str) -> bool:
    """Whether the word that has `ise` behind this stem is never written with a z."""
    whole = f"{stem}ise"
    return whole in TRUE_ISE or whole.endswith(TRUE_ISE_ENDINGS)


_PREFIX_STEMS = tuple(part for part in REPLACED_PARTS if "ae" in part or "oe" in part)
