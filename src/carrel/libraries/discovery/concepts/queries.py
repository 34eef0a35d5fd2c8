"""What is asked of any concept index, worked out from a few facts that each kind of index has."""

from __future__ import annotations

from carrel.libraries.discovery.concepts.extraction import BREAK
from carrel.libraries.discovery.concepts.term_scores import (
    is_fragment,
    is_generic,
    names_a_body,
    read_use,
    score_term,
    tier_of,
)
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.concepts.words import (
    ENGLISH_MARKS,
    FUNCTION_WORDS,
    JOINING,
    has_capitals,
    names_no_subject,
    short_form,
)
from carrel.libraries.discovery.records import Concept, Concepts, Sphere, Standing, Tier
from carrel.libraries.discovery.tuned import TERMS


class ConceptQueries(Concepts):
    """The questions that every index answers alike; what was worked out is kept until `_forget`."""

    def __init__(self, vocabulary: Vocabulary | None) -> None:
        self._vocabulary = vocabulary
        self._kept = _Kept()

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The controlled vocabulary that names are looked up in, if any."""
        return self._vocabulary

    def _forget(self) -> None:
        self._kept = _Kept()

    def _prepare(self) -> None:
        """Apply pending changes, where an index can change."""

    def closing_words(self) -> frozenset[int]:
        """Numbers of the words that end a phrase: 0 and function words, except joining ones."""
        self._prepare()
        if not self._kept.closing_words:
            known = (self.word_number(word) or BREAK for word in FUNCTION_WORDS - JOINING)
            self._kept.closing_words = frozenset((BREAK, *known))
        return self._kept.closing_words

    def trees(self, number: int) -> tuple[str, ...]:
        """The tree numbers of a concept in the vocabulary; empty where it has none."""
        term = self._vocabulary.term(self.key(number)) if self._vocabulary else None
        return () if term is None else term.trees

    def wordings(self, number: int) -> tuple[frozenset[str], ...]:
        """The words of each form of a concept, in lower case."""
        self._prepare()
        kept = self._kept.wordings
        found = kept.get(number)
        if found is None:
            found = tuple(frozenset(form.lower().split(" ")) for form in self.forms(number))
            kept[number] = found
        return found

    def is_fragment(self, number: int) -> bool:
        """Whether a concept is only part of longer ones (`hematopoietic stem`) or in no text."""
        self._prepare()
        found = self._kept.fragments.get(number)
        if found is None:
            found = self._kept.fragments[number] = is_fragment(self, number)
        return found

    def tier(self, number: int) -> Tier:
        """Whether a concept could be an end or a bridge, by how the texts use it."""
        self._prepare()
        found = self._kept.tiers.get(number)
        if found is None:
            use = None if self._is_refused(number) else read_use(self, number)
            found = Tier.NEITHER if use is None else tier_of(use, len(self))
            self._kept.tiers[number] = found
        return found

    def score(self, number: int) -> float | None:
        """How likely a concept is a subject (log-odds); None where it is none, or in no text."""
        use = None if self._is_refused(number) else read_use(self, number)
        return None if use is None or names_a_body(use) else score_term(use)

    def _is_refused(self, number: int) -> bool:
        key, label = self.key(number), self.label(number)
        is_short_form = has_capitals(label) and short_form(label) is not None
        return is_generic(key) or names_no_subject(key, is_short_form=is_short_form)

    def is_english(self, document: int) -> bool:
        """Whether a text is in English; no text is refused where most are in another language."""
        self._prepare()
        kept = self._kept
        if kept.is_mostly_english is None:
            documents = self.live_documents()
            sample = documents[:: max(1, len(documents) // TERMS.language_sample)]
            read = sum(map(self._reads_as_english, sample))
            kept.is_mostly_english = 2 * read > len(sample)
        return not kept.is_mostly_english or self._reads_as_english(document)

    def _reads_as_english(self, document: int) -> bool:
        found = self._kept.english.get(document)
        if found is None:
            text = self.text_of(document)
            words = len(text) - text.count(BREAK)
            told = sum(map(text.count, self._english_marks))
            found = self._kept.english[document] = (
                words < TERMS.fewest_words_to_tell or told >= TERMS.english_share * words
            )
        return found

    @property
    def _english_marks(self) -> tuple[int, ...]:
        if self._kept.english_marks is None:
            self._kept.english_marks = tuple(filter(None, map(self.word_number, ENGLISH_MARKS)))
        return self._kept.english_marks

    def standing(self, number: int) -> Standing:
        """The source of a concept."""
        self._prepare()
        key = self.key(number)
        if self._vocabulary is not None and self._vocabulary.term(key) is not None:
            return Standing.TERM
        if self.named_in(number):
            return Standing.NAMED
        return Standing.PHRASE if " " in key else Standing.WORD

    def sphere(self, number: int) -> Sphere:
        """The category of a concept in the vocabulary."""
        return self._vocabulary.sphere(self.key(number)) if self._vocabulary else Sphere.UNKNOWN

    def concept(self, number: int) -> Concept:
        """A concept with what is known of it."""
        return Concept(
            self.key(number), self.label(number), self.standing(number), self.frequency(number)
        )


class _Kept:
    def __init__(self) -> None:
        self.wordings: dict[int, tuple[frozenset[str], ...]] = {}
        self.fragments: dict[int, bool] = {}
        self.tiers: dict[int, Tier] = {}
        self.english: dict[int, bool] = {}
        self.english_marks: tuple[int, ...] | None = None
        self.is_mostly_english: bool | None = None
        self.closing_words: frozenset[int] = frozenset()
