"""Which concepts each document mentions, once short forms and spellings are resolved."""

import sys
from array import array
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise

from carrel.libraries.discovery.concepts.extraction import BREAK
from carrel.libraries.discovery.concepts.ledger import Ledger
from carrel.libraries.discovery.concepts.words import (
    FUNCTION_WORDS,
    NEEDS_COMPANY,
    has_capitals,
    normal_word,
    sure_noun_behind,
)
from carrel.libraries.discovery.records import Numbers
from carrel.libraries.discovery.tuned import MEANINGS


class NameFinder:
    """Finds names in texts; names of several words are looked up by their first two."""

    def __init__(self, names: Iterable[tuple[int, str]], words: Mapping[str, int]) -> None:
        self._alone: dict[int, int] = {}
        self._opened: dict[tuple[int, int], list[tuple[int, Numbers, int]]] = {}
        nouns: dict[str, int] = {}
        for number, key in names:
            parts = key.split(" ")
            places = [words.get(part, BREAK) for part in parts]
            if len(parts) == 1:
                nouns[key] = number
                self._alone[places[0]] = number
            elif BREAK not in places:
                rest = array("I", places[2:])
                self._opened.setdefault((places[0], places[1]), []).append(
                    (len(places), rest, number)
                )
        self._alone.pop(BREAK, None)
        # What an adjective says does not depend on which other names are looked for with it.
        self._adjectives = {
            place: nouns[noun]
            for word, place in words.items()
            if nouns and (noun := sure_noun_behind(word)) and noun in nouns
        }

    def find(self, text: Numbers, plain: Numbers) -> set[int]:
        """Numbers of the names in a text; the short form `AID` does not match the word `aid`."""
        alone, adjectives, opened = self._alone, self._adjectives, self._opened
        held = set(text)
        found = {alone[word] for word in held if word in alone}
        found.update(adjectives[word] for word in held if word in adjectives)
        if opened:
            for place, pair in enumerate(pairwise(plain)):
                if pair in opened:
                    for length, rest, number in opened[pair]:
                        if length == 2 or plain[place + 2 : place + length] == rest:
                            found.add(number)
        return found


_STEPS = 5


class Meanings:
    """Maps each key to its concept; depends on the ledger alone, not on the order of updates."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turned: dict[str, str] = {}
        self._short: dict[str, str] = {}
        for short, long, wordings in ledger.short_forms.meanings():
            for other in wordings:
                if not ledger.is_term(other):
                    self._turned[other] = long
            self._admit(short, long)
        self._admit_keywords_in_small_letters()
        self._admit_gaps()
        self._admit_species()

    def of(self, key: str) -> str:
        """The concept's key for a key of a text."""
        for _ in range(_STEPS):
            further = self._turned.get(key)
            if further is None:
                further = self._of_short_form(key) if has_capitals(key) else key
            if further == key:
                return key
            key = further
        return key

    def of_short_form(self, plain: str) -> str | None:
        """The concept of a short form written in lower case, or None."""
        short = self._short.get(plain)
        return None if short is None else self.of(short)

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
            self._turned[long] = plain
        else:
            self._turned[short] = long
        if plain != short:
            self._short[plain] = short

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

    def _admit_keywords_in_small_letters(self) -> None:
        ledger = self._ledger
        for plain, short in self._short.items():
            number = ledger.numbers.get(plain)
            if (
                number is not None
                and ledger.named_in[number]
                and ledger.counts[number] <= MEANINGS.sloppy_share * ledger.frequency(short)
                and short in self._turned
            ):
                self._turned[plain] = short

    def _admit_gaps(self) -> None:
        """Merge `life span` and `lifespan` into the spelling that most texts have."""
        ledger = self._ledger
        spellings: dict[str, list[int]] = {}
        for number, key in enumerate(ledger.keys):
            if " " in key and ledger.is_live(number):
                spellings.setdefault(key.replace(" ", ""), []).append(number)
        for closed, numbers in spellings.items():
            whole = ledger.numbers.get(closed)
            if whole is not None and ledger.is_live(whole):
                numbers.append(whole)
            if len(numbers) > 1 and (
                len(closed) >= MEANINGS.least_letters or any(letter.isdigit() for letter in closed)
            ):
                best = max(
                    numbers,
                    key=lambda number: (
                        ledger.is_term(ledger.keys[number]),
                        ledger.counts[number],
                        ledger.keys[number],
                    ),
                )
                for number in numbers:
                    if number != best and not ledger.is_term(ledger.keys[number]):
                        self._turned.setdefault(ledger.keys[number], ledger.keys[best])

    def _admit_species(self) -> None:
        """Resolve `e. coli` to the full name that (nearly) all papers with such a name mean."""
        ledger = self._ledger
        shortened = [
            key
            for number, key in enumerate(ledger.keys)
            if key[1:3] == ". " and ledger.is_live(number)
        ]
        wanted = {(key[0], key[3:]): key for key in shortened}
        called: dict[str, dict[str, int]] = {key: {} for key in shortened}
        for number, key in enumerate(ledger.keys):
            genus, _, species = key.partition(" ")
            short = (
                wanted.get((genus[:1], species)) if len(genus) > MEANINGS.shortest_genus else None
            )
            if short is not None and ledger.is_live(number):
                called[short][key] = ledger.counts[number]
        for short, full in called.items():
            best = max(full, key=lambda key: (full[key], key), default=None)
            without_stop = f"{short[0]} {short[3:]}"
            self._turned[short] = without_stop
            if best is not None and full[best] >= MEANINGS.one_species_share * sum(full.values()):
                self._turned[without_stop] = best


