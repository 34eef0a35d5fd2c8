"""Citations inside the corpus, asked through the gate of a desk that was built from files."""

from __future__ import annotations

import asyncio
import json
import lzma
import re
import tarfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.page import Page, make_page
from carrel.cli.page_text import write_page_text
from carrel.cli.papers_pages import PAGES
from carrel.core.answer import Explained, split_explanation
from carrel.core.caller import LOCAL_USER, Caller, Visit
from carrel.core.errors import InvalidInputError
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.citation_drawings import write_drawing
from carrel.rooms.papers.citation_models import BriefPaper
from carrel.rooms.papers.errors import CitationsUnknownError, PaperNotFoundError
from carrel.settings import read_settings
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.papers_build import build_papers

pytestmark = pytest.mark.promise("P17")

SHARED = Path(__file__).parents[4] / "shared" / "data"
JATS = SHARED / "papers" / "elife_jats_sample.tar.xz"
DEMO = SHARED / "snapshots" / "demo"

# Who cites whom: a, b, c cite each other in a chain; d and e cite a and b together; f cites nobody.
CITED: Mapping[str, tuple[str, ...]] = {
    "a": (),
    "b": ("a", "outside1"),
    "c": ("b", "outside1", "outside2"),
    "d": ("a", "b", "outside1"),
    "e": ("a", "b"),
    "f": (),
}
YEARS = {name: 2010 + place for place, name in enumerate(CITED)}


def write_article(folder: Path, name: str, cited: tuple[str, ...], related: str = "") -> None:
    """A JATS article with a DOI and a reference list."""
    references = "".join(
        f'<ref id="b{number}"><element-citation publication-type="journal"><person-group '
        f'person-group-type="author"><name><surname>Lee</surname><given-names>A</given-names>'
        f"</name></person-group><year>{YEARS.get(each, 1999)}</year><article-title>A study of the "
        f"thing that is called {each}</article-title><source>J</source>"
        f'<pub-id pub-id-type="doi">10.1000/{each}</pub-id></element-citation></ref>'
        for number, each in enumerate(cited, start=1)
    )
    back = f"<back><ref-list>{references}</ref-list></back>" if cited else ""
    (folder / f"{name}.xml").write_text(
        f'<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
        f'<article-id pub-id-type="doi">10.1000/{name}</article-id><title-group><article-title>'
        f"A study of the thing that is called {name}</article-title></title-group><contrib-group>"
        f'<contrib contrib-type="author"><name><surname>Lee</surname><given-names>Ann</given-names>'
        f"</name></contrib></contrib-group><pub-date><year>{YEARS[name]}</year></pub-date>{related}"
        f"<abstract><p>About whale {name}.</p></abstract></article-meta></front><body><sec><title>"
        f"Results</title><p>Whales sing.</p></sec></body>{back}</article>",
        encoding="utf-8",
    )


def on_desk(home: Path, story: Callable[[Any], Awaitable[None]]) -> None:
    """Runs a story that gets a function to ask operations by."""
    settings = read_settings(
        environment={"CARREL_HOME": str(home), "CARREL_AUDIT_ENABLED": "false"}
    )

    async def run() -> None:
        async with open_desk(settings).session() as desk:
            await story(lambda name, **arguments: ask(desk, name, **arguments))

    asyncio.run(run())


async def ask(desk: Desk, name: str, **arguments: object) -> Any:
    operation = desk.catalogue.operations[name]
    caller = Caller(LOCAL_USER, frozenset(ALL_SCOPES))
    answer = await desk.gate.call(operation, arguments, caller, Visit("test", "1"))
    found, explanation = split_explanation(answer)
    # Every answer can be shown at a terminal.
    if name in PAGES:
        page = make_page(PAGES[name], found, arguments)
        assert isinstance(page, Page)
        assert write_page_text(page) or not found
    return Explained(found, explanation) if explanation is not None else found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("citing")
    source = folder / "source"
    source.mkdir()
    for name, cited in CITED.items():
        write_article(source, name, cited)
    build_papers([source], folder / "home" / "papers", BuildOptions(workers=1))
    return folder / "home"


