"""get_citations with outside: who lists each citation, for both versions, with coverage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import InsufficientPermissionsError, InvalidInputError, NotFoundError
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.literature.errors import LiteratureUnavailableError, NetworkForbiddenError
from carrel.rooms.papers.errors import PaperNotFoundError
from tests.rooms.literature.desk import Reader, ask, play
from tests.rooms.literature.texts_outside import TextsOutside, europepmc_record
from tests.services.literature.recorded import needs_recordings

pytestmark = [needs_recordings, pytest.mark.promise("W1")]
ARTICLE, PREPRINT = "10.5555/nets.1", "10.1101/2020.01.01.000001"
TITLE = "Nets That Learn From Few Words"
_JSON = "application/json"


@pytest.fixture
def outside() -> Iterator[TextsOutside]:
    with TextsOutside() as opened:
        yield opened


def _crossref(doi: str, title: str, **more: Any) -> dict[str, Any]:
    return {
        "DOI": doi,
        "title": [title],
        "type": "journal-article",
        "author": [{"family": "Lovelace", "given": "Ada"}],
        "issued": {"date-parts": [[2020]]},
        **more,
    }


def _opencitations(outside: TextsOutside, way: str, doi: str, *others: str) -> None:
    name = "citing" if way == "citations" else "cited"
    entries = [
        {"oci": f"{at}-1", "citing": f"doi:{doi}", "cited": f"doi:{doi}", name: f"doi:{other}"}
        for at, other in enumerate(others)
    ]
    path = f"/opencitations/index/v2/{way}/doi:{doi}"
    outside.give(path, json.dumps(entries).encode(), _JSON)


@pytest.fixture
def pair(outside: TextsOutside) -> TextsOutside:
    name_pair(outside)
    return outside


def name_pair(outside: TextsOutside) -> None:
    """An article that Crossref links to its preprint; OpenCitations has lists of both."""
    outside.records["crossref"] = _crossref(
        ARTICLE,
        TITLE,
        relation={"has-preprint": [{"id-type": "doi", "id": PREPRINT}]},
        reference=[
            {"key": "1", "DOI": "10.5555/old.1", "article-title": "Old nets", "year": "1999"},
            {"key": "2", "unstructured": "Hopper, G. Compilers for nets. J. Nets 3, 1 (1952)."},
        ],
    )
    _opencitations(outside, "citations", ARTICLE, "10.5555/new.1", "10.5555/new.2")
    _opencitations(outside, "citations", PREPRINT, "10.5555/new.1", "10.5555/early.1")
    _opencitations(outside, "references", ARTICLE, "10.5555/old.1")
    _opencitations(outside, "references", PREPRINT, "10.5555/old.1")


def test_who_may_not_read_literature_asks_nobody_outside(
    pair: TextsOutside, tmp_path: Path
) -> None:
    async def scene(reader: Reader) -> None:
        reader.scopes = {scope for scope in ALL_SCOPES if not scope.startswith("literature")} - {
            "admin"
        }
        with pytest.raises(InsufficientPermissionsError):
            await reader.ask("get_citations", paper_id=ARTICLE, outside=True)

    play(pair.settings(tmp_path), scene)
    assert not pair.asked


def test_settings_that_forbid_the_network_let_nothing_leave(
    pair: TextsOutside, tmp_path: Path
) -> None:
    settings = pair.settings(tmp_path).model_copy(update={"network": False})
    with pytest.raises(NetworkForbiddenError):
        ask(settings, "get_citations", paper_id=ARTICLE, outside=True)
    assert not pair.asked


def test_without_outside_nothing_leaves_and_a_paper_must_be_here(
    pair: TextsOutside, tmp_path: Path
) -> None:
    with pytest.raises(PaperNotFoundError):
        ask(pair.settings(tmp_path), "get_citations", paper_id=ARTICLE)
    assert not pair.asked


def test_a_paper_without_an_identifier_cannot_be_asked_for(
    pair: TextsOutside, tmp_path: Path
) -> None:
    async def scene(reader: Reader) -> None:
        text = "---\ntitle: Nameless nets\nauthors: [Ada Lovelace]\n---\nOne sentence. Another.\n"
        added = await reader.ask("add_paper", markdown=text)
        plain = await reader.ask("get_citations", paper_id=added["paper_id"])
        assert "outside" not in plain
        with pytest.raises(InvalidInputError, match="no DOI"):
            await reader.ask("get_citations", paper_id=added["paper_id"], outside=True)

    play(pair.settings(tmp_path), scene)
    assert not pair.asked


def test_a_work_that_nobody_knows_is_not_found_and_silence_is_told(
    outside: TextsOutside, tmp_path: Path
) -> None:
    with pytest.raises(NotFoundError):
        ask(outside.settings(tmp_path / "a"), "get_citations", paper_id=ARTICLE, outside=True)
    for service in ("openalex", "crossref", "europepmc", "opencitations", "pubmed"):
        outside.faults[service] = (401, {"content-type": _JSON}, b"{}")
    with pytest.raises(LiteratureUnavailableError):
        ask(outside.settings(tmp_path / "b"), "get_citations", paper_id=ARTICLE, outside=True)


def test_each_citation_says_who_lists_it_for_which_version(
    pair: TextsOutside, tmp_path: Path
) -> None:
    answer = ask(pair.settings(tmp_path), "get_citations", paper_id=ARTICLE, outside=True)
    assert answer["paper_id"] == ""
    assert answer["title"] == TITLE
    found = answer["outside"]
    article, preprint = f"doi:{ARTICLE}", f"doi:{PREPRINT}"
    assert found["versions"] == [article, preprint]
    citing = {work["ids"]["doi"]: work["said_by"] for work in found["cited_by"]["works"]}
    assert citing == {
        "10.5555/new.1": {"opencitations": [article, preprint]},
        "10.5555/new.2": {"opencitations": [article]},
        "10.5555/early.1": {"opencitations": [preprint]},
    }
    assert found["cited_by"]["counts"] == {"opencitations": 2}
    first, second = found["references"]["works"]
    assert first["ids"] == {"doi": "10.5555/old.1"}
    assert first["title"] == "Old nets"
    assert first["said_by"] == {"crossref": [article], "opencitations": [article, preprint]}
    assert second["title"] == "Compilers for nets"
    states = {line["service"]: line["state"] for line in found["coverage"]}
    assert states["opencitations"] == states["crossref"] == states["europepmc"] == "answered"
    assert states["semantic_scholar"] == "not_asked"


def test_a_service_that_fails_is_told_and_the_lists_are_not_called_complete(
    pair: TextsOutside, tmp_path: Path
) -> None:
    pair.faults["openalex"] = (401, {"content-type": _JSON}, b'{"error": "key"}')
    answer = ask(pair.settings(tmp_path), "get_citations", paper_id=ARTICLE, outside=True)
    (line,) = (line for line in answer["outside"]["coverage"] if line["service"] == "openalex")
    assert line["state"] == "failed"
    assert line["failure"] == "key_refused"
    assert answer["outside"]["cited_by"]["is_complete"] is False


def test_what_corpus_and_library_have_is_marked(pair: TextsOutside, tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        text = "---\ntitle: Newer nets\ndoi: 10.5555/new.2\nauthors: [Ann Other]\n---\n"
        kept = await reader.ask("add_paper", markdown=text)
        own = f"---\ntitle: {TITLE}\ndoi: {ARTICLE}\nauthors: [Ada Lovelace]\n---\n"
        paper = await reader.ask("add_paper", markdown=own)
        answer = await reader.ask("get_citations", paper_id=paper["paper_id"], outside=True)
        assert answer["paper_id"] == paper["paper_id"]
        marks = {
            work["ids"]["doi"]: work.get("in_corpus")
            for work in answer["outside"]["cited_by"]["works"]
        }
        assert marks["10.5555/new.2"] == kept["paper_id"]
        assert marks["10.5555/new.1"] is None

    play(pair.settings(tmp_path), scene)


def test_one_direction_is_asked_for_alone(pair: TextsOutside, tmp_path: Path) -> None:
    settings = pair.settings(tmp_path)
    answer = ask(settings, "get_citations", paper_id=ARTICLE, outside=True, direction="in", limit=1)
    assert answer["outside"]["references"] is None
    assert len(answer["outside"]["cited_by"]["works"]) == 1
    assert answer["outside"]["cited_by"]["count"] == 3
    assert not [path for path in pair.asked if "/references/" in path]


def test_recorded_citations_of_europe_pmc_are_read(pair: TextsOutside, tmp_path: Path) -> None:
    from tests.rooms.literature.outside import recording

    pair.records["europepmc"] = europepmc_record(
        ARTICLE, "PMC77", TITLE, id="15723116", pmid="15723116"
    )
    pair.give("/europepmc/MED/15723116/citations", recording("europepmc/001").body, _JSON)
    answer = ask(
        pair.settings(tmp_path), "get_citations", paper_id=ARTICLE, outside=True, direction="in"
    )
    found = answer["outside"]["cited_by"]
    assert found["counts"]["europepmc"] > 500
    assert found["count"] > 20
    assert any("europepmc" in work["said_by"] for work in found["works"])
