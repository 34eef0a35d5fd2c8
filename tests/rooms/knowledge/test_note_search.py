"""Plain questions find notes, and a hit shows the passage that fits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from carrel.core.answer import Explained
from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.notes import Insert, Note, Origin
from carrel.wiring.desk import open_desk
from carrel.wiring.knowledge import open_stores
from tests.rooms.knowledge.desk import ADA, BOB, CHIEF, Ask, asking_why, at_the_desk, settings_at
from tests.stores.contracts.knowledge import a_note

NOTES = {
    "Magnesium": "Magnesium blocks the NMDA receptor and calms cortical excitability.",
    "Migraine with aura": "Cortical spreading depression is the likely cause of the aura.",
    "Weights and measures": "The SI base unit of mass is the kilogram.",
    "知識管理": "研究者のための知識管理の方法",
}


async def save_all(ask: Ask, notes: dict[str, str], **more: Any) -> dict[str, str]:
    return {
        title: (await ask(ADA, "save_knowledge", title=title, content=text, **more)).id
        for title, text in notes.items()
    }


async def titles(ask: Ask, query: str, who: Any = ADA, **more: Any) -> list[str]:
    return [hit.title for hit in await ask(who, "search_knowledge", query=query, **more)]


@pytest.mark.promise("K8")
@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("what does magnesium do to NMDA receptors?", "Magnesium"),
        ("which note explains spreading depressions", "Migraine with aura"),
        ("unit of mass", "Weights and measures"),
        ("管理の方法", "知識管理"),
        ("識", "知識管理"),
        ("excitab*", "Magnesium"),
        ('"spreading depression"', "Migraine with aura"),
        ("receptor NOT kilogram", "Magnesium"),
        ("title:weights", "Weights and measures"),
    ],
)
def test_a_plain_question_finds_the_note_that_answers_it(
    tmp_path: Path, question: str, title: str
) -> None:
    async def work(ask: Ask) -> None:
        await save_all(ask, NOTES)
        assert (await titles(ask, question))[0] == title

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K1", "K8")
def test_titles_and_tags_that_fit_come_before_the_rest(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        await save_all(ask, {"Tagged": "about something"}, tags=["ion"])
        await save_all(ask, {"Ranked": "ion ion ion ion channels", "Ion channel": "gates"})
        found = await ask(ADA, "search_knowledge", query="ion")
        assert [(hit.title, hit.total) for hit in found] == [
            ("Ion channel", 3),
            ("Tagged", 3),
            ("Ranked", 3),
        ]
        assert found[0].score == 0.9 and found[1].score == 0.85
        assert 0.4 <= found[2].score < 0.85
        limited = await ask(ADA, "search_knowledge", query="ion", limit=2)
        assert [(hit.title, hit.total) for hit in limited] == [("Ion channel", 3), ("Tagged", 3)]

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K8")
def test_a_tag_stands_for_the_tags_below_it(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        await save_all(ask, {"One": "a t test"}, tags=["Methods/Stats/Tests"])
        await save_all(ask, {"Two": "a lens"}, tags=["methods/optics"])
        await save_all(ask, {"Three": "no lens"}, tags=["methodsx"])
        assert sorted(await titles(ask, "#methods")) == ["One", "Two"]
        assert await titles(ask, "#methods/stats") == ["One"]
        assert await titles(ask, "#METHODS lens") == ["Two"]
        assert await titles(ask, "#methods text:lens") == ["Two"]
        assert await titles(ask, "tag:methods lens") == ["Two"]
        assert await titles(ask, "#methods #methods/optics") == ["Two"]

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K8", "D12")
def test_a_long_note_is_found_by_its_best_passage_and_shown_by_it(tmp_path: Path) -> None:
    filler = "\n\n".join(
        f"# Part {number}\n\n" + "The quick brown fox jumps over the lazy dog. " * 20
        for number in range(30)
    )
    needle = "# Results\n\n" + "Serotonin reuptake was inhibited by citalopram in all mice. " * 10

    async def work(ask: Ask) -> None:
        content = f"{filler}\n\n{needle}\n\n{filler}"
        saved = await ask(ADA, "save_knowledge", title="Long", content=content)
        await save_all(ask, NOTES)
        (hit, *_) = await ask(ADA, "search_knowledge", query="does citalopram inhibit serotonin")
        assert hit.id == saved.id and hit.truncated
        assert "citalopram" in hit.content and len(hit.content) < 1_100
        assert hit.passage_id.startswith(f"{saved.id}~") and hit.section == "Results"
        whole = await ask(ADA, "get_knowledge", id=saved.id)
        assert whole.content == content
        (short, *_) = await ask(ADA, "search_knowledge", query="kilogram unit")
        assert short.content == NOTES["Weights and measures"] and not short.truncated
        assert "truncated" not in short.model_dump()

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K8")
def test_front_matter_finds_an_imported_note(tmp_path: Path) -> None:
    settings = settings_at(tmp_path)

    async def fill() -> None:
        stores = open_stores(settings)
        matter = "---\naliases: [g-first countable]\norganisms:\n- Pan troglodytes\n---\n"
        origin = Origin("vault/a.md", "digest", matter, "body")
        made: list[Note] = [
            a_note(1, "Weakly first countable", "A decreasing sequence.", origin=origin),
            a_note(2, "First countable", "Another text of countable things."),
        ]
        await stores.notes.write([Insert(note, "ada") for note in made])
        await stores.notes.close()

    asyncio.run(fill())

    async def work(ask: Ask) -> None:
        assert (await titles(ask, "pan troglodytes")) == ["Weakly first countable"]
        assert (await titles(ask, "g-first countable"))[0] == "Weakly first countable"

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K8")
def test_nothing_found_is_explained_with_the_readers_own_words_only(tmp_path: Path) -> None:
    desk = open_desk(settings_at(tmp_path))

    async def work() -> None:
        async with desk.session():
            ask = asking_why(desk)
            for query in ("magnesum", "*", "#ion"):
                empty = await ask(BOB, "search_knowledge", query=query)
                assert isinstance(empty, Explained) and empty.result == []
                assert empty.explanation.model_dump()["documents"] == 0
            await save_all(ask, NOTES, tags=["receptor/nmda"])
            empty = await ask(ADA, "search_knowledge", query="magnesum")
            assert empty.explanation.unmatched_words == ("magnesum",)
            assert empty.explanation.did_you_mean == {"magnesum": ["magnesium"]}
            assert "magnesium" in empty.explanation.message
            empty = await ask(ADA, "search_knowledge", query="#recepter")
            assert empty.explanation.unmatched_filters == ("#recepter",)
            assert empty.explanation.nearest == ("#receptor",)
            await ask(BOB, "save_knowledge", title="Mine", content="of mine")
            for query in ("magnesum", "#recepter"):
                empty = await ask(BOB, "search_knowledge", query=query)
                assert isinstance(empty, Explained)
                assert "magnesium" not in str(empty) and "#receptor" not in str(empty)
                assert empty.explanation.model_dump()["documents"] == 1

    asyncio.run(work())


def test_a_text_search_wants_every_word_and_a_question_any(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        await save_all(ask, NOTES)
        assert await titles(ask, "text:magnesium aura") == []
        assert set(await titles(ask, "magnesium aura")) == {"Magnesium", "Migraine with aura"}
        assert await titles(ask, 'text:"nmda receptor" cortical') == ["Magnesium"]
        for query in ("#", "text:", 'text:""'):
            with pytest.raises(InvalidInputError):
                await ask(ADA, "search_knowledge", query=query)

    at_the_desk(tmp_path, work)


@pytest.mark.promise("A6", "K8")
def test_what_a_shelf_shows_is_what_its_reader_may_see(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(ADA, "save_knowledge", title="Draft", content="magnesium in sleep")
        question = "magnesium and sleep"
        assert await titles(ask, question, BOB) == []
        assert await titles(ask, question, CHIEF, whose="proposed") == []
        await ask(ADA, "propose_knowledge", id=saved.id)
        assert await titles(ask, question, CHIEF, whose="proposed") == ["Draft"]
        assert await titles(ask, question, CHIEF) == []
        await ask(CHIEF, "promote_knowledge", id=saved.id)
        assert await titles(ask, question, BOB) == ["Draft"]
        assert await titles(ask, question, CHIEF, whose="proposed") == []
        assert len(await titles(ask, question, ADA)) == 1
        assert len(await titles(ask, question, ADA, whose="mine")) == 1

    at_the_desk(tmp_path, work)
