"""Nodes in Firestore."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from google.cloud.firestore_v1 import SERVER_TIMESTAMP, AsyncWriteBatch
from google.cloud.firestore_v1.base_query import FieldFilter

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.tokenizer import case_key, name_trigrams
from carrel.rooms.knowledge.documents import Checkpoint, DocumentChange, Put, node_document, node_id
from carrel.rooms.knowledge.notes import Node
from carrel.stores.firestore.knowledge.documents import (
    NODES,
    node_search_fields,
    plain_time,
    translate_driver_errors,
)
from carrel.stores.firestore.knowledge.notes import PAGE, FirestoreNoteStore

# The most values that one question may ask for.
_MOST_VALUES = 30


class FirestoreNodeStore:
    """Nodes in the collection `knowledge_nodes`, through the client of the notes."""

    def __init__(self, notes: FirestoreNoteStore) -> None:
        self._notes = notes

    async def put(self, nodes: Sequence[Node]) -> None:
        client = self._notes.client
        batch: AsyncWriteBatch = client.batch()
        for node in nodes:
            facts = {
                "name": node.name,
                "node_type": node.node_type,
                "description": node.description,
                "content": node.content,
                "metadata": node.metadata,
                **node_search_fields(node.name),
                "updated_at": SERVER_TIMESTAMP,
            }
            batch.set(client.collection(NODES).document(node_id(node.name)), facts)
        async with translate_driver_errors(self._notes.wait_seconds):
            await batch.commit()

    async def find(self, names: Sequence[str]) -> dict[str, Node]:
        client = self._notes.client
        asked = {name: node_id(name) for name in names}
        found: dict[str, Node] = {}
        async with translate_driver_errors(self._notes.wait_seconds):
            async for one in client.get_all(
                [client.collection(NODES).document(key) for key in set(asked.values())]
            ):
                if one.exists:
                    found[one.id] = _node(one.to_dict() or {})
        answer = {name: found[key] for name, key in asked.items() if key in found}
        return answer | await self._find_folded([name for name in names if name not in answer])

    async def _find_folded(self, names: Sequence[str]) -> dict[str, Node]:
        """Names whose spelling differs in more than case; of several nodes the first by name."""
        if not names:
            return {}
        await self._notes.bring_fold_forward()
        folds = list(dict.fromkeys(fold_text(name) for name in names))
        nodes = self._notes.client.collection(NODES)
        queries = [
            nodes.where(filter=FieldFilter("search_key", "in", folds[at : at + _MOST_VALUES]))
            for at in range(0, len(folds), _MOST_VALUES)
        ]
        async with translate_driver_errors(self._notes.wait_seconds):
            answers = await asyncio.gather(*(query.get() for query in queries))
        found = [_node(one.to_dict() or {}) for answer in answers for one in answer]
        by_fold = {
            fold_text(node.name): node
            for node in sorted(found, key=lambda node: case_key(node.name), reverse=True)
        }
        return {name: by_fold[key] for name in names if (key := fold_text(name)) in by_fold}

    async def near(self, name: str, limit: int) -> list[str]:
        """Firestore cannot count shared trigrams, so more are read than needed, and counted."""
        await self._notes.bring_fold_forward()
        pieces = name_trigrams(name)
        query = self._notes.client.collection(NODES).where(
            filter=FieldFilter("grams", "array_contains_any", sorted(pieces)[:_MOST_VALUES])
        )
        async with translate_driver_errors(self._notes.wait_seconds):
            found = await query.limit(10 * limit).get()
        names = [str((one.to_dict() or {}).get("name")) for one in found]
        return sorted(names, key=lambda other: (-len(pieces & name_trigrams(other)), other))[:limit]

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        """By the server's own time of writing, which is the order of commits."""
        query = self._notes.client.collection(NODES).order_by("updated_at")
        page = (
            query
            if since is None
            else query.start_at({"updated_at": datetime.fromisoformat(since)})
        )
        while True:
            async with translate_driver_errors(self._notes.wait_seconds):
                answer = await page.limit(PAGE).get()
            for one in answer:
                yield Put(node_document(_node(one.to_dict() or {})))
            if answer:
                yield Checkpoint(plain_time((answer[-1].to_dict() or {})["updated_at"]).isoformat())
            if len(answer) < PAGE:
                return
            page = query.start_after(answer[-1])


def _node(facts: dict[str, object]) -> Node:
    metadata = facts.get("metadata")
    return Node(
        name=str(facts.get("name") or ""),
        node_type=str(facts.get("node_type") or ""),
        description=str(facts.get("description") or ""),
        content=str(facts.get("content") or ""),
        metadata=metadata if isinstance(metadata, dict) else {},
    )
