"""The wording of a goal: disguised spelling undone, how a sentence asks, what each clause does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

_BLOCK = re.compile(r"^\[(\w+)\]\n(.+?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
# How far into a sentence its order or question may begin, after a pretext or an address.
_OPENING = 14
_BARE_ORDER = 6
_QUESTION = 7
_WISH = 5
# `to` this early belongs to an opening such as `how to`, not to a purpose.
_FIRST_PURPOSE = 4


@cache
def _words(name: str) -> frozenset[str]:
    text = (Path(__file__).parent / "clause_words.txt").read_text(encoding="utf-8")
    return {head: frozenset(body.split()) for head, body in _BLOCK.findall(text)}[name]


def sentence_form(words: Sequence[str]) -> str:
    """How a sentence asks: an order to do, seek, study or mend; a question; a wish; or a noun."""
    for place, word in enumerate(words[:_OPENING]):
        if word in _words("asking"):
            return _question_form(words[place : place + _QUESTION])
        if place == 0 and word in _words("yes_or_no"):
            return "ask_could" if word in _words("could") else "ask_whether"
        if word in _words("persons") and not _words("wishing").isdisjoint(
            words[place : place + _WISH]
        ):
            return "wish"
        if form := _order_form(words, place):
            return form
    return "noun"


def _question_form(words: Sequence[str]) -> str:
    if not _words("could").isdisjoint(words[1:]):
        return "ask_could"
    return "ask_fact" if _words("can").isdisjoint(words[1:]) else "ask_can"


def _order_form(words: Sequence[str], place: int) -> str:
    word, before = words[place], words[place - 1] if place else ""
    if before in _words("no_verb_after"):
        return ""
    if word in _words("seeking"):
        is_study = not _words("after_seeking").isdisjoint(words[place + 1 : place + 3])
        return "study" if is_study and word != "work" else "seek"
    if place > _BARE_ORDER and before not in {"to", "and", "please"}:
        return ""
    for form, verbs in (("study", "studying"), ("mend", "mending"), ("do", "doing")):
        if word in _words(verbs):
            return form
    return ""


def clause_roles(words: Sequence[str]) -> list[str]:
    """For each word the part of its clause: what is asked, its end, manner, or more of it."""
    roles: list[str] = []
    role = "main"
    for place, word in enumerate(words):
        if word in _words("manners"):
            role = "manner"
        elif _is_aim(words, place):
            role = "aim"
        elif role == "main" and word in _words("links"):
            role = "more"
        elif role == "main" and word in _words("relatives") and place > 1:
            role = "which"
        roles.append(role)
    return roles


def _is_aim(words: Sequence[str], place: int) -> bool:
    word = words[place]
    if word == "to":
        return place >= _FIRST_PURPOSE and words[place - 1] not in _words("no_aim_after")
    return word in _words("aims")


_KNOWN = """
aerosol agent airport anthrax antibiotic arsenic assassinate attack autopsy avoid biological
bioweapon biosecurity botulinum bypass cartel chemical civilians clandestine cocaine consent
contagious contaminate coronavirus create covertly crowd cyanide deadly destroy detainees develop
disperse ebola engineer enhance ethnic evade execute explosive explosives fentanyl genocide grenade
hacking harvest heroin homemade hospital household humanity immune inferior influenza insulin
interrogate lethal malware manufacture marburg measles methamphetamine minority murder nerve
narcotics nuclear opioids orphans pacemaker painless pandemic pathogen people pesticide plague
poison poisoning polonium population prisoners produce radiation radioactive ransomware recipe
release reservoir resistant ricin sabotage sarin screening secretly security smallpox smuggle
somebody someone soldiers spread steal sterilise stadium subway suicide supply synthesis synthesise
synthesize terrorist thallium transmissible transmission toxin undetectable undetected untraceable
vaccine vaccines variola victims violence virulence virulent virus viruses warfare weapon weaponise
weaponize weapons without
"""

# Real words one slip away from a known one, in the titles and abstracts of 49,000 papers.
_OTHER_WORDS = """
antimitotic attach botulinal carter content contagion contagions contagiosum contaminant
contaminants contaminates contaminating contamination contiguous convent crown crows cyanine
dispense exclusive expansive expensive expulsive heroine heron inactive influence influences
interior interrogans inulin methylamphetamine plaque prague prison resistance resistances resultant
rican satin serin steam steap steel stead sterility supple syneresis synthases synthetase
synthetases synthetic syntheses synthesized terrorism toxic transmissive unresectable unselected
vaccinee varus attacked attache biologics coronarius coronaviral crease crete crowe explosion
explosions explosively herein marder poisson populating pupylation radiating resisting rifin sabin
sawin stabilise stabilised sterilized synthekine synthesised synthesises synthesizes synthetize
synthetized undirected vaccinees
"""

FIGURES = str.maketrans("013457@$!", "oleastasi")
_TWO_SLIPS = 9
_SHORTEST = 5
_SPACED = re.compile(
    r"(?<![\w.-])[A-Za-z@$!]([ ._*-])(?:[A-Za-z013457@$!]\1){2,}[A-Za-z013457@$!](?![\w-])"
)
# Bounded, because a run of signs without a letter would be read to its end again from each of them.
_FIGURED = re.compile(
    r"(?<!\w)(?=[\w@$!]{0,60}[A-Za-z])(?=[\w@$!]{0,60}[013457@$!])[A-Za-z013457@$!]{4,}(?!\w)"
)
_WORD = re.compile(r"[A-Za-z]{5,}")

_KNOWN_WORDS = frozenset(_KNOWN.split())
_LONGEST = max(map(len, _KNOWN_WORDS)) + 2
_LEFT_ALONE = frozenset(_OTHER_WORDS.split())
_SHORT_KNOWN = frozenset({"bomb", "drug", "kill", "meth"})


def _slips(length: int) -> int:
    return 2 if length >= _TWO_SLIPS else 1


def _shortened(word: str, times: int) -> frozenset[str]:
    """The word with up to so many letters left out; two words a slip apart share one of these."""
    found = {word}
    for _ in range(times):
        found |= {
            short[:place] + short[place + 1 :] for short in found for place in range(len(short))
        }
    return frozenset(found)


def _by_shortened() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for word in sorted(_KNOWN_WORDS):
        for short in _shortened(word, _slips(len(word))):
            table.setdefault(short, []).append(word)
    return table


_BY_SHORTENED = _by_shortened()


def _distance(left: str, right: str) -> int:
    """Letters added, left out, changed or swapped with their neighbour."""
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        now = [row]
        for column, other in enumerate(right, 1):
            cost = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]


@lru_cache(maxsize=20_000)
def mended(word: str) -> str:
    """The known word that this one is a slip of, or the word itself."""
    # The longest matters: leaving out letters of a word of thousands would fill the memory.
    if not _SHORTEST <= len(word) <= _LONGEST or word in _KNOWN_WORDS or word in _LEFT_ALONE:
        return word
    near = {
        known
        for short in _shortened(word, _slips(len(word)))
        for known in _BY_SHORTENED.get(short, ())
    }
    # An ending is no slip, and hardly anyone gets the first letter wrong.
    ranked = sorted(
        (distance, known)
        for known in near
        if known[0] == word[0]
        and not word.startswith(known.removesuffix("e"))
        and not known.startswith(word)
        if (distance := _distance(word, known)) <= _slips(min(len(known), len(word)))
    )
    return ranked[0][1] if ranked else word


def _joined(found: re.Match[str]) -> str:
    return re.sub(r"[ ._*-]", "", found.group(0))


def _lettered(found: re.Match[str]) -> str:
    word = found.group(0)
    lettered = word.lower().translate(FIGURES)
    stem = mended(lettered)
    known = (
        stem in _KNOWN_WORDS
        or stem in _SHORT_KNOWN
        or stem.removesuffix("s") in _KNOWN_WORDS | _SHORT_KNOWN
    )
    return stem if known else word


def _spelt(found: re.Match[str]) -> str:
    word = found.group(0)
    right = mended(word.lower())
    return word if right == word.lower() else right


def plain_wording(text: str) -> str:
    """The text without disguises; words that are not near a known one stay as they are."""
    plain = " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").split())
    plain = _SPACED.sub(_joined, plain)
    plain = _FIGURED.sub(_lettered, plain)
    return _WORD.sub(_spelt, plain)
