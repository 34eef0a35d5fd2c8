"""Makes the tables of a concept index from chunks, in memory that does not grow with the corpus.

Chunks are gathered into sorted runs on disk (`runs`), which are merged into tables of keys and
words; then documents are read again one by one and placed by what their keys mean.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from carrel.libraries.discovery.concepts.extraction import Chunk, Meaning, agreed_meaning
from carrel.libraries.discovery.concepts.labels import write_label
from carrel.libraries.discovery.concepts.ledger import is_sought
from carrel.libraries.discovery.concepts.meanings import Meanings, concepts_meant_elsewhere
from carrel.libraries.discovery.concepts.packed_index import NO_YEAR
from carrel.libraries.discovery.concepts.packed_keys import DEFINED, SHARED, PackedKeys
from carrel.libraries.discovery.concepts.placement import NameFinder
from carrel.libraries.discovery.concepts.tables import NOTHING, RowTable, StringTable, numbers_of
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.concepts.words import has_capitals, normal_word
from carrel.stores.concepts.runs import (
    RunDocument,
    RunWriter,
    load_ranks,
    merge_definitions,
    merge_keys,
    merge_words,
    read_documents,
)
from carrel.stores.concepts.sections import NumberSink, RowSink, SectionFolder, StringSink

# Names that texts are searched for at a time; measured: 150 MB for so many.
_NAMES_AT_ONCE = 250_000
_MEANINGS_KEPT = 100_000


class IndexBuilder:
    """Takes chunks one after the other; `finish` leaves the tables in `sections`."""

    def __init__(self, folder: Path, vocabulary: Vocabulary | None) -> None:
        self._vocabulary = vocabulary
        self._tables = folder / "tables"
        self._tables.mkdir(parents=True)
        runs = folder / "runs"
        runs.mkdir()
        self._runs = RunWriter(runs)
        self.sections = SectionFolder(self._tables)

    def add(self, chunk: Chunk, fingerprints: Mapping[str, str]) -> None:
        """Take the documents of a chunk; each document's id must come once in all chunks."""
        self._runs.add(chunk, fingerprints)

    def finish(self) -> Path:
        """Make the tables; returns their folder."""
        self._runs.flush()
        runs = self._runs.runs
        meanings = self._merge_definitions(runs)
        self._write_keys(runs)
        self._write_words(runs)
        self._write_documents(runs)
        self._write_ids()
        keys = PackedKeys(self.sections, self._vocabulary, meanings)
        resolver = Meanings(keys)
        self._write_pairs("turned", resolver.turned)
        self._write_pairs("short", resolver.short)
        self._write_concepts(keys, resolver)
        self._place(keys, resolver, self._find_names(keys))
        self._write_postings()
        self.sections.release()
        return self._tables

    def _merge_definitions(self, runs: Sequence[Path]) -> list[Meaning]:
        meanings = []
        shorts = StringSink(self._tables.parent, "shorts")
        for short, counts in merge_definitions(runs):
            shorts.append(short)
            meaning = agreed_meaning(short, counts)
            if meaning is not None:
                meanings.append(meaning)
        shorts.close()
        return meanings

    def _write_keys(self, runs: Sequence[Path]) -> None:
        vocabulary = self._vocabulary
        keys, labels = StringSink(self._tables, "keys"), StringSink(self._tables, "labels")
        counts = NumberSink(self._tables, "key_counts")
        named = NumberSink(self._tables, "key_named_in")
        flags = NumberSink(self._tables, "key_flags", "B")
        names = NumberSink(self._tables.parent, "names")
        # Both are sorted, so that one look ahead finds what is a short form.
        shorts = iter(StringTable(SectionFolder(self._tables.parent), "shorts"))
        short = next(shorts, None)
        for number, (key, label, count, named_in) in enumerate(merge_keys(runs)):
            is_term = vocabulary is not None and vocabulary.term(key) is not None
            names_a_term = is_term or (
                vocabulary is not None and vocabulary.short_form(key) is not None
            )
            flag = SHARED if count > 1 or named_in or (count and names_a_term) else 0
            if key == short:
                flag |= DEFINED
                short = next(shorts, None)
            keys.append(key)
            labels.append("" if label == key else label)
            counts.append(count)
            named.append(named_in)
            flags.append(flag)
            if not is_term and is_sought(key, count, named_in):
                names.append(number)
        for strings in (keys, labels):
            strings.close()
        for numbers in (counts, named, flags, names):
            numbers.close()

    def _write_words(self, runs: Sequence[Path]) -> None:
        words = StringSink(self._tables, "words")
        for word in merge_words(runs):
            words.append(word)
        words.close()
        if not runs:
            return
        table = StringTable(self.sections, "words")
        plain = NumberSink(self._tables.parent, "plain_words")
        for number, word in enumerate(table):
            below = table.find(normal_word(word)) if has_capitals(word) else number
            plain.append(number if below is None else below)
        plain.close()

    def _write_documents(self, runs: Sequence[Path]) -> None:
        ids, marks = StringSink(self._tables, "ids"), StringSink(self._tables, "fingerprints")
        years = NumberSink(self._tables, "years", "i")
        named, mentioned, texts, capitals, definitions = sinks = [
            RowSink(self._tables, name)
            for name in ("read_named", "read_mentioned", "texts", "capitals", "definitions")
        ]
        work = SectionFolder(self._tables.parent)
        plain_of = numbers_of(work, "plain_words") if runs else memoryview(b"")
        for document in self._read_again(runs):
            ids.append(document.id)
            marks.append(document.fingerprint)
            years.append(NO_YEAR if document.year is None else document.year)
            named.append(document.named)
            mentioned.append(document.mentioned)
            text = document.text
            plain = array("I", map(plain_of.__getitem__, text))
            texts.append(plain)
            capitals.append(
                array(
                    "I",
                    (n for at, word in enumerate(text) if plain[at] != word for n in (at, word)),
                )
                if plain != text
                else array("I")
            )
            definitions.append(document.definitions)
        for row_sink in sinks:
            row_sink.close()
        ids.close()
        marks.close()
        years.close()

    def _read_again(self, runs: Sequence[Path]) -> Iterator[RunDocument]:
        for run in runs:
            keys, words = load_ranks(run, "key_ranks"), load_ranks(run, "word_ranks")
            yield from read_documents(run, keys, words)

    def _write_ids(self) -> None:
        ids = list(StringTable(self.sections, "ids"))
        order = NumberSink(self._tables, "documents_by_id")
        order.extend(sorted(range(len(ids)), key=ids.__getitem__))
        order.close()

    def _write_pairs(self, name: str, pairs: Mapping[str, str]) -> None:
        names = StringSink(self._tables, f"{name}.names")
        values = StringSink(self._tables, f"{name}.values")
        for key in sorted(pairs):
            names.append(key)
            values.append(pairs[key])
        names.close()
        values.close()

    def _write_concepts(self, keys: PackedKeys, resolver: Meanings) -> None:
        """Numbers concepts by the spelling of their keys, and says which concept each key is."""
        turned: dict[int, str] = {}
        for number, key in keys.shared_keys():
            meant = resolver.of(key)
            if meant != key:
                turned[number] = meant
        own = (key for number, key in keys.shared_keys() if number not in turned)
        concepts = StringSink(self._tables, "concepts")
        last = None
        for key in heapq.merge(own, sorted(set(turned.values()))):
            if key != last:
                concepts.append(key)
            last = key
        concepts.close()
        table = StringTable(self.sections, "concepts")
        forms: dict[int, list[int]] = {}
        concept_of = NumberSink(self._tables, "concept_of")
        for number, key in enumerate(keys.table):
            concept = NOTHING
            if keys.is_shared(number):
                found = table.find(turned.get(number, key))
                concept = NOTHING if found is None else found
                if number in turned:
                    forms.setdefault(concept, []).append(number)
            concept_of.append(concept)
        concept_of.close()
        labels, form_rows = (
            StringSink(self._tables, "concept_labels"),
            RowSink(self._tables, "forms"),
        )
        for concept, key in enumerate(table):
            others = forms.get(concept, ())
            label = write_label(key, others, keys)
            labels.append("" if label == key else label)
            form_rows.append(array("I", others))
        labels.close()
        form_rows.close()

    def _find_names(self, keys: PackedKeys) -> list[str]:
        """Searches every text for names of other papers, some names at a time."""
        work = SectionFolder(self._tables.parent)
        names = iter(numbers_of(work, "names")) if len(keys.table) else iter(())
        words = _WordNumbers(StringTable(self.sections, "words"))
        texts, capitals = RowTable(self.sections, "texts"), RowTable(self.sections, "capitals")
        mentioned = RowTable(self.sections, "read_mentioned")
        parts: list[str] = []
        while some := list(islice(names, _NAMES_AT_ONCE)):
            finder = NameFinder(((number, keys.key(number)) for number in some), words)
            part = f"found-{len(parts)}"
            sink = RowSink(self._tables.parent, part)
            for document, plain in enumerate(texts):
                text = plain
                if own := capitals[document]:
                    text = plain[:]
                    for place, word in zip(own[::2], own[1::2], strict=True):
                        text[place] = word
                found = finder.find(text, plain).difference(mentioned[document])
                sink.append(array("I", sorted(found)))
            sink.close()
            parts.append(part)
        return parts

    def _place(self, keys: PackedKeys, resolver: Meanings, parts: Sequence[str]) -> None:
        """Writes the concepts of every document."""
        work = SectionFolder(self._tables.parent)
        found = [RowTable(work, part) for part in parts]
        concept_of = numbers_of(self.sections, "concept_of")
        concepts = StringTable(self.sections, "concepts")
        read_named = RowTable(self.sections, "read_named")
        definitions = RowTable(self.sections, "definitions")
        mentioned_rows, named_rows = (
            RowSink(self._tables, "mentioned"),
            RowSink(self._tables, "named"),
        )
        frequencies = array("I", bytes(4 * len(concepts)))
        named_in = array("I", bytes(4 * len(concepts)))
        meant = _KeptMeanings(resolver)
        for document, read in enumerate(RowTable(self.sections, "read_mentioned")):
            every = dict.fromkeys(map(concept_of.__getitem__, read))
            for part in found:
                every.update(dict.fromkeys(map(concept_of.__getitem__, part[document])))
            every.pop(NOTHING, None)
            if pairs := definitions[document]:
                written = list(map(keys.key, pairs))
                told = list(zip(written[::2], written[1::2], strict=True))
                for key in concepts_meant_elsewhere(meant, told, map(keys.key, read)):
                    number = concepts.find(key)
                    if number is not None:
                        every.pop(number, None)
            mentioned = array("I", sorted(every))
            named = array("I", dict.fromkeys(map(concept_of.__getitem__, read_named[document])))
            for number in mentioned:
                frequencies[number] += 1
            for number in named:
                named_in[number] += 1
            mentioned_rows.append(mentioned)
            named_rows.append(named)
        mentioned_rows.close()
        named_rows.close()
        for name, numbers in (("frequencies", frequencies), ("named_in", named_in)):
            sink = NumberSink(self._tables, name)
            sink.extend(numbers)
            sink.close()

    def _write_postings(self) -> None:
        """Turns the concepts of documents into the documents of concepts."""
        frequencies = numbers_of(self.sections, "frequencies")
        ends = NumberSink(self._tables, "postings.ends", "Q")
        free = array("Q")
        place = 0
        for frequency in frequencies:
            ends.append(place)
            free.append(place)
            place += frequency
        ends.append(place)
        ends.close()
        postings = self.sections.scatter("postings.numbers", place)
        for document, mentioned in enumerate(RowTable(self.sections, "mentioned")):
            for number in mentioned:
                at = free[number]
                postings[at] = document
                free[number] = at + 1
        postings.release()


class _WordNumbers(Mapping[str, int]):
    """The words of a table as `NameFinder` asks for them."""

    def __init__(self, table: StringTable) -> None:
        self._table = table

    def __getitem__(self, word: str) -> int:
        number = self._table.find(word)
        if number is None:
            raise KeyError(word)
        return number

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class _KeptMeanings(Meanings):
    """Meanings worked out before, with those asked for last kept at hand."""

    def __init__(self, known: Meanings) -> None:
        self.turned, self.short = known.turned, known.short
        self.of = lru_cache(maxsize=_MEANINGS_KEPT)(known.of)  # type: ignore[method-assign]
