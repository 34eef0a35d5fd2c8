"""Where documents stand: under which concepts, judged from the whole ledger and brought up to date
by what changed in it.
"""

import sys
from array import array
from itertools import chain

from carrel.libraries.discovery.chunks import Numbers
from carrel.libraries.discovery.ledger import Ledger
from carrel.libraries.discovery.meanings import Meanings
from carrel.libraries.discovery.names import NameFinder


class Placement:
    """Documents under their concepts. Names to look for and meanings of keys follow from the
    ledger; what they touch is placed anew.
    """

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
        """Look for the names that became known and place the documents that this changes."""
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
                self.place(document, named, array("I", dict.fromkeys(map(concept_of, every))))

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
        """The documents whose keys mean something else now; every key has its concept after
        this.
        """
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

    def new_place(self, found: Numbers) -> None:
        """Room for one more document, with the names already found in it."""
        self.found.append(found)
        self.named.append(array("I"))
        self.mentioned.append(array("I"))

    def place(self, document: int, named: Numbers, mentioned: Numbers) -> None:
        """Enter a document under its concepts, and take it from those it no longer has."""
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
