"""add_works: found works come into corpus and library, each with its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.core.errors import InsufficientPermissionsError, InvalidInputError
from carrel.policy.scopes import ALL_SCOPES
from tests.rooms.literature.desk import Reader, ask, play
from tests.rooms.literature.outside import CHEMCROW, XGEN, Outside
from tests.services.literature.recorded import needs_recordings

pytestmark = [needs_recordings, pytest.mark.promise("W2")]
GONE = (404, {"content-type": "text/plain"}, b"Resource not found.")


@pytest.fixture
def outside() -> Iterator[Outside]:
    with Outside() as opened:
        unknown = ("datacite", "unpaywall", "biorxiv", "doaj", "pubmed", "europepmc")
        opened.faults = dict.fromkeys(unknown, GONE)
        yield opened


@pytest.mark.parametrize(
    ("missing", "question"),
    [
        ("papers:write", {"into": "papers"}),
        ("papers:write", {"into": "both"}),
        ("papers:write", {"into": "library", "with_fulltext": True}),
        ("references:write", {"into": "library"}),
        ("references:write", {"into": "both"}),
        ("literature:read", {"into": "library"}),
    ],
)
def test_a_caller_who_may_not_write_there_is_refused_and_nothing_leaves(
    outside: Outside, tmp_path: Path, missing: str, question: dict[str, object]
) -> None:
    async def scene(reader: Reader) -> None:
        writing = {"literature:write"} if missing == "literature:read" else set[str]()
        reader.scopes = ALL_SCOPES - {missing, "admin"} - writing
        with pytest.raises(InsufficientPermissionsError):
            await reader.ask("add_works", identifiers=[XGEN], **question)

    play(outside.settings(tmp_path), scene)
    assert not outside.asked


@pytest.mark.parametrize("identifiers", [[], ["x"] * 101, [7]])
def test_what_names_no_works_is_refused(
    outside: Outside, tmp_path: Path, identifiers: list[object]
) -> None:
    with pytest.raises(InvalidInputError):
        ask(outside.settings(tmp_path), "add_works", identifiers=identifiers)


def test_works_come_into_both_once_and_a_bad_name_costs_no_other(
    outside: Outside, tmp_path: Path
) -> None:
    async def scene(reader: Reader) -> None:
        added = await reader.ask(
            "add_works", identifiers=[XGEN, "no such thing", f"doi:{CHEMCROW}"], into="both"
        )
        first, bad, second = added["works"]
        assert [work["outcome"] for work in (first, bad, second)] == ["added", "failed", "added"]
        assert bad["code"] == "invalid_input" and bad["reason"]
        assert added["message"] == "2 added, 1 failed."
        paper = await reader.ask("get_paper_metadata", paper_id=first["paper_id"])
        assert paper["doi"] == XGEN and paper["title"].startswith("High-throughput screening")
        found = await reader.ask("get_reference", id=first["reference_id"])
        assert found["reference"]["DOI"].lower() == XGEN
        assert {tally["service"] for tally in added["coverage"]} >= {"openalex", "crossref"}
        asked = len(outside.asked)
        again = await reader.ask("add_works", works=[{"id": f"doi:{XGEN}"}], into="both")
        (work,) = again["works"]
        assert work["outcome"] == "known"
        assert work["paper_id"] == first["paper_id"]
        assert work["reference_id"] == first["reference_id"]
        # What the desk has in every place asked for is not asked about again.
        assert len(outside.asked) == asked

    play(outside.settings(tmp_path), scene)


def test_a_work_goes_only_where_it_was_asked_for(outside: Outside, tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        (work,) = (await reader.ask("add_works", identifiers=[XGEN], into="library"))["works"]
        assert work["reference_id"] and "paper_id" not in work
        answer = await reader.ask("search_literature", query="prime editing")
        marked = {each["id"]: each for each in answer["works"]}[f"doi:{XGEN}"]
        assert marked["in_library"] == work["reference_id"] and "in_corpus" not in marked

    play(outside.settings(tmp_path, services=("openalex", "crossref")), scene)


def test_long_work_goes_on_as_a_job_that_its_owner_alone_can_follow(
    outside: Outside, tmp_path: Path
) -> None:
    async def scene(reader: Reader) -> None:
        started = await reader.ask("add_works", identifiers=[XGEN], into="library")
        assert started["works"][0]["outcome"] == "waiting"
        job = await reader.ask("get_job", job_id=started["job_id"], wait_seconds=60)
        assert job["state"] == "completed"
        assert job["result"]["works"][0]["outcome"] == "added"
        reader.user = "somebody-else"
        with pytest.raises(Exception, match="not found"):
            await reader.ask("get_job", job_id=started["job_id"])

    settings = outside.settings(tmp_path)
    papers = settings.papers.model_copy(update={"add_wait_seconds": 0.0})
    play(settings.model_copy(update={"papers": papers}), scene)


def test_a_work_that_could_not_be_looked_up_is_failed_with_its_reason(
    outside: Outside, tmp_path: Path
) -> None:
    outside.faults |= {"openalex": (503, {}, b""), "crossref": (503, {}, b"")}
    answer = ask(outside.settings(tmp_path), "add_works", identifiers=[XGEN], into="library")
    (work,) = answer["works"]
    assert work["outcome"] == "failed" and work["code"] == "literature_unavailable"
    assert any(tally["failed"] for tally in answer["coverage"])
