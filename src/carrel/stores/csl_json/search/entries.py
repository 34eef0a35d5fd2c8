"""A reference as an entry of the search index, and the signs that tell its words' kinds apart."""

from __future__ import annotations

from dataclasses import dataclass

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.passages import cut_passages, passage_ids
from carrel.rooms.references.items import Item, keywords, names_text, tags, text_of, year_of
from carrel.rooms.references.matching import all_text, capital_words, field_text, identifiers
from carrel.rooms.references.queries import CONTENT_FIELDS, IDENTIFIER_FIELDS
from carrel.stores.search.schema import IndexedDocument

# Stands between the kind of a word and the word; no text has it, and it is no space.
MARK = "\x01"
PLAIN = "plain"
CAPITALS = "capitals"
_KINDS = {
    PLAIN: "",
    CAPITALS: f"AB{MARK}",
    **{name: f"{name[:2]}{MARK}" for name in CONTENT_FIELDS},
}
_IDENTIFIERS = sorted(IDENTIFIER_FIELDS)
MAX_YEAR = 9999


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The entry of a reference, and its words by kind, which can be found by a part of them."""

    document: IndexedDocument
    words: dict[str, list[str]]
    passages: list[IndexedDocument]


def kind_mark(kind: str) -> str:
    """What stands before the words of a kind in the index."""
    return _KINDS[kind]


def make_entry_of(row: int, item: Item, body: str) -> IndexEntry:
    """The entry of a reference; `body` is its attached text."""
    names = names_text(item)
    content = _clean(all_text(item))
    year = year_of(item) or 0
    words = {PLAIN: fold_text(content).split(" "), CAPITALS: capital_words(content)}
    for name in CONTENT_FIELDS:
        text = names if name == "author" else field_text(item, name)
        words[name] = fold_text(_clean(text)).split(" ")
    words = {kind: found for kind, found in words.items() if found and found[0]}
    document = IndexedDocument(
        row=row,
        id=_clean(text_of(item, "id")),
        title=_clean(text_of(item, "title") or text_of(item, "title-short")),
        text=_clean(_ranked_text(item, names)),
        body=_clean(body),
        year=year if 0 < year <= MAX_YEAR else 0,
        keys=[row_key(row), *_identifier_keys(item)],
        tokens=[_join_words(kind, found) for kind, found in words.items()],
    )
    return IndexEntry(document, words, make_passages(row, item, body))


def make_passages(row: int, item: Item, body: str) -> list[IndexedDocument]:
    """The passages of an attached text, each an entry with its number in the text."""
    if not body:
        return []
    text = _clean(body)
    title = _clean(text_of(item, "title"))
    passages = cut_passages(text)
    ids = passage_ids(_clean(text_of(item, "id")), text, passages)
    return [
        IndexedDocument(
            row=row,
            id=passage_id,
            number=passage.number,
            title=title,
            title_times=1,
            text=text[passage.start : passage.end],
            keys=[row_key(row)],
        )
        for passage, passage_id in zip(passages, ids, strict=True)
    ]


def row_key(row: int) -> str:
    """The key by which one entry is removed."""
    return f"row{MARK}{row}"


def identifier_key(field: str, value: str) -> str:
    """The key under which references with this value of an identifier are found."""
    return f"{field}{MARK}{value}"


def _identifier_keys(item: Item) -> list[str]:
    return [
        identifier_key(field, _clean(value))
        for field in _IDENTIFIERS
        for value in identifiers(item, field)
    ]


def _join_words(kind: str, words: list[str]) -> str:
    mark = _KINDS[kind]
    return mark + f" {mark}".join(words)


def _clean(text: str) -> str:
    """A text that can be written; halves of characters become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _ranked_text(item: Item, names: str) -> str:
    parts = (
        names,
        text_of(item, "container-title"),
        text_of(item, "abstract"),
        "; ".join(keywords(item)),
        "; ".join(tags(item)),
        text_of(item, "note"),
        text_of(item, "publisher"),
        text_of(item, "id"),
    )
    return "\n".join(part for part in parts if part)