def names(papers: Any) -> list[str]:
    """The last letters of titles."""
    return [paper.title.rpartition(" ")[2] for paper in papers]


def test_a_paper_shows_what_it_cites_and_what_cites_it(home: Path) -> None:
    async def story(ask: Any) -> None:
        answer = await ask("get_citations", paper_id="10.1000/b")
        assert answer.references_known
        assert [(each.doi, each.linked_by) for each in answer.references] == [
            ("10.1000/a", "doi"),
            ("10.1000/outside1", None),
        ]
        assert answer.references[0].paper_id is not None
        assert answer.references[1].paper_id is None
        assert (answer.reference_count, answer.linked_count) == (2, 1)
        assert names(answer.cited_by) == ["e", "d", "c"]
        assert answer.cited_by_count == 3
        assert (answer.papers_with_references, answer.papers) == (4, 6)
        assert answer.papers_with_text == 6
        assert answer.message.endswith(
            "4 of 6 papers have a known reference list, and in the texts of the others none was "
            "found."
        )
        page = await ask("get_citations", paper_id="10.1000/b", direction="in", limit=2, page=2)
        assert names(page.cited_by) == ["c"]
        assert page.references is None
        only = await ask("get_citations", paper_id="10.1000/b", direction="out", in_corpus=True)
        assert [each.doi for each in only.references] == ["10.1000/a"]
        assert only.cited_by is None

    on_desk(home, story)


def test_what_is_not_known_is_said_and_is_no_empty_list(home: Path) -> None:
    async def story(ask: Any) -> None:
        answer = await ask("get_citations", paper_id="10.1000/f")
        assert (answer.references_known, answer.references, answer.reference_count) == (
            False,
            None,
            None,
        )
        assert "not known" in answer.message
        # That nobody cites it is known, as far as lists are.
        assert answer.cited_by == []
        assert "4 of 6 papers" in answer.message
        with pytest.raises(PaperNotFoundError):
            await ask("get_citations", paper_id="10.1000/nowhere")

    on_desk(home, story)


def test_a_corpus_without_lists_refuses_questions_about_its_graph(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"title": "Alone", "doi": "10.1000/x", "year": 2011}')
    build_papers([tmp_path / "one.jsonl"], tmp_path / "papers", BuildOptions(workers=1))

    async def story(ask: Any) -> None:
        answer = await ask("get_citations", paper_id="10.1000/x")
        assert (answer.references, answer.cited_by, answer.cited_by_count) == (None, None, None)
        for name, arguments in (
            ("find_related_papers", {"papers": ["10.1000/x"]}),
            ("find_citation_path", {"from_paper": "10.1000/x", "to_paper": "10.1000/x"}),
            ("rank_papers", {}),
            ("snowball_papers", {"seeds": ["10.1000/x"]}),
            ("draw_citations", {"paper_id": "10.1000/x"}),
        ):
            with pytest.raises(CitationsUnknownError):
                await ask(name, **arguments)

    on_desk(tmp_path, story)


@pytest.mark.skipif(not DEMO.is_dir(), reason="no snapshot of another tool beside the checkout")
def test_a_snapshot_of_another_tool_says_that_nothing_is_known() -> None:
    settings = read_settings(
        {("papers", "snapshot"): str(DEMO / "paper_snapshot.db")},
        environment={"CARREL_AUDIT_ENABLED": "false"},
    )

    async def story() -> None:
        async with open_desk(settings).session() as desk:
            (hit, *_) = await ask(desk, "search_papers", query="learning")
            answer = await ask(desk, "get_citations", paper_id=hit.paper_id)
            assert (answer.references_known, answer.references) == (False, None)
            assert (answer.cited_by, answer.papers_with_references) == (None, 0)
            assert answer.papers == 5
            with pytest.raises(CitationsUnknownError):
                await ask(desk, "rank_papers")

    asyncio.run(story())


