"""A concept index in tables that never change: many processes can read the same bytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from carrel.libraries.discovery.concepts.extraction import BREAK, Chunk, ChunkDocument, Definition
from carrel.libraries.discovery.concepts.meanings import KeyResolver, concepts_meant_elsewhere
from carrel.libraries.discovery.concepts.packed_keys import PackedKeys
from carrel.libraries.discovery.concepts.queries import ConceptQueries
from carrel.libraries.discovery.concepts.tables import (
    NOTHING,
    RowTable,
    Sections,
    StringPairs,
    StringTable,
    numbers_of,
)
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.concepts.words import has_capitals, normal_word
from carrel.libraries.discovery.records import Numbers

NO_YEAR = -(1 << 31)
"""Stands for an unknown year."""


@dataclass(frozen=True)
class _Adopted:
    key: str
    label: str
    documents: Numbers


class PackedIndex(ConceptQueries):
    """Answers as a `ConceptIndex` of the same papers does; a change of papers needs new tables.

    What is adopted for a question is kept beside the tables, in this process alone.
    """

    def __init__(self, sections: Sections, vocabulary: Vocabulary | None = None) -> None:
        super().__init__(vocabulary)
        self._sections = sections
        self._keys = PackedKeys(sections, vocabulary)
        self._resolver = KeyResolver(
            self._keys, StringPairs(sections, "turned"), StringPairs(sections, "short")
        )
        self._ids = StringTable(sections, "ids")
        self._by_id = numbers_of(sections, "documents_by_id")
        self._fingerprints = StringTable(sections, "fingerprints")
        self._years = sections.section("years").cast("i")
        self._read_named = RowTable(sections, "read_named")
        self._read_mentioned = RowTable(sections, "read_mentioned")
        self._definitions = RowTable(sections, "definitions")
        self._texts = RowTable(sections, "texts")
        self._capitals = RowTable(sections, "capitals")
        self._words = StringTable(sections, "words")
        self._concepts = StringTable(sections, "concepts")
        self._concept_of = numbers_of(sections, "concept_of")
        self._labels = StringTable(sections, "concept_labels")
        self._forms = RowTable(sections, "forms")
        self._postings = RowTable(sections, "postings")
        self._frequencies = numbers_of(sections, "frequencies")
        self._named_in = numbers_of(sections, "named_in")
        self._mentioned = RowTable(sections, "mentioned")
        self._named = RowTable(sections, "named")
        self._generation = 0
        self._adopted: dict[str, int] = {}
        self._added: dict[int, _Adopted] = {}
        self._added_to: dict[int, list[int]] = {}

    @property
    def generation(self) -> int:
        """Rises with every adopted concept."""
        return self._generation

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.number_of_document(id) is not None

    @property
    def numbered(self) -> int:
        """The number of document numbers assigned."""
        return len(self._ids)

    @property
    def size(self) -> int:
        """The number of concepts, adopted ones included."""
        return len(self._concepts) + sum(n >= len(self._concepts) for n in self._added)

    def ids(self) -> Iterator[str]:
        """The ids of all documents."""
        return iter(self._ids)

    def live_documents(self) -> Sequence[int]:
        """The numbers of all documents, in the order of `ids`."""
        return range(len(self._ids))

    def id_of(self, document: int) -> str:
        """The id behind a document's number."""
        return self._ids[document]

    def fingerprint_of(self, document: int) -> str:
        """What the document's text was when it was read."""
        return self._fingerprints[document]

    def number_of_document(self, id: str) -> int | None:
        """The number of a document within this index."""
        ids, order = self._ids, self._by_id
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if ids[order[middle]] < id:
                low = middle + 1
            else:
                high = middle
        return order[low] if low < len(order) and ids[order[low]] == id else None

    def year_of(self, document: int) -> int | None:
        """The year of a document, where known."""
        year = self._years[document]
        return None if year == NO_YEAR else year

    def text_of(self, document: int) -> Numbers:
        """The words of a document in order, as numbers of `word_number`, 0 where a phrase ends."""
        return self._texts[document]

    def word_number(self, word: str) -> int | None:
        """The number of a normal word in texts."""
        return self._words.find(word)

    def number(self, key: str) -> int | None:
        """The concept's number by key, synonym, spelling variant or short form; None if unknown."""
        vocabulary, resolver = self._vocabulary, self._resolver
        preferred = (
            vocabulary.preferred(key) if vocabulary and not vocabulary.is_short_form(key) else None
        )
        for name in (preferred, resolver.of_short_form(key), resolver.of(key)):
            found = None if name is None else self._number_of(name)
            if found is not None:
                return found
        return None

    def _number_of(self, name: str) -> int | None:
        found = self._concepts.find(name)
        return self._adopted.get(name) if found is None else found

    def adopt(self, key: str, label: str, least: int) -> int | None:
        """The concept of a name that somebody asks about, made where extraction cut it.

        `vitamin D` ends in no word. Fewer than `least` papers make no concept. It is not stored.
        """
        known = self.number(key)
        if known is not None:
            return known
        documents = self.documents_with(key)
        if len(documents) < least:
            return None
        number = self._adopted[key] = self.size
        self._added[number] = _Adopted(key, label, array("I", documents))
        for document in documents:
            self._added_to.setdefault(document, []).append(number)
        self._generation += 1
        return number

    def documents_with(self, key: str) -> list[int]:
        """The documents that have these normal words in a row, in title or abstract."""
        numbers = [self._words.find(word) for word in key.split(" ")]
        if not all(numbers):
            return []
        sought = array("I", [number for number in numbers if number is not None]).tobytes()
        texts, found, start = self._texts, [], 0
        while (place := self._sections.find("texts.numbers", sought, start)) >= 0:
            start = place + 1
            if place % 4:
                continue
            document = texts.row_at(place // 4)
            end = 4 * texts.place(document + 1)
            if place + len(sought) <= end:
                found.append(document)
                start = end
        return found

    def papers_of_phrase(self, key: str) -> int:
        """How many papers have exactly this phrase as a concept; no variants are looked up."""
        found = self._number_of(key)
        return 0 if found is None else self.frequency(found)

    def key(self, number: int) -> str:
        """The key of a concept."""
        added = self._added.get(number)
        return self._concepts[number] if added is None else added.key

    def forms(self, number: int) -> tuple[str, ...]:
        """All normal forms of a concept: its key, short forms and spelling variants."""
        if number in self._added:
            return (self.key(number),)
        others = map(self._keys.key, self._forms[number])
        plain = (normal_word(key) if has_capitals(key) else key for key in others)
        return tuple(dict.fromkeys((self._concepts[number], *plain)))

    def is_defined(self, short: str) -> bool:
        """Whether any paper says what a short form stands for."""
        return self._keys.is_defined(short)

    def label(self, number: int) -> str:
        """A concept as a reader would write it."""
        key, added = self.key(number), self._added.get(number)
        term = self._vocabulary.label(key) if self._vocabulary else None
        if term is not None:
            return term
        return (self._labels[number] or key) if added is None else added.label

    def documents(self, number: int) -> Numbers:
        """The numbers of the documents that mention a concept."""
        added = self._added.get(number)
        return self._postings[number] if added is None else added.documents[:]

    def frequency(self, number: int) -> int:
        """In how many documents a concept occurs."""
        added = self._added.get(number)
        return self._frequencies[number] if added is None else len(added.documents)

    def frequencies(self) -> Sequence[int]:
        """In how many documents each concept occurs, by its number."""
        if not self._added:
            return self._frequencies
        every = array("I", self._frequencies.tobytes())
        every.extend(len(added.documents) for added in self._added.values())
        return every

    def mentions_of(self, document: int) -> Numbers:
        """The concepts that a document mentions."""
        mentioned = self._mentioned[document]
        if document in self._added_to:
            mentioned.extend(self._added_to[document])
        return mentioned

    def names_of(self, document: int) -> Numbers:
        """The concepts a document names in its keywords and headings."""
        return self._named[document]

    def named_in(self, number: int) -> int:
        """How many documents name a concept in their keywords or headings."""
        return 0 if number in self._added else self._named_in[number]

    def chunk(self, documents: Sequence[int]) -> Chunk:
        """Documents as they were read, so that tables can be made of them again."""
        keys: dict[int, int] = {}
        words: dict[int, int] = {BREAK: BREAK}
        read = []
        for document in documents:
            mentioned = self._read_mentioned[document]
            read.append(
                ChunkDocument(
                    self._ids[document],
                    self.year_of(document),
                    _renumbered(self._read_named[document], keys),
                    _renumbered(mentioned, keys),
                    _renumbered(self._text_as_written(document), words),
                    tuple(self._definitions_in(document)),
                )
            )
        return Chunk(
            tuple(map(self._keys.key, keys)),
            tuple(map(self._keys.label, keys)),
            tuple(map(self._words.__getitem__, words)),
            tuple(read),
        )

    def _text_as_written(self, document: int) -> Numbers:
        text, capitals = self._texts[document], self._capitals[document]
        for place, word in zip(capitals[::2], capitals[1::2], strict=True):
            text[place] = word
        return text

    def _definitions_in(self, document: int) -> Iterator[Definition]:
        pairs, key = self._definitions[document], self._keys.key
        return ((key(a), key(b)) for a, b in zip(pairs[::2], pairs[1::2], strict=True))

    def holdings(self) -> dict[str, frozenset[str]]:
        """Every key with its document ids; equal for two indexes of the same papers."""
        held = {
            key: {self._ids[document] for document in self._postings[number]}
            for number, key in enumerate(self._concepts)
        }
        for document, numbers in enumerate(self._read_mentioned):
            own = [number for number in numbers if self._concept_of[number] == NOTHING]
            elsewhere = concepts_meant_elsewhere(
                self._resolver,
                self._definitions_in(document),
                map(self._keys.key, numbers),
            )
            for number in own:
                meant = self._resolver.of(self._keys.key(number))
                if meant not in elsewhere:
                    held.setdefault(meant, set()).add(self._ids[document])
        return {key: frozenset(ids) for key, ids in held.items() if ids}


def _renumbered(numbers: Numbers, known: dict[int, int]) -> Numbers:
    return array("I", [known.setdefault(number, len(known)) for number in numbers])
