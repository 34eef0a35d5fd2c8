"""English wording: counts, lists, names and capitals, and what a test changes or compares."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from carrel.libraries.discovery.concepts.kinds import kind_of
from carrel.libraries.discovery.concepts.vocabulary import natural_order
from carrel.libraries.discovery.records import Concept, Kind

LONGEST_LABEL_WORDS = 6
_LEAST_TOLD = 0.1
_SMALL_NUMBERS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def counted(count: int, noun: str) -> str:
    """`1 paper`, `2 papers`, `no papers`, `19,442 papers`."""
    if noun.endswith("is"):
        plural = noun[:-2] + "es"
    else:
        plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}" if count else f"no {plural}"


def counted_first(count: int, noun: str) -> str:
    """A count that begins a sentence: `Two papers`, `No papers`, `19 papers`."""
    told = counted(count, noun)
    if 0 < count <= len(_SMALL_NUMBERS):
        return f"{_SMALL_NUMBERS[count - 1].capitalize()} {told.split(' ', 1)[1]}"
    return told[0].upper() + told[1:]


def papers(count: int) -> str:
    """The count of papers, worded."""
    return counted(count, "paper")


def number(value: float) -> str:
    """A number with one decimal below 10, none above; `fewer than …` where very small."""
    if value < _LEAST_TOLD:
        return f"fewer than {_LEAST_TOLD}"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def listed(items: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def with_article(noun: str) -> str:
    """`a drug`, `an intervention`."""
    return f"{'an' if noun[:1].lower() in set('aeio') else 'a'} {noun}"


def named(concept: Concept) -> str:
    """A concept within a sentence, with its article where authors give it one."""
    words = natural_order(concept.label).split()
    label = " ".join(words[:LONGEST_LABEL_WORDS])
    return f"the {label}" if concept.takes_article and words[:1] != ["the"] else label


def sentence_case(text: str) -> str:
    """Capitalise the first letter, except in words such as `mTOR` and `p53`."""
    first = text.split(" ", 1)[0]
    if (
        not first
        or not first[0].isalpha()
        or not first[0].isascii()
        or any(not letter.islower() for letter in first.replace("-", "").rstrip(".,:;"))
    ):
        return text
    return text[0].upper() + text[1:]


def word_count(text: str) -> int:
    """How many words a text has."""
    return len(text.split())


_DATA = Path(__file__).with_name("interventions.toml")


@dataclass(frozen=True)
class Ways:
    """Phrases of a test for one kind of concept: change, reverse, control, readout and block."""

    change: str
    further: str
    against: str
    read: str
    varied: str
    blocked: str


@lru_cache(maxsize=1)
def _ways() -> dict[Kind, Ways]:
    """The phrases by kind, read once."""
    found = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return {Kind(name): Ways(**phrases) for name, phrases in found.items()}


def changed(concept: Concept, other: Concept) -> str:
    """The phrase for changing a concept to test its link with `other`, with any reverse arm."""
    ways = _ways()[kind_of(concept)]
    return changed_simply(concept, other) + (
        f", and in a further arm {ways.further}" if ways.further else ""
    )


def changed_simply(concept: Concept, other: Concept) -> str:
    """What is done to a concept, without the further arm."""
    return _ways()[kind_of(concept)].change.format(x=named(concept), y=named(other))


def compared_with(concept: Concept) -> str:
    """What a changed concept is compared with."""
    return _ways()[kind_of(concept)].against


def readout(concept: Concept) -> str:
    """What of a concept is measured."""
    return _said(_ways()[kind_of(concept)].read, concept)


def varied(concept: Concept) -> str:
    """A concept varied, within a sentence: `with NF-κB knocked down`."""
    return _said(_ways()[kind_of(concept)].varied, concept)


def blocked(concept: Concept) -> str:
    """A concept taken out of a chain, within a sentence."""
    return _said(_ways()[kind_of(concept)].blocked, concept)


def _said(template: str, concept: Concept) -> str:
    return template.format(x=named(concept))
