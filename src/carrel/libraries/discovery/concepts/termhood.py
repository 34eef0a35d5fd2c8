"""Termhood: is a phrase a complete term, judged by the words on either side of it."""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from carrel.libraries.discovery.concepts.extraction import BREAK
from carrel.libraries.discovery.concepts.words import JOINING
from carrel.libraries.discovery.records import Concepts, Numbers, Standing
from carrel.libraries.discovery.tuned import TERMHOOD


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
    read_surroundings(index, number, documents[: TERMHOOD.few_documents], around)
    if around.behind and index.named_in(number) >= TERMHOOD.naming_share * len(documents):
        return False
    if around.closing(closers) < 2 + len(documents[: TERMHOOD.few_documents]) // 6:
        read_surroundings(
            index, number, documents[TERMHOOD.few_documents : TERMHOOD.many_documents], around
        )
    elif len(index.forms(number)[0].split(" ")) == 1:
        return False
    occurrences = around.behind.total()
    if occurrences < TERMHOOD.least_occurrences:
        # A keyword of a series of papers is what they are filed under, not what they speak of.
        return not occurrences and len(documents) >= TERMHOOD.least_occurrences
    alone = occurrences - sum(around.behind[word] for word in joining)
    closing = around.closing(closers)
    if closing < TERMHOOD.closing_share * alone:
        return True
    next_word, followed = max(
        ((word, count) for word, count in around.behind.items() if word not in closers | joining),
        key=lambda item: item[1],
        default=(BREAK, 0),
    )
    if (
        next_word
        and followed >= TERMHOOD.same_neighbour_share * alone
        and closing < TERMHOOD.piece_closing_share * alone
    ):
        return True
    previous, preceded = around.before.most_common(1)[0]
    return (
        previous not in closers | joining
        and preceded >= TERMHOOD.same_neighbour_share * occurrences
    )


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
