"""Pages of the citations inside a corpus: lists, paths, ranks and snowballing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from carrel.cli.outside_citation_page import draw_outside_citations
from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Item,
    Line,
    MakePage,
    Note,
    Page,
    Part,
    Table,
    dim,
    join_inline,
)
from carrel.cli.paper_names import count_papers, id_line, people_line, title_line
from carrel.rooms.papers.citation_models import (
    BriefPaper,
    CitationAnswer,
    CitationPath,
    ListedReference,
    MissingWork,
    RankedCitedPaper,
    RelatedPaper,
    Snowball,
)

_ROUNDS = (
    ("round", "round"), ("followed", "followed"), ("links", "links"), ("duplicates", "duplicates"),
    ("excluded_by_year", "other years"), ("excluded_by_query", "no match"), ("new", "new"),
)  # fmt: skip


def _citations(answer: CitationAnswer) -> Page:
    parts: list[Part] = [Heading(answer.title), Line(answer.message)]
    if answer.references:
        parts.append(Heading("It cites"))
        parts += [Item(f"{each.number}.", _reference(each)) for each in answer.references]
    if answer.cited_by:
        parts += [Heading("Cited by"), *_list(answer.cited_by)]
    if answer.versions:
        parts += [Heading("Other versions, whose citations count too"), *_list(answer.versions)]
    if answer.outside is not None:
        parts += draw_outside_citations(answer.outside)
    if not answer.paper_id:
        return Page(parts, next_step="")
    name = shlex.quote(answer.paper_id)
    return Page(parts, next_step=f"carrel papers related {name} finds papers near it")


def _reference(reference: ListedReference) -> Sequence[Part]:
    text = Line(" ".join(reference.text.split()))
    if reference.paper_id is not None:
        known = f"in the corpus, known by its {reference.linked_by}"
        return (text, Line(join_inline([(dim(reference.paper_id),), (dim(known),)])))
    if reference.may_be:
        return (text, Line((dim(f"may be {' or '.join(reference.may_be)}"),)))
    return (text,)


def _list(papers: Sequence[BriefPaper]) -> Sequence[Part]:
    return [Item("•", _paper(each)) for each in papers]


def _paper(paper: BriefPaper, *more: str) -> Sequence[Part]:
    return (
        title_line(paper.title),
        people_line(paper.authors, paper.year, *more),
        id_line(paper.paper_id),
    )


def _related(papers: Sequence[RelatedPaper]) -> Page:
    items = [
        Item(f"{number}.", _paper(each, f"{each.shared:,} shared", f"{each.similarity:.0%} alike"))
        for number, each in enumerate(papers, start=1)
    ]
    return Page(items, next_step="")


def _path(path: CitationPath) -> Page:
    parts: list[Part] = [Line(path.message)]
    for step in path.steps or ():
        parts.append(Item("•", _paper(step)))
        if step.cites_next is not None:
            parts.append(Line("↓ cites" if step.cites_next else "↓ is cited by", indent=2))
    return Page(parts, next_step="")


def _ranked(papers: Sequence[RankedCitedPaper]) -> Page:
    """PageRank as a share of the first paper's: parts per million mean nothing to a reader."""
    if not papers:
        return Page((), next_step="")
    most = max(each.pagerank for each in papers)
    items: list[Part] = [
        Item(
            f"{each.rank}.",
            _paper(each, f"cited by {each.cited_by_count:,}", f"influence {_share(each, most)}"),
        )
        for each in papers
    ]
    note = Note("influence: PageRank over the citations in this corpus, the highest here is 100")
    return Page((*items, note), next_step="")


def _share(paper: RankedCitedPaper, most: float) -> str:
    return f"{100 * paper.pagerank / most:.0f}" if most else "0"


def _snowball(answer: Snowball) -> Page:
    columns = [Column(name, "right") for _, name in _ROUNDS]
    rows = [[f"{getattr(each, field):,}" for field, _ in _ROUNDS] for each in answer.rounds]
    parts: list[Part] = [Line(answer.message)]
    if answer.papers:
        parts.append(Heading(f"Found ({len(answer.papers):,} of {answer.paper_count:,})"))
        parts += [
            Item(f"{number}.", _paper(each, f"round {each.round}"))
            for number, each in enumerate(answer.papers, start=1)
        ]
    if answer.not_in_corpus:
        count = f"{answer.not_in_corpus_count:,}"
        parts.append(Heading(f"Cited, not in the corpus ({count}), most cited first"))
        parts += [Item("•", _missing(each)) for each in answer.not_in_corpus]
    counts = answer.prisma.model_dump()
    prisma = [(name.replace("_", " "), f"{n:,}") for name, n in counts.items() if n is not None]
    parts += [Heading("Rounds"), Table(columns, rows)]
    parts += [Heading("PRISMA 2020 (only what is known here)"), Fields(prisma)]
    return Page(parts, next_step="")


def _missing(work: MissingWork) -> Sequence[Part]:
    known = f"doi:{work.doi}" if work.doi else ""
    cited = f"cited by {count_papers(work.cited_by)}"
    return (Line(" ".join(work.text.split())), id_line(cited, known))


CITATION_PAGES: Mapping[str, MakePage] = {
    "get_citations": _citations,
    "find_related_papers": _related,
    "find_citation_path": _path,
    "rank_papers": _ranked,
    "snowball_papers": _snowball,
}
