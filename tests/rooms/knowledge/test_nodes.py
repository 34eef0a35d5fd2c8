"""node_knowledge_retriever, asked through the gate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from carrel.core.caller import Visit
from carrel.core.catalogue import Catalogue
from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.notes import Node
from carrel.rooms.knowledge.ports import Concept
from carrel.wiring.desk import open_desk
from carrel.wiring.knowledge import open_knowledge, open_stores
from tests.rooms.knowledge.desk import ADA, Ask, at_the_desk, settings_at

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
        assert [result.similarity_score for result in answer.results] == [0.0, 1.0, 0.0, 0.95, 0.0, 0.0, 1.0]
        miss, hit = answer.results[0], answer.results[1]
        assert hit.knowledge == "A metal.\n\nBlocks NMDA."
        assert "No knowledge found for node: Magnezium" in miss.knowledge and miss.suggestions[0] == "Magnesium"
        assert all("metadata" not in result.model_dump() for result in answer.results)
        whole = await ask(ADA, "node_knowledge_retriever", node_names=["Magnesium", "absent"], include_metadata=True)
        assert whole.results[0].metadata == {"group": 2, "node_type": "ion"} and whole.results[1].metadata == {}

    at_the_desk(tmp_path, work)


def test_a_note_of_that_title_is_knowledge_too(tmp_path: Path) -> None:
    async def work(ask: Ask) -> None:
        saved = await ask(ADA, "save_knowledge", title="Serotonin", content="A transmitter.", tags=["t"])
        answer = await ask(ADA, "node_knowledge_retriever", node_names=["Serotonin", "Serotonine"], include_metadata=True)
        assert answer.results[0].knowledge == "A transmitter."
        assert answer.results[0].metadata == {"node_type": "note", "id": saved.id, "tags": ["t"], "source": "personal"}
        assert answer.results[1].suggestions == ("Serotonin",)

    at_the_desk(tmp_path, work)


class Corpus:
    """What a paper corpus is about, as wiring would hand it over."""

    async def find(self, names: Sequence[str]) -> Mapping[str, Concept]:
        return {name: Concept("CRISPR", "keyword", 2, (("p1", "Editing"),)) for name in names if name.lower() == "crispr"}

    async def near(self, name: str, limit: int) -> list[str]:
        return ["CRISPR"]


def test_concepts_of_the_papers_are_the_last_resort(tmp_path: Path) -> None:
    async def whole() -> None:
        settings = settings_at(tmp_path)
        opened = open_knowledge(settings, concepts=Corpus())
        operation = Catalogue([opened.room]).operations["node_knowledge_retriever"]
        async with open_desk(settings).opened() as desk:
            found = await desk.gate.call(
                operation, {"node_names": ["CRISPR", "crisp"], "include_metadata": True}, ADA, Visit("test", "1")
            )
        assert "2 papers" in found.results[0].knowledge and "Editing (p1)" in found.results[0].knowledge
        assert found.results[0].metadata["papers"] == [{"paper_id": "p1", "title": "Editing"}]
        assert found.results[1].suggestions == ("CRISPR",)
        assert opened.close is not None
        await opened.close()

    asyncio.run(whole())
