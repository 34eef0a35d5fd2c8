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
from carrel.rooms.papers.models import AddPaper, PaperAdded
from carrel.wiring.papers import paper_adder
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
    (operation,) = collect_operations("papers", adder)
    assert operation.scopes == {"papers:write"}


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
    before = served.snapshot.read_bytes()
    with pytest.raises(CarrelError) as refused:
        add(served.into, **question)
    assert refused.value.code == code
    assert refused.value.next_step
    assert str(served.into) not in str(refused.value.to_facts())
    assert served.snapshot.read_bytes() == before
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
