"""Adding one paper to a corpus while it is being served."""

from __future__ import annotations

import asyncio
import base64
import sys
from pathlib import Path

import orjson
import pytest

from carrel.core.caller import Call, Caller, Visit
from carrel.core.decorators import collect_operations
from carrel.core.errors import CarrelError
from carrel.libraries.identifiers import ArxivId, Doi
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.errors import PaperNotFoundError
from carrel.rooms.papers.models import AddPaper, OnePaper, PaperAdded, PaperRemoved
from carrel.wiring.papers_adding import paper_adder
from carrel.wiring.papers_build import build_papers
from tests.rooms.papers.building.conftest import Corpus
from tests.services.pdf_files import make_form_bomb, make_pdf

CALL = Call(Caller("somebody", frozenset({"papers:write"})), Visit("test", "1"))


class Registry:
    """Knows one work, as a registry of DOIs would."""

    async def find_csl_json(self, identifier: Doi | ArxivId) -> bytes | None:
        if str(identifier) != "10.1234/known":
            return None
        return orjson.dumps(
            [
                {
                    "id": "k",
                    "type": "article-journal",
                    "title": "A known work",
                    "DOI": "10.1234/known",
                }
            ]
        )


def add(into: Path, **question: str) -> PaperAdded:
    adder = paper_adder(into, Registry())

    async def asked() -> PaperAdded:
        answer = await adder.add_paper(AddPaper(**question), CALL)
        assert isinstance(answer, PaperAdded)
        return answer

    return asyncio.run(asked())


@pytest.fixture
def served(corpus: Corpus) -> Corpus:
    corpus.write_lines(
        "base.jsonl", *({"title": f"Paper {at}", "doi": f"10.1000/{at}"} for at in range(20))
    )
    corpus.build()
    return corpus


def test_adding_needs_the_scope_for_writing() -> None:
    adder = paper_adder(Path("unused"), None)
    operations = collect_operations("papers", adder)
    assert [operation.name for operation in operations] == ["add_paper", "remove_paper"]
    assert all(operation.scopes == {"papers:write"} for operation in operations)


@pytest.mark.promise("P12")
def test_a_text_is_added_and_the_rest_stays_even_if_the_sources_are_not_there(
    served: Corpus,
) -> None:
    (served.sources / "base.jsonl").unlink()
    added = add(served.into, markdown="---\ntitle: New\ndoi: 10.1000/new\n---\nWhales sing.\n")
    assert (added.title, added.is_new, added.notes) == ("New", True, [])
    assert served.one("SELECT count(*) FROM paper") == 21
    assert served.ask("SELECT paper_id FROM paper_fts WHERE paper_fts MATCH 'whales'") == [
        (added.paper_id,)
    ]


@pytest.mark.promise("P12")
def test_a_pdf_and_an_identifier_are_added_and_survive_the_next_build(served: Corpus) -> None:
    page = [
        (22, "Engines of the North"),
        (10, "A text that is long enough to be a text layer, as it seems. doi:10.1000/pdf"),
    ]
    first = add(served.into, pdf_base64=base64.b64encode(make_pdf([page])).decode())
    second = add(served.into, identifier="https://doi.org/10.1234/KNOWN")
    assert (first.title, second.title) == ("Engines of the North", "A known work")
    report = build_papers([served.sources], served.into, BuildOptions(workers=1))
    assert (report.papers, report.is_changed) == (22, False)


@pytest.mark.promise("P12")
def test_a_paper_that_is_there_already_is_completed_and_not_doubled(served: Corpus) -> None:
    added = add(
        served.into, markdown="---\ntitle: Paper 3\ndoi: 10.1000/3\n---\nNow with its text.\n"
    )
    assert not added.is_new
    assert served.one("SELECT count(*) FROM paper") == 20
    assert (
        served.one("SELECT source FROM paper_fts WHERE paper_id = ?", added.paper_id)
        == "Now with its text."
    )


