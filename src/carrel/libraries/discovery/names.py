"""Finds known names in texts that were kept as runs of word numbers: every name, whatever its
length, in one pass.
"""

from array import array
from collections.abc import Iterable, Mapping
from itertools import pairwise

from carrel.libraries.discovery.chunks import BREAK, Numbers
from carrel.libraries.discovery.words import sure_noun_behind


class NameFinder:
    """Names as runs of words. Two words open every longer name, so that one look at each pair of
    neighbours is enough.
    """

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
        """The numbers of the names that a text holds. A name of one word is not a short form's
        letters (`AID` is no aid).
        """
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
