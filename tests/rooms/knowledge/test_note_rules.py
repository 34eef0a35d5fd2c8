"""Rules of notes at their edges: who may do what to whose note, and what a refusal leaves alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from carrel.core.answer_encoding import quoted_sources
from carrel.core.caller import Caller
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError, ConflictError, InvalidInputError, NotFoundError
from carrel.rooms.knowledge.errors import (
    IndexNotAllowedError,
    KnowledgeStoreError,
    NoteChangedError,
)
from carrel.rooms.knowledge.models import SearchAnswer
from carrel.rooms.knowledge.notes import (
    Change,
    FoundIds,
    Insert,
    ListedIds,
    Note,
    NoteListing,
    RankedSearch,
    Replace,
    Shelf,
)
from carrel.rooms.knowledge.ports import NoteStore
from carrel.rooms.knowledge.service import Knowledge
from carrel.stores.sqlite.knowledge import sqlite_knowledge
from carrel.wiring.desk import open_desk
from tests.rooms.knowledge.desk import ADA, BOB, CHIEF, Ask, asking, at_the_desk, settings_at
from tests.stores.contracts.knowledge import a_note, at


async def _code(call: Awaitable[Any]) -> str:
    with pytest.raises(CarrelError) as refused:
        await call
    return refused.value.code


def test_answers_quote_the_notes_of_others_and_never_the_callers_own(tmp_path: Path) -> None:
    desk = open_desk(settings_at(tmp_path))

    async def work() -> None:
        async with desk.session():
            ask = asking(desk)

            async def quoted(who: Caller, name: str, **arguments: object) -> list[tuple[str, str]]:
                answer = await ask(who, name, **arguments)
                quotes = desk.catalogue.operations[name].quotes
                found = quoted_sources(quotes, arguments, answer, who)
                return [(source.kind, source.id) for source in found]

            own = await ask(ADA, "save_knowledge", title="Plan of Ada", content="x")
            team = await ask(CHIEF, "save_knowledge", title="Plan", content="x", source="team")
            assert await quoted(ADA, "search_knowledge", query="plan") == [("note", team.id)]
            assert await quoted(CHIEF, "search_knowledge", query="plan") == []
            assert await quoted(ADA, "get_knowledge", id=team.id) == [("note", team.id)]
            assert await quoted(ADA, "get_knowledge", id=own.id) == []
            assert await quoted(ADA, "get_knowledge_history", id=team.id) == [("note", team.id)]
            assert await quoted(ADA, "get_knowledge_history", id=own.id) == []
            names = ["Plan", "nothing of that name"]
            nodes = await quoted(ADA, "node_knowledge_retriever", node_names=names)
            assert nodes == [("node", "Plan")]
            body: dict[str, object] = {"query": {"match_all": {}}}
            index = await quoted(ADA, "elasticsearch", index="knowledge", query=body)
            assert index == [("index", "knowledge")]

    asyncio.run(work())


def test_a_time_without_a_zone_is_utc_and_any_zone_names_the_same_moment(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        seen = (await ask(ADA, "save_knowledge", content="one")).updated_at
        note_id = (await ask(ADA, "search_knowledge", query="*"))[0].id
        moment = datetime.fromisoformat(seen)
        elsewhere = moment.astimezone(timezone(timedelta(hours=5)))
        assert elsewhere.isoformat() != seen
        saved = await ask(
            ADA, "save_knowledge", id=note_id, content="two", updated_at=elsewhere.isoformat()
        )
        naive = datetime.fromisoformat(saved.updated_at).replace(tzinfo=None).isoformat()
        await ask(ADA, "save_knowledge", id=note_id, content="three", updated_at=naive)
        # The same digits in another zone are another moment.
        other = moment.replace(tzinfo=timezone(timedelta(hours=5))).isoformat()
        with pytest.raises(ConflictError):
            await ask(ADA, "save_knowledge", id=note_id, content="four", updated_at=other)
        assert (await ask(ADA, "get_knowledge", id=note_id)).content == "three"

    at_the_desk(tmp_path, work)


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "half \ud800"},
        {"content": "x", "title": "half \udfff"},
        {"content": "x", "title": "a\x00b"},
        {"content": "x", "tags": ["a\x00b"]},
        {"content": "x", "tags": ["half \ud800"]},
        {"content": "x", "tags": ["##  "]},
    ],
)
def test_what_no_store_can_hold_is_refused_in_every_field(
    tmp_path: Path, arguments: dict[str, object]
) -> None:
    async def work(ask: Ask) -> None:
        with pytest.raises(InvalidInputError):
            await ask(ADA, "save_knowledge", **arguments)
        assert await ask(ADA, "search_knowledge", query="*") == []

    at_the_desk(tmp_path, work)


def test_the_most_that_is_allowed_is_saved_whole(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        tags = [f"{number:03d}" + "t" * 97 for number in range(100)]
        saved = await ask(ADA, "save_knowledge", content="x" * 200_000, title="t" * 500, tags=tags)
        whole = await ask(ADA, "get_knowledge", id=saved.id)
        assert (len(whole.content), len(whole.title), len(whole.tags)) == (200_000, 500, 100)

    at_the_desk(tmp_path, work)


def test_a_save_changes_what_it_names_and_leaves_the_rest(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(
            ADA, "save_knowledge", title=" First ", content="one", tags=["#Ion", "ion", "b"]
        )
        assert saved.title == "First"

        async def change(**arguments: object) -> tuple[str, str, tuple[str, ...]]:
            seen = await ask(ADA, "get_knowledge", id=saved.id)
            answer = await ask(
                ADA, "save_knowledge", id=saved.id, updated_at=seen.updated_at, **arguments
            )
            now = await ask(ADA, "get_knowledge", id=saved.id)
            assert (answer.id, answer.title, answer.updated_at) == (
                saved.id,
                now.title,
                now.updated_at,
            )
            return now.title, now.content, now.tags

        assert await change(content="two") == ("First", "two", ("Ion", "b"))
        assert await change(content="two", title="  ") == ("First", "two", ("Ion", "b"))
        assert await change(content="two", title=" Next ") == ("Next", "two", ("Ion", "b"))
        assert await change(content="two", tags=["c", "C"]) == ("Next", "two", ("c",))
        assert await change(content="two", tags=[]) == ("Next", "two", ())
        assert await change(content="two", source="personal") == ("Next", "two", ())
        with pytest.raises(InvalidInputError, match="source cannot be changed"):
            await change(content="three", source="team")
        assert (await ask(ADA, "get_knowledge", id=saved.id)).content == "two"

    at_the_desk(tmp_path, work)


def test_who_may_promote_reads_a_proposal_and_changes_nothing_of_it(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        note = await ask(ADA, "save_knowledge", title="Plan", content="hers")
        proposed = await ask(ADA, "propose_knowledge", id=note.id)
        before = await ask(ADA, "get_knowledge", id=note.id)
        assert (proposed.status, proposed.id, proposed.title) == ("proposed", note.id, "Plan")
        assert proposed.updated_at == before.updated_at > note.updated_at
        assert (await ask(CHIEF, "get_knowledge", id=note.id)).content == "hers"
        assert len(await ask(CHIEF, "get_knowledge_history", id=note.id)) == 2
        seen = {"id": note.id, "updated_at": before.updated_at}
        denied = "permission_denied"
        assert await _code(ask(CHIEF, "save_knowledge", content="his", **seen)) == denied
        assert await _code(ask(CHIEF, "delete_knowledge", **seen)) == denied
        for name in ("get_knowledge", "get_knowledge_history"):
            with pytest.raises(NotFoundError):
                await ask(BOB, name, id=note.id)
        assert await ask(ADA, "get_knowledge", id=note.id) == before
        # The author's next change takes the proposal back.
        await ask(ADA, "save_knowledge", content="hers, again", **seen)
        assert (await ask(ADA, "get_knowledge", id=note.id)).status == "draft"
        assert await ask(CHIEF, "search_knowledge", query="*", whose="proposed") == []

    at_the_desk(tmp_path, work)


def test_a_team_note_stays_the_teams_and_goes_no_step_further(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        team = await ask(CHIEF, "save_knowledge", title="T", content="one", source="team")
        seen = {"id": team.id, "updated_at": team.updated_at}
        changed = await ask(CHIEF, "save_knowledge", content="two", source="team", **seen)
        whole = await ask(BOB, "get_knowledge", id=team.id)
        assert (whole.source, whole.status, whole.content) == ("team", "promoted", "two")
        with pytest.raises(ConflictError) as again:
            await ask(CHIEF, "propose_knowledge", id=team.id)
        assert again.value.next_step == "Save a change to make it a draft again."
        with pytest.raises(ConflictError) as promoted:
            await ask(CHIEF, "promote_knowledge", id=team.id)
        assert promoted.value.next_step == "Propose it first with propose_knowledge."
        assert promoted.value.details["required_status"] == "proposed"
        for name in ("propose_knowledge", "delete_knowledge"):
            assert await _code(ask(BOB, name, id=team.id)) == "permission_denied"
        assert (await ask(BOB, "get_knowledge", id=team.id)).updated_at == changed.updated_at
        await ask(CHIEF, "delete_knowledge", id=team.id)
        with pytest.raises(NotFoundError):
            await ask(BOB, "get_knowledge", id=team.id)

    at_the_desk(tmp_path, work)


def test_a_step_for_an_older_state_is_refused_and_nothing_moves(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        old = await ask(ADA, "save_knowledge", content="one")
        new = await ask(ADA, "save_knowledge", id=old.id, content="two", updated_at=old.updated_at)
        with pytest.raises(ConflictError):
            await ask(ADA, "propose_knowledge", id=old.id, updated_at=old.updated_at)
        assert (await ask(ADA, "get_knowledge", id=old.id)).status == "draft"
        proposed = await ask(ADA, "propose_knowledge", id=old.id, updated_at=new.updated_at)
        with pytest.raises(ConflictError):
            await ask(CHIEF, "promote_knowledge", id=old.id, updated_at=new.updated_at)
        assert await ask(BOB, "search_knowledge", query="*") == []
        copy = await ask(CHIEF, "promote_knowledge", id=old.id, updated_at=proposed.updated_at)
        with pytest.raises(ConflictError):
            await ask(CHIEF, "delete_knowledge", id=copy.id, updated_at=old.updated_at)
        assert (await ask(BOB, "get_knowledge", id=copy.id)).content == "two"
        await ask(CHIEF, "delete_knowledge", id=copy.id, updated_at=copy.updated_at)

    at_the_desk(tmp_path, work)


def test_a_note_whose_team_copy_is_gone_is_promoted_as_a_new_one(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        note = await ask(ADA, "save_knowledge", title="T", content="one", tags=["a"])
        await ask(ADA, "propose_knowledge", id=note.id)
        first = await ask(CHIEF, "promote_knowledge", id=note.id)
        seen = (await ask(ADA, "get_knowledge", id=note.id)).updated_at
        await ask(ADA, "save_knowledge", id=note.id, content="two", updated_at=seen, tags=["b"])
        await ask(CHIEF, "delete_knowledge", id=first.id)
        await ask(ADA, "propose_knowledge", id=note.id)
        second = await ask(CHIEF, "promote_knowledge", id=note.id)
        assert second.id not in {first.id, note.id}
        copy = await ask(BOB, "get_knowledge", id=second.id)
        assert (copy.content, copy.tags, copy.promoted_to_id) == ("two", ("b",), None)
        assert (copy.updated_at, copy.title) == (second.updated_at, second.title)
        own = await ask(ADA, "get_knowledge", id=note.id)
        assert (own.promoted_to_id, own.promoted_from_id) == (second.id, None)

    at_the_desk(tmp_path, work)


def test_links_inside_code_and_repeated_ones_are_no_further_links(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        content = "[[a.md]] [[a]] [[a#part]] [[ b |shown]] [[ ]] [[.md]]\n```\n[[c]]\n```\n`[[d]]`"
        note = await ask(ADA, "save_knowledge", content=content)
        links = (await ask(ADA, "get_knowledge", id=note.id)).links
        assert [link.target for link in links] == ["a", "b"]
        plain = await ask(ADA, "save_knowledge", content="no links")
        whole = await ask(ADA, "get_knowledge", id=plain.id)
        assert (whole.links, whole.links_left_out) == ((), None)

    at_the_desk(tmp_path, work)


class _NoFinder:
    """An index that nobody asks."""

    async def search(self, search: RankedSearch) -> FoundIds:
        raise AssertionError(search)

    async def list_notes(self, listing: NoteListing) -> ListedIds:
        raise AssertionError(listing)

    async def find_links(self, terms: Sequence[str], shelf: Shelf, limit: int) -> list[str]:
        raise AssertionError(terms)

    def follow_later(self) -> None:
        return None

    async def close(self) -> None:
        return None


class _NoSearcher:
    """These rules are asked without an index."""

    async def search(
        self, index: str, body: Mapping[str, Any], readers: frozenset[str]
    ) -> SearchAnswer:
        raise AssertionError

    async def notes_changed(self) -> None: ...

    async def close(self) -> None: ...


class _BusyStore:
    """The real store, and somebody who changes one note right before each of the first writes."""

    def __init__(self, store: NoteStore, busy_with: str, times: int) -> None:
        self._store = store
        self._busy_with = busy_with
        self._times = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, changes: Sequence[Change]) -> None:
        if self._times:
            self._times -= 1
            note = await self._store.find(self._busy_with)
            assert note is not None
            later = replace(note, content=note.content + "!", updated_at=_after(note))
            await self._store.write([Replace(later, note.updated_at, "ada")])
        await self._store.write(changes)


def _after(note: Note) -> datetime:
    return note.updated_at + timedelta(microseconds=1)


ORIGINAL = a_note(1, "T", "own", status="promoted", promoted_to_id="note" + "2".zfill(16))
COPY = a_note(2, "T", "own", source="team", status="promoted", promoted_from_id=ORIGINAL.id)


def _while_busy(
    folder: Path, busy_with: str, times: int, check: Callable[[Any, Knowledge], Awaitable[None]]
) -> None:
    async def run() -> None:
        stores = sqlite_knowledge(folder / "knowledge.sqlite")
        try:
            await stores.notes.write([Insert(ORIGINAL, "ada"), Insert(COPY, "chief")])
            busy: Any = _BusyStore(stores.notes, busy_with, times)
            await check(stores.notes, Knowledge(busy, _NoFinder(), _NoSearcher(), SystemClock()))
        finally:
            await stores.notes.close()

    asyncio.run(run())


@pytest.mark.parametrize("times", [1, 4])
def test_a_team_copy_is_deleted_although_its_author_keeps_changing_the_original(
    tmp_path: Path, times: int
) -> None:
    async def check(store: NoteStore, knowledge: Knowledge) -> None:
        await knowledge.delete(COPY.id, CHIEF, None)
        assert await store.find(COPY.id) is None
        original = await store.find(ORIGINAL.id)
        assert original is not None and original.content == "own" + "!" * times
        assert (original.status, original.promoted_to_id) == ("draft", None)

    _while_busy(tmp_path, ORIGINAL.id, times, check)


@pytest.mark.parametrize(("busy_with", "times"), [(ORIGINAL.id, 5), (COPY.id, 1)])
def test_a_deletion_that_lost_every_race_says_so_and_deletes_nothing(
    tmp_path: Path, busy_with: str, times: int
) -> None:
    async def check(store: NoteStore, knowledge: Knowledge) -> None:
        with pytest.raises(NoteChangedError) as refused:
            await knowledge.delete(COPY.id, CHIEF, None)
        assert refused.value.details["id"] == busy_with
        copy, original = await store.find(COPY.id), await store.find(ORIGINAL.id)
        assert copy is not None and original is not None
        assert (original.status, original.promoted_to_id) == ("promoted", COPY.id)
        changed = copy if busy_with == COPY.id else original
        assert changed.content == "own" + "!" * times

    _while_busy(tmp_path, busy_with, times, check)


@pytest.mark.parametrize(
    "kept",
    [
        {"promoted_to_id": "another"},
        {"status": "proposed"},
    ],
)
def test_deleting_a_team_copy_does_not_touch_an_original_that_it_no_longer_stands_for(
    tmp_path: Path, kept: dict[str, Any]
) -> None:
    original = replace(ORIGINAL, **kept)
    copy = replace(COPY, updated_at=at(9))

    async def run() -> None:
        stores = sqlite_knowledge(tmp_path / "knowledge.sqlite")
        try:
            await stores.notes.write([Insert(original, "ada"), Insert(copy, "chief")])
            knowledge = Knowledge(stores.notes, _NoFinder(), _NoSearcher(), SystemClock())
            await knowledge.delete(copy.id, CHIEF, None)
            assert await stores.notes.find(copy.id) is None
            assert await stores.notes.find(original.id) == original
        finally:
            await stores.notes.close()

    asyncio.run(run())


def test_a_clock_that_stands_still_or_goes_back_still_orders_the_states(tmp_path: Path) -> None:
    class Stopped:
        def now(self) -> datetime:
            return datetime(2020, 1, 1, tzinfo=UTC)

        def monotonic(self) -> float:
            return 0.0

    async def run() -> None:
        stores = sqlite_knowledge(tmp_path / "knowledge.sqlite")
        try:
            note = a_note(1, "T")
            await stores.notes.write([Insert(note, "ada")])
            knowledge = Knowledge(stores.notes, _NoFinder(), _NoSearcher(), Stopped())
            proposed = await knowledge.propose(note.id, ADA, None)
            assert proposed.updated_at == _after(note)
        finally:
            await stores.notes.close()

    asyncio.run(run())


def test_errors_say_what_happened_and_what_to_do_next() -> None:
    changed, deleted = NoteChangedError("n", at(1)), NoteChangedError("n", None)
    assert changed.message == "Knowledge n was changed by somebody else"
    assert changed.details == {"id": "n", "updated_at": at(1).isoformat()}
    assert deleted.message == "Knowledge n was deleted by somebody else"
    assert deleted.details == {"id": "n", "updated_at": None}
    said = "The SQLite store of knowledge cannot be used now"
    assert KnowledgeStoreError("SQLite").message == said
    assert KnowledgeStoreError("SQLite", "it is full").message == f"{said}: it is full"
    some, none = IndexNotAllowedError("x", ["b", "a"]), IndexNotAllowedError("x", [])
    assert some.next_step == "Search one of: a, b."
    assert none.next_step == "The operator has allowed no index; see elasticsearch.indices."
