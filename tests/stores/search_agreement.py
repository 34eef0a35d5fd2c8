"""Random search bodies over real documents, asked of the embedded search and of a real server."""

from __future__ import annotations

import json
import lzma
import random
import re
import tarfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.retrieval.data import read_library, split_front_matter
from carrel.rooms.knowledge.documents import (
    EVERYONE,
    NOTE_FIELDS,
    Checkpoint,
    Document,
    DocumentChange,
    FieldKind,
    Put,
)
from carrel.stores.csl_json.search_documents import REFERENCE_FIELDS, reference_document
from carrel.stores.paper_documents import PAPER_FIELDS

SHARED = Path(__file__).parents[3] / "shared" / "data"
# Enough for words that many documents share, and few enough for a test of a minute.
PAPERS = 2000
NOTES = 1500
_FIRST = datetime(2023, 1, 1, tzinfo=UTC)
Body = dict[str, Any]


class GivenDocuments:
    """A source that holds a list."""

    def __init__(
        self,
        index: str,
        fields: Mapping[str, FieldKind],
        documents: Sequence[Document],
        *,
        is_public: bool,
    ) -> None:
        self.index = index
        self.fields = fields
        self.documents = documents
        self.is_public = is_public

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        if since is None:
            for document in self.documents:
                yield Put(document)
            yield Checkpoint("done")


def real_sources() -> list[GivenDocuments]:
    """Notes, papers and references as the rooms make documents of them."""
    chance = random.Random(3)
    return [
        GivenDocuments("knowledge", NOTE_FIELDS, list(_notes(chance)), is_public=False),
        GivenDocuments("papers", PAPER_FIELDS, list(_papers(chance)), is_public=True),
        GivenDocuments(
            "references",
            REFERENCE_FIELDS,
            [
                Document(found.id, found.fields, (EVERYONE,))
                for item in read_library(SHARED, ["covid19-review", "deep-review", "elife_refs"])
                for found in [reference_document(item, "local")]
            ],
            is_public=False,
        ),
    ]


