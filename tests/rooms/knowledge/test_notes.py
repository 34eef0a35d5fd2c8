"""Notes, asked through the gate: first who is refused, then what works."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from carrel.core.caller import Caller
from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InsufficientPermissionsError,
    InvalidInputError,
    NotFoundError,
)
from tests.rooms.knowledge.desk import ADA, BOB, CHIEF, READER, Ask, at_the_desk, caller


def refusal(error: pytest.ExceptionInfo[CarrelError]) -> tuple[str, str]:
    return error.value.code, error.value.message


@pytest.mark.promise("K3")
def test_a_caller_without_the_scope_is_refused_by_name(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        for who, name, needed in (
            (caller("x", "papers:read"), "search_knowledge", "knowledge:read"),
            (READER, "save_knowledge", "knowledge:write"),
            (READER, "delete_knowledge", "knowledge:write"),
            (ADA, "promote_knowledge", "knowledge:promote"),
        ):
            with pytest.raises(InsufficientPermissionsError, match=f"{needed} scope required"):
                await ask(who, name, content="x", query="x", id="x")

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K7")
def test_team_notes_and_proposals_are_for_those_who_may_promote(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        with pytest.raises(InsufficientPermissionsError, match="knowledge:promote scope required"):
            await ask(ADA, "save_knowledge", content="for all", source="team")
        with pytest.raises(InsufficientPermissionsError, match="knowledge:promote"):
            await ask(ADA, "search_knowledge", query="*", whose="proposed")
        team = await ask(CHIEF, "save_knowledge", content="for all", source="team")
        for name in ("save_knowledge", "delete_knowledge"):
            extra = {"content": "mine now"} if name == "save_knowledge" else {}
            with pytest.raises(CarrelError) as refused:
                await ask(ADA, name, id=team.id, updated_at=team.updated_at, **extra)
            assert refused.value.code == "permission_denied"

    at_the_desk(tmp_path, work)


@pytest.mark.promise("A6")
def test_nobody_sees_changes_or_even_learns_of_another_ones_private_note(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(
            ADA,
            "save_knowledge",
            title="Secret plan",
            content="magnesium [[Secret plan]]",
            tags=["plan"],
        )
        absent = "A" * 20
        for name in (
            "get_knowledge",
            "get_knowledge_history",
            "delete_knowledge",
            "propose_knowledge",
            "promote_knowledge",
        ):
            who = CHIEF if name == "promote_knowledge" else BOB
            for note_id in (saved.id, absent):
                with pytest.raises(NotFoundError) as refused:
                    await ask(who, name, id=note_id)
                assert refusal(refused) == ("resource_not_found", f"knowledge not found: {note_id}")
        with pytest.raises(NotFoundError):
            await ask(BOB, "save_knowledge", content="x", id=saved.id, updated_at=saved.updated_at)
        for query in ("Secret", "#plan", "text:magnesium", "*"):
            for whose in ("mine", "team", "all"):
                assert await ask(BOB, "search_knowledge", query=query, whose=whose) == []
            assert await ask(CHIEF, "search_knowledge", query=query, whose="proposed") == []
        found = await ask(
            BOB,
            "node_knowledge_retriever",
            node_names=["Secret plan", "Secret pla"],
            include_metadata=True,
        )
        assert [result.similarity_score for result in found.results] == [0.0, 0.0]
        assert all("Secret plan" not in (result.suggestions or ()) for result in found.results)
        answer = await ask(
            BOB, "elasticsearch", index="knowledge", query={"query": {"match_all": {}}}
        )
        assert answer.hits["total"]["value"] == 0
        own = await ask(BOB, "save_knowledge", content="see [[Secret plan]]")
        assert [link.id for link in (await ask(BOB, "get_knowledge", id=own.id)).links] == [None]

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K1")
def test_content_and_query_are_required_in_these_words(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        for arguments in ({}, {"content": ""}, {"content": " \n\t"}):
            with pytest.raises(InvalidInputError) as refused:
                await ask(ADA, "save_knowledge", **arguments)
            assert refused.value.message == "content is required"
        for arguments in ({}, {"query": ""}, {"query": "  "}):
            with pytest.raises(InvalidInputError) as refused:
                await ask(ADA, "search_knowledge", **arguments)
            assert refused.value.message == "query is required"

    at_the_desk(tmp_path, work)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("save_knowledge", {"content": "x" * 200_001}),
        ("save_knowledge", {"content": "a\x00b"}),
        ("save_knowledge", {"content": "x", "tags": [""]}),
        ("save_knowledge", {"content": "x", "tags": ["#"]}),
        ("save_knowledge", {"content": "x", "source": "world"}),
        ("save_knowledge", {"content": "x", "id": "../etc"}),
        ("save_knowledge", {"content": "x", "updated_at": "2026-01-01T00:00:00+00:00"}),
        ("save_knowledge", {"content": "x", "id": "abc", "updated_at": "yesterday"}),
        ("search_knowledge", {"query": "x", "limit": 101}),
        ("search_knowledge", {"query": "x", "limit": 0}),
        ("search_knowledge", {"query": "x" * 501}),
        ("search_knowledge", {"query": "#"}),
        ("search_knowledge", {"query": "text:"}),
        ("search_knowledge", {"query": "x", "whose": "yours"}),
    ],
)
def test_bad_input_is_refused_with_a_word_on_what_to_do(
    tmp_path: Path, name: str, arguments: dict[str, object]
) -> None:
    async def work(ask: Ask) -> None:
        with pytest.raises(InvalidInputError) as refused:
            await ask(ADA, name, **arguments)
        assert refused.value.message and refused.value.next_step

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K1", "K2")
def test_a_saved_note_is_found_by_title_tag_and_text_and_has_all_ten_fields(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(
            ADA,
            "save_knowledge",
            title="Magnesium",
            content="Blocks NMDA.",
            tags=["#Migraine", "ion channel"],
        )
        assert (saved.status, saved.title) == ("saved", "Magnesium") and saved.id
        hit = {"id": saved.id, "title": "Magnesium", "content": "Blocks NMDA."}
        for query, score in (
            ("magnes", 0.9),
            ("MAGNESIUM", 1.0),
            ("#migraine", 0.85),
            ('#migraine #"ion channel"', 0.85),
        ):
            found = await ask(ADA, "search_knowledge", query=query)
            assert [one.model_dump() for one in found] == [{**hit, "score": score, "total": 1}], (
                query
            )
        (found_by_text,) = await ask(ADA, "search_knowledge", query='text:nmda "blocks nmda"')
        assert found_by_text.id == saved.id and 0 < found_by_text.score < 0.85
        assert await ask(ADA, "search_knowledge", query="#migraine #other") == []
        whole = (await ask(ADA, "get_knowledge", id=saved.id)).model_dump()
        ten = {
            "id",
            "title",
            "content",
            "user_id",
            "source",
            "status",
            "tags",
            "schema_version",
            "created_at",
            "updated_at",
        }
        assert ten <= set(whole)
        expected = {
            "user_id": "ada",
            "source": "personal",
            "status": "draft",
            "tags": ("Migraine", "ion channel"),
            "schema_version": 1,
        }
        assert {name: whole[name] for name in expected} == expected
        assert whole["created_at"] == whole["updated_at"] == saved.updated_at

    at_the_desk(tmp_path, work)


def test_a_missing_title_is_the_beginning_of_the_content(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        long = await ask(
            ADA, "save_knowledge", content="\n  Magnesium blocks the NMDA receptor, and more"
        )
        assert long.title == "Magnesium blocks the NMDA rece"
        assert (
            await ask(ADA, "save_knowledge", content="知識管理", title="  ")
        ).title == "知識管理"

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K1")
def test_two_writers_never_clobber_each_other(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        first = await ask(ADA, "save_knowledge", title="T", content="one", tags=["keep"])
        with pytest.raises(InvalidInputError, match="updated_at is required"):
            await ask(ADA, "save_knowledge", id=first.id, content="blind")
        second = await ask(
            ADA, "save_knowledge", id=first.id, content="two", updated_at=first.updated_at
        )
        assert second.updated_at > first.updated_at and second.title == "T"
        with pytest.raises(ConflictError) as refused:
            await ask(
                ADA, "save_knowledge", id=first.id, content="three", updated_at=first.updated_at
            )
        assert refused.value.details["updated_at"] == second.updated_at
        racers = [
            ask(
                ADA,
                "save_knowledge",
                id=first.id,
                content=f"racer {number}",
                updated_at=second.updated_at,
            )
            for number in range(8)
        ]
        outcomes = await asyncio.gather(*racers, return_exceptions=True)
        assert sum(isinstance(outcome, ConflictError) for outcome in outcomes) == 7
        whole = await ask(ADA, "get_knowledge", id=first.id)
        assert whole.tags == ("keep",)
        history = await ask(ADA, "get_knowledge_history", id=first.id)
        assert [version.content for version in history] == [whole.content, "two", "one"]
        with pytest.raises(ConflictError):
            await ask(ADA, "delete_knowledge", id=first.id, updated_at=first.updated_at)

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K7")
def test_a_note_goes_from_draft_to_proposed_to_the_team_and_keeps_where_it_came_from(
    tmp_path: Path,
) -> None:
    async def work(ask: Ask) -> None:
        note = await ask(ADA, "save_knowledge", title="Insight", content="first", tags=["a"])
        with pytest.raises(NotFoundError):
            await ask(CHIEF, "promote_knowledge", id=note.id)
        await ask(ADA, "propose_knowledge", id=note.id)
        with pytest.raises(ConflictError, match="only draft knowledge can be proposed"):
            await ask(ADA, "propose_knowledge", id=note.id)
        with pytest.raises(CarrelError) as refused:
            await ask(CHIEF, "propose_knowledge", id=note.id)
        assert refused.value.code == "permission_denied"
        assert [
            hit.id for hit in await ask(CHIEF, "search_knowledge", query="Ins", whose="proposed")
        ] == [note.id]
        assert await ask(BOB, "search_knowledge", query="Ins") == []
        promoted = await ask(CHIEF, "promote_knowledge", id=note.id)
        assert (promoted.status, promoted.promoted_from_id) == (
            "promoted",
            note.id,
        ) and promoted.id != note.id
        assert [
            hit.id for hit in await ask(BOB, "search_knowledge", query="insight", whose="team")
        ] == [promoted.id]
        team = await ask(BOB, "get_knowledge", id=promoted.id)
        assert (team.source, team.status, team.user_id, team.promoted_from_id) == (
            "team",
            "promoted",
            "ada",
            note.id,
        )
        own = await ask(ADA, "get_knowledge", id=note.id)
        assert (own.source, own.status, own.promoted_to_id) == ("personal", "promoted", promoted.id)
        assert [hit.id for hit in await ask(ADA, "search_knowledge", query="insight")] == [
            promoted.id
        ]
        with pytest.raises(ConflictError, match="only proposed knowledge can be promoted"):
            await ask(caller("ada", "knowledge:promote"), "promote_knowledge", id=note.id)
        assert [
            version.change for version in await ask(ADA, "get_knowledge_history", id=note.id)
        ] == [
            "promoted",
            "proposed",
            "created",
        ]

        again = await ask(
            ADA, "save_knowledge", id=note.id, content="second", updated_at=own.updated_at
        )
        await ask(ADA, "propose_knowledge", id=again.id)
        second = await ask(CHIEF, "promote_knowledge", id=note.id)
        assert second.id == promoted.id
        assert (await ask(BOB, "get_knowledge", id=promoted.id)).content == "second"

    at_the_desk(tmp_path, work)


def test_the_index_shows_a_proposal_to_promoters_and_says_where_a_team_note_came_from(
    tmp_path: Path,
) -> None:
    async def work(ask: Ask) -> None:
        note = await ask(ADA, "save_knowledge", title="Plan", content="magnesium")

        async def found(who: Caller) -> list[dict[str, object]]:
            body: dict[str, object] = {"query": {"match_all": {}}}
            answer = await ask(who, "elasticsearch", index="knowledge", query=body)
            return [hit["_source"] for hit in answer.hits["hits"]]

        assert await found(CHIEF) == []
        await ask(ADA, "propose_knowledge", id=note.id)
        assert await found(BOB) == [], "a proposal is shown to those who may promote it, alone"
        (seen,) = await found(CHIEF)
        assert "promoted_from_id" not in seen
        promoted = await ask(CHIEF, "promote_knowledge", id=note.id)
        (copy,) = await found(BOB)
        assert (copy["id"], copy["promoted_from_id"]) == (promoted.id, note.id)

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K7")
def test_a_deleted_note_is_gone_everywhere(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        note = await ask(
            ADA, "save_knowledge", title="Short lived", content="magnesium", tags=["x"]
        )
        body = {"query": {"match": {"content": "magnesium"}}}
        assert (await ask(ADA, "elasticsearch", index="knowledge", query=body)).hits["total"][
            "value"
        ] == 1
        deleted = await ask(ADA, "delete_knowledge", id=note.id)
        assert deleted.model_dump() == {"status": "deleted", "id": note.id}
        for query in ("short", "#x", "text:magnesium", "*"):
            assert await ask(ADA, "search_knowledge", query=query) == []
        assert (await ask(ADA, "elasticsearch", index="knowledge", query=body)).hits["total"][
            "value"
        ] == 0
        for name in ("get_knowledge", "get_knowledge_history", "delete_knowledge"):
            with pytest.raises(NotFoundError):
                await ask(ADA, name, id=note.id)

    at_the_desk(tmp_path, work)


def test_links_lead_to_notes_by_title_whatever_the_folder_or_case(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        target = await ask(ADA, "save_knowledge", title="Ion Channel", content="x")
        note = await ask(
            ADA,
            "save_knowledge",
            content="[[ion channel]] [[notes/Ion Channel#Top|shown]] [[absent]] `[[code]]`",
        )
        links = (await ask(ADA, "get_knowledge", id=note.id)).links
        assert [(link.target, link.id) for link in links] == [
            ("ion channel", target.id),
            ("notes/Ion Channel", target.id),
            ("absent", None),
        ]

    at_the_desk(tmp_path, work)


def test_limit_and_order_are_kept(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        for number in (3, 1, 2):
            await ask(ADA, "save_knowledge", title=f"note {number}", content="same words")
        best = [hit.title for hit in await ask(ADA, "search_knowledge", query="note")]
        newest = [
            hit.title
            for hit in await ask(ADA, "search_knowledge", query="note", order="newest", limit=2)
        ]
        assert (best, newest) == (["note 1", "note 2", "note 3"], ["note 2", "note 1"])

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K7")
def test_an_original_is_found_again_when_the_team_copy_is_deleted(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(
            ADA, "save_knowledge", title="Magnesium", content="calms nerves", tags=["ion"]
        )
        await ask(ADA, "propose_knowledge", id=saved.id)
        copy = await ask(CHIEF, "promote_knowledge", id=saved.id)
        for query in ("magnes", "#ion", "text:nerves", "*"):
            assert [hit.id for hit in await ask(ADA, "search_knowledge", query=query)] == [copy.id]
        await ask(CHIEF, "delete_knowledge", id=copy.id)
        for query in ("magnes", "#ion", "text:nerves", "*"):
            assert [hit.id for hit in await ask(ADA, "search_knowledge", query=query)] == [saved.id]
            assert await ask(BOB, "search_knowledge", query=query) == []
        original = await ask(ADA, "get_knowledge", id=saved.id)
        assert (original.status, original.promoted_to_id) == ("draft", None)
        history = await ask(ADA, "get_knowledge_history", id=saved.id)
        assert [(version.change, version.changed_by) for version in history][:2] == [
            ("withdrawn", "chief"),
            ("promoted", "chief"),
        ]
        # The way to the team is open again.
        await ask(ADA, "propose_knowledge", id=saved.id)
        again = await ask(CHIEF, "promote_knowledge", id=saved.id)
        assert [hit.id for hit in await ask(BOB, "search_knowledge", query="magnes")] == [again.id]

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K7")
def test_deleting_a_team_copy_leaves_a_later_draft_of_its_author_as_it_is(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(ADA, "save_knowledge", title="Magnesium", content="calms nerves")
        await ask(ADA, "propose_knowledge", id=saved.id)
        copy = await ask(CHIEF, "promote_knowledge", id=saved.id)
        seen = await ask(ADA, "get_knowledge", id=saved.id)
        draft = await ask(
            ADA,
            "save_knowledge",
            id=saved.id,
            updated_at=seen.updated_at,
            content="calms nerves, a little",
        )
        await ask(CHIEF, "delete_knowledge", id=copy.id)
        # Whoever was editing is not told of a change that is none.
        await ask(
            ADA,
            "save_knowledge",
            id=saved.id,
            updated_at=draft.updated_at,
            content="calms nerves, somewhat",
        )

    at_the_desk(tmp_path, work)


def test_a_note_says_how_many_links_it_does_not_show(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        few = await ask(
            ADA, "save_knowledge", content=" ".join(f"[[n{number}]]" for number in range(100))
        )
        many = await ask(
            ADA, "save_knowledge", content=" ".join(f"[[n{number}]]" for number in range(130))
        )
        assert (await ask(ADA, "get_knowledge", id=few.id)).links_left_out is None
        shown = await ask(ADA, "get_knowledge", id=many.id)
        assert (len(shown.links), shown.links_left_out) == (100, 30)

    at_the_desk(tmp_path, work)


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [
        ({"title": "x" * 501}, "500"),
        ({"tags": [f"t{number}" for number in range(101)]}, "100"),
        ({"tags": ["x" * 101]}, "100"),
        ({"content": "x" * 200_001}, "200000"),
    ],
)
def test_what_is_too_long_is_refused_with_the_limit_and_nothing_is_cut(
    tmp_path: Path, arguments: dict[str, object], limit: str
) -> None:
    async def work(ask: Ask) -> None:
        with pytest.raises(InvalidInputError) as refused:
            await ask(ADA, "save_knowledge", **{"content": "fine", **arguments})
        assert limit in refused.value.message
        assert await ask(ADA, "search_knowledge", query="*") == []

    at_the_desk(tmp_path, work)


def test_a_text_search_with_too_many_words_is_refused_and_not_shortened(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        await ask(ADA, "save_knowledge", content=" ".join(f"w{number}" for number in range(32)))
        asked = "text:" + " ".join(f"w{number}" for number in range(33))
        with pytest.raises(InvalidInputError, match="at most 32 words and phrases, not 33"):
            await ask(ADA, "search_knowledge", query=asked)

    at_the_desk(tmp_path, work)
