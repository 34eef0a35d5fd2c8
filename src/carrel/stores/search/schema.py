"""The fields of every search index, and how a document becomes one of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import tantivy

from carrel.libraries.text.analysis import exact_text, ranking_text
from carrel.libraries.text.folding import text_key
from carrel.libraries.text.words import STOP_WORDS

# Which fields and words an index has. A part of another format is made again, never searched.
INDEX_FORMAT = 1
TITLE_TIMES = 3
FACETS = ("author", "venue", "keyword", "institution", "tag")
# The key of every document with a body, so that an index tells how many there are.
HAS_BODY = "has:body"
FULL_WEIGHT = 100
# A list of references names what others have found: it is no answer where the text itself has one.
REFERENCES_WEIGHT = 50
_LATEST = 1 << 32


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A paper, passage, note or reference as the index sees it.

    `title` and `text` rank and answer phrases; `body` answers filters and phrases but does not
    rank, because its passages do; given as these passages, it is analysed with them. `keys` are
    found whole, as written. `id` comes back with a hit.
    """

    row: int
    text: str
    title: str = ""
    body: str | Sequence[str] = ()
    number: int = 0
    id: str = ""
    year: int = 0
    place: int = 0
    title_times: int = TITLE_TIMES
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keys: Sequence[str] = ()
    # Per cent of its score that a document is ranked by.
    weight: int = FULL_WEIGHT
    # Texts of which every piece between spaces is found as it stands, also by a part of it.
    tokens: Sequence[str] = ()

    @property
    def newness(self) -> int:
        """Sorts by year, then by place in the source, the newest highest."""
        return self.year * _LATEST + max(0, _LATEST - 1 - self.place)


@lru_cache(maxsize=1)
def index_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", indexed=True, fast=True)
    builder.add_unsigned_field("number", fast=True)
    builder.add_unsigned_field("newness", fast=True)
    builder.add_unsigned_field("year", indexed=True, fast=True)
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title_key", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="stems", index_option="freq")
    builder.add_text_field("body", tokenizer_name="stems", index_option="basic")
    builder.add_text_field("pairs", tokenizer_name="words", index_option="basic")
    for name in ("exact", "title", *FACETS):
        builder.add_text_field(name, tokenizer_name="words", index_option="position")
    builder.add_text_field("tokens", tokenizer_name="words", index_option="position")
    builder.add_unsigned_field("weight", fast=True)
    return builder.build()


def register_tokenizers(index: tantivy.Index) -> None:
    """Tell an opened index how its words are cut; needed before writing and parsing."""
    index.register_tokenizer("stems", stemmer())
    index.register_tokenizer(
        "words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    )


def stemmer() -> tantivy.TextAnalyzer:
    """Cuts words to their English stems; words of other languages mostly stay whole."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def make_entry(document: IndexedDocument) -> tantivy.Document:
    """The entry of a document, every word folded and cut here."""
    entry = tantivy.Document()
    entry.add_unsigned("row", document.row)
    entry.add_unsigned("number", document.number)
    entry.add_unsigned("weight", document.weight)
    entry.add_unsigned("newness", document.newness)
    entry.add_unsigned("year", document.year)
    if document.id:
        entry.add_text("id", document.id)
    for key in document.keys:
        entry.add_text("key", key)
    for value in document.tokens:
        entry.add_text("tokens", value)
    if document.title:
        title = exact_text(document.title)
        entry.add_text("title_key", text_key(document.title))
        entry.add_text("title", title)
        entry.add_text("exact", title)
        entry.add_text("pairs", common_pairs(title))
        ranked = ranking_text(document.title)
        for _ in range(document.title_times):
            entry.add_text("text", ranked)
    if document.text:
        _add_words(entry, document.text, "text")
    if document.body:
        entry.add_text("key", HAS_BODY)
        _add_body(entry, [document.body] if isinstance(document.body, str) else document.body)
    for category, values in document.facets.items():
        for value in values:
            entry.add_text(category, _exact_value(value))
    return entry


def _add_words(entry: tantivy.Document, text: str, field: str) -> None:
    # Line by line, which no word crosses: an abstract is a line of its paper and a passage.
    lines = text.split("\n")
    words = " ".join(filter(None, map(_exact_text, lines)))
    entry.add_text("exact", words)
    entry.add_text("pairs", common_pairs(words))
    entry.add_text(field, " ".join(filter(None, map(_ranking_text, lines))))


def _add_body(entry: tantivy.Document, pieces: Sequence[str]) -> None:
    """All words for phrases; what ranks the passages only says which words there are."""
    words = " ".join(map(_exact_text, pieces))
    known = dict.fromkeys(term for piece in pieces for term in _ranking_text(piece).split())
    entry.add_text("exact", words)
    entry.add_text("pairs", common_pairs(words))
    entry.add_text("body", " ".join(known))


# A passage is analysed as a part of its paper's body and then for itself.
_exact_text = lru_cache(maxsize=2_048)(exact_text)
_ranking_text = lru_cache(maxsize=2_048)(ranking_text)
# Values of facets come again and again.
_exact_value = lru_cache(maxsize=32_768)(exact_text)


def common_pairs(words: str) -> str:
    """Neighbours of which at least one is a stop word, as terms of their own, each once.

    Where a phrase has a stop word, its place in every document would have to be read otherwise.
    """
    pairs = dict.fromkeys(
        join_pair(one, other)
        for one, other in pairwise(words.split())
        if one in STOP_WORDS or other in STOP_WORDS
    )
    return " ".join(pairs)


def is_common_pair(one: str, other: str) -> bool:
    return one in STOP_WORDS or other in STOP_WORDS


def join_pair(one: str, other: str) -> str:
    return f"{one}_{other}"
