"""What the papers room does for research tasks: passages are found, and kept with a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.core.caller import Call
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.models import PassageHit
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.research.records import CitedPassage
from carrel.rooms.research.tasks.service import AssistantWork
from carrel.wiring.papers import OpenCorpus


@dataclass(frozen=True, slots=True)
class PassagesForTasks:
    """Passages of the corpus, by the papers room's own search."""

    papers: OpenCorpus

    async def search(self, words: str, within: Sequence[str], count: int) -> list[CitedPassage]:
        corpus = self.papers
        passages = PaperPassages(corpus.service, corpus.store, corpus.store)
        try:
            hits = await passages.find(words, within, page=1, limit=count)
        except PaperNotFoundError:
            # A paper that was cited has left the corpus since: the others are searched for.
            hits = await passages.find(words, (), page=1, limit=count)
        return list(_to_cited(hits))


def bind_tasks(papers: OpenCorpus, work: AssistantWork) -> None:
    """Lets find_passages add to what a task may cite."""

    async def keep(task_id: str, hits: Sequence[PassageHit], call: Call) -> None:
        await work.keep_found(task_id, list(_to_cited(hits)), call)

    papers.links.tasks.bind(keep)


def _to_cited(hits: Sequence[PassageHit]) -> Iterable[CitedPassage]:
    for hit in hits:
        yield CitedPassage(
            id=hit.passage_id,
            paper_id=hit.paper_id,
            title=hit.title,
            # Papers without a year say "unknown".
            year=int(hit.year) if hit.year.isdecimal() else None,
            section=hit.section,
            text=hit.text,
        )
