"""PubMed end to end: numbers, then records; errors inside good answers are never empty results."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.identifiers import Doi, Identifier, Pmcid, Pmid
from carrel.libraries.literature.pubmed_answers import (
    PubMedAnswerError,
    read_conversions,
    read_links,
    read_search,
)
from carrel.rooms.literature.ports import (
    CitationService,
    LocationService,
    NoticeService,
    RecordService,
    SearchService,
)
from carrel.services.literature.errors import ServiceFailedError, WorkLookupError
from carrel.services.literature.pubmed import PubMed
from carrel.services.literature.pubmed_items import PmcConverter
from carrel.services.literature.recordings import read_exchanges
from carrel.services.literature.service_client import ServiceClient
from tests.libraries.literature.odd_json import odd_values
from tests.services.literature.adapters import CONTACT, AnsweringServer, body_of, make_request
from tests.services.literature.recorded import SERVICES_DATA, needs_recordings

pytestmark = pytest.mark.promise("W1")

XML = "text/xml; charset=UTF-8"
KEY = "a-secret-key-0123"
SEARCH = {"db": "pubmed", "retmode": "xml", "term": "yeast cells", "sort": "relevance"}
LISTED = """<?xml version="1.0"?><eSearchResult><Count>{count}</Count><RetMax>4</RetMax><IdList>
{ids}</IdList><QueryTranslation>"yeasts"[MeSH Terms]</QueryTranslation>{more}</eSearchResult>"""


def listed(*pmids: str, count: int | None = None, more: str = "") -> str:
    ids = "".join(f"<Id>{pmid}</Id>" for pmid in pmids)
    return LISTED.format(count=len(pmids) if count is None else count, ids=ids, more=more)


def fetch(*pmids: str) -> dict[str, str]:
    return {"db": "pubmed", "retmode": "xml", "id": ",".join(pmids)}


def adapter(client: ServiceClient, url: str) -> PubMed:
    return PubMed(client, url, api_key=KEY)


def as_ports(pubmed: PubMed) -> tuple[SearchService, RecordService, CitationService, LocationService, NoticeService]:  # fmt: skip  # noqa: E501
    """The type checker sees here that the adapter is all of these."""
    return pubmed, pubmed, pubmed, pubmed, pubmed


@pytest.mark.parametrize(
    ("number", "words"), [("057", "Neither query_key nor id"), ("054", "Empty ID list")]
)
@needs_recordings
def test_an_error_inside_a_good_answer_is_a_failure(number: str, words: str) -> None:
    server = AnsweringServer("pubmed")
    server.put("/esearch.fcgi", {**SEARCH, "retmax": "25"}, body_of("pubmed", number), 200, XML)
    with pytest.raises(ServiceFailedError, match=words):
        server.run(lambda client, url: adapter(client, url).search(make_request("yeast cells")))


@pytest.mark.parametrize(
    ("status", "body", "content_type"),
    [
        (200, "<html><head><title>PmFetch response</title></head></html>", "text/html"),
        (200, "", XML),
        (200, "<?xml version='1.0'?><eSearchResult><Count>3</Count>", XML),
        (200, "<?xml version='1.0'?><eInfoResult/>", XML),
        (400, "<?xml version='1.0'?><eSearchResult><ERROR>bad term</ERROR></eSearchResult>", XML),
        (414, "<html>too long</html>", "text/html"),
        (429, '{"error":"API rate limit exceeded"}', "application/json"),
        (502, "bad gateway", "text/plain"),
    ],
)
def test_what_is_no_list_is_a_failure_and_never_an_empty_one(
    status: int, body: str, content_type: str
) -> None:
    server = AnsweringServer("pubmed")
    server.put("/esearch.fcgi", {**SEARCH, "retmax": "25"}, body, status, content_type)
    with pytest.raises(WorkLookupError) as caught:
        server.run(lambda client, url: adapter(client, url).search(make_request("yeast cells")))
    assert KEY not in caught.value.reason
    assert caught.value.failure != "not_recorded"


def test_a_query_without_words_is_not_asked() -> None:
    server = AnsweringServer("pubmed")
    with pytest.raises(ServiceFailedError, match="cannot be put"):
        server.run(lambda client, url: adapter(client, url).search(make_request("tag:mine")))
    assert server.paths == []


@needs_recordings
def test_a_search_gives_records_in_the_order_of_the_list_and_says_how_it_was_read() -> None:
    server = AnsweringServer("pubmed")
    pmids = ("960", "211", "77777777", "591")
    warning = "<ErrorList><PhraseNotFound>zzzz</PhraseNotFound></ErrorList>"
    server.put(
        "/esearch.fcgi",
        {**SEARCH, "retmax": "4"},
        listed(*pmids, count=9, more=warning),
        content_type=XML,
    )
    server.put("/efetch.fcgi", fetch(*pmids), body_of("pubmed", "019"), content_type=XML)
    answer = server.run(
        lambda client, url: adapter(client, url).search(make_request("yeast cells", 4))
    )
    assert [record.service_id for record in answer.records] == ["960", "211", "591"]
    assert [record.rank for record in answer.records] == [1, 2, 3]
    assert answer.total == 9
    assert not answer.is_complete
    assert 'PubMed read the query as "yeasts"[MeSH Terms]' in answer.remarks
    assert "PubMed does not know: zzzz" in answer.remarks
    assert any("no readable record" in remark for remark in answer.remarks)
    # Who asks goes to the service and nowhere else.
    assert all(KEY in path and "email=" in path for path in server.paths)
    for sent in answer.sent:
        assert KEY not in sent.url
        assert CONTACT.split("@")[1] not in sent.url


def test_nothing_found_is_an_answer() -> None:
    server = AnsweringServer("pubmed")
    server.put("/esearch.fcgi", {**SEARCH, "retmax": "25"}, listed(), content_type=XML)
    answer = server.run(
        lambda client, url: adapter(client, url).search(make_request("yeast cells"))
    )
    assert answer.records == ()
    assert answer.total == 0
    assert answer.is_complete


@needs_recordings
def test_unknown_numbers_have_no_record() -> None:
    server = AnsweringServer("pubmed")
    server.put("/efetch.fcgi", fetch("99999"), body_of("pubmed", "002"), 400, XML)
    server.put("/efetch.fcgi", fetch("37909814"), body_of("pubmed", "031"), 200, XML)
    for number in ("99999", "37909814"):
        pmid = Pmid(number)
        answer = server.run(
            lambda client, url, pmid=pmid: adapter(client, url).look_up([pmid])  # type: ignore[misc]
        )
        assert answer.found == ()
        assert len(answer.sent) == 1


@needs_recordings
def test_dois_are_searched_for_many_at_once_and_matched_by_the_records() -> None:
    doi, other = Doi("10.1073/pnas.2308706120"), Doi("10.1000/none")
    server = AnsweringServer("pubmed")
    term = f'"{doi}"[doi] OR "{other}"[doi] OR "PMC10769841"[pmcid]'
    search = {"db": "pubmed", "retmode": "xml", "term": term, "retmax": "12"}
    server.put("/esearch.fcgi", search, listed("38147649"), content_type=XML)
    server.put("/efetch.fcgi", fetch("38147649"), body_of("pubmed", "033"), content_type=XML)
    asked: list[Identifier] = [doi, other, Pmcid("PMC10769841")]
    answer = server.run(lambda client, url: adapter(client, url).look_up(asked))
    assert [identifier for identifier, _ in answer.found] == [doi, asked[2]]
    notices, sent = server.run(lambda client, url: adapter(client, url).notices(asked))
    assert {notice.kind for _, notice in notices} == {"correction"}
    assert len(sent) == 2
    places, _ = server.run(lambda client, url: adapter(client, url).locate(Pmid("38147649")))
    assert [place.format for place in places] == ["landing_page"]


@needs_recordings
def test_long_lists_of_numbers_are_sent_as_a_form() -> None:
    numbers = [str(number) for number in range(30_000_000, 30_000_250)]
    server = AnsweringServer("pubmed")
    for first, last in ((0, 200), (200, 250)):
        form = fetch(*numbers[first:last])
        is_long = last - first == 200
        server.put(
            "/efetch.fcgi",
            None if is_long else form,
            body_of("pubmed", "031"),
            content_type=XML,
            form=form if is_long else None,
        )
    answer = server.run(
        lambda client, url: adapter(client, url).look_up([Pmid(number) for number in numbers])
    )
    assert answer.found == ()
    assert [each.method for each in server.server.asked] == ["POST", "GET"]
    assert server.server.missing == []


@needs_recordings
def test_references_are_those_of_the_record_and_citing_works_those_that_pubmed_links() -> None:
    server = AnsweringServer("pubmed")
    server.put("/efetch.fcgi", fetch("38147649"), body_of("pubmed", "033"), content_type=XML)
    edges = server.run(
        lambda client, url: adapter(client, url).citations(Pmid("38147649"), "out", 20)
    )
    assert edges.works is not None
    assert len(edges.works) == 20
    assert edges.total is not None
    assert edges.total > 20
    assert not edges.is_complete
    link = {"dbfrom": "pubmed", "db": "pubmed", "linkname": "pubmed_pubmed_citedin"}
    links = (
        "<eLinkResult><LinkSet><LinkSetDb><LinkName>pubmed_pubmed_citedin</LinkName>"
        "<Link><Id>211</Id></Link><Link><Id>589</Id></Link></LinkSetDb></LinkSet></eLinkResult>"
    )
    server.put("/elink.fcgi", {**link, "id": "38147649"}, links, content_type=XML)
    server.put("/efetch.fcgi", fetch("211"), body_of("pubmed", "019"), content_type=XML)
    edges = server.run(
        lambda client, url: adapter(client, url).citations(Pmid("38147649"), "in", 1)
    )
    assert edges.works is not None
    assert [work.ids.pmid for work in edges.works] == ["211"]
    assert edges.total == 2
    assert not edges.is_complete
    empty = "<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom></LinkSet></eLinkResult>"
    server.put("/elink.fcgi", {**link, "id": "38147649"}, empty, content_type=XML)
    edges = server.run(
        lambda client, url: adapter(client, url).citations(Pmid("38147649"), "in", 1)
    )
    assert (edges.works, edges.total) == ((), 0)


@needs_recordings
def test_every_recorded_search_and_link_is_read() -> None:
    count = 0
    for _, exchange in read_exchanges(SERVICES_DATA / "pubmed"):
        if "/esearch.fcgi" in exchange.url:
            found = read_search(exchange.body)
            assert found.count >= len(found.pmids) > 0
            count += 1
    assert count >= 8
    assert read_search(body_of("pubmed", "047")).translation == '"biopython"[All Fields]'
    links = read_links(body_of("pubmed", "059"), "pubmed_pubmed")
    assert links is not None
    assert len(links) > 10
    assert read_links(body_of("pubmed", "060"), "pubmed_pubmed") is None


def test_searches_as_json_are_read_too_and_their_errors_raised() -> None:
    found = read_search(
        b'{"esearchresult":{"count":"2","idlist":["7","8"],"querytranslation":"x",'
        b'"errorlist":{"phrasesnotfound":["zzz"],"fieldsnotfound":[]}}}'
    )
    assert (found.count, found.pmids, found.translation) == (2, ("7", "8"), "x")
    assert found.warnings == ("PubMed does not know: zzz",)
    for body in (b'{"esearchresult":{"ERROR":"Search Backend failed"}}', b'{"error":"limit"}'):
        with pytest.raises(PubMedAnswerError) as caught:
            read_search(body)
        assert caught.value.is_told
    with pytest.raises(PubMedAnswerError):
        read_search(b'{"esearchresult":{}}')


@needs_recordings
def test_every_recorded_conversion_is_read() -> None:
    for path, exchange in read_exchanges(SERVICES_DATA / "ncbi-idconv"):
        if exchange.status == 200:
            found = read_conversions(exchange.body)
            assert all(ids.pmcid for _, ids in found), path.name
        elif exchange.body.lstrip().startswith(b"{"):
            with pytest.raises(PubMedAnswerError, match="mismatch"):
                read_conversions(exchange.body)


def test_identifiers_are_converted_one_kind_at_a_time() -> None:
    server = AnsweringServer("idconv")
    record = '{"pmcid":"PMC5","pmid":17,"doi":"10.1000/A","requested-id":"%s"}'
    unknown = '{"requested-id":"18","status":"error","errmsg":"not found"}'
    server.put(
        "/",
        {"ids": "17,18", "idtype": "pmid", "format": "json"},
        f'{{"records":[{record % "17"},{unknown}]}}',
    )
    server.put(
        "/",
        {"ids": "10.1000/a", "idtype": "doi", "format": "json"},
        f'{{"records":[{record % "10.1000/a"}]}}',
    )
    asked: list[Doi | Pmid | Pmcid] = [Pmid("17"), Doi("10.1000/a"), Pmid("18")]
    found = server.run(lambda client, url: PmcConverter(client, f"{url}/").convert_all(asked))
    assert set(found) == {asked[0], asked[1]}
    assert all(ids.pmcid == "PMC5" for ids in found.values())


_ODD_BODIES = st.one_of(
    st.binary(max_size=60),
    odd_values.map(lambda value: json.dumps({"esearchresult": value, "records": value}).encode()),
    st.sampled_from(["Count", "IdList", "ERROR", "LinkSetDb"]).flatmap(
        lambda name: st.text(max_size=9).map(
            lambda text: f"<eSearchResult><{name}>{text}</{name}></eSearchResult>".encode(
                errors="replace"
            )
        )
    ),
)


@given(_ODD_BODIES)
def test_no_body_breaks_the_readers_of_answers(body: bytes) -> None:
    for read in (read_search, read_conversions, lambda found: read_links(found, "x")):
        try:
            read(body)
        except PubMedAnswerError:
            continue
