"""Europe PMC end to end: pages by cursor, errors inside good answers, lists of citations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Pmcid, Pmid
from carrel.rooms.literature.ports import (
    CitationService,
    LocationService,
    NoticeService,
    OwnRecordService,
    RecordService,
    SearchService,
)
from carrel.services.literature.errors import ServiceFailedError, WorkLookupError
from carrel.services.literature.europepmc import EuropePmc
from tests.services.literature.adapters import AnsweringServer, body_of, make_request
from tests.services.literature.recorded import needs_recordings

pytestmark = pytest.mark.promise("W1")

CANCER = "(TITLE:cancer OR ABSTRACT:cancer OR KW:cancer)"


def search(query: str, size: int, cursor: str = "*", **more: str) -> dict[str, str]:
    return {
        "query": query,
        "resultType": "core",
        "format": "json",
        "pageSize": str(size),
        "cursorMark": cursor,
        **more,
    }


def as_ports(
    one: EuropePmc,
) -> tuple[SearchService, RecordService, OwnRecordService, CitationService, LocationService]:
    """The type checker sees here that the adapter is all of these."""
    _: NoticeService = one
    return one, one, one, one, one


def result(**fields: Any) -> dict[str, Any]:
    return {"id": "1", "source": "MED", "title": "A title.", "pubYear": "2020", **fields}


def page(*results: dict[str, Any], count: int | None = None, cursor: str = "") -> str:
    found: dict[str, Any] = {
        "hitCount": len(results) if count is None else count,
        "resultList": {"result": list(results)},
    }
    return json.dumps({**found, "nextCursorMark": cursor} if cursor else found)


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (200, '{"version":"6.9","errCode":404,"errMsg":"Invalid page size"}', "failed"),
        (200, '{"version":"6.9"}', "unreadable"),
        (200, "", "unreadable"),
        (200, "<html><body>down for maintenance</body></html>", "unreadable"),
        (200, '{"hitCount": 3, "resultLi', "unreadable"),
        (503, "Service unavailable", "failed"),
        (400, '{"message": "bad query"}', "failed"),
    ],
)
def test_what_is_no_result_is_a_failure(status: int, body: str, failure: str) -> None:
    server = AnsweringServer("europepmc")
    server.put("/search", search(CANCER, 25), body, status)
    with pytest.raises(WorkLookupError) as caught:
        server.run(lambda client, url: EuropePmc(client, url).search(make_request("cancer")))
    assert caught.value.failure == failure


@needs_recordings
def test_pages_follow_the_cursor() -> None:
    server = AnsweringServer("europepmc")
    cursor = "*"
    # Each page has fewer works than were asked for, which does not end the list.
    for number, size in (("024", 250), ("025", 250), ("026", 200), ("027", 100)):
        body = body_of("europepmc", number)
        server.put("/search", search(CANCER, size, cursor), body)
        cursor = json.loads(body)["nextCursorMark"]
    answer = server.run(
        lambda client, url: EuropePmc(client, url).search(make_request("cancer", 400))
    )
    assert len(answer.records) == 400
    assert [record.rank for record in answer.records] == list(range(1, 401))
    assert len(answer.sent) == 4
    assert answer.total is not None
    assert answer.total > 400
    assert not answer.is_complete
    assert server.server.missing == []


@needs_recordings
def test_core_records_have_abstracts_and_preprints_can_be_left_out() -> None:
    server = AnsweringServer("europepmc")
    server.put("/search", search(CANCER, 25), body_of("europepmc", "018"))
    answer = server.run(lambda client, url: EuropePmc(client, url).search(make_request("cancer")))
    assert sum(1 for record in answer.records if record.work.abstract) > 15
    query = f"({CANCER}) NOT SRC:PPR"
    server.put("/search", search(query, 25), body_of("europepmc", "015"))
    answer = server.run(
        lambda client, url: EuropePmc(client, url).search(make_request("cancer", preprints=False))
    )
    assert all(record.work.kind != "preprint" for record in answer.records)
    assert answer.translated.text == query


def test_a_cursor_that_repeats_ends_the_list_and_nothing_found_is_an_answer() -> None:
    server = AnsweringServer("europepmc")
    full = [result(id=str(number)) for number in range(1, 101)]
    server.put("/search", search(CANCER, 150), page(*full, count=150, cursor="A"))
    server.put("/search", search(CANCER, 50, "A"), page(*full[:50], count=150, cursor="A"))
    answer = server.run(
        lambda client, url: EuropePmc(client, url).search(make_request("cancer", 150))
    )
    assert len(answer.sent) == 2
    assert answer.is_complete
    server.put("/search", search(CANCER, 25), page())
    answer = server.run(lambda client, url: EuropePmc(client, url).search(make_request("cancer")))
    assert (answer.records, answer.total, answer.is_complete) == ((), 0, True)


def test_orders_are_asked_for() -> None:
    server = AnsweringServer("europepmc")
    server.put("/search", search(CANCER, 25, sort="CITED desc"), page())
    server.put("/search", search(CANCER, 25, sort="P_PDATE_D desc"), page())
    for order in ("most_cited", "newest"):
        request = make_request("cancer", order="newest" if order == "newest" else "most_cited")
        server.run(lambda client, url, asked=request: EuropePmc(client, url).search(asked))  # type: ignore[misc]
    assert server.server.missing == []


def test_long_queries_are_sent_as_a_form() -> None:
    server = AnsweringServer("europepmc")
    asked = make_request(" ".join(f"word{number}" for number in range(60)))
    query = server.run(lambda client, url: _translate(EuropePmc(client, url), asked))
    assert len(query) > 1_500
    server.put("/searchPOST", None, page(result()), form=search(query, 25))
    answer = server.run(lambda client, url: EuropePmc(client, url).search(asked))
    assert len(answer.records) == 1
    assert [each.method for each in server.server.asked] == ["POST"]


async def _translate(adapter: EuropePmc, asked: Any) -> str:
    return adapter.translate(asked).text


def test_many_identifiers_are_asked_at_once_and_the_article_is_taken_before_its_preprint() -> None:
    server = AnsweringServer("europepmc")
    asked: list[Identifier] = [
        Doi("10.1000/a"),
        Pmid("7"),
        Pmcid("PMC9"),
        ArxivId("2101.00001"),
        Doi("10.1000/none"),
    ]
    query = (
        'DOI:"10.1000/a" OR (EXT_ID:7 AND SRC:MED) OR PMCID:PMC9 OR '
        'DOI:"10.48550/arxiv.2101.00001" OR DOI:"10.1000/none"'
    )
    results = [
        result(id="PPR1", source="PPR", doi="10.1000/a"),
        result(id="5", doi="10.1000/A"),
        result(id="7", pmid="7"),
        result(id="PMC9", source="PMC", pmcid="PMC9"),
        result(id="PPR3", source="PPR", doi="10.48550/arXiv.2101.00001"),
    ]
    server.put("/search", search(query, 15), page(*results))
    answer = server.run(lambda client, url: EuropePmc(client, url).look_up(asked))
    assert [(name, record.service_id) for name, record in answer.found] == [
        (asked[0], "MED/5"),
        (asked[1], "MED/7"),
        (asked[2], "PMC/PMC9"),
        (asked[3], "PPR/PPR3"),
    ]
    assert len(answer.sent) == 1


def test_a_record_by_its_own_name_and_where_its_text_is() -> None:
    server = AnsweringServer("europepmc")
    server.put(
        "/search",
        search("EXT_ID:PPR5 AND SRC:PPR", 3),
        page(result(id="PPR5", source="PPR", isOpenAccess="Y", inEPMC="Y", license="cc by")),
    )
    answer = server.run(
        lambda client, url: EuropePmc(client, url).look_up_own("europepmc", "PPR/PPR5")
    )
    assert answer.record is not None
    places = answer.record.work.locations
    assert [(place.format, place.version, place.licence) for place in places] == [
        ("jats", "submitted", "cc-by")
    ]
    assert places[0].url.startswith(f"{server.server.base}/europepmc/PPR5/")
    nothing = server.run(
        lambda client, url: EuropePmc(client, url).look_up_own("europepmc", "x y/(")
    )
    assert nothing.record is None


@needs_recordings
def test_citing_works_are_listed_over_pages() -> None:
    server = AnsweringServer("europepmc")
    path = "/MED/15723116/citations"
    for at, number in enumerate(("001", "003"), 1):
        params = {"page": str(at), "pageSize": "25", "format": "json"}
        server.put(path, params, body_of("europepmc", number))
    edges = server.run(
        lambda client, url: EuropePmc(client, url).citations(Pmid("15723116"), "in", 25)
    )
    assert edges.works is not None
    assert len(edges.works) == 25
    assert edges.total == 810
    assert not edges.is_complete
    assert all(work.ids.pmid for work in edges.works)


def test_no_list_of_references_is_not_an_empty_one() -> None:
    server = AnsweringServer("europepmc")
    asked = {"page": "1", "pageSize": "10", "format": "json"}
    server.put("/MED/1/references", asked, '{"version":"6.9","hitCount":0}')
    server.put("/MED/1/citations", asked, '{"version":"6.9","hitCount":0}')
    server.put("/MED/2/citations", asked, "", 404)
    run = server.run
    out = run(lambda client, url: EuropePmc(client, url).citations(Pmid("1"), "out", 10))
    assert (out.works, out.is_complete) == (None, False)
    inside = run(lambda client, url: EuropePmc(client, url).citations(Pmid("1"), "in", 10))
    assert (inside.works, inside.total, inside.is_complete) == ((), 0, True)
    unknown = run(lambda client, url: EuropePmc(client, url).citations(Pmid("2"), "in", 10))
    assert unknown.works is None
    listed = {"hitCount": 1, "referenceList": {"reference": [
        {"id": "9", "source": "MED", "title": "Cited.", "authorString": "Doe J.", "pubYear": 1999,
         "doi": "10.1000/C"}]}}  # fmt: skip
    server.put("/MED/1/references", asked, json.dumps(listed))
    out = run(lambda client, url: EuropePmc(client, url).citations(Pmid("1"), "out", 10))
    assert out.works is not None
    assert (out.works[0].title, out.works[0].ids.doi) == ("Cited", "10.1000/c")
    assert out.is_complete


def test_retractions_are_told() -> None:
    server = AnsweringServer("europepmc")
    gone = result(id="7", pmid="7", pubTypeList={"pubType": ["Retracted Publication"]})
    server.put("/search", search("(EXT_ID:7 AND SRC:MED)", 3), page(gone))
    notices, sent = server.run(lambda client, url: EuropePmc(client, url).notices([Pmid("7")]))
    assert [(name, notice.kind) for name, notice in notices] == [(Pmid("7"), "retraction")]
    assert len(sent) == 1


def test_a_query_of_not_alone_cannot_be_asked() -> None:
    server = AnsweringServer("europepmc")
    with pytest.raises(ServiceFailedError, match="cannot be put"):
        server.run(lambda client, url: EuropePmc(client, url).search(make_request("NOT cancer")))