def test_papers_are_near_by_what_they_cite_and_by_who_cites_them(home: Path) -> None:
    async def story(ask: Any) -> None:
        coupled = await ask("find_related_papers", papers="10.1000/d")
        assert [
            (name, paper.shared) for name, paper in zip(names(coupled), coupled, strict=True)
        ] == [
            ("e", 2),
            ("b", 2),
            ("c", 2),
        ]
        assert coupled[0].similarity == pytest.approx(2 / 6**0.5, abs=1e-4)
        together = await ask("find_related_papers", paper_id=["10.1000/a"], by="co-citation")
        assert [(each.title[-1], each.shared) for each in together] == [("b", 2)]
        # What a or f cite is not known, which is not the same as nothing.
        with pytest.raises(CitationsUnknownError, match="not known"):
            await ask("find_related_papers", papers=["10.1000/f"])
        nothing = await ask("find_related_papers", papers=["10.1000/c"], by="co-citation")
        assert isinstance(nothing, Explained)
        assert nothing.result == []

    on_desk(home, story)


def test_a_path_says_at_each_step_who_cites_whom(home: Path) -> None:
    async def story(ask: Any) -> None:
        path = await ask("find_citation_path", **{"from": "10.1000/c", "to": "10.1000/a"})
        assert [(each.title[-1], each.cites_next) for each in path.steps] == [
            ("c", True),
            ("b", True),
            ("a", None),
        ]
        back = await ask("find_citation_path", from_paper="10.1000/c", to_paper="10.1000/d")
        assert [(each.title[-1], each.cites_next) for each in back.steps] == [
            ("c", True),
            ("b", False),
            ("d", None),
        ]
        for direction, steps in (("out", 3), ("in", None)):
            found = await ask(
                "find_citation_path",
                from_paper="10.1000/c",
                to_paper="10.1000/a",
                direction=direction,
            )
            assert (None if found.steps is None else len(found.steps)) == steps
        none = await ask("find_citation_path", from_paper="10.1000/f", to_paper="10.1000/a")
        assert none.steps is None
        short = await ask(
            "find_citation_path", from_paper="10.1000/c", to_paper="10.1000/a", max_steps=1
        )
        assert short.steps is None

    on_desk(home, story)


def test_papers_are_ranked_by_pagerank_all_or_those_that_match(home: Path) -> None:
    async def story(ask: Any) -> None:
        ranked = await ask("rank_papers")
        assert names(ranked)[:2] == ["a", "b"]
        assert [each.cited_by_count for each in ranked[:2]] == [3, 3]
        assert sum(each.pagerank for each in ranked) == pytest.approx(1_000_000, abs=1)
        some = await ask("rank_papers", query="year:2012..2014")
        assert set(names(some)) == {"c", "d", "e"}
        cited = await ask("rank_papers", by="cited_by")
        counts = [each.cited_by_count for each in cited]
        assert counts == sorted(counts, reverse=True) and set(names(cited)) == set(names(ranked))
        assert [each.rank for each in cited] == list(range(1, len(cited) + 1))
        nothing = await ask("rank_papers", query="zeppelin")
        assert isinstance(nothing, Explained)

    on_desk(home, story)


