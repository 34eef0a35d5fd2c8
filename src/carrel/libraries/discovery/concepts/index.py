"""The concept index: which documents mention which concepts, updated document by document."""

from array import array
from collections.abc import Iterable, Iterator, Sequence

from carrel.libraries.discovery.concepts.extraction import (
    PAPERS_PER_CHUNK,
    PAPERS_PER_CHUNK_WITH_VOCABULARY,
    Chunk,
    ChunkReader,
    in_chunks,
    read_chunk,
)
from carrel.libraries.discovery.concepts.labels import write_label
from carrel.libraries.discovery.concepts.ledger import Ledger, pack_numbers, unpack_numbers
from carrel.libraries.discovery.concepts.placement import Placement
from carrel.libraries.discovery.concepts.queries import ConceptQueries
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.concepts.words import has_capitals, normal_word
from carrel.libraries.discovery.records import (
    ConceptRow,
    DocumentRow,
    IndexStore,
    Mapper,
    Numbers,
    Paper,
)


class ConceptIndex(ConceptQueries):
    """Concepts and the documents that mention them, updated incrementally.

    Names and meanings of keys follow from the ledger and are settled before the next query. Only
    the documents affected are placed again; the result equals an index built at once.
    """

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        super().__init__(vocabulary)
        self._generation = 0
        self._ledger = Ledger(vocabulary)
        self._placed = Placement(self._ledger)
        self._is_settled = True
        self._adopted: dict[str, str] = {}

    @classmethod
    def build(
        cls, papers: Iterable[Paper], vocabulary: Vocabulary | None = None, mapper: Mapper = map
    ) -> "ConceptIndex":
        """Index papers; pass an executor's `map` as `mapper` to extract on several cores."""
        index = cls(vocabulary)
        size = PAPERS_PER_CHUNK if vocabulary is None else PAPERS_PER_CHUNK_WITH_VOCABULARY
        for chunk in mapper(ChunkReader(vocabulary), in_chunks(papers, size)):
            index.merge(chunk)
        index.settle()
        return index

    @classmethod
    def from_rows(cls, store: IndexStore, vocabulary: Vocabulary | None = None) -> "ConceptIndex":
        """Load an index from stored rows."""
        index = cls(vocabulary)
        ledger = index._ledger
        for row in sorted(store.concept_rows(), key=lambda row: row.number):
            ledger.new_key(row.key, row.label)
        for word in store.words():
            ledger.word(word)
        for kept in store.document_rows():
            document = ledger.new_document(
                kept.id,
                kept.year,
                unpack_numbers(kept.named),
                unpack_numbers(kept.mentioned),
                unpack_numbers(kept.text),
                kept.definitions,
            )
            for key in kept.once:
                ledger.wait(key, key, document)
            index._placed.new_place(unpack_numbers(kept.found))
            index._placed.touched.add(document)
        index._placed.names = ledger.names()
        index._is_settled = False
        index.settle()
        return index

    def concept_rows(self) -> Iterator[ConceptRow]:
        """Every key as a row to store."""
        ledger = self._ledger
        return (
            ConceptRow(number, key, ledger.labels[number]) for number, key in enumerate(ledger.keys)
        )

    def words(self) -> Iterator[str]:
        """Every word of the texts, by number from 0, to store."""
        return iter(self._ledger.words)

    def document_rows(self) -> Iterator[DocumentRow]:
        """Every document as a row to store."""
        self.settle()
        ledger = self._ledger
        for name, document in ledger.documents.items():
            yield DocumentRow(
                name,
                ledger.years[document],
                pack_numbers(ledger.named[document]),
                pack_numbers(ledger.mentioned[document]),
                pack_numbers(self._placed.found[document]),
                tuple(ledger.waiting_in(document)),
                pack_numbers(ledger.texts[document]),
                ledger.definitions[document],
            )

    def add(self, papers: Iterable[Paper]) -> None:
        """Add papers; one with a known id is replaced."""
        for papers_of_chunk in in_chunks(papers):
            self.merge(read_chunk(papers_of_chunk, self.vocabulary))

    def merge(self, chunk: Chunk) -> None:
        """Add a chunk that was read elsewhere."""
        for read in chunk.documents:
            self.remove(read.id)
        taken, touched = self._ledger.take(chunk)
        for _ in range(len(self._placed.found), len(self._ledger.ids)):
            self._placed.new_place(array("I"))
        self._placed.unplaced.update(taken)
        self._placed.touched |= touched
        self._is_settled = False
        self._generation += 1

    def remove(self, id: str) -> bool:
        """Remove a document; False where it was not indexed."""
        document = self._ledger.forget(id)
        if document is None:
            return False
        self._placed.place(document, array("I"), array("I"))
        self._placed.found[document] = array("I")
        self._placed.unplaced.discard(document)
        self._placed.touched.discard(document)
        self._is_settled = False
        self._generation += 1
        return True

    def settle(self) -> None:
        """Apply pending changes before a query; does nothing where nothing changed."""
        if not self._is_settled:
            self._placed.settle()
            self._forget()
            self._is_settled = True

    def _prepare(self) -> None:
        self.settle()

    @property
    def generation(self) -> int:
        """Rises with every change."""
        return self._generation

    def __len__(self) -> int:
        return len(self._ledger.documents)

    def __contains__(self, id: object) -> bool:
        return id in self._ledger.documents

    @property
    def numbered(self) -> int:
        """The number of document numbers assigned, removed documents included."""
        return len(self._ledger.ids)

    @property
    def size(self) -> int:
        """The number of concepts, without those seen once."""
        self.settle()
        return len(self._placed.keys)

    def ids(self) -> Iterator[str]:
        """The ids of all documents."""
        return iter(self._ledger.documents)

    def live_documents(self) -> Sequence[int]:
        """The numbers of all documents, in the order of `ids`."""
        return list(self._ledger.documents.values())

    def frequencies(self) -> Sequence[int]:
        """In how many documents each concept occurs, by its number."""
        self.settle()
        return array("I", map(len, self._placed.postings))

    def id_of(self, document: int) -> str:
        """The id behind a document's number."""
        name = self._ledger.ids[document]
        if name is None:
            raise LookupError(f"document number {document} was removed")
        return name

    def number_of_document(self, id: str) -> int | None:
        """The number of a document within this index."""
        return self._ledger.documents.get(id)

    def year_of(self, document: int) -> int | None:
        """The year of a document, where known."""
        return self._ledger.years[document]

    def text_of(self, document: int) -> Numbers:
        """The words of a document in order, as numbers of `word_number`, 0 where a phrase ends."""
        return self._ledger.plain_text(document)

    def word_number(self, word: str) -> int | None:
        """The number of a normal word in texts."""
        return self._ledger.words.get(word)

    def number(self, key: str) -> int | None:
        """The concept's number by key, synonym, spelling variant or short form; None if unknown."""
        self.settle()
        preferred = (
            self.vocabulary.preferred(key)
            if self.vocabulary and not self.vocabulary.is_short_form(key)
            else None
        )
        for name in (
            preferred,
            self._placed.meanings.of_short_form(key),
            self._placed.meanings.of(key),
        ):
            found = None if name is None else self._placed.numbers.get(name)
            if found is not None:
                return found
        return None

    def adopt(self, key: str, label: str, least: int) -> int | None:
        """The concept of a name that somebody asks about, made where extraction cut it.

        `vitamin D` ends in no word. Fewer than `least` papers make no concept. It is not stored.
        """
        known = self.number(key)
        if known is not None and key not in self._adopted:
            return known
        documents = self.documents_with(key)
        if len(documents) < least:
            return None
        if known is None or self.frequency(known) != len(documents):
            known, self._adopted[key] = self._placed.adopt(key, documents), label
            self._generation += 1
        return known

    def documents_with(self, key: str) -> list[int]:
        """The documents that have these normal words in a row, in title or abstract."""
        return self._ledger.documents_with(key)

    def papers_of_phrase(self, key: str) -> int:
        """How many papers have exactly this phrase as a concept; no variants are looked up."""
        found = self._placed.numbers.get(key)
        return 0 if found is None else self.frequency(found)

    def key(self, number: int) -> str:
        """The key of a concept."""
        return self._placed.keys[number]

    def forms(self, number: int) -> tuple[str, ...]:
        """All normal forms of a concept: its key, short forms and spelling variants."""
        self.settle()
        others = (self._ledger.keys[own] for own in self._placed.forms.get(number, ()))
        return tuple(
            dict.fromkeys(
                (
                    self._placed.keys[number],
                    *(normal_word(key) if has_capitals(key) else key for key in others),
                )
            )
        )

    def is_defined(self, short: str) -> bool:
        """Whether any paper says what a short form stands for."""
        return self._ledger.short_forms.is_defined(short)

    def label(self, number: int) -> str:
        """A concept as a reader would write it."""
        key = self._placed.keys[number]
        term = self.vocabulary.label(key) if self.vocabulary else None
        if term is not None or key in self._adopted:
            return term or self._adopted[key]
        return write_label(key, self._placed.forms.get(number, ()), self._ledger)

    def documents(self, number: int) -> Numbers:
        """The numbers of the documents that mention a concept."""
        if not self._is_settled:
            self.settle()
        return self._placed.postings[number]

    def frequency(self, number: int) -> int:
        """In how many documents a concept occurs."""
        if not self._is_settled:
            self.settle()
        return len(self._placed.postings[number])

    def mentions_of(self, document: int) -> Numbers:
        """The concepts that a document mentions."""
        if not self._is_settled:
            self.settle()
        return self._placed.mentioned[document]

    def names_of(self, document: int) -> Numbers:
        """The concepts a document names in its keywords and headings."""
        if not self._is_settled:
            self.settle()
        return self._placed.named[document]

    def named_in(self, number: int) -> int:
        """How many documents name a concept in their keywords or headings."""
        if not self._is_settled:
            self.settle()
        return self._placed.named_in[number]

    def holdings(self) -> dict[str, frozenset[str]]:
        """Every key with its document ids; equal for two indexes of the same papers."""
        self.settle()
        held = {
            key: {self.id_of(document) for document in self._placed.postings[number]}
            for key, number in self._placed.numbers.items()
        }
        for key, document in self._ledger.waiting():
            meant = self._placed.meanings.of(key)
            if meant not in self._placed.meant_otherwise(document):
                held.setdefault(meant, set()).add(self.id_of(document))
        return {key: frozenset(ids) for key, ids in held.items() if ids}