@pytest.mark.promise("P12")
@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({}, "invalid_input"),
        ({"markdown": "# a", "identifier": "10.1234/known"}, "invalid_input"),
        ({"identifier": "nonsense"}, "invalid_input"),
        ({"identifier": "10.1234/unknown"}, "resource_not_found"),
        ({"pdf_base64": "%%%"}, "invalid_input"),
        ({"pdf_base64": base64.b64encode(b"not a pdf").decode()}, "paper_not_added"),
        ({"pdf_base64": base64.b64encode(make_pdf([[]])).decode()}, "paper_not_added"),
        pytest.param(
            {"pdf_base64": base64.b64encode(make_form_bomb(30)).decode()},
            "paper_not_added",
            marks=pytest.mark.skipif(
                sys.platform != "linux", reason="only Linux holds a process to its memory"
            ),
        ),
    ],
)
def test_what_cannot_be_added_is_refused_with_a_reason_and_changes_nothing(
    served: Corpus, question: dict[str, str], code: str
) -> None:
    before = (served.into / "manifest.json").read_bytes(), served.segment_files()
    with pytest.raises(CarrelError) as refused:
        add(served.into, **question)
    assert refused.value.code == code
    assert refused.value.next_step
    assert str(served.into) not in str(refused.value.to_facts())
    assert ((served.into / "manifest.json").read_bytes(), served.segment_files()) == before
    assert not [path for path in served.into.rglob("added/*") if path.is_file()]


@pytest.mark.promise("P12")
def test_two_papers_handed_in_at_once_both_arrive(served: Corpus) -> None:
    adder = paper_adder(served.into, None)

    async def both() -> None:
        await asyncio.gather(
            *(
                adder.add_paper(AddPaper(markdown=f"# Essay {name}\n\ntext\n"), CALL)
                for name in ("one", "two")
            )
        )

    asyncio.run(both())
    assert served.one("SELECT count(*) FROM paper") == 22


def remove(into: Path, paper_id: str) -> PaperRemoved:
    adder = paper_adder(into, None)

    async def asked() -> PaperRemoved:
        answer = await adder.remove_paper(OnePaper(paper_id=paper_id), CALL)
        assert isinstance(answer, PaperRemoved)
        return answer

    return asyncio.run(asked())


@pytest.mark.promise("P16")
def test_a_removed_paper_stays_away_from_builds_until_it_is_added_again(served: Corpus) -> None:
    paper_id = str(served.one("SELECT paper_id FROM paper WHERE title = 'Paper 3'"))
    assert remove(served.into, paper_id).title == "Paper 3"
    assert served.manifest.papers == 19
    with pytest.raises(PaperNotFoundError):
        remove(served.into, paper_id)
    # Its source is read again, and still it stays away.
    served.write_lines(
        "base.jsonl", *({"title": f"Paper {at}", "doi": f"10.1000/{at}"} for at in range(21))
    )
    report = served.build()
    assert (report.papers, report.papers_added) == (20, 1)
    added = add(served.into, markdown="---\ntitle: Paper 3\ndoi: 10.1000/3\n---\nIts text.\n")
    assert (added.paper_id, added.is_new) == (paper_id, True)
    assert served.manifest.papers == 21


@pytest.mark.promise("P16")
def test_a_removed_text_can_be_added_again_with_all_its_words(served: Corpus) -> None:
    text = "# Songs\n\nWhales sing.\n"
    added = add(served.into, markdown=text)
    remove(served.into, added.paper_id)
    assert served.build().papers == 20
    assert served.ask("SELECT 1 FROM paper_fts WHERE paper_fts MATCH 'whales'") == []
    assert add(served.into, markdown=text).paper_id == added.paper_id
    assert served.ask("SELECT paper_id FROM paper_fts WHERE paper_fts MATCH 'whales'") == [
        (added.paper_id,)
    ]


@pytest.mark.promise("P16")
@pytest.mark.parametrize(
    "name", ["10.1234/ONE", "https://doi.org/10.1234/one", "2101.00001", "arXiv:2101.00001v2"]
)
def test_a_paper_is_removed_by_any_of_its_names(served: Corpus, name: str) -> None:
    text = "---\ntitle: One\ndoi: 10.1234/one\narxiv_id: 2101.00001\n---\nWords.\n"
    added = add(served.into, markdown=text)
    assert remove(served.into, name).paper_id == added.paper_id
    with pytest.raises(PaperNotFoundError):
        remove(served.into, name)
    assert add(served.into, markdown=text).paper_id == added.paper_id
    assert remove(served.into, f"paper://{added.paper_id}").title == "One"
    assert served.manifest.papers == 20


