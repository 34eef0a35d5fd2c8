"""Looks up names: among nodes, then titles of notes, then concepts of the paper corpus."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Mapping, Sequence

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.libraries.query.notes import TitlePrefix
from carrel.libraries.text.folding import fold_text
from carrel.rooms.knowledge.models import MAX_NODE_NAME_CHARACTERS, NodeAnswer, RetrievedNodes
from carrel.rooms.knowledge.notes import MineAndTeam, Node, Note, NoteSearch
from carrel.rooms.knowledge.ports import Concept, Concepts, NodeStore, NoteStore

log = logging.getLogger("carrel.knowledge")
READ_PAPERS = "papers:read"
EXACT = 1.0
SAME_BUT_FOR_CASE = 0.95
MISS = 0.0
MAX_SUGGESTIONS = 3
_CANDIDATES = 20
_LEAST_ALIKE = 0.5


class Nodes:
    """Nodes for callers."""

    def __init__(
        self, nodes: NodeStore, notes: NoteStore, concepts: Concepts, clock: Clock
    ) -> None:
        self._nodes = nodes
        self._notes = notes
        self._concepts = concepts
        self._clock = clock

    async def retrieve(
        self, names: Sequence[str], caller: Caller, *, with_metadata: bool
    ) -> RetrievedNodes:
        """One answer per name, in order; an unusable name is a miss with its reason."""
        began = self._clock.monotonic()
        usable = list(dict.fromkeys(name for name in names if _name_problem(name) is None))
        nodes = await self._nodes.find(usable)
        left = [name for name in usable if name not in nodes]
        notes = await self._notes.titled(left, MineAndTeam(caller.user_id)) if left else {}
        left = [name for name in left if name not in notes]
        concepts, failure = await self._find_concepts(left, caller)
        results = [
            await self._answer(
                name,
                caller,
                nodes.get(name) or notes.get(name) or concepts.get(name),
                failure,
                with_metadata,
            )
            for name in names
        ]
        spent_ms = round((self._clock.monotonic() - began) * 1000.0, 3)
        return RetrievedNodes(
            results=tuple(results), total_nodes=len(results), processing_time_ms=spent_ms
        )

    async def _find_concepts(
        self, names: Sequence[str], caller: Caller
    ) -> tuple[Mapping[str, Concept], str]:
        """Concepts of the corpus for callers who may read papers, or why they are unavailable."""
        if not names or READ_PAPERS not in caller.scopes:
            return {}, ""
        try:
            return await self._concepts.find(names), ""
        except CarrelError as error:
            log.warning("no concepts", extra={"code": error.code, "reason": error.message})
            return {}, f" (papers could not be asked: {error.message.rstrip('.')})"

    async def _answer(
        self,
        name: str,
        caller: Caller,
        found: Node | Note | Concept | None,
        failure: str,
        with_metadata: bool,
    ) -> NodeAnswer:
        match found:
            case Node():
                return _hit(
                    name,
                    found.name,
                    _node_text(found.description, found.content),
                    _node_facts(found),
                    with_metadata,
                )
            case Note():
                facts: dict[str, object] = {
                    "node_type": "note",
                    "id": found.id,
                    "tags": list(found.tags),
                    "source": found.source,
                }
                return _hit(name, found.title, found.content, facts, with_metadata)
            case Concept():
                papers = [
                    {"paper_id": paper_id, "title": title} for paper_id, title in found.papers
                ]
                facts = {
                    "node_type": found.kind,
                    "paper_count": found.paper_count,
                    "papers": papers,
                }
                return _hit(name, found.name, _concept_text(found), facts, with_metadata)
            case None:
                problem = _name_problem(name)
                suggestions = [] if problem else await self._suggest(name, caller)
                text = problem or f"No knowledge found for node: {name}{failure}"
                if suggestions:
                    text = f"{text}. Did you mean {' or '.join(suggestions)}?"
                return NodeAnswer(
                    node_name=name,
                    knowledge=text,
                    metadata={} if with_metadata else None,
                    similarity_score=MISS,
                    suggestions=tuple(suggestions),
                )

    async def _suggest(self, name: str, caller: Caller) -> list[str]:
        try:
            candidates = await self._nodes.near(name, _CANDIDATES)
            beginning = fold_text(name)[: max(3, len(name) // 2)]
            search = NoteSearch(
                TitlePrefix(beginning), MineAndTeam(caller.user_id), "best", _CANDIDATES
            )
            candidates += [hit.note.title for hit in await self._notes.search(search)]
            if READ_PAPERS in caller.scopes:
                candidates += await self._concepts.near(name, _CANDIDATES)
        except CarrelError as error:
            # A name without suggestions is still an answer; the batch goes on.
            log.warning("no suggestions", extra={"code": error.code, "reason": error.message})
            return []
        return _most_alike(name, candidates)


def _most_alike(name: str, candidates: Iterable[str]) -> list[str]:
    wanted = fold_text(name)
    scored = {
        candidate: difflib.SequenceMatcher(None, wanted, fold_text(candidate)).ratio()
        for candidate in dict.fromkeys(candidates)
    }
    near = [candidate for candidate, score in scored.items() if score >= _LEAST_ALIKE]
    return sorted(near, key=lambda candidate: (-scored[candidate], candidate))[:MAX_SUGGESTIONS]


def _name_problem(name: str) -> str | None:
    if not name.strip():
        return "The name is empty"
    if len(name) > MAX_NODE_NAME_CHARACTERS:
        return f"The name is longer than {MAX_NODE_NAME_CHARACTERS} characters"
    return "The name contains characters that no name has" if not name.isprintable() else None


def _hit(
    asked: str, name: str, knowledge: str, facts: Mapping[str, object], with_metadata: bool
) -> NodeAnswer:
    return NodeAnswer(
        node_name=asked,
        knowledge=knowledge,
        metadata=dict(facts) if with_metadata else None,
        similarity_score=EXACT if asked == name else SAME_BUT_FOR_CASE,
    )


def _node_facts(node: Node) -> dict[str, object]:
    return {**node.metadata, "node_type": node.node_type} if node.node_type else dict(node.metadata)


def _node_text(description: str, content: str) -> str:
    return "\n\n".join(part for part in (description.strip(), content.strip()) if part)


def _concept_text(concept: Concept) -> str:
    titles = "\n".join(f"- {title} ({paper_id})" for paper_id, title in concept.papers)
    return (
        f"{concept.name} is a {concept.kind} of {concept.paper_count} papers in the "
        f"corpus.\n{titles}"
    ).strip()
