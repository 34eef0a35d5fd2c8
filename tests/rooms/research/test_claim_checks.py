"""Claims are checked against the sentences of papers: for and against, with their places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import (
    CarrelError,
    InsufficientPermissionsError,
    InvalidInputError,
    NotConfiguredError,
    NotFoundError,
)
from carrel.libraries.discovery.review import Scores
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.research.claim_checks import MAX_STATEMENTS
from carrel.rooms.research.claim_models import CheckedStatement, VerdictName
from carrel.rooms.research.drafts import DraftSentence, read_draft
from carrel.rooms.research.errors import (
    CitedWorkNotFoundError,
    CorpusEmptyError,
    NoStatementError,
    PaperToReadNotFoundError,
)
from carrel.rooms.research.reasoners.evidence_review import bound_by_reviews
from carrel.rooms.research.records import Review, ReviewScores
from carrel.settings import Settings
from carrel.wiring.papers_build import build_papers
from tests.rooms.research.house import Asker, other, settings_for, visit

pytestmark = pytest.mark.promise("S12")

DENIED = "Minimum wages raise youth unemployment"
DENIAL = "We found that minimum wages did not raise youth unemployment."
ASSERTION = "We found that minimum wages raise youth unemployment."
_BOTH: dict[str, dict[str, Any]] = {"check_claim": {"text": DENIED}, "find_contradictions": {}}
_SECTION = "Later sections give robustness checks of the main estimates in other regions. " * 12
PAPERS = [
    ("Wages and young workers", f"Wages are set by law. {DENIAL}", "10.5555/wages.1"),
    ("Pay floors and jobs", f"Pay floors differ. {ASSERTION}", "10.5555/wages.2"),
    ("Tariffs and steel", "We found that tariffs lower steel imports.", "10.5555/tariffs.1"),
    ("Alloys under load", "We found that annealing raises alloy hardness.", "10.5555/alloys.1"),
    ("Glaciers", "We measured the retreat of glaciers in eight valleys.", "10.5555/ice.1"),
]
FULL_TEXT = f"""---
title: Savings in villages
doi: 10.5555/savings.1
year: 2020
---
# Savings in villages

## Introduction

{_SECTION}

## Results

We found that mobile money raises household savings.

