"""Adding: what is at hand is kept at once and never asked for, what must be asked for is asked side
by side, and what lasts
goes on as a job."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.core.caller import Caller, Visit
from carrel.core.errors import CarrelError, InsufficientPermissionsError
from carrel.rooms.papers.building.models import BuildOptions
from carrel.wiring.papers_build import build_papers
from tests.rooms.references.desk import Reader, Stage
from tests.rooms.references.works_server import WorksServer, doi, works_server

BIBTEX = "@book{knuth84, title={The {\\TeX}book}, author={Knuth, Donald E.}, year=1984}"


@pytest.fixture
def works() -> Iterator[WorksServer]:
    with works_server() as server:
        yield server


@pytest.fixture
def stage(tmp_path: Path, works: WorksServer) -> Stage:
    return Stage(tmp_path, references={"services": works.services})


def kept(stage: Stage) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(stage.library.read_text(encoding="utf-8"))
    return found


def add(stage: Stage, *given: object) -> dict[str, Any]:
    async def scene(reader: Reader) -> dict[str, Any]:
        found: dict[str, Any] = await reader.ask("add_references", input=list(given))
        return found

    return stage.play(scene)


def closed_port() -> str:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


def offline(stage: Stage) -> Stage:
    stage.references = {"services": dict.fromkeys(stage.references["services"], closed_port())}
    return stage


@pytest.mark.promise("L10")
def test_a_hundred_dois_beside_a_bibtex_entry_are_all_kept(
    stage: Stage, works: WorksServer
) -> None:
    answer = add(stage, BIBTEX, *(doi(number) for number in range(100)))
    assert (len(answer["added"]), answer["failed"], answer["pending"], answer["job_id"]) == (
        101,
        [],
        0,
        None,
    )
    assert len(kept(stage)) == 101
    assert works.most_at_once <= 4


def test_works_are_looked_up_side_by_side_within_what_the_service_allows(
    stage: Stage, works: WorksServer
) -> None:
    works.held = {doi(number) for number in range(20)}
    works.releases_at = 3
    assert len(add(stage, *(doi(number) for number in range(20)))["added"]) == 20
    assert 3 <= works.most_at_once <= 4


@pytest.mark.promise("L10")
def test_off_line_a_hundred_dois_fail_soon_and_the_bibtex_entry_is_kept(stage: Stage) -> None:
    answer = add(offline(stage), *(doi(number) for number in range(100)), BIBTEX)
    assert [added["id"] for added in answer["added"]] == ["knuth84"]
    assert {failed["code"] for failed in answer["failed"]} == {"lookup_unavailable"}
    assert (len(answer["failed"]), answer["pending"]) == (100, 0)
    assert [item["id"] for item in kept(stage)] == ["knuth84"]


@pytest.mark.promise("L10")
def test_a_service_that_only_fails_is_asked_a_few_times_and_not_a_hundred(
    stage: Stage, works: WorksServer
) -> None:
    works.breaks_all = 503
    answer = add(stage, *(doi(number) for number in range(100)))
    assert len(answer["failed"]) == 100
    # The breakers of doi.org and of Crossref open after eight failures each; a few more were under
    # way.
    assert len(works.asked) <= 30


def test_a_service_that_fails_for_some_gives_the_others(stage: Stage, works: WorksServer) -> None:
    works.broken = {doi(number): 500 for number in range(0, 6, 3)}
    answer = add(stage, *(doi(number) for number in range(6)), "10.5555/unknown")
    assert sorted(added["source"] for added in answer["added"]) == [
        doi(number) for number in (1, 2, 4, 5)
    ]
    failed = {row["source"]: row["code"] for row in answer["failed"]}
    assert failed == {
        doi(0): "lookup_unavailable",
        doi(3): "lookup_unavailable",
        "10.5555/unknown": "resource_not_found",
    }


PRESENT = [
    {
        "id": "a",
        "type": "book",
        "title": "A",
        "DOI": "10.5555/Present",
        "PMID": "77",
        "PMCID": "PMC88",
    },
    {"id": "b", "type": "article", "title": "B", "custom": {"arxiv_id": "2101.00001v2"}},
    {"id": "c", "type": "book", "title": "C", "ISBN": "978-0-632-05808-2"},
]
SPELLINGS = {
    "10.5555/present": "a",
    "https://doi.org/10.5555/PRESENT": "a",
    "doi:10.5555/present": "a",
    "PMID: 77": "a",
    "PMC88": "a",
    "arXiv:2101.00001": "b",
    "https://arxiv.org/abs/2101.00001v5": "b",
    "10.48550/arXiv.2101.00001": "b",
    "0-632-05808-0": "c",
    "ISBN 9780632058082": "c",
}


@pytest.mark.promise("L10")
@pytest.mark.parametrize(("spelling", "reference_id"), SPELLINGS.items())
def test_what_the_library_has_is_found_off_line_however_it_is_spelt(
    stage: Stage, spelling: str, reference_id: str
) -> None:
    stage.library.write_text(json.dumps(PRESENT), encoding="utf-8")
    answer = add(offline(stage), spelling)
    assert [skipped["duplicate_of"] for skipped in answer["skipped"]] == [reference_id]
    assert answer["failed"] == answer["added"] == []


@pytest.mark.promise("L10")
def test_what_the_papers_at_hand_have_is_added_off_line(stage: Stage, tmp_path: Path) -> None:
    source = tmp_path / "at-hand.md"
    source.write_text("---\ntitle: At hand\ndoi: 10.5555/At.Hand\n---\n\nThe text.\n")
    build_papers([source], tmp_path / "corpus", BuildOptions(workers=1))
    stage.papers = {"snapshot": tmp_path / "corpus"}

    async def a_doi(reader: Reader) -> str:
        added: dict[str, Any] = await reader.ask(
            "add_references", input=["https://doi.org/10.5555/at.hand"]
        )
        assert added["failed"] == []
        return str(added["added"][0]["title"])

    assert offline(stage).play(a_doi) == "At hand"


def test_papers_that_cannot_be_read_are_said_and_not_taken_for_none(
    stage: Stage, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + b"garbage" * 2000)
    stage.papers = {"snapshot": broken}
    answer = add(stage, doi(1), "abcdef0123456789", BIBTEX)
    assert {added["source"] for added in answer["added"]} >= {doi(1)}
    assert "papers at hand could not be asked" in answer["warnings"][0]["message"]
    assert [failed["code"] for failed in answer["failed"]] == ["snapshot_unavailable"]


def test_the_same_work_named_twice_is_asked_for_once(stage: Stage, works: WorksServer) -> None:
    answer = add(
        stage,
        doi(1),
        f"https://doi.org/{doi(1).upper()}",
        f"@article{{own, title={{Work 2}}, doi={{{doi(2)}}}}}",
        doi(2),
    )
    assert [added["source"] for added in answer["added"]][1:] == [doi(1)]
    assert sorted(skipped["by"] for skipped in answer["skipped"]) == ["doi", "doi"]
    assert len(works.asked) == 1


def test_numbers_of_pubmed_and_arxiv_go_together_in_one_request(
    stage: Stage, works: WorksServer
) -> None:
    add(
        stage,
        *(f"PMID:{number}" for number in range(100, 140)),
        *(f"arXiv:2101.000{number}" for number in range(10, 40)),
    )
    assert sorted(path.split("?")[0] for path in works.asked) == [
        "/arxiv/api/query",
        "/pubmed/efetch.fcgi",
    ]


@pytest.mark.promise("L10")
def test_what_lasts_longer_than_the_call_goes_on_as_a_job(stage: Stage, works: WorksServer) -> None:
    stage.references["lookup_wait_seconds"] = 0.0
    works.held = {doi(2), doi(3)}

    async def scene(reader: Reader) -> None:
        answer = await reader.ask("add_references", input=[BIBTEX, doi(1), doi(2), doi(3)])
        job_id = answer["job_id"]
        assert {added["id"] for added in answer["added"]} >= {"knuth84"}
        assert answer["pending"] == len(answer["waiting"])
        assert set(answer["waiting"]) >= {doi(2), doi(3)}
        seen = await reader.ask("get_job", job_id=job_id)
        assert (seen["state"], seen["operation"], seen["total"]) == ("running", "add_references", 3)
        works.release.set()
        done = await reader.ask("get_job", job_id=job_id, wait_seconds=60)
        assert (done["state"], done["done"], done["result"]["pending"]) == ("completed", 3, 0)
        assert sorted(added["source"] for added in done["result"]["added"])[:3] == [
            doi(1),
            doi(2),
            doi(3),
        ]

    stage.play(scene)
    assert len(kept(stage)) == 4


@pytest.mark.promise("L10")
def test_a_strangers_job_is_not_found_and_its_scope_is_asked_for(
    stage: Stage, works: WorksServer
) -> None:
    stage.references["lookup_wait_seconds"] = 0.0
    works.held = {doi(1)}

    async def scene(reader: Reader) -> None:
        job_id = (await reader.ask("add_references", input=[doi(1)]))["job_id"]
        stranger = Reader(reader.desk, user="eve")
        for name in ("get_job", "cancel_job"):
            with pytest.raises(CarrelError) as refused:
                await stranger.ask(name, job_id=job_id)
            with pytest.raises(CarrelError) as unknown:
                await reader.ask(name, job_id="job_of_nobody")
            assert refused.value.code == unknown.value.code == "resource_not_found"
            operation = reader.desk.catalogue.operations[name]
            reading = Caller("local", frozenset({"references:read"}), is_limited=False)
            with pytest.raises(InsufficientPermissionsError):
                await reader.desk.gate.call(
                    operation, {"job_id": job_id}, reading, Visit("stdio", "test")
                )
        assert (await reader.ask("get_job", job_id=job_id))["state"] == "running"

    stage.play(scene)


@pytest.mark.promise("L10")
def test_a_cancelled_job_keeps_what_it_had_and_says_what_it_has_not(
    stage: Stage, works: WorksServer
) -> None:
    stage.references["lookup_wait_seconds"] = 0.0
    works.held = {doi(2)}

    async def scene(reader: Reader) -> None:
        job_id = (await reader.ask("add_references", input=[doi(1), doi(2)]))["job_id"]
        while (await reader.ask("get_job", job_id=job_id))["done"] < 1:
            await asyncio.sleep(0.01)
        ended = await reader.ask("cancel_job", job_id=job_id)
        assert (ended["state"], ended["result"]["failed"][0]["code"]) == ("cancelled", "cancelled")
        assert [added["source"] for added in ended["result"]["added"]] == [doi(1)]
        assert await reader.ask("cancel_job", job_id=job_id) == ended

    stage.play(scene)
    assert [item["DOI"] for item in kept(stage)] == [doi(1)]


def test_a_call_whose_caller_is_gone_leaves_no_work_behind(
    stage: Stage, works: WorksServer
) -> None:
    works.held = {doi(1)}

    async def scene(reader: Reader) -> None:
        call = asyncio.create_task(reader.ask("add_references", input=[doi(1)]))
        while not works.asked:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        works.release.set()

    stage.play(scene)
    assert not stage.library.exists() or kept(stage) == []


def test_a_job_that_a_stopped_process_left_is_taken_up_by_the_next(
    stage: Stage, works: WorksServer
) -> None:
    stage.references["lookup_wait_seconds"] = 0.0
    works.held = {doi(2)}

    async def first(reader: Reader) -> str:
        job_id = str((await reader.ask("add_references", input=[doi(1), doi(2)]))["job_id"])
        while (await reader.ask("get_job", job_id=job_id))["done"] < 1:
            await asyncio.sleep(0.01)
        return job_id

    job_id = stage.play(first)
    works.release.set()

    async def second(reader: Reader) -> dict[str, Any]:
        for room in reader.desk.rooms:
            if room.start is not None:
                await room.start()
        found: dict[str, Any] = await reader.ask("get_job", job_id=job_id, wait_seconds=60)
        return found

    done = stage.play(second)
    assert done["state"] == "completed"
    assert sorted(added["source"] for added in done["result"]["added"]) == [doi(1), doi(2)]
    # The first was settled before, and is not asked for again.
    assert sum(doi(1) in path for path in works.asked) == 1


GOOD = "@article{good, title={Good}, author={A, B}, year={2001}}"
DEEP = "[" * 5000 + "]" * 5000
HOSTILE = {
    "lone surrogate in a field": '[{"title": "T\\ud800"}]',
    "lone surrogate in a field's name": '[{"title": "T", "\\ud800": "x"}]',
    "lone surrogate in BibTeX": "@article{k, title={a\ud800b}}",
    "NUL in a path": "a\x00b.bib",
    "home of nobody": "~nobody-of-that-name/a.bib",
    "number of 5000 digits": '[{"title": "T", "volume": ' + "9" * 5000 + "}]",
    "year without end": '[{"title": "T", "issued": {"date-parts": [[1e999]]}}]',
    "number that is none": '[{"title": "T", "volume": NaN}]',
    "year of 5000 digits": '[{"title": "T", "issued": {"date-parts": [["' + "9" * 5000 + '"]]}}]',
    "superscript year": '[{"title": "T", "issued": {"date-parts": [["²"]]}}]',
    "year with two signs": '[{"title": "T", "issued": {"date-parts": [["--5"]]}}]',
    "date of 4400 digits": '[{"title": "T", "issued": ' + "9" * 4400 + "}]",
    "nested 5000 deep": '[{"title": "T", "note": ' + DEEP + "}]",
    "brackets 5000 deep": DEEP,
    "nested 300 deep": '[{"title": "T", "custom": {"x": ' + "[" * 300 + "]" * 300 + "}}]",
    "list of lists": '[[["a"]]]',
    "nulls": "[null, null]",
    "object of nothing": "{}",
    "empty list": "[]",
    "empty text": "",
    "only blanks": " \t ",
    "folder": "/etc",
    "a path that is too long": "/" + "a" * 4000 + ".bib",
    "a path of too many folders": "/a" * 2040 + ".bib",
}


@pytest.mark.promise("L10")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_bad_element_fails_alone_with_a_code_and_its_neighbour_is_kept(
    stage: Stage, name: str
) -> None:
    answer = add(offline(stage), HOSTILE[name], GOOD)
    assert "good" in [added["id"] for added in answer["added"]]
    assert "good" in [item["id"] for item in kept(stage)]
    assert {failed["code"] for failed in answer["failed"]} <= {"invalid_input", "input_too_costly"}
    assert answer["failed"] or len(answer["added"]) == 2
    # Other programs read the file: no NaN, no Infinity.
    json.loads(stage.library.read_text(encoding="utf-8"), parse_constant=pytest.fail)


@pytest.mark.promise("L10")
@pytest.mark.parametrize("element", [5, None, True, 1.5, ["10.1/x"], {"title": "T"}, "lone \udfff"])
def test_an_element_that_is_no_text_fails_alone(stage: Stage, element: object) -> None:
    answer = add(stage, element, GOOD, [GOOD])
    assert [added["id"] for added in answer["added"]] == ["good"]
    assert [failed["code"] for failed in answer["failed"]] == ["invalid_input", "invalid_input"]


def test_a_key_that_could_not_be_asked_for_is_replaced_and_that_is_said(stage: Stage) -> None:
    answer = add(
        stage, json.dumps([{"id": "x" * 600, "title": "Long"}, {"id": "a\0b", "title": "Nul"}])
    )
    assert [len(added["id"]) < 40 for added in answer["added"]] == [True, True]
    assert sum("key" in warning["message"] for warning in answer["warnings"]) == 2


@pytest.mark.promise("L6")
@pytest.mark.parametrize(
    "entries",
    [
        "@proceedings{a, title={Proceedings of X}, year=2001, isbn={978-0-306-40615-7}}"
        "@article{b, title={One}, author={Doe, J}, year=2001, isbn={978-0-306-40615-7}}"
        "@article{c, title={Two}, author={Roe, R}, year=2001, isbn={0-306-40615-2}}",
        "@article{a, title={Editorial}, author={Doe, J}, year=2001, journal={Physics Letters}}"
        "@article{b, title={Editorial}, author={Doe, J}, year=2001, journal={Nature}}"
        "@article{c, title={Editorial}, author={Doe, J}, year=2001, journal={Science}}",
    ],
    ids=["articles of proceedings", "editorials"],
)
def test_works_that_share_what_many_works_share_are_all_added(stage: Stage, entries: str) -> None:
    answer = add(stage, entries)
    assert ([each["id"] for each in answer["added"]], answer["skipped"]) == (["a", "b", "c"], [])
    again = add(stage, entries.replace("{a,", "{d,").replace("Physics Letters", "Phys. Lett."))
    assert [each["duplicate_of"] for each in again["skipped"]] == ["a", "b", "c"]
