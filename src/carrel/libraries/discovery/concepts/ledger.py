"""The ledger: keys and words of every document as written, and the short forms it defines."""

import sys
from array import array
from collections.abc import Iterator

from carrel.libraries.discovery.concepts.extraction import (
    BREAK,
    Chunk,
    ChunkDocument,
    Definition,
    Meaning,
    ShortForms,
)
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.concepts.words import FUNCTION_WORDS, has_capitals, normal_word
from carrel.libraries.discovery.records import Numbers
from carrel.libraries.discovery.tuned import TERMS

MOST_PLAIN_TEXTS = 10_000
"""About one kilobyte each."""


class Ledger:
    """Documents with their keys as read, not yet resolved; keys of a single text are held apart."""

    def __init__(self, vocabulary: Vocabulary | None) -> None:
        self.vocabulary = vocabulary
        self.keys: list[str] = []
        self.labels: list[str] = []
        self.numbers: dict[str, int] = {}
        self.counts: list[int] = []
        self.named_in: list[int] = []
        self.words: dict[str, int] = {"": BREAK}
        self.plain_words: list[int] = [BREAK]
        self.short_forms = ShortForms()
        self.ids: list[str | None] = []
        self.years: list[int | None] = []
        self.named: list[Numbers] = []
        self.mentioned: list[Numbers] = []
        self.texts: list[Numbers] = []
        self.definitions: list[tuple[Definition, ...]] = []
        self.documents: dict[str, int] = {}
        self._once: dict[str, tuple[int, str]] = {}
        self._waiting: dict[int, list[str]] = {}
        self._plain_texts: dict[int, Numbers] = {}

    def is_term(self, key: str) -> bool:
        """Whether the vocabulary has an entry of this key."""
        return self.vocabulary is not None and self.vocabulary.term(key) is not None

    def _names_a_term(self, key: str) -> bool:
        return self.is_term(key) or (
            self.vocabulary is not None and self.vocabulary.short_form(key) is not None
        )

    def frequency(self, key: str) -> int:
        """How many documents hold a key as it is written."""
        number = self.numbers.get(key)
        return int(key in self._once) if number is None else self.counts[number]

    def meanings(self) -> Iterator[Meaning]:
        """Every unambiguous short form, with its meaning and the variants of that."""
        return self.short_forms.meanings()

    def key(self, number: int) -> str:
        """A key by its number."""
        return self.keys[number]

    def label(self, number: int) -> str:
        """A key as the first paper writes it."""
        return self.labels[number]

    def number(self, key: str) -> int | None:
        """The number of a key that more than one document has, or one by name."""
        return self.numbers.get(key)

    def live_number(self, key: str) -> int | None:
        """The number of a key that is a concept, else None."""
        number = self.numbers.get(key)
        return number if number is not None and self.is_live(number) else None

    def live_keys(self) -> Iterator[tuple[int, str]]:
        """Every key that is a concept, by number."""
        return ((number, key) for number, key in enumerate(self.keys) if self.is_live(number))

    def count(self, number: int) -> int:
        """How many documents hold a key."""
        return self.counts[number]

    def naming(self, key: str) -> int:
        """How many documents have a key among their keywords or headings."""
        number = self.numbers.get(key)
        return 0 if number is None else self.named_in[number]

    def is_live(self, number: int) -> bool:
        """Whether a key is a concept: a keyword, a vocabulary term, or found in enough texts."""
        return (
            self.counts[number] >= TERMS.least_texts
            or self.named_in[number] > 0
            or self.is_term(self.keys[number])
        )

    def names(self) -> set[int]:
        """Numbers of the keys to search texts for: given names and phrases of 3 or more words."""
        return {
            number
            for number, key in enumerate(self.keys)
            if is_sought(key, self.counts[number], self.named_in[number]) and not self.is_term(key)
        }

    def take(self, chunk: Chunk) -> tuple[list[int], set[int]]:
        """Returns the numbers of the chunk's documents, and of earlier ones that gained a key."""
        words = array("I", map(self.word, chunk.words))
        taken: list[int] = []
        touched: set[int] = set()
        for read in chunk.documents:
            self.forget(read.id)
            taken.append(self._take_document(chunk, read, words, touched))
        return taken, touched

    def word(self, word: str) -> int:
        """The number of a word; one in capitals is also linked to its lower case."""
        number = self.words.get(word)
        if number is None:
            plain = normal_word(word) if has_capitals(word) else word
            below = self.word(plain) if plain != word else len(self.words)
            number = self.words[sys.intern(word)] = len(self.words)
            self.plain_words.append(below)
        return number

    def plain_text(self, document: int) -> Numbers:
        """A document's words in order, in lower case; the latest are cached."""
        plain = self._plain_texts.get(document)
        if plain is None:
            if len(self._plain_texts) >= MOST_PLAIN_TEXTS:
                self._plain_texts.clear()
            plain = array("I", map(self.plain_words.__getitem__, self.texts[document]))
            self._plain_texts[document] = plain
        return plain

    def documents_with(self, key: str) -> list[int]:
        """The documents that have these normal words in a row."""
        numbers = [self.words.get(word) for word in key.split(" ")]
        if not all(numbers):
            return []
        row = array("I", [number for number in numbers if number is not None])
        sought, size = row.tobytes(), row.itemsize
        found = []
        for document in self.documents.values():
            text = self.plain_text(document).tobytes()
            place = text.find(sought)
            while place >= 0 and place % size:
                place = text.find(sought, place + 1)
            if place >= 0:
                found.append(document)
        return found

    def _take_document(
        self, chunk: Chunk, read: ChunkDocument, words: Numbers, touched: set[int]
    ) -> int:
        text = array("I", map(words.__getitem__, read.text))
        document = self.new_document(
            read.id, read.year, array("I"), array("I"), text, read.definitions
        )
        known = self.numbers
        named = set(read.named)
        mentioned = array("I")
        for local in read.mentioned:
            key = chunk.keys[local]
            number = known.get(key)
            if number is None:
                at_once = local in named or self._names_a_term(key)
                number = self._seen(key, chunk.labels[local], document, at_once, touched)
            if number is not None:
                self.counts[number] += 1
                mentioned.append(number)
        self.mentioned[document] = mentioned
        self.named[document] = array("I", (known[chunk.keys[local]] for local in read.named))
        for number in self.named[document]:
            self.named_in[number] += 1
        return document

    def forget(self, id: str) -> int | None:
        """Remove a document; returns its number, or None where it was not here."""
        document = self.documents.pop(id, None)
        if document is None:
            return None
        for number in self.mentioned[document]:
            self.counts[number] -= 1
        for number in self.named[document]:
            self.named_in[number] -= 1
        for key in self.waiting_in(document):
            del self._once[key]
        self._waiting.pop(document, None)
        self.short_forms.remove(self.definitions[document])
        self._plain_texts.pop(document, None)
        self.ids[document] = None
        self.years[document] = None
        self.definitions[document] = ()
        for part in (self.mentioned, self.named, self.texts):
            part[document] = array("I")
        return document

    def new_key(self, key: str, label: str) -> int:
        """Assign a number to a key."""
        number = len(self.keys)
        key = sys.intern(key)
        self.numbers[key] = number
        self.keys.append(key)
        self.labels.append(key if label == key else label)
        self.counts.append(0)
        self.named_in.append(0)
        return number

    def new_document(
        self,
        id: str,
        year: int | None,
        named: Numbers,
        mentioned: Numbers,
        text: Numbers,
        definitions: tuple[Definition, ...],
    ) -> int:
        """Number a document and count what it holds."""
        document = len(self.ids)
        self.ids.append(id)
        self.years.append(year)
        self.named.append(named)
        self.mentioned.append(mentioned)
        self.texts.append(text)
        self.definitions.append(definitions)
        self.short_forms.add(definitions)
        self.documents[id] = document
        for number in mentioned:
            self.counts[number] += 1
        for number in named:
            self.named_in[number] += 1
        return document

    def wait(self, key: str, label: str, document: int) -> None:
        """Hold back a key that no other document has."""
        self._once[key] = (document, label)
        self._waiting.setdefault(document, []).append(key)

    def waiting_in(self, document: int) -> list[str]:
        """The keys that only this document has."""
        return [
            key
            for key in self._waiting.get(document, ())
            if self._once.get(key, (None,))[0] == document
        ]

    def waiting(self) -> Iterator[tuple[str, int]]:
        """Every key that one document alone has, with that document."""
        return ((key, document) for key, (document, _) in self._once.items())

    def _seen(
        self, key: str, label: str, document: int, at_once: bool, touched: set[int]
    ) -> int | None:
        waiting = self._once.get(key)
        if waiting is None and not at_once:
            self.wait(key, label, document)
            return None
        number = self.new_key(key, label if waiting is None else waiting[1])
        if waiting is not None:
            del self._once[key]
            self.counts[number] += 1
            self.mentioned[waiting[0]].append(number)
            touched.add(waiting[0])
        return number


def is_sought(key: str, count: int, named_in: int) -> bool:
    """Whether texts are searched for a key: a given name, or a phrase of 3 words that texts share.

    Terms of a vocabulary are found by the vocabulary itself.
    """
    if not named_in and (count < TERMS.least_texts or key.count(" ") < 2):
        return False
    return " " in key or (len(key) > 2 and key.islower() and key not in FUNCTION_WORDS)


def pack_numbers(numbers: Numbers) -> bytes:
    """Numbers as little-endian bytes, as they are stored."""
    if sys.byteorder == "little":
        return numbers.tobytes()
    turned = array("I", numbers)
    turned.byteswap()
    return turned.tobytes()


def unpack_numbers(packed: bytes) -> Numbers:
    """The numbers of stored bytes."""
    numbers = array("I")
    numbers.frombytes(packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