@pytest.mark.promise("P12")
def test_the_newest_of_two_texts_that_were_handed_in_is_shown_and_said(served: Corpus) -> None:
    for title, texts in (("Songs", ("Whales", "Birds")), ("Calls", ("Birds", "Whales"))):
        for word in ("loudly", "softly"):
            head = f"---\ntitle: {title} {word}\nauthors: [Ann Body, Jo Doe]\n---\n"
            one, two = (f"{head}\n# {title} {word}\n\n{who} sing {word}.\n" for who in texts)
            first, again = add(served.into, markdown=one), add(served.into, markdown=one)
            assert (first.notes, again.notes, again.is_new) == ([], [], False)
            other = add(served.into, markdown=two)
            assert other.paper_id == first.paper_id
            find = "SELECT source FROM paper_fts WHERE paper_id = ?"
            assert texts[1] in str(served.one(find, first.paper_id))
            (note,) = other.notes
            assert "shown in its place" in note
            assert "split it off with edit_paper" in note


@pytest.mark.promise("P15")
def test_two_texts_whose_titles_differ_in_a_word_stay_two_papers(served: Corpus) -> None:
    head = "authors: [Ann Body, Jo Doe]\nyear: 2020\n---\n\nWhat was found.\n"
    first, second, other = (
        add(served.into, markdown=f"---\ntitle: {title}\n{head}{title}\n")
        for title in (
            "Long term outcomes of statins in older men",
            "Long term outcomes of statins in older women",
            "Other long term outcomes of statins in older men",
        )
    )
    assert len({first.paper_id, second.paper_id, other.paper_id}) == 3
    assert second.is_new
    assert other.is_new
    assert any("may be one paper" in note for note in second.notes)


@pytest.mark.promise("P15")
def test_two_texts_with_one_title_and_nothing_else_stay_two_papers(served: Corpus) -> None:
    first = add(served.into, markdown="# Introduction to whales and birds\n\nWhales sing.\n")
    second = add(served.into, markdown="# Introduction to whales and birds\n\nBirds sing.\n")
    assert first.notes == []
    assert second.paper_id != first.paper_id
    assert any("may be one paper" in note for note in second.notes)
    again = add(served.into, markdown="# Introduction to whales and birds\n\nWhales sing.\n")
    assert (again.paper_id, again.is_new) == (first.paper_id, False)
    third = add(served.into, markdown="# Introduction to whales and birds\n\nNobody sings.\n")
    assert len({first.paper_id, second.paper_id, third.paper_id}) == 3


def test_what_the_corpus_does_not_have_cannot_be_removed(served: Corpus) -> None:
    before = (served.into / "manifest.json").read_bytes()
    with pytest.raises(PaperNotFoundError):
        remove(served.into, "f" * 32)
    assert (served.into / "manifest.json").read_bytes() == before


@pytest.mark.promise("P16")
def test_an_addition_writes_one_small_segment_and_leaves_the_others(served: Corpus) -> None:
    before = served.segment_files()
    old = served.manifest
    add(served.into, markdown="# A paper more\n\nText.\n")
    now = served.manifest
    assert before.items() <= served.segment_files().items()
    assert now.segments[:-1] == old.segments
    assert (now.segments[-1].papers, now.generation) == (1, old.generation + 1)


@pytest.mark.promise("P16")
def test_a_changed_paper_is_a_deleted_row_and_a_new_one(served: Corpus) -> None:
    old = served.manifest
    add(served.into, markdown="---\ntitle: Paper 3\ndoi: 10.1000/3\n---\nNow with its text.\n")
    now = served.manifest
    assert [len(entry.deleted) for entry in now.segments] == [1, 0]
    assert now.segments[1].first_row == old.next_row
    assert now.papers == old.papers


@pytest.mark.promise("P16")
def test_many_additions_are_merged_by_tiers_and_lose_nothing(served: Corpus) -> None:
    first = add(served.into, markdown="# Essay 0\n\nWhales sing.\n")
    for at in range(1, 24):
        add(served.into, markdown=f"# Essay {at}\n\nText {at}.\n")
        if at == 12:
            remove(served.into, first.paper_id)
    assert len(served.manifest.segments) <= 10
    assert served.manifest.papers == 20 + 23
    assert served.one("SELECT count(*) FROM paper") == 43
    assert served.ask("SELECT 1 FROM paper_fts WHERE paper_fts MATCH 'whales'") == []
    assert len(served.ask("SELECT 1 FROM paper_fts WHERE paper_fts MATCH 'text'")) == 23
