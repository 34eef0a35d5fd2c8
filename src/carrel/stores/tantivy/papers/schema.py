"""What is indexed of a paper, and how its words get there.

`text` ranks: stems of the title three times, the summary and the metadata, one field because two
boosted ones rank worse.
`full` ranks lightly: stems of source and translations. `exact` holds every word as written with its
place, for phrases and
prefixes; `pairs` holds neighbours of which one is a stop word, so that a phrase with "of the" need
not walk through every
paper. The facet fields hold words with places, one value after the other. Nothing is stored but row
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import tantivy

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import STOP_WORDS, is_cjk, split_words

TITLE_TIMES = 3
FACETS = ("author", "venue", "keyword", "institution", "tag")
_MAX_WORD_BYTES = 80


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", fast=True)
    builder.add_unsigned_field("paper", indexed=True)
    builder.add_unsigned_field("newness", fast=True)
    builder.add_unsigned_field("year", indexed=True, fast=True)
    builder.add_text_field("title_key", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="stems", index_option="freq")
    builder.add_text_field("full", tokenizer_name="stems", index_option="freq")
    builder.add_text_field("pairs", tokenizer_name="words", index_option="freq")
    for name in ("exact", "title", *FACETS):
        builder.add_text_field(name, tokenizer_name="words", index_option="position")
    return builder.build()


def stemmer() -> tantivy.TextAnalyzer:
    """Words that Python has parted, cut to their English stems; words of other languages mostly
    stay whole.
    """
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def register(index: tantivy.Index) -> None:
    index.register_tokenizer("stems", stemmer())
    index.register_tokenizer(
        "words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    )


def exact_words(text: str) -> list[str]:
    """Every word, folded, each CJK character one of them."""
    return [word[:_MAX_WORD_BYTES] for word in split_words(fold_text(text))]


def common_pairs(found: Sequence[str]) -> list[str]:
    """Neighbours of which at least one is a stop word."""
    return [
        f"{one}_{other}"
        for one, other in pairwise(found)
        if one in STOP_WORDS or other in STOP_WORDS
    ]


def ranking_words(found: list[str]) -> list[str]:
    """Words to rank by: CJK in pairs of neighbours, which mean more than single characters."""
    return found if "".join(found).isascii() else list(_paired(found))


def _paired(found: list[str]) -> Iterator[str]:
    for at, word in enumerate(found):
        if not is_cjk(word):
            yield word
        elif at + 1 < len(found) and is_cjk(found[at + 1]):
            yield word + found[at + 1]
        elif at == 0 or not is_cjk(found[at - 1]):
            yield word
