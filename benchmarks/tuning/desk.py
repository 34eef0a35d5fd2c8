"""Fits the order of search_desk: generated questions over papers, notes and references.

Each question is some words of one item's title and best passage. Rooms are plain BM25, so that only
the order across rooms is measured. `python -m benchmarks.tuning.desk DATA` takes the shared data
folder and prints how often the item is first and among the first three, for each setting.
"""

from __future__ import annotations

import json
import math
import random
import re
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from carrel.libraries.query.desk_ranking import WEIGHTS, RoomHit, Weights, rank_hits
from carrel.libraries.text.analysis import analyze_document, analyze_query
from carrel.libraries.text.front_matter import split_front_matter
from carrel.libraries.text.passages import cut_passages
from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import STOP_WORDS

QUESTIONS_PER_ROOM = 120
HITS_PER_ROOM = 20
SEED = 3
_BEGINNINGS = ("", "what do I have on ", "anything about ", "find ", "where did I read about ")
_TITLE_LINE = re.compile(r'^(?:name|title): *"?(.*?)"?$', re.MULTILINE)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9-]{3,}")


@dataclass(frozen=True)
class Piece:
    """A passage of an item."""

    item: str
    title: str
    text: str


class Room:
    """Pieces ranked by BM25."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for at, piece in enumerate(pieces):
            counts = Counter(map(light_stem, analyze_document(f"{piece.title} {piece.text}")))
            self._lengths.append(max(1, counts.total()))
            for term, count in counts.items():
                self._postings[term].append((at, count))
        self._average = sum(self._lengths) / len(self._lengths)

    def search(self, query: str) -> list[Piece]:
        """The best piece of each of the best items."""
        scores: dict[int, float] = defaultdict(float)
        terms = {light_stem(term) for word in analyze_query(query) for term in word.choices[0]}
        for term in terms:
            found = self._postings.get(term, [])
            rarity = math.log(1 + (len(self.pieces) - len(found) + 0.5) / (len(found) + 0.5))
            for at, count in found:
                norm = 1.2 * (0.25 + 0.75 * self._lengths[at] / self._average)
                scores[at] += rarity * count * 2.2 / (count + norm)
        best: dict[str, Piece] = {}
        for at in sorted(scores, key=lambda each: -scores[each]):
            best.setdefault(self.pieces[at].item, self.pieces[at])
            if len(best) == HITS_PER_ROOM:
                break
        return list(best.values())


def _texts(archive: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(archive) as opened:
        for member in opened:
            file = opened.extractfile(member) if member.name.endswith(".md") else None
            if file is not None:
                yield member.name, file.read().decode("utf-8", "replace")


def _cut(archive: Path) -> Iterator[Piece]:
    for name, text in _texts(archive):
        parts = split_front_matter(text)
        titled = _TITLE_LINE.search(parts.block or "")
        title = titled[1] if titled else Path(name).stem
        for passage in cut_passages(parts.body):
            if passage.kind != "references":
                yield Piece(name, title, parts.body[passage.start : passage.end])


def _references(file: Path) -> Iterator[Piece]:
    for item in json.loads(file.read_text("utf-8")):
        people = " ".join(str(one.get("family", "")) for one in item.get("author", []))
        facts = (people, item.get("container-title"), item.get("abstract"))
        if item.get("title"):
            text = " ".join(str(fact) for fact in facts if fact)
            yield Piece(str(item["id"]), str(item["title"]), text)


def load_rooms(data: Path) -> dict[str, Room]:
    """The three rooms of the shared data."""
    notes = sorted((data / "notes").glob("*.tar.xz"))
    libraries = sorted((data / "citations").glob("*-review_library.csl.json"))
    return {
        "papers": Room(list(_cut(data / "papers" / "elife_fulltext_md.tar.xz"))),
        "knowledge": Room([piece for archive in notes for piece in _cut(archive)]),
        "references": Room([piece for file in libraries for piece in _references(file)]),
    }


def make_questions(rooms: dict[str, Room]) -> list[tuple[str, str, str]]:
    """Room, item and question, from words of a piece."""
    chance = random.Random(SEED)
    found: list[tuple[str, str, str]] = []
    for name, room in rooms.items():
        for _ in range(QUESTIONS_PER_ROOM):
            piece = chance.choice(room.pieces)
            title = [word for word in _WORD.findall(piece.title) if word.lower() not in STOP_WORDS]
            body = [word for word in _WORD.findall(piece.text) if word.lower() not in STOP_WORDS]
            words = chance.sample(title, min(chance.choice((0, 1, 1, 2)), len(title)))
            words += chance.sample(body, min(chance.choice((1, 2, 2, 3)), len(body)))
            if len(words) >= 3:
                chance.shuffle(words)
                question = chance.choice(_BEGINNINGS) + " ".join(words).lower()
                found.append((name, piece.item, question))
    return found


def measure(
    rooms: dict[str, Room], questions: Sequence[tuple[str, str, str]], weights: Weights
) -> tuple[float, float]:
    """How often the right item is first, and among the first three."""
    first = among = 0
    for name, item, question in questions:
        hits: list[RoomHit] = []
        ids: list[tuple[str, str]] = []
        for room_name, room in rooms.items():
            for place, piece in enumerate(room.search(question)):
                hits.append(RoomHit(room_name, place, piece.title, piece.text))
                ids.append((room_name, piece.item))
        order = [ids[at] for at in rank_hits(question, hits, weights)[:3]]
        first += order[:1] == [(name, item)]
        among += (name, item) in order
    return first / len(questions), among / len(questions)


def main() -> int:
    rooms = load_rooms(Path(sys.argv[1]))
    questions = make_questions(rooms)
    print(f"{len(questions)} questions")
    for title in (0.2, 0.5, 0.8):
        for share in (0.0, 0.2, 0.4):
            for place in (0.0, 0.15, 0.3, 0.6):
                weights = replace(WEIGHTS, title=title, title_share=share, place=place)
                first, among = measure(rooms, questions, weights)
                print(f"title {title} share {share} place {place}: {first:.3f} {among:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
