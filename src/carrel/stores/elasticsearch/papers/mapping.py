"""The three indices of papers: their fields, and a paper as the documents of each.

Words are folded, cut and stemmed here, as for the embedded index, and only parted at spaces in the
cluster: so both rank alike, by the same words with the same weights.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from carrel.libraries.query.elasticsearch.analyzer import ANALYSIS_SETTINGS
from carrel.libraries.text.analysis import exact_text, ranking_text
from carrel.libraries.text.folding import text_key
from carrel.stores.elasticsearch.fields import DIGEST, DOCUMENT_ID, HELD, READERS, field_types
from carrel.stores.indexed_papers import IndexedPaper, SentVector
from carrel.stores.paper_documents import PAPER_FIELDS
from carrel.stores.search.compiler import stem
from carrel.stores.search.schema import FACETS, HAS_BODY, IndexedDocument, common_pairs

# Which fields the indices have and how words are cut; others are made anew beside those in use.
FORMAT = "1"
KINDS = ("papers", "passages", "texts")
# Fields whose words are only searched, and never sent back.
_WORDS = "w_"
# Fields of papers that are searched and sorted by alone: search bodies of others do not show them.
_UNSHOWN = [f"{_WORDS}*", "f_*", "row", "number", "weight", "newness", "key", "title_key"]
# Elasticsearch takes terms of 32,766 bytes.
_LONGEST_KEY = 8_000
# A text longer than this is held in several documents.
PART_BYTES = 1_000_000
_UNCUT = {"type": "keyword", "ignore_above": _LONGEST_KEY}


def word_field(name: str) -> str:
    """The name of a field of the embedded index in the cluster."""
    return name if name in {"key", "title_key"} else f"{_WORDS}{name}"


def _words(options: str, *, has_norms: bool = True) -> dict[str, Any]:
    return {
        "type": "text",
        "analyzer": "carrel_words",
        "index_options": options,
        **({} if has_norms else {"norms": False}),
    }


_RANKED: dict[str, Any] = {
    "row": {"type": "long"},
    "number": {"type": "integer"},
    "weight": {"type": "short"},
    "newness": {"type": "long"},
    "w_text": _words("freqs"),
    "w_exact": _words("positions"),
    "w_title": _words("positions"),
    "w_pairs": _words("docs"),
}


def settings(shards: int) -> dict[str, Any]:
    """Searches see what was written when a run ends, so that no paper is there by half."""
    return {
        "analysis": ANALYSIS_SETTINGS,
        "number_of_shards": shards,
        "refresh_interval": "-1",
        "codec": "best_compression",
    }


def mappings(kind: str, meta: Mapping[str, Any], dimensions: int | None = None) -> dict[str, Any]:
    """The mapping of one of the indices, with what we note about it."""
    properties: dict[str, Any]
    match kind:
        case "papers":
            properties = {
                **field_types(PAPER_FIELDS),
                **_RANKED,
                "w_body": _words("docs", has_norms=False),
                **{word_field(name): _words("positions") for name in FACETS},
                **{f"f_{name}": _UNCUT for name in FACETS},
                "key": _UNCUT,
                "title_key": _UNCUT,
                READERS: {"type": "keyword"},
                DOCUMENT_ID: {"type": "keyword"},
                DIGEST: {"type": "keyword", "index": False},
            }
        case "passages":
            properties = {**_RANKED, "year": {"type": "integer"}}
            if dimensions is not None:
                properties["vector"] = {
                    "type": "dense_vector",
                    "dims": dimensions,
                    "index": True,
                    "similarity": "dot_product",
                    "index_options": {"type": "int8_hnsw", "m": 16, "ef_construction": 100},
                }
        case _:
            properties = {"row": {"type": "long"}, "name": _UNCUT, "part": {"type": "integer"}}
    return {
        "dynamic": False,
        "_meta": {"carrel": dict(meta)},
        "_source": {"excludes": _UNSHOWN if kind == "papers" else [f"{_WORDS}*", "vector"]},
        "properties": properties,
    }


def paper_source(paper: IndexedPaper, digest: str) -> dict[str, Any]:
    """A paper as a document of `papers`: shown, ranked, counted, and read from its record."""
    source: dict[str, Any] = {
        **paper.document.fields,
        **_ranked_fields(paper.ranked),
        "w_body": " ".join(_body_words(paper.ranked)),
        READERS: list(paper.document.readers),
        DOCUMENT_ID: paper.document.id,
        DIGEST: digest,
        "key": [*paper.ranked.keys, *([HAS_BODY] if paper.ranked.body else [])],
        "title_key": text_key(paper.ranked.title),
    }
    for category, values in paper.ranked.facets.items():
        source[word_field(category)] = [exact_text(value) for value in values]
    for category, values in paper.facets.items():
        source[f"f_{category}"] = list(values)
    if paper.record is not None:
        source[HELD] = {
            "row": paper.row,
            "record": base64.b64encode(paper.record).decode("ascii"),
            "other_texts": list(paper.other_texts),
        }
    return source


def passage_sources(
    paper: IndexedPaper, vectors: Mapping[int, SentVector]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The passages of a paper as documents of `passages`, each with its id."""
    for each in paper.passages:
        source = {**_ranked_fields(each.document), "year": each.document.year or None}
        source["passage"] = dict(each.facts)
        yield (
            f"{paper.row}-{each.document.number}",
            {**source, **_vector_fields(vectors.get(each.document.number))},
        )
    # Of a paper as a whole: near to a question by its title and abstract.
    for number in vectors.keys() - {each.document.number for each in paper.passages}:
        facts = {"row": paper.row, "number": number, "weight": 0}
        yield f"{paper.row}-{number}", {**facts, **_vector_fields(vectors[number])}


