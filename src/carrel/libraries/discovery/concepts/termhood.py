"""Termhood: is a phrase a complete term, judged by the words on either side of it."""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from carrel.libraries.discovery.concepts.extraction import BREAK
from carrel.libraries.discovery.concepts.words import JOINING
from carrel.libraries.discovery.records import Concepts, Numbers, Standing

FEW_DOCUMENTS = 8
MANY_DOCUMENTS = 60
LEAST_OCCURRENCES = 5

CLOSING_SHARE = 0.08
"""A noun closes its phrase at least every eighth time (`notch` 0.13, `insulin` 0.25); an adjective
hardly ever (`adipose` 0.01).
"""

PIECE_CLOSING_SHARE = 0.2
NAMING_SHARE = 0.5
"""What half of its papers were given as a keyword is a subject, whatever stands behind it in their
sentences.
"""

SAME_NEIGHBOUR_SHARE = 0.85
"""What has the same word behind or before it so often is a piece of the longer name."""


@dataclass
class Surroundings:
    """The words met before and behind a term, with their counts."""

    before: Counter[int] = field(default_factory=Counter)
    behind: Counter[int] = field(default_factory=Counter)

    def opening(self, closers: frozenset[int]) -> int:
        """How often it begins its phrase."""
        return sum(count for word, count in self.before.items() if word in closers)

    def closing(self, closers: frozenset[int]) -> int:
        """How often it ends its phrase."""
        return sum(count for word, count in self.behind.items() if word in closers)


def is_fragment(index: Concepts, number: int) -> bool:
    """Whether a concept is used only within longer terms, or is a keyword that no text says."""
    if index.standing(number) is Standing.TERM:
        return False
    documents = index.documents(number)
    joining = frozenset(index.word_number(word) or BREAK for word in JOINING) - {BREAK}
    closers = index.closing_words()
    around = Surroundings()
    read_surroundings(index, number, documents[:FEW_DOCUMENTS], around)
    if around.behind and index.named_in(number) >= NAMING_SHARE * len(documents):
        return False
    if around.closing(closers) < 2 + len(documents[:FEW_DOCUMENTS]) // 6:
        read_surroundings(index, number, documents[FEW_DOCUMENTS:MANY_DOCUMENTS], around)
    elif len(index.forms(number)[0].split(" ")) == 1:
        return False
    occurrences = around.behind.total()
    if occurrences < LEAST_OCCURRENCES:
        # A keyword of a series of papers is what they are filed under, not what they speak of.
        return not occurrences and len(documents) >= LEAST_OCCURRENCES
    alone = occurrences - sum(around.behind[word] for word in joining)
    closing = around.closing(closers)
    if closing < CLOSING_SHARE * alone:
        return True
    next_word, followed = max(
        ((word, count) for word, count in around.behind.items() if word not in closers | joining),
        key=lambda item: item[1],
        default=(BREAK, 0),
    )
    if (
        next_word
        and followed >= SAME_NEIGHBOUR_SHARE * alone
        and closing < PIECE_CLOSING_SHARE * alone
    ):
        return True
    previous, preceded = around.before.most_common(1)[0]
    return previous not in closers | joining and preceded >= SAME_NEIGHBOUR_SHARE * occurrences


def read_surroundings(
    index: Concepts, number: int, documents: Sequence[int], around: Surroundings
) -> int:
    """Add what stands around a concept in documents; returns how many of them say it."""
    runs = []
    for form in index.forms(number):
        words = [index.word_number(word) or BREAK for word in form.split(" ")]
        if BREAK not in words:
            runs.append(array("I", words))
    saying = 0
    for document in documents:
        text = index.text_of(document)
        said = [_read_run(text, run, around) for run in runs]
        saying += any(said)
    return saying


def _read_run(text: Numbers, run: Numbers, around: Surroundings) -> bool:
    first, length, place = run[0], len(run), -1
    is_said = False
    while True:
        try:
            place = text.index(first, place + 1)
        except ValueError:
            return is_said
        end = place + length
        if length == 1 or text[place:end] == run:
            is_said = True
            around.behind[text[end] if end < len(text) else BREAK] += 1
            around.before[text[place - 1] if place else BREAK] += 1