{_SECTION}
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("claims")
    source = folder / "source"
    source.mkdir()
    rows = [
        {"title": title, "abstract": abstract, "doi": doi, "year": 2000 + number}
        for number, (title, abstract, doi) in enumerate(PAPERS)
    ]
    (source / "papers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (source / "savings.md").write_text(FULL_TEXT, encoding="utf-8")
    build_papers([source], folder / "corpus", BuildOptions(workers=1))
    return folder / "corpus" / "paper_snapshot.db"


@pytest.fixture
def desk(corpus: Path, tmp_path: Path) -> Settings:
    rooms = ("papers", "references", "knowledge", "research")
    return settings_for(corpus, tmp_path / "home", rooms=rooms)


async def check(asker: Asker, text: str, **more: Any) -> Any:
    return await asker.ask("check_claim", text=text, **more)


def sentences(statement: Any) -> list[Any]:
    return [
        *statement.supporting,
        *statement.contradicting,
        *statement.bearing,
        *statement.nearest,
    ]


def test_what_is_missing_or_not_allowed_is_refused(desk: Settings) -> None:
    async def story(asker: Asker) -> None:
        stranger = other(asker, "bob", frozenset({"knowledge:read"}))
        for tool, given in _BOTH.items():
            with pytest.raises(InsufficientPermissionsError):
                await stranger.ask(tool, **given)
        refused: list[tuple[type[CarrelError], dict[str, Any]]] = [
            (PaperToReadNotFoundError, {"text": DENIED, "within": ["10.5555/none"]}),
            (CitedWorkNotFoundError, {"text": DENIED, "cited": ["nobody-1999"]}),
            (InvalidInputError, {"text": DENIED, "cited": ["a"] * 21}),
            (InvalidInputError, {"text": "a" * 20_001}),
            (NoStatementError, {"text": "Hmm …"}),
            (NoStatementError, {"text": "note:"}),
            (NotFoundError, {"text": "note:none"}),
        ]
        for problem, asked in refused:
            with pytest.raises(problem):
                await asker.ask("check_claim", **asked)
        with pytest.raises(PaperToReadNotFoundError):
            await asker.ask("find_contradictions", within=["10.5555/none"])
        reader = other(asker, "ada", frozenset({"papers:read"}))
        with pytest.raises(InsufficientPermissionsError, match="knowledge:read"):
            await check(reader, "note:n1")
        with pytest.raises(InsufficientPermissionsError, match="references:read"):
            await check(reader, DENIED, cited=["smith-2001"])
        # A paper of the corpus needs no library.
        assert (await check(reader, DENIED, cited=["10.5555/wages.1"])).statements[0].cited

    visit(desk, story)


def test_a_desk_without_papers_or_rooms_says_what_to_do(tmp_path: Path, corpus: Path) -> None:
    async def empty(asker: Asker) -> None:
        for tool, given in _BOTH.items():
            with pytest.raises(CorpusEmptyError) as refused:
                await asker.ask(tool, **given)
            assert "add_paper" in refused.value.next_step

    async def without_notes(asker: Asker) -> None:
        with pytest.raises(NotConfiguredError):
            await check(asker, "note:n1")
        with pytest.raises(CitedWorkNotFoundError):
            await check(asker, DENIED, cited=["smith-2001"])

    visit(Settings.model_validate({"home": tmp_path / "empty"}), empty)
    visit(settings_for(corpus, tmp_path / "home"), without_notes)


def test_for_and_against_stand_side_by_side_with_their_places(desk: Settings) -> None:
    async def story(asker: Asker) -> None:
        answer = await check(asker, f"{DENIED}.")
        (found,) = answer.statements
        assert (found.verdict, found.statement) == ("mixed", DENIED)
        assert [each.sentence for each in found.supporting] == [ASSERTION]
        assert [each.sentence for each in found.contradicting] == [DENIAL]
        assert found.deciding in (*found.supporting, *found.contradicting)
        assert found.papers_searched == len(PAPERS) + 1
        assert found.searched_for and found.papers_read
        assert len(found.papers_read) <= 5
        for each in sentences(found):
            place = await asker.ask("locate_quote", text=each.sentence, within=[each.paper_id])
            assert place.places[0].exactness == "exact"
            assert place.places[0].passage_id == each.passage_id
        (only,) = (await check(asker, DENIED, within=["10.5555/wages.1"])).statements
        assert (only.verdict, only.deciding.sentence) == ("contradicts", DENIAL)
        assert only.papers_read == [only.deciding.paper_id]
        assert only.papers_searched == 1
        assert only.message.startswith("1 paper searched")

    visit(desk, story)


def test_a_full_text_is_read_where_it_speaks_of_the_claim(desk: Settings) -> None:
    async def story(asker: Asker) -> None:
        (found,) = (await check(asker, "Mobile money raises household savings")).statements
        assert found.verdict == "supports"
        assert found.deciding.section.endswith("Results")
        read = await asker.ask("read_passage", passage_id=found.deciding.passage_id)
        assert found.deciding.sentence in " ".join(read.passages[0].text.split())

    visit(desk, story)


def test_a_title_that_denies_a_claim_is_read(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    denial = "Late frost does not reduce apple yields"
    rows = [
        {"title": denial, "abstract": "We kept records in nine orchards for six years."},
        {"title": "Orchards", "abstract": "We found that late frost reduces apple yields."},
    ]
    (source / "papers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    build_papers([source], tmp_path / "corpus", BuildOptions(workers=1))
    settings = settings_for(tmp_path / "corpus" / "paper_snapshot.db", tmp_path / "home")

    async def story(asker: Asker) -> None:
        (found,) = (await check(asker, "Late frost reduces apple yields")).statements
        assert found.verdict == "mixed"
        (against,) = found.contradicting
        assert (against.sentence, against.section) == (denial, "title")
        assert against.passage_id is None and against.title == denial

    visit(settings, story)


def test_where_no_paper_says_anything_it_says_what_was_searched(desk: Settings) -> None:
    async def story(asker: Asker) -> None:
        (found,) = (await check(asker, "Choirs soothe restless parrots")).statements
        assert found.verdict == "silent"
        assert found.message.startswith(f"{len(PAPERS) + 1} papers searched")
        assert not (found.supporting or found.contradicting or found.bearing)

    visit(desk, story)


def test_a_draft_is_checked_sentence_by_sentence_up_to_a_bound(desk: Settings) -> None:
    draft = f"""# Introduction

{DENIED} [@nobody1999; see @smith2001, p. 3]. Tariffs lower steel imports
(doi:10.5555/tariffs.1).

```
Code raises no claims.
```
""" + " ".join(f"Annealing raises hardness of alloy number {n}." for n in range(MAX_STATEMENTS))

    async def story(asker: Asker) -> None:
        answer = await check(asker, draft)
        assert len(answer.statements) == MAX_STATEMENTS
        assert len(answer.unchecked) == 2
        assert answer.not_found == ["nobody1999", "smith2001"]
        assert "more are in unchecked" in answer.message
        wages, tariffs, *_ = answer.statements
        assert (wages.verdict, wages.cited) == ("mixed", [])
        (cited,) = tariffs.cited
        assert (cited.name, cited.verdict) == ("10.5555/tariffs.1", "supports")
        saved = await asker.ask("save_knowledge", content=draft, title="Draft")
        of_note = await check(asker, f"note:{saved.id}")
        assert of_note.note_id == saved.id
        assert [each.verdict for each in of_note.statements[:2]] == ["mixed", "supports"]

    visit(desk, story)


def test_a_reference_outside_the_corpus_is_read_by_its_abstract(desk: Settings) -> None:
    said = "We found that school meals raise attendance in rural districts."
    items = [
        {"id": "smith2001", "type": "article-journal", "title": "School meals", "abstract": said,
         "DOI": "10.5555/meals.1"},
        {"id": "jones2002", "type": "article-journal", "title": "Untold"},
        {"id": "wages2000", "type": "article-journal", "title": "Wages", "DOI": "10.5555/wages.1"},
    ]  # fmt: skip

    async def story(asker: Asker) -> None:
        await asker.ask("add_references", input=json.dumps(items))
        for name in ("smith2001", "10.5555/meals.1"):
            claim = "School meals raise attendance in rural districts"
            (found,) = (await check(asker, claim, cited=[name])).statements
            (alone,) = found.cited
            assert (alone.name, alone.verdict, alone.paper_id) == (name, "supports", None)
            assert found.deciding.sentence == said
        (found,) = (await check(asker, DENIED, cited=["wages2000"])).statements
        (alone,) = found.cited
        assert (alone.verdict, bool(alone.paper_id)) == ("contradicts", True)
        with pytest.raises(CarrelError, match="neither an abstract nor a text"):
            await check(asker, DENIED, cited=["jones2002"])

    visit(desk, story)


def test_pairs_that_deny_each_other_are_found_and_what_was_covered_is_said(
    desk: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        both = {DENIAL, ASSERTION}
        pair_of_papers = ["10.5555/wages.1", "10.5555/wages.2"]
        for asked in ({}, {"query": "minimum wages"}, {"within": pair_of_papers}):
            answer = await asker.ask("find_contradictions", **asked)
            (pair,) = answer.contradictions
            assert {pair.one.sentence, pair.other.sentence} == both
            assert pair.one.passage_id and pair.reasons
            assert answer.papers_covered + answer.papers_left_out <= len(PAPERS) + 1
            assert f"{answer.papers_covered} papers compared" in answer.message
        none = await asker.ask("find_contradictions", within=["10.5555/ice.1", "10.5555/alloys.1"])
        assert none.contradictions == []
        assert "No two of them deny each other, as far as words tell" in none.message
        assert none.message.startswith("2 papers compared by title and abstract")

    visit(desk, story)


@pytest.mark.parametrize("kind", ["initial", "deep_verification", "simulation"])
def test_a_review_of_a_denied_hypothesis_quotes_the_denial(desk: Settings, kind: str) -> None:
    async def story(asker: Asker) -> None:
        imported = await asker.ask(
            "import_hypotheses",
            hypotheses=json.dumps([{"id": "h1", "summary": "Annealing raises alloy hardness."}]),
            goal="What changes youth unemployment?",
        )
        own = await asker.ask(
            "submit_hypothesis",
            research_id=imported.research_id,
            title="Minimum wages do not raise youth unemployment",
            summary="Tariffs raise steel imports.",
            citations=["10.5555/wages.1"],
        )
        review = await asker.ask("review_hypothesis", hypothesis_id=own.id, review_type=kind)
        verdicts = [each.verdict for each in review.statements]
        assert verdicts[0] in {"mixed", "contradicts"}
        assert any(DENIAL in each and each.startswith("Supported") for each in review.strengths)
        assert any(ASSERTION in each for each in review.weaknesses)
        assert review.scores.plausibility <= 0.4
        assert review.statements[0].papers_read
        quoted = {each.paper_id for one in review.statements for each in sentences(one)}
        assert quoted <= set(review.citations)
        for one in review.statements:
            for each in sentences(one):
                assert any(each.sentence in quotation for quotation in review.quotations)
        (kept,) = (await asker.ask("get_hypothesis", hypothesis_id=own.id)).reviews
        assert kept.statements == review.statements

    visit(desk, story)


def test_a_contradicted_hypothesis_is_not_plausible_and_a_stated_one_not_new(
    desk: Settings,
) -> None:
    async def story(asker: Asker) -> None:
        imported = await asker.ask(
            "import_hypotheses",
            hypotheses=json.dumps([{"id": "h1", "summary": "Glaciers retreat in valleys."}]),
            goal="What changes steel imports?",
        )

        async def review(title: str) -> Any:
            own = await asker.ask(
                "submit_hypothesis", research_id=imported.research_id, title=title, summary=title
            )
            return await asker.ask("review_hypothesis", hypothesis_id=own.id)

        denied = await review("Tariffs do not lower steel imports")
        assert denied.scores.plausibility <= 0.1
        assert denied.reasons["evidence"].endswith("contradicts.")
        stated = await review("Tariffs lower steel imports")
        assert stated.scores.plausibility >= 0.75
        assert stated.scores.novelty <= 0.1
        assert "We found that tariffs lower steel imports." in stated.reasons["novelty"]
        unknown = await review("Choirs soothe restless parrots")
        assert unknown.scores.plausibility is None
        assert any("papers searched" in each for each in unknown.weaknesses)

    visit(desk, story)


def test_matches_go_by_what_the_papers_of_a_review_say() -> None:
    measured = Scores(0.9, 0.9, 0.5, 0.5, 1.0, 1.0, 0.7)

    def review(verdict: VerdictName) -> Review:
        statement = CheckedStatement(statement="Zinc helps", verdict=verdict, message="")
        return Review(
            id="r", research_id="p", hypothesis_id="h", review_type="initial", reviewer="discovery",
            created_at="", statements=(statement,),
            scores=ReviewScores(
                plausibility=None, novelty=None, testability=None, safety=1.0, overall=None
            ),
        )  # fmt: skip

    denied = bound_by_reviews(measured, "h", [review("supports"), review("contradicts")])
    assert denied.plausibility <= 0.1 and denied.overall < measured.overall
    known = bound_by_reviews(measured, "h", [review("supports")])
    assert known.novelty <= 0.1 and known.plausibility == measured.plausibility
    for reviews in ([review("undecided")], [review("silent")], []):
        assert bound_by_reviews(measured, "h", reviews) is measured
    assert bound_by_reviews(measured, "other", [review("contradicts")]) is measured


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"Zinc helps \citep[p.~3]{a1,b2}. So?", [("Zinc helps.", ("a1", "b2")), ("So?", ())]),
        ("Zinc helps. [@a1]", [("Zinc helps.", ("a1",))]),
        ("Zinc helps [[paper:abc|Zinc]].", [("Zinc helps.", ("abc",))]),
        ("Mail ada@example.org helps.", [("Mail ada@example.org helps.", ())]),
        ("---\ntitle: x\n---\nZinc helps.\n\n| a | b |\n", [("Zinc helps.", ())]),
        ("", []),
    ],
)  # fmt: skip
def test_a_draft_is_read_by_sentences_with_what_each_cites(text: str, read: list[Any]) -> None:
    assert read_draft(text) == [DraftSentence(said, cited) for said, cited in read]
