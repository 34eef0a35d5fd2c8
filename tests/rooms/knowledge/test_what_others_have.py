"""Order, scores and counts depend on nothing that the reader may not see: with or without others'
private notes, every answer
is the same, byte for byte."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from carrel.core.answer import split_explanation
from carrel.core.errors import CarrelError
from carrel.rooms.knowledge.notes import Insert, Note, Remove
from carrel.wiring.desk import open_desk
from carrel.wiring.knowledge import open_stores
from tests.rooms.knowledge.desk import ADA, CHIEF, asking_why, settings_at

WORDS = ("magnesium", "migraine", "channel", "ion", "the", "知識管理", "müller")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@dataclass(frozen=True)
class Written:
    title: str
    content: str
    tags: tuple[str, ...]
    owner: str
    status: str


notes = st.builds(
    Written,
    title=texts,
    content=texts,
    tags=st.lists(st.sampled_from(("a", "b")), max_size=2, unique=True).map(tuple),
    owner=st.sampled_from(("ada", "team")),
    status=st.sampled_from(("draft", "proposed")),
)
hidden_notes = st.builds(
    Written,
    title=texts,
    content=texts,
    tags=st.lists(st.sampled_from(("a", "b")), max_size=2, unique=True).map(tuple),
    owner=st.sampled_from(("bob", "carol")),
    status=st.just("draft"),
)

PHRASES = ("magnesium", "ion channel", "the migraine magnesium", "管理")
QUERIES = (
    "*",
    "m",
    "the",
    "#a",
    "#a #b",
    "text:magnesium",
    'text:the "ion channel"',
    "text:知識",
    "#a text:ion",
    "#a magnesium channel",
    "does magnesium help migraine",
    "ion müller 管理",
    "channels of ions",
    "mullerr migrane",
    "nothing of the kind",
    "#b/c",
)


def bodies() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for phrase in PHRASES:
        found += [
            {"query": {"match": {"content": phrase}}},
            {"query": {"match": {"content": {"query": phrase, "operator": "and"}}}},
            {"query": {"match": {"content": {"query": phrase, "minimum_should_match": 2}}}},
            {
                "query": {"match_phrase": {"content": phrase}},
                "highlight": {"fields": {"content": {}}},
            },
            {
                "query": {
                    "multi_match": {
                        "query": phrase,
                        "fields": ["title^3", "content", "tags"],
                        "tie_breaker": 0.3,
                    }
                }
            },
            {"query": {"multi_match": {"query": phrase, "type": "most_fields", "fields": ["*"]}}},
            {"query": {"term": {"content": phrase}}},
            {"query": {"prefix": {"content": phrase[:2]}}},
        ]
    found += [
        {"query": {"match_all": {}}, "sort": ["_doc"], "aggs": {"t": {"terms": {"field": "tags"}}}},
        {
            "query": {"bool": {"should": [{"match": {"content": "the"}}, {"term": {"tags": "a"}}]}},
            "from": 1,
            "size": 3,
        },
        {"query": {"bool": {"must_not": [{"match": {"content": "the"}}]}}},
        {"query": {"exists": {"field": "tags"}}, "sort": [{"title.keyword": "asc"}, "_score"]},
        {
            "size": 0,
            "aggs": {"u": {"terms": {"field": "user_id"}}, "s": {"terms": {"field": "status"}}},
        },
    ]
    return found


def a_note(written: Written, number: int) -> Note:
    is_team = written.owner == "team"
    moment = BEGAN + timedelta(minutes=number)
    return Note(
        id=f"{written.owner}{number:04d}",
        title=written.title,
        content=written.content,
        user_id="chief" if is_team else written.owner,
        source="team" if is_team else "personal",
        status="promoted" if is_team else written.status,  # type: ignore[arg-type]
        tags=written.tags,
        created_at=moment,
        updated_at=moment,
    )


def answers(
    home: Path, visible: list[Written], hidden: list[Written], deleted: list[Written]
) -> list[bytes]:
    """Everything that a reader and somebody who may promote are told, on a desk with these
    notes.
    """
    settings_here = settings_at(home)

    async def work() -> list[bytes]:
        stores = open_stores(settings_here)
        for number in range(max(len(visible), len(hidden), len(deleted))):
            # Written by turns, so that the notes of others stand between those that are seen.
            if number < len(hidden):
                await stores.notes.write([Insert(a_note(hidden[number], 2000 + number), "them")])
            if number < len(deleted):
                gone = a_note(deleted[number], 3000 + number)
                await stores.notes.write([Insert(gone, "them")])
                await stores.notes.write([Remove(gone.id, gone.updated_at)])
            if number < len(visible):
                await stores.notes.write([Insert(a_note(visible[number], number), "us")])
        await stores.notes.close()
        told: list[bytes] = []
        desk = open_desk(settings_here)
        async with desk.session():
            ask = asking_why(desk)
            for who in (ADA, CHIEF):
                for order in ("best", "newest"):
                    told += [
                        await _told(ask, who, "search_knowledge", query=one, order=order, limit=5)
                        for one in QUERIES
                    ]
                    told += [
                        await _told(
                            ask, who, "list_knowledge", query=one, order=order, limit=3, offset=1
                        )
                        for one in QUERIES
                    ]
                told += [
                    await _told(ask, who, "get_knowledge_graph", id=f"{whose}0000", depth=2)
                    for whose in ("ada", "team")
                ]
                told += [
                    await _told(ask, who, "elasticsearch", index="knowledge", query=body)
                    for body in bodies()
                ]
        return told

    return asyncio.run(work())


async def _told(ask: Any, who: Any, name: str, **arguments: object) -> bytes:
    try:
        answer = await ask(who, name, **arguments)
    except CarrelError as error:
        return orjson.dumps(error.to_facts())
    answer, explanation = split_explanation(answer)
    if explanation is not None:
        whole = [answer, explanation.model_dump(mode="json")]
        return orjson.dumps(whole, default=lambda one: one.model_dump(mode="json"))
    facts = TypeAdapter(type(answer)).dump_python(answer, mode="json")
    if isinstance(facts, dict):
        facts.pop("took", None)
    return orjson.dumps(facts, default=lambda one: one.model_dump(mode="json"))


@pytest.mark.promise("K8", "A6")
@settings(max_examples=12, deadline=None)
@given(
    visible=st.lists(notes, min_size=1, max_size=8),
    hidden=st.lists(hidden_notes, min_size=1, max_size=12),
    deleted=st.lists(hidden_notes, max_size=3),
)
def test_others_private_notes_change_no_answer(
    visible: list[Written], hidden: list[Written], deleted: list[Written]
) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        assert answers(Path(one), visible, [], []) == answers(Path(other), visible, hidden, deleted)
