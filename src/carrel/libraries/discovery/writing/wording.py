"""English wording: counts, numbers, lists, names and capitals at the start of a sentence."""

from collections.abc import Sequence

from carrel.libraries.discovery.concepts.vocabulary import natural_order
from carrel.libraries.discovery.records import Concept

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
