"""Which concepts each document mentions, once short forms and spellings are resolved."""

import sys
from array import array
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise

from carrel.libraries.discovery.concepts.extraction import BREAK
from carrel.libraries.discovery.concepts.ledger import Ledger
from carrel.libraries.discovery.concepts.meanings import Meanings, concepts_meant_elsewhere
from carrel.libraries.discovery.concepts.words import sure_noun_behind
from carrel.libraries.discovery.records import Numbers


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
        ledger = self.ledger
        numbers = chain(ledger.mentioned[document], ledger.named[document])
        keys = chain(map(ledger.keys.__getitem__, numbers), ledger.waiting_in(document))
        return concepts_meant_elsewhere(self.meanings, ledger.definitions[document], keys)

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