def test_a_snowball_counts_its_rounds_and_names_what_the_corpus_lacks(home: Path) -> None:
    async def story(ask: Any) -> None:
        whole = await ask("snowball_papers", seeds=["10.1000/c"], rounds=5)
        assert (whole.stopped, whole.paper_count) == ("nothing new", 4)
        assert [(each.title[-1], each.round, each.cites_origin) for each in whole.papers] == [
            ("b", 1, False),
            ("a", 2, False),
            ("d", 2, True),
            ("e", 2, True),
        ]
        assert [(each.links, each.duplicates, each.new) for each in whole.rounds] == [
            (1, 0, 1),
            (4, 1, 3),
            (7, 7, 0),
        ]
        prisma = whole.prisma
        assert prisma.identified_from_citation_searching == 12
        assert prisma.removed_as_duplicates == 8
        assert prisma.left_to_screen == 4
        assert prisma.screened is None
        assert [(each.doi, each.cited_by) for each in whole.not_in_corpus] == [
            ("10.1000/outside1", 3),
            ("10.1000/outside2", 1),
        ]
        backward = await ask("snowball_papers", seeds=["10.1000/c"], direction="out", rounds=5)
        assert names(backward.papers) == ["b", "a"]
        years = await ask("snowball_papers", seeds=["10.1000/c"], year_to=2011, rounds=5)
        assert names(years.papers) == ["b", "a"]
        assert years.prisma.removed_by_automation_tools == 2
        words = await ask("snowball_papers", seeds=["10.1000/b"], query="year:2010", rounds=1)
        assert names(words.papers) == ["a"]
        assert words.rounds[0].excluded_by_query == 3
        with pytest.raises(InvalidInputError, match="year_from"):
            await ask("snowball_papers", seeds=["10.1000/c"], year_from=2020, year_to=2000)
        budget = await ask("snowball_papers", seeds=["10.1000/b"], max_papers=2)
        assert (budget.stopped, budget.paper_count) == ("papers", 2)
        share = await ask("snowball_papers", seeds=["10.1000/c"], min_new_share=0.9, rounds=5)
        assert (share.stopped, len(share.rounds)) == ("few new", 2)

    on_desk(home, story)


def test_a_drawing_has_an_arrow_for_each_citation(home: Path) -> None:
    async def story(ask: Any) -> None:
        drawn = (await ask("draw_citations", paper_id="10.1000/b")).body
        assert drawn.startswith("graph LR")
        assert drawn.count(" --> ") == 4
        dot = (await ask("draw_citations", paper_id="10.1000/b", format="dot", limit=1)).body
        assert dot.startswith("digraph")
        assert dot.count(" -> ") == 3
        assert "2 more are not drawn" in dot
        alone = (await ask("draw_citations", paper_id="10.1000/f")).body
        assert "What it cites is not known" in alone

    on_desk(home, story)


def test_a_drawing_keeps_the_signs_of_titles_and_reads_none_as_its_own() -> None:
    title = 'C++ & C#: "fast" <b>\\n of\n50% `x` [1] – Größe'
    paper = BriefPaper(paper_id="x", title=title, authors=(), year="2001", doi=None)
    mermaid = write_drawing({"x": paper}, [], "mermaid").splitlines()[1]
    label = mermaid.removeprefix('  p0["').removesuffix('"]')
    assert re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label) == (
        'C++ & C#: "fast" <b>\\n of 50% `x` [1] – Größe (2001)'
    )
    assert "C++ #38; C#35;: " in label
    assert not set(re.sub(r"#\d+;", "", label)) & set('"<>&#`[]\\%')
    dot = write_drawing({"x": paper}, [], "dot").splitlines()[2]
    assert dot == (
        '  p0 [label="C++ &amp; C#: \\"fast\\" <b>\\\\n of 50% `x` [1] – Größe (2001)"];'
    )


