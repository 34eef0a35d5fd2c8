"""Builds the research room: its store, the corpus it works on, and a reasoner."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from carrel.core.caller import Call
from carrel.core.catalogue import Catalogue, Room
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError, NotConfiguredError
from carrel.core.health import check_by
from carrel.policy.persistence import not_served, without_home
from carrel.rooms.knowledge.ports import LinkedThing
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.work_notices import PaperNotices
from carrel.rooms.references.citations import CitationStyles
from carrel.rooms.research import ROOM
from carrel.rooms.research.agents import AgentContext
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.claim_checks import ClaimChecks
from carrel.rooms.research.claim_operations import ClaimOperations
from carrel.rooms.research.claim_search import ClaimSearch
from carrel.rooms.research.contradictions import Contradictions
from carrel.rooms.research.corpus import Corpus
from carrel.rooms.research.desk_search import ResearchDeskSearch
from carrel.rooms.research.detail_operations import DetailOperations
from carrel.rooms.research.detail_views import ProjectDetails, RunLimits
from carrel.rooms.research.evidence_views import EvidenceViews
from carrel.rooms.research.hypothesis_notes import HypothesisNoteOperations
from carrel.rooms.research.jobs import Patience
from carrel.rooms.research.operations import ResearchOperations
from carrel.rooms.research.ports import EvidencePassage, ResearchStore
from carrel.rooms.research.reasoners import Reasoner
from carrel.rooms.research.reasoners.discovery import DiscoveryReasoner
from carrel.rooms.research.resources import ResearchResources
from carrel.rooms.research.runner import Runner
from carrel.rooms.research.service import ResearchRoom
from carrel.rooms.research.tasks.operations import TaskOperations
from carrel.rooms.research.tasks.service import AssistantWork
from carrel.services.process_pool import map_in_processes
from carrel.settings import Settings
from carrel.settings.home_rules import refuse_home
from carrel.settings.places import database_files
from carrel.settings.store_rules import need_model_name
from carrel.stores.concepts.file import ConceptTables
from carrel.stores.corpus.current import ReaderByKind
from carrel.stores.corpus.current_texts import CurrentTexts, PaperTextSource
from carrel.stores.sql.research import SqlResearch
from carrel.stores.sqlite.papers.texts import PaperTexts
from carrel.stores.worker_identity import WorkerIdentity
from carrel.wiring.claims import CorpusPassages, DeskReading
from carrel.wiring.desk import OpenRoom
from carrel.wiring.home import POSTGRES_ACTION, open_driver
from carrel.wiring.papers import OpenCorpus
from carrel.wiring.quotas import QuotaOfModels, open_own_quotas
from carrel.wiring.research_outside import LiteratureForResearch
from carrel.wiring.research_tasks import PassagesForTasks, bind_tasks
from carrel.wiring.vocabularies import (
    identify_vocabularies,
    read_vocabularies,
    used_vocabularies,
)

Close = Callable[[], Awaitable[None]]


def open_store(settings: Settings) -> ResearchStore:
    """PostgreSQL where one is named, else a file in the home folder."""
    return SqlResearch(open_driver(settings, "research", SqlResearch.schema_steps))


@dataclass(frozen=True, slots=True)
class _Neighbours:
    papers: OpenCorpus
    settings: Settings

    async def search_papers(self, words: str, count: int) -> list[str]:
        hits = await self.papers.service.search(words, page=1, limit=count)
        return [hit.paper_id for hit in hits]

    async def find_paper_id(self, name: str) -> str | None:
        try:
            return (await self.papers.service.stored_metadata(name.partition("~")[0])).paper_id
        except PaperNotFoundError:
            return None

    async def paper_as_csl(self, paper_id: str) -> dict[str, Any] | None:
        from carrel.rooms.papers.service import paper_as_csl

        try:
            return await paper_as_csl(self.papers.service, paper_id)
        except PaperNotFoundError:
            return None

    async def format_bibliography(self, items: Sequence[dict[str, Any]]) -> list[str]:
        chosen = self.settings.references
        entries = await CitationStyles(chosen.styles).render_bibliography(
            items, chosen.default_style, "text", chosen.default_locale
        )
        return [f"{entry.text} [{entry.id}]" for entry in entries]


class NotebookOfDesk:
    """Saves notes by the knowledge room's own operation, where that room is open."""

    def __init__(self) -> None:
        self._catalogue: Catalogue | None = None

    def meet(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def save(self, title: str, content: str, tags: Sequence[str], call: Call) -> str:
        operation = self._catalogue and self._catalogue.operations.get("save_knowledge")
        if not operation:
            raise NotConfiguredError(
                "The knowledge room is not open, so nothing can be saved as a note.",
                next_step="Open it with --rooms or the setting rooms.",
            )
        asked = {"title": title, "content": content, "tags": list(tags)}
        question = operation.question.model_validate(asked)
        return str((await operation.run(question, call)).id)


@dataclass(frozen=True, slots=True)
class _EvidencePassages:
    papers: OpenCorpus

    async def find(self, paper_id: str, sentence: str) -> EvidencePassage | None:
        from carrel.rooms.papers.passages import PaperPassages

        papers = self.papers
        passages = PaperPassages(papers.service, papers.store, papers.store)
        try:
            found = await passages.locate(sentence, [paper_id])
        except CarrelError:
            # The paper is gone or its text cannot be had: the note links to the paper alone.
            return None
        place = found.places[0] if found.places else None
        if place is None or place.passage_id is None:
            return None
        return EvidencePassage(place.passage_id, place.page)


def open_research(settings: Settings, papers: OpenCorpus) -> OpenRoom:
    """Nothing is read or made yet; stored work is taken up when the process stays open."""
    chosen, clock, store = settings.research, SystemClock(), open_store(settings)
    corpus = _open_corpus(settings, papers)
    reading = DeskReading()
    search = ClaimSearch(corpus, CorpusPassages(papers))
    checks = ClaimChecks(search, reading)
    reasoner, close_model = _open_reasoner(settings, store, corpus, checks)
    notices = PaperNotices(papers.service, papers.notices)
    context = AgentContext(store, reasoner, clock, chosen.start_elo, notices)
    supervisor = Supervisor(context, LiteratureForResearch(papers), corpus.leading_bridges)
    worker = WorkerIdentity(settings.home / "research" / "workers")
    runner = Runner(
        store,
        supervisor,
        clock,
        worker.name,
        max_concurrent_runs=chosen.most_projects_at_once,
        lease_seconds=chosen.lease_seconds,
        is_gone=worker.has_ended,
        before_first=worker.take,
    )
    patience = Patience(chosen.patience_seconds, follower_seconds=chosen.task_after_seconds)
    passages = _EvidencePassages(papers)
    service = ResearchRoom(store, corpus, supervisor, runner, clock, _new_id, passages, patience)
    is_on_server, file = settings.database.url is not None, database_files(settings)["research"]

    async def close() -> None:
        await runner.close()
        worker.close()
        if close_model is not None:
            await close_model()
        await store.close()

    async def count_jobs() -> str:
        if not is_on_server and not file.exists():
            return f"{file} (made by the first project)"
        count = len(await store.open_jobs())
        return f"{count} job{'' if count == 1 else 's'} under way"

    async def start() -> None:
        runner.look_for_work(lambda: is_on_server or file.exists())

    async def find_hypothesis(name: str, call: Call) -> LinkedThing:
        found, _ = await service.hypothesis(name, call)
        return LinkedThing(found.id, found.draft.title)

    work = AssistantWork(
        store, supervisor, runner, PassagesForTasks(papers), clock, _new_id, service.project
    )
    bind_tasks(papers, work)
    papers.links.things.register(("hypothesis",), "hypotheses:read", find_hypothesis)
    operations = ResearchOperations(service, papers.links.notes, notices)
    limits = RunLimits(chosen.max_model_calls, chosen.max_cost)
    details = ProjectDetails(store, corpus, supervisor, service.views, limits)
    evidence = EvidenceViews(store, corpus, service.views, passages, notices)
    resources = ResearchResources(service)
    notebook = NotebookOfDesk()
    room = Room.collect(
        ROOM,
        operations,
        TaskOperations(work),
        DetailOperations(service, details, evidence),
        HypothesisNoteOperations(service, notebook, passages),
        ClaimOperations(checks, Contradictions(corpus, search, passages), notices),
        resources,
        jobs=service.jobs,
        search=ResearchDeskSearch(service),
    )
    if not is_on_server and not settings.keeps_home:
        error = refuse_home(settings, "research")
        return OpenRoom(without_home(room, error), {"research": not_served(error)}, close)
    check = check_by(count_jobs, POSTGRES_ACTION if is_on_server else "")

    def meet(catalogue: Catalogue) -> None:
        notebook.meet(catalogue)
        reading.meet(catalogue)

    return OpenRoom(room, {"research": check}, close, start, meet=meet)


def _open_corpus(settings: Settings, papers: OpenCorpus) -> Corpus:
    def open_segments() -> PaperTextSource:
        from carrel.stores.corpus.texts import CorpusTexts

        return CorpusTexts(place.folder)

    place, vocabularies = papers.place, used_vocabularies(settings)
    name = hashlib.sha256(str(place.snapshot.path).encode()).hexdigest()[:16]
    folder = settings.cache_folder / "research"
    return Corpus(
        CurrentTexts(ReaderByKind(place, PaperTexts(place.snapshot), open_segments)),
        ConceptTables(folder, name, identify_vocabularies(vocabularies), map_in_processes),
        _Neighbours(papers, settings),
        partial(read_vocabularies, vocabularies) if vocabularies else None,
    )


def _open_reasoner(
    settings: Settings, store: ResearchStore, corpus: Corpus, checks: ClaimChecks
) -> tuple[Reasoner, Close | None]:
    """A language model where one is set up, and how to close it; otherwise the papers alone."""
    chosen = settings.model
    if chosen.provider is None:
        return DiscoveryReasoner(corpus, checks), None
    from carrel.rooms.research.reasoners.language_model import LanguageModelReasoner
    from carrel.rooms.research.reasoners.model_calls import Budget
    from carrel.services.language_models.priced_model import PricedModel

    model = PricedModel(
        chosen.provider,
        need_model_name(settings),
        url=chosen.url,
        api_key=chosen.api_key,
        timeout_seconds=chosen.timeout_seconds,
        temperature=chosen.temperature,
        context_tokens=chosen.context_tokens,
        max_output_tokens=chosen.max_output_tokens,
        input_price=chosen.input_price,
        output_price=chosen.output_price,
    )
    budget = Budget(settings.research.max_model_calls, settings.research.max_cost)
    quotas, close_quotas = open_own_quotas(settings, SystemClock())
    reasoner = LanguageModelReasoner(
        model,
        corpus,
        checks,
        store,
        SystemClock(),
        budget,
        QuotaOfModels(quotas),
        judges_safety=chosen.safety_check,
    )

    async def close() -> None:
        await model.close()
        if close_quotas is not None:
            await close_quotas()

    return reasoner, close


def _new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"
