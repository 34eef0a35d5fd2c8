"""node_knowledge_retriever, asked through the gate."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.notes import Node
from carrel.wiring.knowledge import open_stores
from tests.rooms.knowledge.desk import ADA, Ask, at_the_desk, caller, settings_at
from tests.rooms.papers.conftest import CORPUS, TRANSFORMER, UNDATED
from tests.rooms.papers.snapshots import write_snapshot

MAGNESIUM = Node("Magnesium", "ion", "A metal.", "Blocks NMDA.", {"group": 2})


def fill(home: Path, *nodes: Node) -> None:
    async def whole() -> None:
        stores = open_stores(settings_at(home))
        await stores.nodes.put(nodes)
        await stores.notes.close()

    asyncio.run(whole())


@pytest.mark.promise("K5")
def test_missing_and_empty_names_are_refused_in_these_words(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        wrong: list[dict[str, list[str]]] = [{}, {"node_names": []}]
        for arguments in wrong:
            with pytest.raises(InvalidInputError) as refused:
                await ask(ADA, "node_knowledge_retriever", **arguments)
            assert refused.value.message == "node_names is required"
        with pytest.raises(InvalidInputError):
            await ask(ADA, "node_knowledge_retriever", node_names=["x"] * 101)

    at_the_desk(tmp_path, work)


@pytest.mark.promise("K5")
def test_every_name_gets_its_answer_in_order_and_a_bad_one_spoils_nothing(tmp_path: Path) -> None:
    fill(tmp_path, MAGNESIUM, Node("Manganese", content="Another metal."))

    async def work(ask: Ask) -> None:
        names = ["Magnezium", "Magnesium", "", "magnesium", "x" * 600, "a\x00b", "Magnesium"]
        answer = await ask(ADA, "node_knowledge_retriever", node_names=names)
        assert answer.success and answer.total_nodes == 7
        assert [result.node_name for result in answer.results] == names
        assert [result.similarity_score for result in answer.results] == [
            0.0,
            1.0,
            0.0,
            0.95,
            0.0,
            0.0,
            1.0,
        ]
        miss, hit = answer.results[0], answer.results[1]
        assert hit.knowledge == "A metal.\n\nBlocks NMDA."
        assert (
            "No knowledge found for node: Magnezium" in miss.knowledge
            and miss.suggestions[0] == "Magnesium"
        )
        assert all("metadata" not in result.model_dump() for result in answer.results)
        whole = await ask(
            ADA,
            "node_knowledge_retriever",
            node_names=["Magnesium", "absent"],
            include_metadata=True,
        )
        assert (
            whole.results[0].metadata == {"group": 2, "node_type": "ion"}
            and whole.results[1].metadata == {}
        )

    at_the_desk(tmp_path, work)


def test_a_note_of_that_title_is_knowledge_too(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(
            ADA, "save_knowledge", title="Serotonin", content="A transmitter.", tags=["t"]
        )
        answer = await ask(
            ADA,
            "node_knowledge_retriever",
            node_names=["Serotonin", "Serotonine"],
            include_metadata=True,
        )
        assert answer.results[0].knowledge == "A transmitter."
        assert answer.results[0].metadata == {
            "node_type": "note",
            "id": saved.id,
            "tags": ["t"],
            "source": "personal",
        }
        assert answer.results[1].suggestions == ("Serotonin",)

    at_the_desk(tmp_path, work)


READS_PAPERS = caller("ada", "knowledge:write", "papers:read")


@pytest.mark.promise("K5")
def test_concepts_of_the_papers_are_the_last_resort(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    write_snapshot(tmp_path / "papers", CORPUS)

    async def work(ask: Ask) -> None:
        names = ["Transformer", "survey", "深度学习", "transformer variant", "Residual Networks"]
        await ask(
            READS_PAPERS, "save_knowledge", title="Residual networks", content="A note comes first."
        )
        found = await ask(
            READS_PAPERS, "node_knowledge_retriever", node_names=names, include_metadata=True
        )
        keyword, tag, chinese, miss, note = found.results
        assert (
            keyword.knowledge.startswith("transformer is a keyword of 2 papers")
            and TRANSFORMER.title in keyword.knowledge
        )
        assert keyword.similarity_score == 0.95
        assert keyword.metadata["papers"] == [
            {"paper_id": paper.paper_id, "title": paper.title} for paper in (TRANSFORMER, UNDATED)
        ]
        assert (tag.metadata["node_type"], tag.similarity_score, chinese.similarity_score) == (
            "tag",
            1.0,
            1.0,
        )
        assert (miss.similarity_score, miss.suggestions[0]) == (0.0, "transformer variants")
        assert note.knowledge == "A note comes first."

    at_the_desk(tmp_path, work, CARREL_ROOMS="papers,knowledge")


@pytest.mark.promise("K5")
def test_who_may_not_read_papers_learns_nothing_of_them_from_concepts(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    write_snapshot(tmp_path / "papers", CORPUS)

    async def work(ask: Ask) -> None:
        (exact, near) = (
            await ask(ADA, "node_knowledge_retriever", node_names=["transformer", "transformed"])
        ).results
        assert (exact.similarity_score, exact.suggestions, near.suggestions) == (0.0, (), ())

    at_the_desk(tmp_path, work, CARREL_ROOMS="papers,knowledge")


@pytest.mark.promise("K5")
def test_papers_out_of_order_are_said_and_spoil_no_other_name(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()

    async def work(ask: Ask) -> None:
        async def asked() -> list[str]:
            found = await ask(
                READS_PAPERS, "node_knowledge_retriever", node_names=["Serotonin", "absent"]
            )
            return [result.knowledge for result in found.results]

        await ask(READS_PAPERS, "save_knowledge", title="Serotonin", content="A transmitter.")
        assert await asked() == ["A transmitter.", "No knowledge found for node: absent"]
        (tmp_path / "papers" / "paper_snapshot.db").write_bytes(b"no database" * 100)
        known, miss = await asked()
        assert known == "A transmitter." and "papers could not be asked" in miss

    at_the_desk(tmp_path, work, CARREL_ROOMS="papers,knowledge")


def test_a_name_that_cannot_be_one_is_told_why_and_the_longest_is_looked_up(
    tmp_path: Path,
) -> None:
    longest = "x" * 500
    fill(tmp_path, Node(longest, content="found"), Node("ion", metadata={"group": 2}))

    async def work(ask: Ask) -> None:
        names = [longest, longest + "x", " \t", "io\n", "ion", "nothing like it"]
        answer = await ask(ADA, "node_knowledge_retriever", node_names=names, include_metadata=True)
        assert [result.knowledge for result in answer.results] == [
            "found",
            "The name is longer than 500 characters",
            "The name is empty",
            "The name contains characters that no name has",
            "",
            "No knowledge found for node: nothing like it",
        ]
        assert [result.suggestions for result in answer.results] == [None, (), (), (), None, ()]
        assert [result.metadata for result in answer.results] == [{}, {}, {}, {}, {"group": 2}, {}]
        assert answer.total_nodes == 6 and answer.processing_time_ms >= 0

    at_the_desk(tmp_path, work)


def test_suggestions_are_the_three_most_alike_and_at_least_half_so(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        for title in ("abcdeg", "abcdeh", "abcdxy", "abcxyz", "abcxyzw", "unlike"):
            await ask(ADA, "save_knowledge", title=title, content="x")

        async def suggested() -> tuple[str, tuple[str, ...]]:
            answer = await ask(ADA, "node_knowledge_retriever", node_names=["abcdef"])
            (miss,) = answer.results
            return miss.knowledge, miss.suggestions

        text, names = await suggested()
        assert names == ("abcdeg", "abcdeh", "abcdxy")
        assert text == (
            "No knowledge found for node: abcdef. Did you mean abcdeg or abcdeh or abcdxy?"
        )
        for title in names:
            (hit,) = await ask(ADA, "search_knowledge", query=title)
            await ask(ADA, "delete_knowledge", id=hit.id)
        assert (await suggested())[1] == ("abcxyz",), "half alike is enough, less is not"

    at_the_desk(tmp_path, work)