def test_a_paper_that_comes_later_is_linked_at_once(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    write_article(source, "c", CITED["c"])
    build_papers([source], tmp_path / "papers", BuildOptions(workers=1))

    async def story(ask: Any) -> None:
        before = await ask("get_citations", paper_id="10.1000/c")
        assert before.linked_count == 0
        assert names(await ask("rank_papers")) == ["c"]
        write_article(source, "b", CITED["b"])
        build_papers([source], tmp_path / "papers", BuildOptions(workers=1))
        after = await ask("get_citations", paper_id="10.1000/c")
        assert after.linked_count == 1
        assert names(await ask("rank_papers")) == ["b", "c"]

    on_desk(tmp_path, story)


LONG = "Computing estimators of sandwiches by objects: the {} case"


def write_undated(folder: Path, works: list[dict[str, Any]], cited: list[tuple[str, str]]) -> None:
    """Records without DOIs, and an article that cites titles with years."""
    lines = "".join(json.dumps(work) + "\n" for work in works)
    (folder / "works.jsonl").write_text(lines, encoding="utf-8")
    references = "".join(
        '<ref><element-citation><person-group person-group-type="author"><name><surname>Zeileis'
        f"</surname><given-names>A</given-names></name></person-group><year>{year}</year>"
        f"<article-title>{title}</article-title></element-citation></ref>"
        for title, year in cited
    )
    (folder / "citing.xml").write_text(
        '<article><front><article-meta><article-id pub-id-type="doi">10.1000/citing</article-id>'
        "<title-group><article-title>A paper that cites the others of this folder</article-title>"
        "</title-group><pub-date><year>2020</year></pub-date></article-meta></front><body><p>Text."
        f"</p></body><back><ref-list>{references}</ref-list></back></article>",
        encoding="utf-8",
    )


def test_a_year_that_is_not_known_links_only_what_nothing_else_could_be(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    people = ["Zeileis, Achim"]

    def work(title: str, year: int | None = None, authors: list[str] = people) -> dict[str, Any]:
        return {"title": title, "authors": authors} | ({"year": year} if year else {})

    works = [
        work(LONG.format("first")),
        work("An editorial remark"),
        work("The undated twin of a paper on whales and ships"),
        work("The undated twin of a paper on whales and ships", 1990),
        work("A dated paper on kinases that sleep at night", 2001),
        work("A paper of which nobody knows the author at all", 2005, []),
        work("Without any date on either side of the citation"),
        work("A paper of the same title by somebody else entirely", authors=["Other, N."]),
        work("Another title that has a letter behind its year", 2022),
    ]
    cited = [(each["title"], "2006") for each in works]
    cited[6] = (works[6]["title"], "")
    cited[8] = (works[8]["title"], "2022b")
    cited.append((works[4]["title"], ""))
    write_undated(source, works, cited)
    build_papers([source], tmp_path / "papers", BuildOptions(workers=1))

    async def story(ask: Any) -> None:
        answer = await ask("get_citations", paper_id="10.1000/citing", direction="out")
        told = [(each.linked_by, len(each.may_be)) for each in answer.references]
        assert told == [
            ("title", 0),  # exactly one paper has this title and author
            (None, 1),  # too short a title to say it without a year
            (None, 1),  # another paper of the same title and author has another year
            (None, 1),
            (None, 0),  # 2001 is not 2006
            (None, 1),  # the author is not known
            (None, 1),  # neither year is known
            (None, 0),  # another author
            ("title", 0),
            ("title", 0),  # the same paper, cited without a year
        ]
        first = answer.references[0].paper_id
        assert (await ask("get_paper_metadata", paper_id=first)).title == LONG.format("first")
        cites = await ask("get_citations", paper_id=first)
        assert (cites.cited_by_count, cites.unclear_count) == (1, 0)
        doubtful = await ask("get_citations", paper_id=answer.references[1].may_be[0])
        assert (doubtful.cited_by_count, doubtful.unclear_count) == (0, 1)
        # What may be here is in neither list of a snowball, and a seed never is in this one.
        found = await ask("snowball_papers", seeds=["10.1000/citing", first], direction="out")
        assert {each.title for each in found.not_in_corpus} == {
            works[4]["title"],  # as of 2006; the corpus has one of 2001
            works[7]["title"],
        }
        assert found.may_be_in_corpus_count == 4
        assert "4 cited works may be in the corpus" in found.message

    on_desk(tmp_path, story)


def test_orders_do_not_change_when_papers_are_written_again(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in CITED:
        write_article(source, name, ("f",) if name != "f" else (), "<!-- 1 -->")
    build_papers([source], tmp_path / "papers", BuildOptions(workers=1))

    async def orders(ask: Any) -> list[Any]:
        cites = await ask("get_citations", paper_id="10.1000/f", direction="in")
        near = await ask("find_related_papers", papers=["10.1000/a"])
        ball = await ask("snowball_papers", seeds=["10.1000/f"])
        drawn = (await ask("draw_citations", paper_id="10.1000/f")).body
        lists = (cites.cited_by, near, await ask("rank_papers"), ball.papers)
        return [*map(names, lists), drawn]

    async def story(ask: Any) -> None:
        before = await orders(ask)
        for name in ("e", "b", "a"):
            old = (source / f"{name}.xml").read_text(encoding="utf-8")
            (source / f"{name}.xml").write_text(old.replace("sing.", "dive."), encoding="utf-8")
            build_papers([source], tmp_path / "papers", BuildOptions(workers=1))
            assert await orders(ask) == before

    for name, year in YEARS.items():
        text = (source / f"{name}.xml").read_text(encoding="utf-8")
        same = text.replace(f"<year>{year}</year></pub-date>", "<year>2000</year></pub-date>")
        (source / f"{name}.xml").write_text(same, encoding="utf-8")
    build_papers([source], tmp_path / "papers", BuildOptions(workers=1))
    on_desk(tmp_path, story)


@pytest.mark.skipif(not JATS.is_file(), reason="no eLife articles beside the checkout")
def test_references_of_real_articles_lead_to_real_records_and_none_wrongly(tmp_path: Path) -> None:
    """The facts sheet of issue 16: 1,859 references, 29 lead into the 19,442 eLife records."""
    source = tmp_path / "source"
    source.mkdir()
    with tarfile.open(JATS) as packed:
        packed.extractall(source, filter="data")
    keep_cited_records(source)
    build_papers([source], tmp_path / "papers", BuildOptions(workers=1))

    async def story(ask: Any) -> None:
        by_doi: dict[str, str] = {}
        links: list[tuple[str, str]] = []
        count = 0
        for paper_id in await all_ids(ask):
            answer = await ask("get_citations", paper_id=paper_id, direction="out", limit=100)
            by_doi[(await ask("get_paper_metadata", paper_id=paper_id)).doi] = paper_id
            count += answer.reference_count or 0
            pages = -(-(answer.reference_count or 0) // 100)
            for page in range(1, pages + 1):
                part = await ask(
                    "get_citations", paper_id=paper_id, direction="out", limit=100, page=page
                )
                links += [(each.doi, each.paper_id) for each in part.references if each.paper_id]
        assert count == 1_859
        assert len(links) == 29
        assert all(by_doi[doi] == paper_id for doi, paper_id in links)

    on_desk(tmp_path, story)


def keep_cited_records(folder: Path) -> None:
    """The eLife records that any of the articles names by DOI, and every hundredth other one."""
    cited = {
        doi.lower()
        for path in folder.rglob("*.xml")
        for doi in re.findall(r">(10\.7554/[^<]+)<", path.read_text(encoding="utf-8"))
    }
    file = SHARED / "papers" / "elife_metadata.jsonl.xz"
    with (
        lzma.open(file, "rt", encoding="utf-8") as lines,
        (folder / "records.jsonl").open("w", encoding="utf-8") as kept,
    ):
        for number, line in enumerate(lines):
            doi = json.loads(line)["doi"].lower()
            if number % 100 == 0 or doi in cited:
                kept.write(line)


async def all_ids(ask: Any) -> list[str]:
    text = (await ask("export_papers", limit=1000)).body
    return [json.loads(line)["paper_id"] for line in text.splitlines()]
