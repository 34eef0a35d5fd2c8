"""The corpus, opened once for every room that reads it, and the papers room on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError
from carrel.core.health import Check, check_by
from carrel.core.operation import Effect
from carrel.core.work_notices import NoNotices
from carrel.policy.persistence import HomeNotPersistentError, without_home
from carrel.rooms.knowledge.ports import LinkedThing
from carrel.rooms.papers import ROOM
from carrel.rooms.papers.citation_operations import CitationOperations
from carrel.rooms.papers.citation_ports import CitationStore
from carrel.rooms.papers.citations import PaperCitations
from carrel.rooms.papers.desk_search import PaperDeskSearch
from carrel.rooms.papers.errors import PapersElsewhereError
from carrel.rooms.papers.figure_operations import FigureOperations
from carrel.rooms.papers.figures import PaperFigures
from carrel.rooms.papers.map_jobs import JoinedJobs
from carrel.rooms.papers.operations import PapersOperations
from carrel.rooms.papers.outside_citation_lookup import OutsideCitationLookup
from carrel.rooms.papers.page_images import PageImages
from carrel.rooms.papers.passage_operations import PassageOperations
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.papers.reading import PaperPartReader
from carrel.rooms.papers.reading_operations import ReadingOperations
from carrel.rooms.papers.resources import PaperResources
from carrel.rooms.papers.review import ReviewOperations
from carrel.rooms.papers.search_facets import SearchFacetOperations
from carrel.rooms.papers.service import Papers
from carrel.rooms.papers.snowballing import Snowballing
from carrel.rooms.papers.work_notices import PaperNotices
from carrel.services.literature.lazy_client import LazyLiterature
from carrel.services.static_assets import FolderAssets
from carrel.settings import Settings
from carrel.settings.home_rules import refuse_home
from carrel.settings.store_rules import need_elasticsearch, needs_driver, refuse_two_corpora
from carrel.stores.corpus.current import (
    CheckedStore,
    ClosableAssets,
    CorpusPlace,
    CurrentAssets,
    CurrentPapers,
    ReaderByKind,
)
from carrel.stores.corpus.current_citations import CurrentCitations, NoCitations
from carrel.stores.corpus.health import CorpusHealth
from carrel.stores.corpus.no_papers import NoPapers
from carrel.stores.sqlite.papers import SNAPSHOT_NAME, STATIC_NAME
from carrel.stores.sqlite.papers.index_manifest import index_folder
from carrel.stores.sqlite.papers.search import OpenRanking, Ranking
from carrel.stores.sqlite.papers.store import SqlitePaperStore
from carrel.wiring.desk import OpenRoom
from carrel.wiring.jobs import has_jobs
from carrel.wiring.note_links import LinkExchange
from carrel.wiring.paper_pages import LazyPageDrawings
from carrel.wiring.papers_adding import LazyReader, open_uploads, paper_adder
from carrel.wiring.papers_corrections import paper_corrections
from carrel.wiring.papers_map import open_map
from carrel.wiring.papers_published import CATCH_UP_SECONDS, copy_folder, open_follower
from carrel.wiring.pdf_services import remember_pdf_services
from carrel.wiring.work_notices import DeskNotices

if TYPE_CHECKING:
    from carrel.rooms.papers.uploads import Uploads
    from carrel.services.http_assets import HttpAssets
    from carrel.services.literature.works import LiteratureServices
    from carrel.stores.corpus.folder import CorpusSession
    from carrel.stores.corpus.published.follower import CorpusFollower
    from carrel.stores.corpus.ranking import SegmentRanking
    from carrel.stores.corpus.store import CorpusPaperStore, CorpusRanking
    from carrel.stores.elasticsearch.papers.cluster import PaperCluster
    from carrel.stores.elasticsearch.papers.ranking import RankedByMeaning
    from carrel.stores.elasticsearch.papers.state import PaperSet
    from carrel.stores.search.ranking import PaperRanking
    from carrel.wiring.papers_watch import ServerWatch


def snapshot_path(settings: Settings) -> Path:
    """The snapshot that is set or lives in the home folder, or would lie in the corpus folder."""
    copy = copy_folder(settings)
    if copy is not None:
        return copy / SNAPSHOT_NAME
    named = settings.papers.snapshot
    if named is None:
        return settings.home / "papers" / SNAPSHOT_NAME
    is_corpus = named.is_dir() and named.name != SNAPSHOT_NAME
    return named / SNAPSHOT_NAME if is_corpus else named


def has_corpus(settings: Settings) -> bool:
    """Whether there are segments or a snapshot where the settings say, or papers in a cluster."""
    if settings.papers.store == "elasticsearch":
        return True
    return CorpusPlace(snapshot_path(settings)).exists()


@dataclass(frozen=True, slots=True)
class OpenCorpus:
    """The papers of one place, and what is held open for them."""

    place: CorpusPlace
    service: Papers
    store: CheckedStore
    assets: ClosableAssets
    citations: CitationStore
    cluster: PaperCluster | None = None
    links: LinkExchange = field(default_factory=LinkExchange)
    # Retractions and corrections; of nothing where a test opens a corpus alone.
    notices: DeskNotices | NoNotices = field(default_factory=NoNotices)
    follower: CorpusFollower | None = None

    async def catch_up(self) -> None:
        """Fetch what was published since; a process that stays follows by itself."""
        if self.follower is not None:
            await asyncio.to_thread(self.follower.step, CATCH_UP_SECONDS)

    async def close(self) -> None:
        if isinstance(self.notices, DeskNotices):
            await self.notices.close()
        await self.store.close()
        await asyncio.to_thread(self.place.close)
        if self.cluster is not None:
            await asyncio.to_thread(self.cluster.close)
        await self.assets.close()


def open_corpus(settings: Settings) -> OpenCorpus:
    """Nothing is read yet: the first call reports a corpus that is missing."""
    refuse_two_corpora(settings)
    follower = open_follower(settings)
    if follower is not None:
        follower.folder.become_copy()
    remember_pdf_services(settings)
    place = CorpusPlace(snapshot_path(settings))
    if settings.papers.store == "elasticsearch":
        return _open_cluster_corpus(settings, place)
    cluster = _open_cluster(settings) if settings.papers.search == "elasticsearch" else None
    rankings: dict[str, OpenRanking | None] = {"auto": open_index, "fts5": None}
    of_snapshot = SqlitePaperStore(
        place.snapshot,
        open_ranking=cluster.open_ranking if cluster else rankings[settings.papers.search],
    )
    open_segments = cache(partial(_open_segments, settings, place, cluster))
    open_segment_assets = partial(_open_segment_assets, settings, place)
    # A corpus that settings name must be there; a desk without papers has none yet.
    of_nothing = NoPapers() if settings.papers.snapshot is None else None
    refuse_unknown = None if follower is None else follower.refuse_unknown
    store = CurrentPapers(
        ReaderByKind(place, of_snapshot, open_segments, of_nothing, refuse_unknown)
    )

    def open_citations() -> CitationStore:
        from carrel.stores.corpus.citations import CorpusCitations

        return CorpusCitations(open_segments())

    citations = CurrentCitations(
        ReaderByKind(place, NoCitations(partial(_count_papers, store)), open_citations)
    )
    assets = CurrentAssets(ReaderByKind(place, _open_assets(settings), open_segment_assets))
    service = Papers(store, assets, follows_folders=bool(settings.papers.watch))
    notices = DeskNotices(settings)
    return OpenCorpus(
        place, service, store, assets, citations, cluster, notices=notices, follower=follower
    )


def _open_cluster_corpus(settings: Settings, place: CorpusPlace) -> OpenCorpus:
    """Papers that another server keeps in a cluster; whatever lies in the home is not looked at."""
    cluster = _open_cluster(settings)
    from carrel.stores.elasticsearch.papers.assets import ClusterAssets
    from carrel.stores.elasticsearch.papers.store import ClusterPaperStore

    chosen = settings.papers
    store = ClusterPaperStore(cluster.ranking)
    assets = ClusterAssets(
        cluster.papers,
        timeout_seconds=chosen.asset_timeout_seconds,
        max_bytes=chosen.max_asset_bytes,
    )
    notices = DeskNotices(settings)
    service = Papers(store, assets)
    citations = NoCitations(partial(_count_papers, store))
    return OpenCorpus(place, service, store, assets, citations, cluster, notices=notices)


async def _count_papers(store: CheckedStore) -> int:
    return (await store.statistics()).papers


def _open_segments(
    settings: Settings, place: CorpusPlace, cluster: PaperCluster | None
) -> CorpusPaperStore:
    """The store over segments; their index alone, or a cluster in front of it."""
    from carrel.stores.corpus.ranking import open_corpus_ranking
    from carrel.stores.corpus.store import CorpusPaperStore

    views = (settings.cache or settings.home / "cache") / "papers" / "views"

    def open_ranking(session: CorpusSession) -> CorpusRanking:
        own = open_corpus_ranking(session, views)
        if cluster is not None:
            return cluster.rank_corpus(session, own)
        return _with_meaning(session, own, place.folder.path)

    return CorpusPaperStore(place.folder, open_ranking)


def _with_meaning(session: CorpusSession, words: SegmentRanking, corpus: Path) -> CorpusRanking:
    """The index with vectors of meaning, where the extra is installed."""
    from carrel.services.sentence_vectors import is_installed, load_model

    if not is_installed():
        return words
    from carrel.stores.vectors.segments import SemanticSegmentRanking

    return SemanticSegmentRanking(words, session.version, corpus, load_model)


def _open_segment_assets(settings: Settings, place: CorpusPlace) -> ClosableAssets:
    from carrel.stores.corpus.assets import CorpusAssets

    chosen = settings.papers
    return CorpusAssets(
        place.folder,
        timeout_seconds=chosen.asset_timeout_seconds,
        max_bytes=chosen.max_asset_bytes,
    )


def open_papers(settings: Settings, corpus: OpenCorpus) -> OpenRoom:
    """The papers room; it does not close the corpus, which other rooms read too."""
    services = open_literature(settings)
    passages = PaperPassages(corpus.service, corpus.store, corpus.store)
    citations = PaperCitations(corpus.service, corpus.citations)
    figures = PaperFigures(corpus.service, corpus.assets)
    notices = PaperNotices(corpus.service, corpus.notices)

    async def find_paper(name: str, call: Call) -> LinkedThing:
        found = await corpus.service.stored_metadata(name.partition("~")[0])
        return LinkedThing(found.paper_id, found.title)

    corpus.links.things.register(("paper", "doi", "arxiv", "passage"), "papers:read", find_paper)
    reader, uploads = LazyReader(), open_uploads(settings)
    drawings = LazyPageDrawings()
    adder = paper_adder(corpus.place.folder.path, services, settings, uploads, reader)
    is_kept = settings.keeps_papers and settings.papers.store == "corpus"
    if is_kept:
        corpus.links.papers.bind(adder)
    else:
        corpus.links.papers.refuse(partial(_refuse_additions, settings))
    watch = _open_watch(settings, corpus.place.folder.path) if is_kept else None
    jobs = adder.jobs
    assert jobs is not None
    assert adder.long_additions is not None
    drawing = open_map(settings, corpus.place, corpus.store)
    room = Room.collect(
        ROOM,
        PapersOperations(corpus.service, corpus.links.notes, figures, notices),
        FigureOperations(figures),
        PassageOperations(passages, corpus.links.tasks, notices),
        ReviewOperations(corpus.store),
        CitationOperations(
            citations, Snowballing(citations, corpus.citations), _outside(corpus, citations)
        ),
        SearchFacetOperations(corpus.service),
        ReadingOperations(
            PaperPartReader(corpus.service, passages, corpus.store),
            PageImages(corpus.service, corpus.assets, drawings),
        ),
        adder,
        paper_corrections(corpus.place.folder.path),
        drawing.operations,
        PaperResources(corpus.service),
        jobs=JoinedJobs((adder.long_additions, drawing.jobs)),
        search=PaperDeskSearch(corpus.service, passages),
    )
    if not is_kept:
        reads = [one.name for one in room.operations if one.effect is Effect.READS]
        error = _refuse_additions(settings)
        served = [*reads, *(each.name for each in room.resources)]
        room = without_home(room, error, still_served=served, is_searched=True)
    check, probe = _health(settings, corpus)

    follower = corpus.follower
    checks: dict[str, Check] = {"papers": check}
    probes: dict[str, Check] = {"papers": probe}
    if follower is not None:
        probes["published corpus"] = checks["published corpus"] = follower.health

    async def start() -> None:
        if follower is not None:
            follower.start()
        if is_kept:
            jobs.take_up_work(has_jobs(settings))
            drawing.jobs.take_up_work(has_jobs(settings))
            await _sweep_here(corpus, uploads)
            if watch is not None:
                watch.start()

    async def close() -> None:
        if follower is not None:
            await asyncio.to_thread(follower.close)
        if watch is not None:
            await asyncio.to_thread(watch.close)
        await jobs.close()
        await drawing.jobs.close()
        await services.close()
        await asyncio.to_thread(reader.close)
        drawings.close()

    return OpenRoom(
        room,
        checks,
        close,
        start,
        probes,
        uploads=uploads,
        refuse_uploads=_refusal_of_uploads(settings),
    )


async def _sweep_here(corpus: OpenCorpus, uploads: Uploads) -> None:
    """Uploads of the home; those beside a published corpus are swept where it is cared for."""
    if corpus.follower is None:
        await uploads.sweep()


def _health(settings: Settings, corpus: OpenCorpus) -> tuple[Check, Check]:
    """What the doctor and `/ready` ask of the papers."""
    if settings.papers.store == "elasticsearch":

        async def ask_cluster() -> str:
            found = await corpus.store.statistics()
            return f"{found.papers} papers in the cluster, build {found.build_id[:12]}"

        check = check_by(ask_cluster)
        return check, check
    health = CorpusHealth(
        corpus.place,
        corpus.store,
        is_named=settings.papers.snapshot is not None,
        # Only a question shows whether the cluster answers, and for this very snapshot.
        ask=(lambda: corpus.service.search("papers", page=1, limit=1)) if corpus.cluster else None,
    )
    return health.check, health.probe


def _refuse_additions(settings: Settings) -> HomeNotPersistentError | PapersElsewhereError:
    """Why nothing may be added to the papers of this server."""
    if settings.papers.store == "elasticsearch":
        return PapersElsewhereError()
    return refuse_home(settings, "papers")


def _refusal_of_uploads(settings: Settings) -> Callable[[], CarrelError] | None:
    if settings.papers.store == "elasticsearch":
        return PapersElsewhereError
    return None if settings.keeps_papers else partial(refuse_home, settings, "uploads")


def _outside(corpus: OpenCorpus, citations: PaperCitations) -> OutsideCitationLookup:
    """Citations outside, which the literature room's services know once that room is open."""
    source = corpus.links.citations
    return OutsideCitationLookup(corpus.service, citations, corpus.citations, source)


