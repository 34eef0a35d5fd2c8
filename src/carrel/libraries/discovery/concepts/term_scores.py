"""Terms: is a phrase a whole, and how likely is it a subject, by how its papers use it."""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log2

from carrel.libraries.discovery.concepts.extraction import BREAK
from carrel.libraries.discovery.concepts.words import (
    ADJECTIVE_ENDINGS,
    BEFORE_ADJECTIVES,
    BEFORE_VERBS,
    BESIDE_BODIES,
    DETERMINERS,
    FUNCTION_WORDS,
    GENERIC_HEADS,
    GENERIC_OPENERS,
    JOINING,
    NEEDS_COMPANY,
    PARTICIPLES,
    SAYS_LITTLE,
    general_level,
    short_form,
)
from carrel.libraries.discovery.records import Concepts, Numbers, Standing, Tier
from carrel.libraries.discovery.tuned import TERMHOOD, TERMS


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


_ARTICLE = frozenset(("the",))


@dataclass(frozen=True)
class TermUse:
    """What the score is made of; shares are of the occurrences read."""

    log_frequency: float
    recurrence: float
    closing: float
    opening: float
    before_determiner: float
    after_verb_mark: float
    after_adjective_mark: float
    most_general: float
    least_general: float
    head_general: float
    is_word: bool
    is_long: bool
    is_adjectival: bool
    is_short_form: bool
    says_little: bool
    needs_company: bool
    has_generic_head: bool
    has_generic_opener: bool
    is_undefined_short_form: bool
    beside_body: float
    after_article: float

    @property
    def features(self) -> tuple[float, ...]:
        """The numbers that are weighed, in the order of `TERMS.weights`."""
        word, phrase = float(self.is_word), float(not self.is_word)
        return (
            1.0,
            self.log_frequency,
            word * self.log_frequency,
            self.recurrence,
            log2(self.closing),
            log2(self.opening),
            word * log2(self.closing),
            log2(1 - self.before_determiner),
            log2(1 - self.after_verb_mark),
            word * log2(1 - self.after_adjective_mark),
            word * self.most_general,
            phrase * self.most_general,
            phrase * self.least_general,
            phrase * self.head_general,
            word,
            float(self.is_long),
            float(self.is_adjectival),
            float(self.is_short_form),
            float(self.says_little),
            float(self.needs_company),
            float(self.has_generic_head),
            float(self.has_generic_opener),
        )


def read_use(index: Concepts, number: int) -> TermUse | None:
    """How the papers of a concept use it; None where no text says it."""
    around = Surroundings()
    postings = index.documents(number)
    step = max(1.0, len(postings) / TERMS.documents_read)
    sample = [
        document
        for place in range(min(len(postings), TERMS.documents_read))
        if index.is_english(document := postings[int(place * step)])
    ]
    papers = read_surroundings(index, number, sample, around)
    total = around.behind.total()
    if not total:
        return None
    key = index.key(number)
    words = key.split(" ")
    levels = [general_level(word) / 10 for word in words]
    label = index.label(number)
    return TermUse(
        log2(index.frequency(number)),
        log2(total / papers),
        (around.closing(index.closing_words()) + 1) / (total + 2),
        (around.opening(index.closing_words()) + 1) / (total + 2),
        _share(index, DETERMINERS, around, total, is_behind=True),
        _share(index, BEFORE_VERBS, around, total, is_behind=False),
        _share(index, BEFORE_ADJECTIVES, around, total, is_behind=False),
        max(levels),
        min(levels),
        levels[-1],
        len(words) == 1,
        len(words) > 2,
        len(words) == 1 and key.endswith(ADJECTIVE_ENDINGS),
        label[1:] != label[1:].lower(),
        any(word in SAYS_LITTLE for word in words),
        any(word in NEEDS_COMPANY for word in words),
        words[-1] in GENERIC_HEADS,
        words[0] in GENERIC_OPENERS,
        short_form(label) is not None and not index.is_defined(label),
        _share(index, BESIDE_BODIES, around, total, is_behind=True)
        + _share(index, BESIDE_BODIES, around, total, is_behind=False),
        _share(index, _ARTICLE, around, total, is_behind=False),
    )


def _share(
    index: Concepts, words: frozenset[str], around: Surroundings, total: int, *, is_behind: bool
) -> float:
    side = around.behind if is_behind else around.before
    met = sum(side[number] for word in words if (number := index.word_number(word)))
    return met / (total + 2)


def score_term(use: TermUse) -> float:
    """The log-odds that a phrase is a subject, frequency counted."""
    odds = sum(
        weight * value for weight, value in zip(TERMS.weights.values(), use.features, strict=True)
    )
    # Authors give adjectives as keywords too (`epigenetic`); alone they are no end of anything.
    return odds - (
        TERMS.lone_adjective if use.is_word and use.closing < TERMS.adjective_closes else 0.0
    )


def names_a_body(use: TermUse) -> bool:
    """Whether a short form is used as the name of a body or facility.

    It stands beside what only bodies have (`NSF grant`), or no paper spells it out and it has the
    article and nothing behind it (`by the NSF`), which names of genes and measures have not.
    """
    return use.is_short_form and (
        use.beside_body >= TERMS.body_share
        or (
            use.is_undefined_short_form
            and use.after_article >= TERMS.article_share
            and use.closing >= TERMS.closes_often
        )
    )


def tier_of(use: TermUse, documents: int) -> Tier:
    """The tier of a phrase in a corpus of so many documents, frequency mostly set aside."""
    weights = TERMS.weights
    octave = weights["frequency, octaves"] + use.is_word * weights["frequency of a single word"]
    if names_a_body(use):
        return Tier.NEITHER
    beyond = use.log_frequency - TERMS.usual_octaves
    score = score_term(use) - octave * beyond + TERMS.frequent_counts * max(0.0, beyond)
    if score >= TERMS.least_of_end and 2**use.log_frequency >= least_papers_of_end(documents):
        return Tier.END
    return Tier.BRIDGE if score >= TERMS.least_of_bridge else Tier.NEITHER


def least_papers_of_end(documents: int) -> int:
    """In how many papers an end must be: 2 below 1,000 documents, 3 below 10,000, and so on."""
    return max(2, len(str(documents)) - 1)


_EMPTY = FUNCTION_WORDS | NEEDS_COMPANY | SAYS_LITTLE | GENERIC_OPENERS
_EMPTY_HEADS = _EMPTY | GENERIC_HEADS


@lru_cache(maxsize=100_000)
def is_generic(key: str) -> bool:
    """Whether no word of a key says anything in particular, or a participle cuts it."""
    words = key.lower().split(" ")
    if words[-1] in PARTICIPLES or (words[0] in PARTICIPLES and words[0] not in GENERIC_OPENERS):
        # `mice lacking` goes on, and `mediated inhibition` lacks its beginning.
        return True
    return words[-1] in _EMPTY_HEADS and all(
        word in _EMPTY or word.isdigit() for word in words[:-1]
    )
