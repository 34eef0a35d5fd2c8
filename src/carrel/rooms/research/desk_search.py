"""The part of the research room in the search over the desk."""

from __future__ import annotations

import asyncio
import re

from carrel.core.caller import Call
from carrel.core.desk_search import DeskCandidate, RoomFindings
from carrel.libraries.text.text_ranking import rank_texts
from carrel.rooms.research.errors import HypothesisNotFoundError, ResearchNotFoundError
from carrel.rooms.research.records import Hypothesis, Project
from carrel.rooms.research.service import ResearchRoom

READ_HYPOTHESES = "hypotheses:read"
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ResearchDeskSearch:
    """The caller's projects and hypotheses, by their ids and by their words."""

    scopes = frozenset({"research:read"})

    def __init__(self, research: ResearchRoom) -> None:
        self._research = research

    async def search(self, query: str, call: Call, count: int) -> RoomFindings:
        named = await self._named(query.strip(), call)
        everything = await self._research.own_work(call)
        if READ_HYPOTHESES not in call.caller.scopes:
            everything = [(project, []) for project, _ in everything]
        candidates = [
            *(_project(project) for project, _ in everything),
            *(_hypothesis(one) for _, hypotheses in everything for one in hypotheses),
        ]
        texts = [f"{each.title} {each.title} {each.text}" for each in candidates]
        ranked = await asyncio.to_thread(rank_texts, query, texts)
        found = [candidates[at] for at, _ in ranked[:count]]
        if named is not None:
            found = [named, *(each for each in found if each.id != named.id)]
        if not candidates:
            return RoomFindings(found, "There are no research projects; start_research begins one.")
        return RoomFindings(
            found,
            f"None of {len(everything):,} projects and {len(candidates) - len(everything):,} "
            "hypotheses has these words.",
        )

    async def _named(self, text: str, call: Call) -> DeskCandidate | None:
        if _ID.fullmatch(text) is None:
            return None
        try:
            if READ_HYPOTHESES not in call.caller.scopes:
                raise HypothesisNotFoundError(text)
            return _hypothesis((await self._research.hypothesis(text, call))[0], is_named=True)
        except HypothesisNotFoundError:
            pass
        try:
            return _project(await self._research.project(text, call), is_named=True)
        except ResearchNotFoundError:
            return None


def _hypothesis(one: Hypothesis, *, is_named: bool = False) -> DeskCandidate:
    draft = one.draft
    return DeskCandidate(
        "hypothesis",
        one.id,
        draft.title,
        " ".join((draft.summary, draft.rationale, *draft.predictions, *draft.bridges)),
        "get_hypothesis",
        {"hypothesis_id": one.id},
        is_named=is_named,
    )


def _project(project: Project, *, is_named: bool = False) -> DeskCandidate:
    return DeskCandidate(
        "project",
        project.id,
        project.goal,
        project.domain or "",
        "get_research_status",
        {"research_id": project.id},
        is_named=is_named,
    )