def text_sources(paper: IndexedPaper, most_bytes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The texts of a paper in parts; one that is longer than allowed is left out."""
    for name, body in paper.texts():
        if len(body) > most_bytes:
            continue
        marked = hashlib.sha256(name.encode()).hexdigest()[:32]
        for number, first in enumerate(range(0, max(len(body), 1), PART_BYTES)):
            part = base64.b64encode(body[first : first + PART_BYTES]).decode("ascii")
            yield (
                f"{paper.row}-{marked}-{number}",
                {"row": paper.row, "name": name, "part": number, "body": part},
            )


def content_digest(content: object) -> str:
    """A short name for the content of a paper."""
    dumped = content if isinstance(content, bytes) else orjson.dumps(content, default=str)
    return hashlib.blake2b(dumped, digest_size=12).hexdigest()


def _ranked_fields(document: IndexedDocument) -> dict[str, Any]:
    """What the embedded index would be given, in the same order."""
    lines = document.text.split("\n")
    exact = [" ".join(filter(None, map(exact_text, lines)))]
    ranked = [" ".join(filter(None, map(ranking_text, lines)))]
    title = ""
    if document.title:
        title = exact_text(document.title)
        exact.insert(0, title)
        ranked = [ranking_text(document.title)] * document.title_times + ranked
    if document.body:
        pieces = [document.body] if isinstance(document.body, str) else document.body
        exact.append(" ".join(map(exact_text, pieces)))
    return {
        "row": document.row,
        "number": document.number,
        "weight": document.weight,
        "newness": document.newness,
        "w_text": " ".join(stem(word) for text in ranked for word in text.split()),
        "w_exact": exact,
        "w_title": title,
        "w_pairs": " ".join(common_pairs(words) for words in exact),
    }


def _vector_fields(vector: SentVector | None) -> dict[str, Any]:
    return {} if vector is None else {"vector": list(vector.numbers), "code": vector.code}


def _body_words(document: IndexedDocument) -> dict[str, None]:
    pieces = [document.body] if isinstance(document.body, str) else document.body
    known = dict.fromkeys(term for piece in pieces for term in ranking_text(piece).split())
    return dict.fromkeys(map(stem, known))
