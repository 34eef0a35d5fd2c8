"""The concept index: which documents speak of which concepts, grown and shrunk document by document."""

import sys
from array import array
from collections.abc import Iterable, Iterator

from carrel.rooms.research.discovery.chunks import (
    PAPERS_PER_CHUNK,
    PAPERS_PER_CHUNK_WITH_VOCABULARY,
    Chunk,
    ChunkReader,
    Numbers,
    in_chunks,
    read_chunk,
)
from carrel.rooms.research.discovery.ports import ConceptRow, DocumentRow, IndexStore, Mapper
from carrel.rooms.research.discovery.records import Concept, Paper, Standing
from carrel.rooms.research.discovery.vocabulary import Sphere, Vocabulary


class ConceptIndex:
    """Concepts with the documents that speak of them. A key seen in one text only waits apart until a second text has it."""

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary = vocabulary
        self._keys: list[str] = []
        self._labels: list[str] = []
        self._numbers: dict[str, int] = {}
        self._postings: list[Numbers] = []
        self._named_in: list[int] = []
        self._once: dict[str, tuple[int, str]] = {}
        self._waiting: dict[int, list[str]] = {}
        self._ids: list[str | None] = []
        self._years: list[int | None] = []
        self._named: list[Numbers] = []
        self._mentioned: list[Numbers] = []
        self._documents: dict[str, int] = {}
        self.generation = 0

    @classmethod
    def build(cls, papers: Iterable[Paper], vocabulary: Vocabulary | None = None, mapper: Mapper = map) -> "ConceptIndex":
        """An index of all the papers; give an executor's `map` to read them on more than one core."""
        index = cls(vocabulary)
        size = PAPERS_PER_CHUNK if vocabulary is None else PAPERS_PER_CHUNK_WITH_VOCABULARY
        for chunk in mapper(ChunkReader(vocabulary), in_chunks(papers, size)):
            index.merge(chunk)
        return index

    @classmethod
    def from_rows(cls, store: IndexStore, vocabulary: Vocabulary | None = None) -> "ConceptIndex":
        """The index a store kept."""
        index = cls(vocabulary)
        for row in sorted(store.concept_rows(), key=lambda row: row.number):
            index._new_concept(row.key, row.label)
        for document in store.document_rows():
            number = index._new_document(document.id, document.year, _unpacked(document.named), _unpacked(document.mentioned))
            for key in document.once:
                index._wait(key, key, number)
        return index

    def concept_rows(self) -> Iterator[ConceptRow]:
        """Every concept as a row to keep."""
        return (ConceptRow(number, key, self._labels[number]) for number, key in enumerate(self._keys))

    def document_rows(self) -> Iterator[DocumentRow]:
        """Every document as a row to keep."""
        for name, document in self._documents.items():
            once = tuple(self._waiting_in(document))
            yield DocumentRow(
                name, self._years[document], _packed(self._named[document]), _packed(self._mentioned[document]), once
            )

    def add(self, papers: Iterable[Paper]) -> None:
        """Take papers in; one already here is replaced."""
        for papers_of_chunk in in_chunks(papers):
            self.merge(read_chunk(papers_of_chunk, self.vocabulary))

    def merge(self, chunk: Chunk) -> None:
        """Take in what another process has read."""
        known = self._numbers
        for read in chunk.documents:
            self.remove(read.id)
            named = {chunk.keys[number] for number in read.named}
            numbers = array("I")
            document = self._new_document(read.id, read.year, array("I"), array("I"))
            for local in read.mentioned:
                key = chunk.keys[local]
                number = known.get(key)
                if number is None:
                    number = self._seen(key, chunk.labels[local], document, at_once=key in named or self._is_term(key))
                if number is not None:
                    self._postings[number].append(document)
                    numbers.append(number)
            # A key that waited may have joined this document's own list while it was read; the union holds each once.
            self._mentioned[document] = numbers
            self._named[document] = array("I", (known[key] for key in named))
            for number in self._named[document]:
                self._named_in[number] += 1
        self.generation += 1

    def remove(self, id: str) -> bool:
        """Forget a document; whether it was here."""
        document = self._documents.pop(id, None)
        if document is None:
            return False
        for number in self._mentioned[document]:
            self._postings[number].remove(document)
        for number in self._named[document]:
            self._named_in[number] -= 1
        for key in self._waiting_in(document):
            del self._once[key]
        self._waiting.pop(document, None)
        self._ids[document] = None
        self._mentioned[document] = array("I")
        self._named[document] = array("I")
        self.generation += 1
        return True

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, id: object) -> bool:
        return id in self._documents

    @property
    def numbered(self) -> int:
        """How many document numbers were given out, those of removed documents among them."""
        return len(self._ids)

    @property
    def size(self) -> int:
        """How many concepts are told apart, without those seen once."""
        return len(self._keys)

    def ids(self) -> Iterator[str]:
        """The ids of all documents."""
        return iter(self._documents)

    def id_of(self, document: int) -> str:
        """The id behind a document's number."""
        name = self._ids[document]
        if name is None:
            raise LookupError(f"document number {document} was removed")
        return name

    def number_of_document(self, id: str) -> int | None:
        """The number of a document within this index."""
        return self._documents.get(id)

    def year_of(self, document: int) -> int | None:
        """The year of a document, where known."""
        return self._years[document]

    def number(self, key: str) -> int | None:
        """The number of a concept within this index, by its key or a synonym's."""
        preferred = self.vocabulary.preferred(key) if self.vocabulary else None
        found = self._numbers.get(preferred) if preferred else None
        return self._numbers.get(key) if found is None else found

    def key(self, number: int) -> str:
        """The key of a concept."""
        return self._keys[number]

    def label(self, number: int) -> str:
        """A concept as a reader would write it."""
        term = self.vocabulary.term(self._keys[number]) if self.vocabulary else None
        return term.label if term else self._labels[number]

    def documents(self, number: int) -> Numbers:
        """The numbers of the documents that speak of a concept."""
        return self._postings[number]

    def frequency(self, number: int) -> int:
        """In how many documents a concept occurs."""
        return len(self._postings[number])

    def mentioned(self, document: int) -> Numbers:
        """The concepts a document speaks of."""
        return self._mentioned[document]

    def named(self, document: int) -> Numbers:
        """The concepts a document names in its keywords and headings."""
        return self._named[document]

    def named_in(self, number: int) -> int:
        """How many documents name a concept in their keywords or headings."""
        return self._named_in[number]

    def standing(self, number: int) -> Standing:
        """How a concept came to be one."""
        if self._is_term(self._keys[number]):
            return Standing.TERM
        if self._named_in[number]:
            return Standing.NAMED
        return Standing.PHRASE if " " in self._keys[number] else Standing.WORD

    def sphere(self, number: int) -> Sphere:
        """What sort of thing a concept is, as far as the vocabulary knows."""
        return self.vocabulary.sphere(self._keys[number]) if self.vocabulary else Sphere.UNKNOWN

    def concept(self, number: int) -> Concept:
        """A concept with what is known of it."""
        return Concept(self._keys[number], self.label(number), self.standing(number), self.frequency(number))

    def holdings(self) -> dict[str, frozenset[str]]:
        """Every key with the ids of its documents: what two indexes of the same papers agree on."""
        several = {
            key: frozenset(self.id_of(document) for document in self._postings[number])
            for key, number in self._numbers.items()
            if self._postings[number]
        }
        return several | {key: frozenset({self.id_of(document)}) for key, (document, _) in self._once.items()}

    def _is_term(self, key: str) -> bool:
        return self.vocabulary is not None and self.vocabulary.term(key) is not None

    def _seen(self, key: str, label: str, document: int, at_once: bool) -> int | None:
        waiting = self._once.get(key)
        if waiting is None and not at_once:
            self._wait(key, label, document)
            return None
        number = self._new_concept(key, label if waiting is None else waiting[1])
        if waiting is not None:
            del self._once[key]
            self._postings[number].append(waiting[0])
            self._mentioned[waiting[0]].append(number)
        return number

    def _wait(self, key: str, label: str, document: int) -> None:
        self._once[key] = (document, label)
        self._waiting.setdefault(document, []).append(key)

    def _waiting_in(self, document: int) -> list[str]:
        return [key for key in self._waiting.get(document, ()) if self._once.get(key, (None,))[0] == document]

    def _new_concept(self, key: str, label: str) -> int:
        number = len(self._keys)
        key = sys.intern(key)
        self._numbers[key] = number
        self._keys.append(key)
        self._labels.append(key if label == key else label)
        self._postings.append(array("I"))
        self._named_in.append(0)
        return number

    def _new_document(self, id: str, year: int | None, named: Numbers, mentioned: Numbers) -> int:
        document = len(self._ids)
        self._ids.append(id)
        self._years.append(year)
        self._named.append(named)
        self._mentioned.append(mentioned)
        self._documents[id] = document
        for number in mentioned:
            self._postings[number].append(document)
        for number in named:
            self._named_in[number] += 1
        return document


def _packed(numbers: Numbers) -> bytes:
    if sys.byteorder == "little":
        return numbers.tobytes()
    turned = array("I", numbers)
    turned.byteswap()
    return turned.tobytes()


def _unpacked(packed: bytes) -> Numbers:
    numbers = array("I")
    numbers.frombytes(packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
