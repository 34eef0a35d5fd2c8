"""A hypothesis is saved as a note with links to the papers and passages it rests on."""

from __future__ import annotations

import pytest

from carrel.cli import main
from carrel.core.errors import InsufficientPermissionsError, NotConfiguredError
from carrel.rooms.research.errors import HypothesisNotFoundError
from carrel.settings import Settings
from tests.rooms.research.house import Asker, finished_project, other, visit

pytestmark = pytest.mark.promise("P13")


@pytest.fixture
def with_notes(settings: Settings) -> Settings:
    return settings.model_copy(update={"rooms": ("papers", "knowledge", "research")})


def test_a_hypothesis_becomes_a_note_with_its_evidence(with_notes: Settings) -> None:
    async def story(asker: Asker) -> None:
        rows = await asker.in_full(await finished_project(asker))
        hypothesis = next(each for each in rows if each.evidence)
        saved = await asker.ask(
            "save_hypothesis_note", hypothesis_id=hypothesis.id, tags=["migraine"]
        )
        note = await asker.ask("get_knowledge", id=saved.note_id)
        assert note.title == hypothesis.title
        assert set(note.tags) == {"hypothesis", "migraine"}
        assert f"[[hypothesis:{hypothesis.id}]]" in note.content
        assert hypothesis.summary in note.content
        assert {each.paper_id for each in hypothesis.evidence} <= set(saved.papers)
        assert saved.passages
        for passage_id in saved.passages:
            assert f"[[passage:{passage_id}]]" in note.content
            read = await asker.ask("read_passage", passage_id=passage_id)
            assert read.paper_id in saved.papers

    visit(with_notes, story)


def test_only_the_owner_saves_it_and_only_with_both_scopes(with_notes: Settings) -> None:
    async def story(asker: Asker) -> None:
        (row, *_) = await asker.ask("list_hypotheses", research_id=await finished_project(asker, 2))
        with pytest.raises(HypothesisNotFoundError):
            await other(asker).ask("save_hypothesis_note", hypothesis_id=row.id)
        for scopes in ({"hypotheses:read"}, {"knowledge:write"}):
            reader = other(asker, "ada", frozenset(scopes))
            with pytest.raises(InsufficientPermissionsError):
                await reader.ask("save_hypothesis_note", hypothesis_id=row.id)
        without_papers = other(asker, "ada", frozenset({"hypotheses:read", "knowledge:write"}))
        saved = await without_papers.ask("save_hypothesis_note", hypothesis_id=row.id)
        assert saved.passages == []

    visit(with_notes, story)


def test_without_the_knowledge_room_nothing_is_saved_and_it_says_so(settings: Settings) -> None:
    async def story(asker: Asker) -> None:
        (row, *_) = await asker.ask("list_hypotheses", research_id=await finished_project(asker, 2))
        with pytest.raises(NotConfiguredError, match="knowledge room"):
            await asker.ask("save_hypothesis_note", hypothesis_id=row.id)

    visit(settings, story)


def test_the_command_says_what_is_wrong_with_an_unknown_id(
    with_notes: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(with_notes.home))
    assert main(["research", "note", "hyp_nobody"]) != 0
    assert "not found" in capsys.readouterr().err