class Placement:
    """Documents by concept; after a change of names or meanings only what it affects is redone."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.meanings = Meanings(ledger)
        self.keys: list[str] = []
        self.numbers: dict[str, int] = {}
        self.postings: list[Numbers] = []
        self.named_in: list[int] = []
        self.named: list[Numbers] = []
        self.mentioned: list[Numbers] = []
        self.found: list[Numbers] = []
        self.forms: dict[int, list[int]] = {}
        self.names: set[int] = set()
        self.unplaced: set[int] = set()
        self.touched: set[int] = set()
        self._concept_of: list[int] = []

    def settle(self) -> None:
        """Search texts for new names and update the documents affected."""
        ledger = self.ledger
        names = ledger.names()
        self._look_again(names - self.names, self.names - names)
        if self.unplaced:
            finder = NameFinder(((number, ledger.keys[number]) for number in names), ledger.words)
            for document in self.unplaced:
                self.found[document] = self._beyond_the_ledger(
                    document, self._find(finder, document)
                )
        self.names = names
        self.meanings = Meanings(ledger)
        stale = self.unplaced | self.touched | self._changed_meanings()
        self.unplaced, self.touched = set(), set()
        concept_of = self._concept_of.__getitem__
        for document in sorted(stale):
            if ledger.ids[document] is not None:
                named = array("I", dict.fromkeys(map(concept_of, ledger.named[document])))
                every = chain(ledger.mentioned[document], self.found[document])
                concepts = dict.fromkeys(map(concept_of, every))
                for key in self.meant_otherwise(document):
                    concepts.pop(self.numbers.get(key, -1), None)
                self.place(document, named, array("I", concepts))

    def meant_otherwise(self, document: int) -> set[str]:
        """Concepts that short forms mean elsewhere but not in this paper, which defines them.

        Held-back keys count as well, so that it does not matter in what order papers came.
        """
        ledger, meant = self.ledger, self.meanings.of
        definitions = ledger.definitions[document]
        elsewhere = {meant(short) for short, long in definitions if meant(short) != meant(long)}
        if not elsewhere:
            return elsewhere
        numbers = chain(ledger.mentioned[document], ledger.named[document])
        # What the paper also spells out, or is filed under, it does mean.
        spelled = {
            meant(key)
            for key in chain(map(ledger.keys.__getitem__, numbers), ledger.waiting_in(document))
            if not has_capitals(key)
        }
        return elsewhere - {meant(long) for _, long in definitions} - spelled

    def _look_again(self, added: set[int], removed: set[int]) -> None:
        if not added and not removed:
            return
        ledger = self.ledger
        finder = (
            NameFinder(((number, ledger.keys[number]) for number in added), ledger.words)
            if added
            else None
        )
        for document in ledger.documents.values():
            if document in self.unplaced:
                continue
            before = self.found[document]
            now = {number for number in before if number not in removed}
            if finder:
                now |= self._find(finder, document)
            found = self._beyond_the_ledger(document, now)
            if found != before:
                self.found[document] = found
                self.touched.add(document)

    def _find(self, finder: NameFinder, document: int) -> set[int]:
        return finder.find(self.ledger.texts[document], self.ledger.plain_text(document))

    def _beyond_the_ledger(self, document: int, found: set[int]) -> Numbers:
        return array("I", sorted(found.difference(self.ledger.mentioned[document])))

    def _changed_meanings(self) -> set[int]:
        """The documents with a key whose concept changed; gives every key its concept."""
        ledger, before = self.ledger, self._concept_of
        stale: set[int] = set()
        now: list[int] = []
        self.forms = {}
        for number, key in enumerate(ledger.keys):
            meant = self.meanings.of(key)
            concept = self.numbers.get(meant)
            if concept is None:
                concept = self._new_concept(meant)
            now.append(concept)
            if meant != key:
                self.forms.setdefault(concept, []).append(number)
            if number < len(before) and before[number] != concept:
                stale.update(self.postings[before[number]])
        self._concept_of = now
        return stale

    def _new_concept(self, key: str) -> int:
        number = len(self.keys)
        key = sys.intern(key)
        self.numbers[key] = number
        self.keys.append(key)
        self.postings.append(array("I"))
        self.named_in.append(0)
        return number

    def adopt(self, key: str, documents: Iterable[int]) -> int:
        """Make a concept of a name that is in no ledger, or add documents to one made before."""
        number = self.numbers.get(key)
        if number is None:
            number = self._new_concept(key)
        for document in documents:
            if number not in self.mentioned[document]:
                self.mentioned[document].append(number)
                self.postings[number].append(document)
        return number

    def new_place(self, found: Numbers) -> None:
        """Add an empty slot for a document, with the names already found in it."""
        self.found.append(found)
        self.named.append(array("I"))
        self.mentioned.append(array("I"))

    def place(self, document: int, named: Numbers, mentioned: Numbers) -> None:
        """Update the postings of a document's concepts."""
        before, now = self.mentioned[document], mentioned
        if before:
            for number in set(before).difference(now):
                self.postings[number].remove(document)
            now = array("I", set(mentioned).difference(before))
        for number in now:
            self.postings[number].append(document)
        for number in self.named[document]:
            self.named_in[number] -= 1
        for number in named:
            self.named_in[number] += 1
        self.named[document] = named
        self.mentioned[document] = mentioned