def _notes(chance: random.Random) -> Iterator[Document]:
    archives = sorted((SHARED / "notes").glob("*.tar.xz"))
    for archive in archives:
        with tarfile.open(archive) as tar:
            files = (member for member in tar if member.name.endswith(".md"))
            for member in islice(files, NOTES // len(archives)):
                file = tar.extractfile(member)
                if file is not None:
                    yield _note(member.name, file.read().decode(), chance)


def _note(name: str, text: str, chance: random.Random) -> Document:
    head, body = split_front_matter(text)
    saved = _FIRST + timedelta(hours=chance.randrange(24 * 700))
    changed = saved + timedelta(minutes=chance.randrange(60 * 24 * 90))
    organisms = head.get("organisms") or []
    tags = [name.split("/", maxsplit=1)[0], *(organisms if isinstance(organisms, list) else [])]
    fields: dict[str, object] = {
        "id": name,
        "title": str(head.get("title") or head.get("name") or Path(name).stem),
        "content": body or str(head.get("description") or "nothing"),
        "user_id": chance.choice(["ada", "bob"]),
        "source": "team",
        "status": chance.choice(["draft", "promoted"]),
        "tags": [str(tag) for tag in tags],
        "schema_version": chance.choice([1, 2]),
        "created_at": saved.isoformat(),
        "updated_at": changed.isoformat(),
    }
    if chance.random() < 0.5:
        fields["path"] = name
    return Document(re.sub(r"\W+", "-", name), fields, (EVERYONE,))


def _papers(chance: random.Random) -> Iterator[Document]:
    with lzma.open(SHARED / "papers" / "elife_metadata.jsonl.xz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number >= PAPERS:
                return
            paper = json.loads(line)
            fields: dict[str, object] = {
                "paper_id": str(number),
                "title": paper.get("title") or "",
                "summary": paper.get("abstract") or "",
                "authors": [
                    str(one.get("name", "")) if isinstance(one, dict) else str(one)
                    for one in paper.get("authors") or []
                ],
                "venue": "eLife",
                "keywords": [str(word) for word in paper.get("keywords") or []],
                "doi": paper.get("doi"),
            }
            if paper.get("year"):
                fields["year"] = int(paper["year"])
            yield Document(str(number), fields, (EVERYONE,))


@dataclass(slots=True)
class BodyMaker:
    """Bodies as models write them, from the words and values of one source."""

    source: GivenDocuments
    chance: random.Random
    allows_private_words: bool

    def body(self) -> Body:
        body: Body = {"query": self.query(2), "size": 20, "track_total_hits": True}
        kind = self.chance.random()
        if kind < 0.15:
            body["sort"] = [self._sort_key()]
        if kind > 0.75:
            body["aggs"] = {"a": self._aggregation()}
        if self.chance.random() < 0.05:
            body["post_filter"] = self.query(0)
        return body

    def query(self, depth: int) -> Body:
        makers: list[Callable[[], Body]] = [*self._leaves()]
        if depth:
            makers += [lambda: self._bool(depth)] * 5
            makers += [
                lambda: {"constant_score": {"filter": self.query(depth - 1)}},
                lambda: {
                    "dis_max": {
                        "queries": [self.query(depth - 1) for _ in range(2)],
                        "tie_breaker": 0.3,
                    }
                },
                lambda: {
                    "boosting": {
                        "positive": self.query(depth - 1),
                        "negative": self.query(0),
                        "negative_boost": 0.5,
                    }
                },
            ]
        return self.chance.choice(makers)()

    def _bool(self, depth: int) -> Body:
        inside: Body = {}
        for part, likely in (("must", 0.6), ("should", 0.5), ("filter", 0.3), ("must_not", 0.3)):
            if self.chance.random() < likely:
                inside[part] = [self.query(depth - 1) for _ in range(self.chance.randint(1, 2))]
        if "should" in inside and self.chance.random() < 0.3:
            inside["minimum_should_match"] = self.chance.choice([1, 2, "50%", "-1"])
        return {"bool": inside or {"must": [self.query(depth - 1)]}}

    def _leaves(self) -> list[Callable[[], Body]]:
        common: list[Callable[[], Body]] = [
            self._match,
            self._match,
            self._match_phrase,
            self._multi_match,
            self._simple,
            lambda: {"term": {self._exact(): self._value(self._last)}},
            lambda: {"terms": {self._exact(): [self._value(self._last) for _ in range(3)]}},
            lambda: {"prefix": {self._exact(): str(self._value(self._last))[:3]}},
            lambda: {"prefix": {self._text(): self.word()[:3].lower()}},
            lambda: {"wildcard": {self._text(): self._pattern(self.word().lower())}},
            lambda: {"wildcard": {self._exact(): self._pattern(str(self._value(self._last)))}},
            lambda: {"exists": {"field": self.chance.choice(list(self.source.fields))}},
            self._range,
            lambda: {"match_bool_prefix": {self._text(): f"{self.word()} {self.word()[:2]}"}},
            lambda: {"term": {self._text(): self.word().lower()}},
        ]
        if self.allows_private_words:
            common += [
                lambda: {"fuzzy": {self._text(): self.word().lower()}},
                lambda: {"match": {self._text(): {"query": self.word(), "fuzziness": "AUTO"}}},
                lambda: {"match_phrase_prefix": {self._text(): self._run(3)[:-2]}},
            ]
        return common

    _last: str = ""

    def _text(self) -> str:
        texts = [name for name, kind in self.source.fields.items() if kind == "text"]
        return self.chance.choice([*texts[:2], *texts])

    def _exact(self) -> str:
        exact = [name for name, kind in self.source.fields.items() if kind == "keyword"] + [
            f"{name}.keyword" for name, kind in self.source.fields.items() if kind == "text"
        ]
        self._last = self.chance.choice(exact)
        return self._last

    def _value(self, field: str) -> Any:
        for _ in range(30):
            document = self.chance.choice(self.source.documents)
            value = document.fields.get(field.removesuffix(".keyword"))
            if isinstance(value, list) and value:
                value = self.chance.choice(value)
            if value:
                return value
        return "none"

    def _some_text(self) -> str:
        for _ in range(50):
            text = self._value(self._text())
            if isinstance(text, str) and len(text.split()) > 3:
                return text
        return "a text of four"

    def word(self) -> str:
        words = [word for word in self._some_text().split() if len(word) > 3] or ["something"]
        return self.chance.choice(words)[:40]

    def _run(self, length: int) -> str:
        words = self._some_text().split()
        start = self.chance.randrange(max(len(words) - length, 1))
        return " ".join(words[start : start + length])

    def _pattern(self, text: str) -> str:
        text = re.sub(r"[*?\\]", "", text)[:30] or "x"
        if len(text) < 4:
            return f"{text}*"
        at = self.chance.randrange(2, len(text))
        sign = self.chance.choice(["*", "?", "*"])
        return f"{text[:at]}{sign}{text[at + 1 :] if sign == '?' or at % 2 else ''}"

    def _match(self) -> Body:
        text = " ".join(self.word() for _ in range(self.chance.randint(1, 4)))
        options: Body = {"query": text}
        if self.chance.random() < 0.3:
            options["operator"] = "and"
        if self.chance.random() < 0.2:
            options["minimum_should_match"] = self.chance.choice([2, "75%", "-1", "60%"])
        return {"match": {self._text(): options}}

    def _match_phrase(self) -> Body:
        options: Body = {"query": self._run(self.chance.randint(2, 3))}
        if self.chance.random() < 0.2:
            options["slop"] = self.chance.randint(1, 3)
        return {"match_phrase": {self._text(): options}}

    def _multi_match(self) -> Body:
        fields = [f"{self._text()}^2", self._text()]
        kind = self.chance.choice(["best_fields", "most_fields", "phrase", "cross_fields"])
        options: Body = {"query": self._run(2), "fields": fields, "type": kind}
        if self.chance.random() < 0.3 and kind != "phrase":
            options["operator"] = "and"
        return {"multi_match": options}

    def _simple(self) -> Body:
        word = self.word
        text = self.chance.choice(
            [
                f"{word()} {word()}",
                f"+{word()} -{word()}",
                f"{word()} | {word()} + {word()}",
                f'"{self._run(2)}" {word()}',
                f"({word()} | {word()}) + {word()[:4]}*",
                f"{word()}*",
            ]
        )
        operator = self.chance.choice(["and", "or"])
        fields = [self._text(), self._text()]
        return {
            "simple_query_string": {"query": text, "fields": fields, "default_operator": operator}
        }

    def _range(self) -> Body:
        kinds = self.source.fields
        field = self.chance.choice(
            [name for name, kind in kinds.items() if kind in {"number", "date"}]
        )
        if kinds[field] == "number":
            low = self._value(field)
            return {"range": {field: {self.chance.choice(["gt", "gte"]): low}}}
        moment = _FIRST + timedelta(hours=self.chance.randrange(24 * 800))
        written = self.chance.choice(
            [
                moment.isoformat(),
                moment.date().isoformat(),
                f"{moment:%Y-%m}",
                f"{moment:%Y}",
                f"{moment.date()}||/M",
                f"{moment.date()}||+1M/d",
                "now-2y/d",
                f"now-{self.chance.randrange(100, 900)}d",
                "now-18M/M",
            ]
        )
        return {"range": {field: {self.chance.choice(["gt", "gte", "lt", "lte"]): written}}}

    def _sort_key(self) -> Body:
        exact = [
            name
            for name, kind in self.source.fields.items()
            if kind in {"keyword", "number", "date"}
        ]
        return {self.chance.choice(exact): self.chance.choice(["asc", "desc"])}

    def _aggregation(self) -> Body:
        kinds = self.source.fields
        numbers = [name for name, kind in kinds.items() if kind in {"number", "date"}]
        dates = [name for name, kind in kinds.items() if kind == "date"]
        inside: Body = {"aggs": {"b": {"stats": {"field": self.chance.choice(numbers)}}}}
        choices: list[Body] = [
            {"terms": {"field": self._exact(), "size": 5}},
            {"terms": {"field": self._exact(), "size": 3, "order": {"_key": "asc"}}} | inside,
            {"stats": {"field": self.chance.choice(numbers)}},
            {"cardinality": {"field": self._exact()}},
            {"value_count": {"field": self._exact()}},
            {"missing": {"field": self._exact()}},
            {"filter": self.query(0)} | inside,
        ]
        if dates:
            interval = self.chance.choice(["day", "week", "month", "quarter", "year"])
            choices += [
                {"date_histogram": {"field": dates[0], "calendar_interval": interval}},
                {"date_histogram": {"field": dates[0], "fixed_interval": "30d"}} | inside,
            ]
        return self.chance.choice(choices)
