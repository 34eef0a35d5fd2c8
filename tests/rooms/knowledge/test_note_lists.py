"""Lists, graphs and declined proposals: what people look at in the console."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.core.errors import CarrelError, ConflictError, InsufficientPermissionsError
from carrel.rooms.knowledge.note_listing import plain_text
from tests.rooms.knowledge.desk import ADA, BOB, CHIEF, READER, Ask, at_the_desk, caller


def test_strangers_see_nothing_of_ones_own_notes(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        note = await ask(ADA, "save_knowledge", content="secret plan", tags=["plans"])
        seen = await ask(BOB, "list_knowledge")
        assert (seen.notes, seen.total, seen.tags) == ((), 0, ())
        with pytest.raises(CarrelError, match="not found"):
            await ask(BOB, "get_knowledge_graph", id=note.id)
        with pytest.raises(InsufficientPermissionsError):
            await ask(ADA, "list_knowledge", whose="proposed")
        with pytest.raises(InsufficientPermissionsError):
            await ask(caller("cyd", "papers:read"), "list_knowledge")
        with pytest.raises(InsufficientPermissionsError):
            await ask(ADA, "decline_knowledge", id=note.id)
        with pytest.raises(ConflictError, match="only proposed"):
            await ask(caller("ada", "knowledge:promote"), "decline_knowledge", id=note.id)

    at_the_desk(tmp_path, work)


def test_pages_tell_every_note_once_with_tags_and_their_counts(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        for number in range(7):
            tags = ["ion/channel"] if number % 2 else ["ion", "Migraine"]
            await ask(
                ADA, "save_knowledge", content=f"body {number}", title=f"N{number}", tags=tags
            )
        await ask(CHIEF, "save_knowledge", content="ours", source="team", tags=["ion"])
        first = await ask(READER, "list_knowledge")
        assert [(note.title, note.source, note.author) for note in first.notes] == [
            ("ours", "team", "chief")
        ]
        pages = [
            await ask(ADA, "list_knowledge", limit=3, offset=offset) for offset in (0, 3, 6, 9)
        ]
        titles = [note.title for page in pages for note in page.notes]
        assert sorted(titles) == [*(f"N{number}" for number in range(7)), "ours"]
        assert [len(page.notes) for page in pages] == [3, 3, 2, 0]
        assert {page.total for page in pages} == {8}
        assert [(each.tag, each.count) for each in pages[0].tags] == [
            ("ion", 8),
            ("migraine", 4),
            ("ion/channel", 3),
        ]
        below = await ask(ADA, "list_knowledge", tags=["ion", "Migraine"], whose="mine")
        assert below.total == 4
        assert [each.count for each in below.tags] == [4, 4]

    at_the_desk(tmp_path, work)


def test_a_question_marks_its_words_and_counts_the_tags_of_what_it_finds(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        long = (
            "# Long\n\n"
            + "filler words stand here. " * 200
            + "\n\n## End\n\nThe **potassium** gate"
        )
        await ask(ADA, "save_knowledge", content=long, title="Long", tags=["a"])
        await ask(ADA, "save_knowledge", content="about [[potassium]] too", title="B", tags=["b"])
        await ask(ADA, "save_knowledge", content="nothing", title="C", tags=["c"])
        found = await ask(ADA, "list_knowledge", query="potassium gate")
        assert {note.title for note in found.notes} == {"Long", "B"}
        assert all("**potassium" in note.snippet for note in found.notes)
        assert {each.tag for each in found.tags} == {"a", "b"}
        only = await ask(ADA, "list_knowledge", query="potassium", tags=["b"])
        assert [note.title for note in only.notes] == ["B"]
        assert (await ask(ADA, "list_knowledge", query="potassium", offset=50)).notes == ()

    at_the_desk(tmp_path, work)


def test_a_declined_proposal_is_a_draft_again_and_its_history_says_who(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        note = await ask(ADA, "save_knowledge", content="an idea")
        proposed = await ask(ADA, "propose_knowledge", id=note.id)
        assert (await ask(CHIEF, "list_knowledge", whose="proposed")).total == 1
        with pytest.raises(ConflictError, match="changed"):
            await ask(CHIEF, "decline_knowledge", id=note.id, updated_at=note.updated_at)
        declined = await ask(CHIEF, "decline_knowledge", id=note.id, updated_at=proposed.updated_at)
        assert (await ask(CHIEF, "list_knowledge", whose="proposed")).total == 0
        seen = await ask(ADA, "get_knowledge", id=note.id)
        assert (seen.status, seen.updated_at) == ("draft", declined.updated_at)
        (newest, *_) = await ask(ADA, "get_knowledge_history", id=note.id)
        assert (newest.change, newest.changed_by) == ("declined", "chief")
        assert (await ask(ADA, "propose_knowledge", id=note.id)).status == "proposed"

    at_the_desk(tmp_path, work)


def test_a_graph_has_links_in_both_directions_and_at_depth_two_those_of_neighbours(
    tmp_path: Path,
) -> None:
    async def work(ask: Ask) -> None:
        ids = {}
        for title, content in (
            ("Far", "end"),
            ("Right", "to [[Far]] and [[Nowhere]]"),
            ("Middle", "to [[Right]] and [[Middle]]"),
            ("Left", "to [[Middle]]"),
        ):
            saved = await ask(ADA, "save_knowledge", content=content, title=title)
            ids[title] = saved.id
        await ask(BOB, "save_knowledge", content="to [[Middle]]", title="Not Ada's")
        near = await ask(ADA, "get_knowledge_graph", id=ids["Middle"])
        assert {thing.title: thing.distance for thing in near.things} == {
            "Middle": 0,
            "Right": 1,
            "Left": 1,
        }
        assert {(link.source, link.target) for link in near.links} == {
            (f"note:{ids['Middle']}", f"note:{ids['Right']}"),
            (f"note:{ids['Left']}", f"note:{ids['Middle']}"),
        }
        wide = await ask(ADA, "get_knowledge_graph", id=ids["Middle"], depth=2)
        assert {(thing.title, thing.distance, thing.id is None) for thing in wide.things} == {
            ("Middle", 0, False),
            ("Right", 1, False),
            ("Left", 1, False),
            ("Far", 2, False),
            ("Nowhere", 2, True),
        }

    at_the_desk(tmp_path, work)


def test_plain_text_is_what_a_reader_would_say() -> None:
    markdown = (
        "# Head\n\n- [x] see [[note:abc|this]] and [that](https://x.org)\n\n---\n> *so* `it` is"
    )
    assert plain_text(markdown).split() == [
        *("Head", "see", "this", "and", "that", "so", "it", "is")
    ]
