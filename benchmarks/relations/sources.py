"""The abstracts that labelled sentences were drawn from, read where they lie."""

import gzip
import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from carrel.libraries.discovery.connections.sentences import sentences

ELIFE = "papers/elife_metadata.jsonl.xz"
SCIFACT = "retrieval/scifact/sentences.jsonl.gz"
S2ORC = "services/dumps/s2orc-2020/metadata_sample.jsonl.gz"
OPENALEX = "services/dumps/openalex/works/*/*.gz"
ARXIV = "services/dumps/arxiv-kaggle/*.json"

LIFE_SCIENCES = frozenset({"Biology", "Medicine"})
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class SourceSentence:
    """A sentence of an abstract with the file and record it stands in."""

    source: str
    record: str
    field: str
    text: str

    @property
    def hash(self) -> str:
        """What names the sentence in the labels, which do not hold its text."""
        return sha256(self.text.encode()).hexdigest()[:16]


def elife(data: Path) -> Iterator[SourceSentence]:
    """Sentences of eLife abstracts."""
    with lzma.open(data / ELIFE, "rt", encoding="utf-8") as lines:
        for line in lines:
            paper = json.loads(line)
            yield from _cut("elife", paper["id"], "life sciences", paper.get("abstract") or "")


def scifact(data: Path) -> Iterator[SourceSentence]:
    """Sentences of SciFact abstracts, as that collection cuts them."""
    with gzip.open(data / SCIFACT, "rt", encoding="utf-8") as lines:
        for line in lines:
            paper = json.loads(line)
            for text in paper["sentences"]:
                yield SourceSentence("scifact", str(paper["_id"]), "medicine", _space(text))


def other_fields(data: Path) -> Iterator[SourceSentence]:
    """Sentences of abstracts outside the life sciences."""
    with gzip.open(data / S2ORC, "rt", encoding="utf-8") as lines:
        for line in lines:
            paper = json.loads(line)
            fields = paper.get("mag_field_of_study") or []
            if fields and not LIFE_SCIENCES & set(fields):
                yield from _cut("s2orc", paper["paper_id"], fields[0], paper.get("abstract") or "")
    for part in sorted(data.glob(OPENALEX)):
        with gzip.open(part, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from _openalex(json.loads(line))
    for part in sorted(data.glob(ARXIV)):
        for line in part.read_text(encoding="utf-8").splitlines():
            paper = json.loads(line)
            yield from _cut("arxiv", paper["id"], "physics and mathematics", paper["abstract"])


def _openalex(work: dict[str, object]) -> Iterator[SourceSentence]:
    places = work.get("abstract_inverted_index")
    if work.get("language") != "en" or not isinstance(places, dict):
        return
    words = sorted((place, word) for word, found in places.items() for place in found)
    topic = work.get("primary_topic")
    field = topic["field"]["display_name"] if isinstance(topic, dict) else "unknown"
    yield from _cut("openalex", str(work["id"]), field, " ".join(word for _, word in words))


def _cut(source: str, record: str, field: str, abstract: str) -> Iterator[SourceSentence]:
    for text in sentences(_space(abstract)):
        yield SourceSentence(source, record, field, text)


def _space(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
