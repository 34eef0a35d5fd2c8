"""Short forms and spellings: which concept a key of the texts stands for in the whole corpus."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from carrel.libraries.discovery.concepts.extraction import Definition, Meaning
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.concepts.words import (
    FUNCTION_WORDS,
    NEEDS_COMPANY,
    has_capitals,
    normal_word,
)
from carrel.libraries.discovery.tuned import MEANINGS

_STEPS = 5
# Spellings are counted by their hash first, so that those without a twin take no memory but this.
_SPELLING_BUCKETS = 1 << 24


class KeyCounts(Protocol):
    """The keys of a corpus as its papers write them, with their counts."""

    @property
    def vocabulary(self) -> Vocabulary | None: ...

    def meanings(self) -> Iterable[Meaning]:
        """Every unambiguous short form with its meaning, sorted."""
        ...

    def is_term(self, key: str) -> bool:
        """Whether the vocabulary has an entry of this key."""
        ...

    def frequency(self, key: str) -> int:
        """How many documents hold a key as it is written."""
        ...

    def live_number(self, key: str) -> int | None:
        """The number of a key that is a concept, else None."""
        ...

    def live_keys(self) -> Iterator[tuple[int, str]]:
        """Every key that is a concept, by number."""
        ...

    def count(self, number: int) -> int:
        """How many documents hold a key."""
        ...

    def naming(self, key: str) -> int:
        """How many documents have a key among their keywords or headings."""
        ...


class KeyResolver:
    """Maps each key to its concept, by what short forms and spellings mean in the corpus."""

    def __init__(
        self, counts: KeyCounts, turned: Mapping[str, str], short: Mapping[str, str]
    ) -> None:
        self._ledger = counts
        self._turns, self._shorts = turned, short

    def of(self, key: str) -> str:
        """The concept's key for a key of a text."""
        for _ in range(_STEPS):
            further = self._turns.get(key)
            if further is None:
                further = self._of_short_form(key) if has_capitals(key) else key
            if further == key:
                return key
            key = further
        return key

    def of_short_form(self, plain: str) -> str | None:
        """The concept of a short form written in lower case, or None."""
        short = self._shorts.get(plain)
        return None if short is None else self.of(short)

    def _of_short_form(self, key: str) -> str:
        """An undefined key in capitals: the vocabulary's term, the lower-case word, or itself."""
        plain = normal_word(key)
        if self._is_ordinary(key):
            return key
        meant = self._ledger.vocabulary.short_form(key) if self._ledger.vocabulary else None
        return meant or plain

    def _is_ordinary(self, key: str) -> bool:
        # What texts write oftener in small letters than in capitals is a word of theirs, and its
        # capitals are something else.
        plain = normal_word(key)
        if plain in FUNCTION_WORDS or plain in NEEDS_COMPANY:
            return True
        return self._ledger.frequency(plain) > self._ledger.frequency(key)


class Meanings(KeyResolver):
    """Works out what keys mean; depends on the counts alone, not on the order of updates."""

    def __init__(self, counts: KeyCounts) -> None:
        self.turned: dict[str, str] = {}
        self.short: dict[str, str] = {}
        super().__init__(counts, self.turned, self.short)
        for short, long, wordings in counts.meanings():
            for other in wordings:
                if not counts.is_term(other):
                    self.turned[other] = long
            self._admit(short, long)
        self._admit_keywords_in_small_letters()
        self._admit_gaps()
        self._admit_species()

    def _admit(self, short: str, long: str) -> None:
        ledger = self._ledger
        if " " not in short and self._is_ordinary(short):
            return
        written, spelled = ledger.frequency(short), ledger.frequency(long)
        if not written or not spelled or short == long:
            return
        if " " not in long and spelled > MEANINGS.most_of_one_word * written:
            return
        plain = short if " " in short else normal_word(short)
        if written > MEANINGS.short_form_preferred * spelled and not ledger.is_term(long):
            self.turned[long] = plain
        else:
            self.turned[short] = long
        if plain != short:
            self.short[plain] = short

    def _admit_keywords_in_small_letters(self) -> None:
        ledger = self._ledger
        for plain, short in self.short.items():
            if (
                ledger.naming(plain)
                and ledger.frequency(plain) <= MEANINGS.sloppy_share * ledger.frequency(short)
                and short in self.turned
            ):
                self.turned[plain] = short

    def _admit_gaps(self) -> None:
        """Merge `life span` and `lifespan` into the spelling that most texts have."""
        ledger = self._ledger
        spellings: dict[str, list[int]] = {}
        names: dict[int, str] = {}
        doubled = _doubled_hashes(key.replace(" ", "") for _, key in ledger.live_keys())
        for number, key in ledger.live_keys():
            closed = key.replace(" ", "")
            if doubled[hash(closed) % _SPELLING_BUCKETS] > 1:
                names[number] = key
                if closed != key:
                    spellings.setdefault(closed, []).append(number)
        for closed, numbers in spellings.items():
            whole = ledger.live_number(closed)
            if whole is not None:
                numbers.append(whole)
            if len(numbers) > 1 and (
                len(closed) >= MEANINGS.least_letters or any(letter.isdigit() for letter in closed)
            ):
                self._merge_spellings([(number, names[number]) for number in numbers])

    def _merge_spellings(self, spellings: list[tuple[int, str]]) -> None:
        ledger = self._ledger
        best = max(
            spellings,
            key=lambda each: (ledger.is_term(each[1]), ledger.count(each[0]), each[1]),
        )
        for number, key in spellings:
            if number != best[0] and not ledger.is_term(key):
                self.turned.setdefault(key, best[1])

    def _admit_species(self) -> None:
        """Resolve `e. coli` to the full name that (nearly) all papers with such a name mean."""
        ledger = self._ledger
        shortened = [key for _, key in ledger.live_keys() if key[1:3] == ". "]
        wanted = {(key[0], key[3:]): key for key in shortened}
        called: dict[str, dict[str, int]] = {key: {} for key in shortened}
        for number, key in ledger.live_keys() if wanted else ():
            genus, _, species = key.partition(" ")
            short = (
                wanted.get((genus[:1], species)) if len(genus) > MEANINGS.shortest_genus else None
            )
            if short is not None:
                called[short][key] = ledger.count(number)
        for short, full in called.items():
            best = max(full, key=lambda key: (full[key], key), default=None)
            without_stop = f"{short[0]} {short[3:]}"
            self.turned[short] = without_stop
            if best is not None and full[best] >= MEANINGS.one_species_share * sum(full.values()):
                self.turned[without_stop] = best


def concepts_meant_elsewhere(
    meanings: KeyResolver, definitions: Iterable[Definition], keys: Iterable[str]
) -> set[str]:
    """Concepts that short forms mean elsewhere but not in a paper with these definitions and keys.

    What the paper also spells out, or is filed under, it does mean.
    """
    meant = meanings.of
    definitions = list(definitions)
    elsewhere = {meant(short) for short, long in definitions if meant(short) != meant(long)}
    if not elsewhere:
        return elsewhere
    spelled = {meant(key) for key in keys if not has_capitals(key)}
    return elsewhere - {meant(long) for _, long in definitions} - spelled


def _doubled_hashes(spellings: Iterable[str]) -> bytearray:
    seen = bytearray(_SPELLING_BUCKETS)
    for closed in spellings:
        place = hash(closed) % _SPELLING_BUCKETS
        if seen[place] < 2:
            seen[place] += 1
    return seen
