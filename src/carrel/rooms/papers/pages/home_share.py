"""The papers on the first page, and the pages of papers that the search over the desk finds."""

from __future__ import annotations

from carrel.core.errors import CarrelError
from carrel.core.pages import HomeShare, NewItem, PageRequest, WaitingItem, local_address
from carrel.rooms.papers.pages.search_page import count_doubtful


def find_path(kind: str, name: str) -> str:
    """The page of a paper, or of a passage of one."""
    paper_id, is_passage, _ = name.partition("~")
    if kind == "passage" or is_passage:
        return local_address("/papers/paper", paper_id, passage=name)
    return local_address("/papers/paper", name)


async def share_with_home(request: PageRequest) -> HomeShare:
    """How many papers there are, when they last changed, and how many are doubtful."""
    if not request.offers("get_corpus_statistics"):
        return HomeShare()
    try:
        statistics = await request.ask("get_corpus_statistics")
    except CarrelError:
        return HomeShare()
    doubtful = await count_doubtful(request) if statistics.papers else 0
    facts = [("papers.share.papers", statistics.papers, "/papers")]
    if statistics.papers:
        facts.append(("papers.share.with_text", statistics.with_source, "/papers"))
    waiting = [WaitingItem("papers.share.doubtful", doubtful, "/papers/review")] if doubtful else []
    title = request.translate("papers.share.corpus")
    new = (
        [NewItem(statistics.built_at, title, "papers.share.changed", "/papers")]
        if statistics.built_at and statistics.papers
        else []
    )
    return HomeShare(facts=facts, waiting=waiting, new=new)