def _open_watch(settings: Settings, into: Path) -> ServerWatch | None:
    """The watch over the folders of `papers.watch`; none without such folders."""
    if not settings.papers.watch:
        return None
    from carrel.wiring.papers_watch import ServerWatch

    return ServerWatch(into, settings.papers.watch, settings.papers.watch_every_seconds)


def open_literature(settings: Settings) -> LazyLiterature:
    """The literature services; their client is imported and opened where somebody first asks."""

    def open_services() -> LiteratureServices:
        from carrel.services.literature.works import LiteratureServices
        from carrel.wiring.literature_client import open_client

        chosen, outside = settings.references, settings.literature
        addresses = {
            **{name: getattr(outside.addresses, name) for name in ("crossref", "pubmed", "arxiv")},
            **{name: url for name, url in chosen.services.model_dump().items() if url},
        }
        named = {name: url for name, url in addresses.items() if url}
        key = chosen.pubmed_api_key or outside.pubmed_api_key
        return LiteratureServices(open_client(settings), named, key)

    return LazyLiterature(open_services)


def open_index(snapshot: Path, build_id: str) -> Ranking | None:
    """The best index beside a snapshot; its engine is imported only where there is one."""
    if not index_folder(snapshot).is_dir():
        return None
    from carrel.services.sentence_vectors import is_installed, load_model
    from carrel.stores.search.snapshot_index import open_paper_index, renew_older_index

    renew_older_index(snapshot)
    if is_installed():
        from carrel.stores.vectors.papers import open_semantic_index

        return open_semantic_index(snapshot, build_id, load_model)
    return open_paper_index(snapshot, build_id)


