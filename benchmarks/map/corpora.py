"""Corpora for the judge of the map: real ones, halves of them, and large ones of spliced texts."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import random
from collections.abc import Iterator
from pathlib import Path

from carrel.libraries.map_layout import MapText


def scifact(data: Path) -> list[MapText]:
    """5,183 abstracts of biomedicine."""
    with gzip.open(
        data / "retrieval" / "scifact" / "corpus.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        return [
            MapText(f"scifact-{each['_id']}", each["title"], each["text"])
            for each in map(json.loads, lines)
        ]


def elife(data: Path) -> list[MapText]:
    """19,442 articles with abstracts and keywords."""
    with lzma.open(data / "papers" / "elife_metadata.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [
            MapText(
                each["id"],
                each["title"],
                each.get("abstract") or "",
                tuple(each.get("keywords") or ()),
                each["year"],
            )
            for each in map(json.loads, lines)
        ]


def is_for_choosing(text: MapText) -> bool:
    """Whether a text is in the half on which constants are chosen."""
    return hashlib.blake2b(text.id.encode(), digest_size=1).digest()[0] % 2 == 0


def splice_abstracts(data: Path, count: int, seed: int = 65) -> Iterator[MapText]:
    """As many texts as asked for: real ones first, then the halves of two with a common keyword."""
    real = [*elife(data), *scifact(data)]
    chance = random.Random(seed)
    chance.shuffle(real)
    yield from real[:count]
    by_keyword: dict[str, list[MapText]] = {}
    for text in real:
        for keyword in text.keywords:
            by_keyword.setdefault(keyword, []).append(text)
    groups = [texts for keyword, texts in sorted(by_keyword.items()) if 5 <= len(texts) <= 400]
    for number in range(max(0, count - len(real))):
        one, other = chance.sample(chance.choice(groups), 2)
        first, second = one.abstract.split(". "), other.abstract.split(". ")
        abstract = ". ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])
        title = f"{one.title} ({number})"
        yield MapText(f"made-{number}", title, abstract, other.keywords, one.year)
