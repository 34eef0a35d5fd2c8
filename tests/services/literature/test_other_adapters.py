"""dblp, DOAJ and bioRxiv end to end."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from carrel.libraries.identifiers import Doi, Pmid
from carrel.rooms.literature.ports import (
    LocationService,
    NoticeService,
    RecordService,
    SearchService,
)
from carrel.services.literature.biorxiv import Biorxiv
from carrel.services.literature.dblp import Dblp
from carrel.services.literature.doaj import Doaj
from carrel.services.literature.errors import WorkLookupError
from tests.libraries.literature.test_other_records import HIT, PREPRINT
from tests.services.literature.adapters import AnsweringServer, body_of, make_request
from tests.services.literature.recorded import needs_recordings

pytestmark = pytest.mark.promise("W1")

PINUS = " AND ".join(
    f"(bibjson.title:{word} OR bibjson.abstract:{word} OR bibjson.keywords:{word})"
    for word in ("pinus", "contorta")
)


def as_ports(
    dblp: Dblp, doaj: Doaj, biorxiv: Biorxiv
) -> tuple[SearchService, SearchService, RecordService, LocationService, RecordService]:
    """The type checker sees here what each adapter is."""
    _: NoticeService = biorxiv
    return dblp, doaj, doaj, doaj, biorxiv


def hits(*found: dict[str, Any], total: int | None = None, code: str = "200") -> str:
    listed: dict[str, Any] = {"@total": str(len(found) if total is None else total)}
    if found:
        listed["hit"] = list(found)
    return json.dumps({"result": {"status": {"@code": code, "text": "said"}, "hits": listed}})


def ask_dblp(q: str, size: int, first: int = 0) -> dict[str, str]:
    return {"q": q, "format": "json", "h": str(size), "f": str(first)}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, "<html><body>Too many requests</body></html>"),
        (200, '{"result":{}}'),
        (200, hits(code="500")),
        (200, ""),
        (429, "slow down"),
    ],
)
def test_what_is_no_list_of_dblp_is_a_failure(status: int, body: str) -> None:
    server = AnsweringServer("dblp")
    server.put("/search/publ/api", ask_dblp("attention", 25), body, status)
    with pytest.raises(WorkLookupError):
        server.run(lambda client, url: Dblp(client, url).search(make_request("attention")))


@needs_recordings
def test_dblp_is_searched_by_words_and_says_what_it_cannot() -> None:
    server = AnsweringServer("dblp")
    server.put("/search/publ/api", ask_dblp("attention need", 1), body_of("dblp", "001"))
    asked = make_request("attention is all you need year:2017", 1, "newest")
    answer = server.run(lambda client, url: Dblp(client, url).search(asked))
    assert answer.total == 112
    assert not answer.is_complete
    assert answer.records[0].service_id == "conf/dac/ZhangYY21"
    assert answer.translated.not_expressed == ("year:2017..2017", "the order by date")
    server.put("/search/publ/api", ask_dblp("attention", 25), hits())
    answer = server.run(lambda client, url: Dblp(client, url).search(make_request("attention")))
    assert (answer.records, answer.total, answer.is_complete) == ((), 0, True)


def test_a_single_hit_of_dblp_may_be_no_list() -> None:
    server = AnsweringServer("dblp")
    body = json.dumps({"result": {"hits": {"@total": "1", "hit": HIT}}})
    server.put("/search/publ/api", ask_dblp("attention", 25), body)
    answer = server.run(lambda client, url: Dblp(client, url).search(make_request("attention")))
    assert len(answer.records) == 1
    assert answer.is_complete


def test_a_record_of_dblp_by_its_key() -> None:
    server = AnsweringServer("dblp")
    record = (
        '<dblp><article key="journals/corr/abs-1706-03762" publtype="informal"><author>Jane Doe '
        "0001</author><title>Attention.</title><journal>CoRR</journal><volume>abs/1706.03762"
        "</volume><year>2017</year><ee>http://arxiv.org/abs/1706.03762</ee></article></dblp>"
    )
    key = "journals/corr/abs-1706-03762"
    server.put(f"/rec/{key}.xml", None, record, content_type="application/xml")
    answer = server.run(lambda client, url: Dblp(client, url).look_up_own("dblp", key))
    assert answer.record is not None
    work = answer.record.work
    assert (work.title, work.kind, work.ids.arxiv) == ("Attention", "preprint", "1706.03762")
    assert work.authors[0].family == "Doe"
    server.put("/rec/conf/x/Y1.xml", None, "<html>not found</html>", 404, "text/html")
    unknown = server.run(lambda client, url: Dblp(client, url).look_up_own("dblp", "conf/x/Y1"))
    assert unknown.record is None
    server.put("/rec/conf/x/Y2.xml", None, "<dblp></dblp>", content_type="application/xml")
    with pytest.raises(WorkLookupError):
        server.run(lambda client, url: Dblp(client, url).look_up_own("dblp", "conf/x/Y2"))


@needs_recordings
def test_doaj_is_searched_and_looked_up() -> None:
    server = AnsweringServer("doaj")
    path = f"/api/search/articles/{quote(PINUS, safe='')}"
    params = {"page": "1", "pageSize": "30", "sort": "bibjson.year:desc"}
    server.put(path, params, body_of("doaj", "005"))
    answer = server.run(
        lambda client, url: Doaj(client, url).search(make_request("pinus contorta", 30, "newest"))
    )
    assert server.server.missing == []
    assert len(answer.records) == 30
    assert answer.total is not None
    doi = answer.records[1].work.ids.doi
    assert doi is not None
    one = f"/api/search/articles/{quote(f'doi:{chr(34)}{doi}{chr(34)}', safe='')}"
    server.put(one, {"page": "1", "pageSize": "2"}, body_of("doaj", "005"))
    found = server.run(lambda client, url: Doaj(client, url).look_up([Doi(doi), Pmid("1")]))
    assert [name for name, _ in found.found] == [Doi(doi)]
    places, _ = server.run(lambda client, url: Doaj(client, url).locate(Doi(doi)))
    assert places
    assert {place.licence for place in places} == {answer.records[1].work.licence}


@pytest.mark.parametrize("body", ['{"error":"bad query"}', "<html></html>", "{}", ""])
def test_what_is_no_list_of_doaj_is_a_failure(body: str) -> None:
    server = AnsweringServer("doaj")
    path = f"/api/search/articles/{quote(PINUS, safe='')}"
    server.put(path, {"page": "1", "pageSize": "25"}, body)
    with pytest.raises(WorkLookupError):
        server.run(lambda client, url: Doaj(client, url).search(make_request("pinus contorta")))


def details(*rows: dict[str, Any], status: str = "ok") -> str:
    return json.dumps({"messages": [{"status": status}], "collection": list(rows)})


def test_the_latest_version_of_a_preprint_is_found_on_either_server() -> None:
    doi = Doi(PREPRINT["doi"])
    server = AnsweringServer("biorxiv")
    server.put(f"/details/biorxiv/{doi}/na/json", None, details(status="no posts found"))
    rows = [{**PREPRINT, "version": "10", "published": "10.1000/J"}, {**PREPRINT, "version": "9"}]
    server.put(f"/details/medrxiv/{doi}/na/json", None, details(*rows))
    answer = server.run(lambda client, url: Biorxiv(client, url).look_up([doi, Doi("10.1038/x")]))
    assert len(answer.found) == 1
    work = answer.found[0][1].work
    assert work.versions[0].ids.doi == "10.1000/j"
    assert work.locations[1].url.endswith("v10.full.pdf")
    assert len(answer.sent) == 2
    places, _ = server.run(lambda client, url: Biorxiv(client, url).locate(doi))
    assert places[0].format == "jats"
    server.put(f"/details/medrxiv/{doi}/na/json", None, details({**PREPRINT, "type": "WITHDRAWN"}))
    notices, _ = server.run(lambda client, url: Biorxiv(client, url).notices([doi]))
    assert [notice.kind for _, notice in notices] == ["withdrawal"]


@pytest.mark.parametrize("body", ["", "{}", "<html></html>", details(status="internal error")])
def test_a_broken_answer_of_biorxiv_is_a_failure(body: str) -> None:
    doi = Doi("10.64898/2026.01.02.700001")
    server = AnsweringServer("biorxiv")
    server.put(f"/details/biorxiv/{doi}/na/json", None, body)
    with pytest.raises(WorkLookupError):
        server.run(lambda client, url: Biorxiv(client, url).look_up([doi]))


def test_a_preprint_that_neither_server_has_is_unknown() -> None:
    doi = Doi("10.1101/2020.01.01.1")
    server = AnsweringServer("biorxiv")
    for name in ("biorxiv", "medrxiv"):
        server.put(f"/details/{name}/{doi}/na/json", None, details(status="no posts found"))
    answer = server.run(lambda client, url: Biorxiv(client, url).look_up([doi]))
    assert answer.found == ()
    assert len(answer.sent) == 2