def _open_cluster(settings: Settings) -> PaperCluster:
    chosen, chosen_papers = settings.elasticsearch, settings.papers
    is_store = chosen_papers.store == "elasticsearch"
    setting = "papers.store" if is_store else "papers.search"
    problem = f"{setting} is elasticsearch, and no Elasticsearch is named"
    address = need_elasticsearch(settings, problem)
    with needs_driver("elasticsearch"):
        from carrel.stores.elasticsearch.papers.cluster import PaperCluster
    clock = SystemClock()
    return PaperCluster(address, chosen.api_key, chosen.prefix, chosen.timeout, clock, _add_meaning)


def _add_meaning(words: PaperRanking, papers: PaperSet) -> RankedByMeaning | None:
    """Nearness by the vectors of the cluster, where the extra that made them is here too."""
    from carrel.services.sentence_vectors import is_installed, load_model

    model = papers.state().model
    if model is None or not is_installed() or load_model().name != model:
        return None
    from carrel.stores.elasticsearch.papers.meaning import ClusterVectors
    from carrel.stores.vectors.ranking import SemanticPapers

    return SemanticPapers(words, ClusterVectors(papers.passages.search), load_model())


def _open_assets(settings: Settings) -> FolderAssets | HttpAssets:
    chosen = settings.papers
    static = chosen.static or str(snapshot_path(settings).parent / STATIC_NAME)
    if not static.startswith(("http://", "https://")):
        return FolderAssets(Path(static).expanduser(), max_bytes=chosen.max_asset_bytes)
    from carrel.services.http_assets import HttpAssets

    return HttpAssets(
        static,
        timeout_seconds=chosen.asset_timeout_seconds,
        max_bytes=chosen.max_asset_bytes,
    )
