"""Works are looked up as the services answer, and what goes wrong is told apart."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Isbn, Pmcid, Pmid
from carrel.services.literature.arxiv_items import ArxivItems
from carrel.services.literature.books import GoogleBooks, OpenLibrary
from carrel.services.literature.cache import AnswerCache
from carrel.services.literature.dois import CrossrefItems, DoiOrg
from carrel.services.literature.errors import (
    NetworkUnavailableError,
    ServiceFailedError,
    UnreadableAnswerError,
    WorkNotFoundError,
)
from carrel.services.literature.pubmed_items import ArticleNames, PmcConverter, PubMedItems
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.works import Addresses, Works
from tests.services.literature.fake_time import LongestWaits, Waits
from tests.services.literature.services import Reply, Services, running

Found = TypeVar("Found")

NATURE = Doi.parse("10.1038/nature12373")
UNKNOWN = Doi.parse("10.5555/none")


@pytest.fixture(scope="module")
def server() -> Iterator[Services]:
    with running() as services:
        yield services


@pytest.fixture
def services(server: Services) -> Services:
    server.asked.clear()
    server.first.clear()
    return server


def with_client(
    work: Callable[[ServiceClient], Awaitable[Found]],
    waits: Waits | None = None,
    cache: AnswerCache | None = None,
) -> Found:
    waits = waits or Waits()

    async def run() -> Found:
        async with ServiceClient(
            "desk@example.org",
            cache,
            sleep=waits.sleep,
            clock=waits.clock,
            now=lambda: 0.0,
            rng=LongestWaits(),
        ) as client:
            return await work(client)

    return asyncio.run(run())


def test_doi_org_answers_with_the_work_behind_its_redirect(services: Services) -> None:
    item = with_client(lambda client: DoiOrg(client, services.url).look_up(NATURE))
    assert item["type"] == "article-journal"
    assert item["title"] == "Nanometre-scale thermometry in a living cell"
    assert item["author"] == [{"given": "G.", "family": "Kucsko"}, {"literal": "A Consortium"}]
    assert item["issued"] == {"date-parts": [[2013, 7, 31]]}
    assert item["ISSN"] == "0028-0836, 1476-4687"
    assert item["abstract"] == "Sensitive <i>probing</i>."
    assert "reference" not in item
    assert "id" not in item


def test_crossref_is_told_who_asks(services: Services) -> None:
    item = with_client(
        lambda client: CrossrefItems(client, services.url).look_up(Doi.parse("10.1038/NATURE12373"))
    )
    path, headers = services.asked[0]
    assert item["DOI"] == "10.1038/nature12373"
    assert item["container-title"] == "Nature"
    assert "mailto=desk%40example.org" in path
    assert headers["User-Agent"].startswith("Carrel/")
    assert "mailto:desk@example.org" in headers["User-Agent"]


def test_pubmed_answers_many_at_once(services: Services) -> None:
    async def look_up(client: ServiceClient) -> list[Any]:
        pubmed = PubMedItems(client, services.url)
        numbers = (Pmid("23903748"), Pmid("1"), Pmid("999"))
        return await asyncio.gather(*map(pubmed.look_up, numbers), return_exceptions=True)

    item, other, missing = with_client(look_up)
    assert other["PMID"] == "1"
    assert isinstance(missing, WorkNotFoundError)
    assert item["title"] == "Nanometre-scale <i>thermometry</i>"
    assert item["page"] == "54-58"
    assert item["issued"] == {"date-parts": [[2013, 8]]}
    assert item["DOI"] == "10.1038/nature12373"
    assert len(services.asked) == 1
    assert "tool=carrel" in services.asked[0][0]


def test_the_pmc_converter_knows_the_other_names(services: Services) -> None:
    same = with_client(
        lambda client: PmcConverter(client, f"{services.url}/idconv").convert(Pmcid("PMC3531190"))
    )
    assert same == ArticleNames(Pmcid("PMC3531190"), Pmid("23193287"), Doi("10.1093/nar/gks1195"))


def test_arxiv_answers_with_a_preprint(services: Services) -> None:
    item = with_client(
        lambda client: ArxivItems(client, services.url).look_up(ArxivId.parse("hep-ex/0307015"))
    )
    assert item["type"] == "article"
    assert (
        item["title"]
        == "Multi-Electron Production at High Transverse Momenta in ep Collisions at HERA"
    )
    assert item["author"][1] == {"family": "Doe", "given": "Jane", "non-dropping-particle": "van"}
    assert item["issued"] == {"date-parts": [[2003, 7, 7]]}
    assert item["DOI"] == "10.1140/epjc/s2003-01326-x"
    assert item["custom"]["arxiv_id"] == "hep-ex/0307015"


def test_books_are_found_by_isbn(services: Services) -> None:
    isbn = Isbn.parse("0-632-05808-0")
    item = with_client(lambda client: OpenLibrary(client, services.url).look_up(isbn))
    assert item["title"] == "Sea Ice: An Introduction"
    assert item["issued"] == {"date-parts": [[2003, 8]]}
    assert item["ISBN"] == "9780632058082"
    other = with_client(lambda client: GoogleBooks(client, services.url).look_up(isbn))
    assert other["publisher"] == "Wiley"
    assert other["author"] == [{"family": "Thomas", "given": "David N."}]


@pytest.mark.parametrize(
    "ask",
    [
        lambda client, url: DoiOrg(client, url).look_up(Doi.parse("10.5555/none")),
        lambda client, url: CrossrefItems(client, url).look_up(Doi.parse("10.5555/none")),
        lambda client, url: PubMedItems(client, url).look_up(Pmid("999")),
        lambda client, url: PmcConverter(client, f"{url}/idconv").convert(Pmcid("PMC1")),
        lambda client, url: ArxivItems(client, url).look_up(ArxivId.parse("2101.99999")),
        lambda client, url: ArxivItems(client, url).look_up(ArxivId.parse("2101.11111")),
        lambda client, url: OpenLibrary(client, url).look_up(Isbn.parse("080442957X")),
        lambda client, url: GoogleBooks(client, url).look_up(Isbn.parse("080442957X")),
    ],
)
def test_a_work_that_is_not_there_is_not_found(
    services: Services, ask: Callable[[ServiceClient, str], Awaitable[object]]
) -> None:
    with pytest.raises(WorkNotFoundError):
        with_client(lambda client: ask(client, services.url))


def test_no_network_is_another_thing_than_not_found() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
    waits = Waits()
    with pytest.raises(NetworkUnavailableError) as caught:
        with_client(
            lambda client: CrossrefItems(client, address).look_up(NATURE),
            waits,
        )
    assert caught.value.service == "Crossref"
    assert caught.value.address.startswith(address)
    assert waits.seconds == [0.5, 1.0]


def test_a_page_in_place_of_metadata_is_unreadable(services: Services) -> None:
    with pytest.raises(UnreadableAnswerError):
        with_client(lambda client: DoiOrg(client, services.url).look_up(Doi.parse("10.5555/page")))


def test_retry_after_is_honoured_in_seconds_and_as_a_date(services: Services) -> None:
    services.first += [
        Reply(429, b"", {"Retry-After": "7"}),
        Reply(503, b"", {"Retry-After": "Thu, 01 Jan 1970 00:00:09 GMT"}),
    ]
    waits = Waits()
    item = with_client(
        lambda client: CrossrefItems(client, services.url).look_up(
            Doi.parse("10.1038/nature12373")
        ),
        waits,
    )
    assert item["volume"] == "500"
    assert waits.seconds == [7.0, 9.0]


def test_a_service_that_keeps_failing_is_given_up_with_what_it_said(services: Services) -> None:
    services.first += [Reply(503, b"")] * 4
    waits = Waits()
    with pytest.raises(ServiceFailedError) as caught:
        with_client(
            lambda client: CrossrefItems(client, services.url).look_up(
                Doi.parse("10.1038/nature12373")
            ),
            waits,
        )
    assert caught.value.status == 503
    assert len(services.asked) == 4
    assert waits.seconds == [0.5, 1.0, 2.0]


def test_a_wait_longer_than_is_allowed_is_told_and_not_waited(services: Services) -> None:
    services.first += [Reply(429, b"", {"Retry-After": "3600"})]
    waits = Waits()
    with pytest.raises(ServiceFailedError) as caught:
        with_client(
            lambda client: CrossrefItems(client, services.url).look_up(
                Doi.parse("10.1038/nature12373")
            ),
            waits,
        )
    assert caught.value.retry_after_seconds == 3600
    assert waits.seconds == []


def test_questions_to_arxiv_are_three_seconds_apart(services: Services) -> None:
    waits = Waits()

    async def twice(client: ServiceClient) -> None:
        arxiv = ArxivItems(client, services.url)
        await arxiv.look_up(ArxivId.parse("hep-ex/0307015"))
        await arxiv.look_up(ArxivId.parse("hep-ex/0307015"))

    with_client(twice, waits)
    assert waits.seconds == [3.0]


def test_a_cached_answer_is_not_asked_for_again(services: Services, tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "answers", clock=lambda: 0.0)
    for _ in range(2):
        item = with_client(
            lambda client: CrossrefItems(client, services.url).look_up(
                Doi.parse("10.1038/nature12373")
            ),
            cache=cache,
        )
        assert item["volume"] == "500"
        with pytest.raises(WorkNotFoundError):
            with_client(
                lambda client: CrossrefItems(client, services.url).look_up(
                    Doi.parse("10.5555/none")
                ),
                cache=cache,
            )
    assert len(services.asked) == 2


def works(client: ServiceClient, url: str, open_library: str | None = None) -> Works:
    return Works(client, Addresses(url, url, url, f"{url}/idconv", url, open_library or url, url))


@pytest.mark.parametrize(
    ("identifier", "title"),
    [
        (Doi("10.1038/nature12373"), "Nanometre-scale thermometry in a living cell"),
        (Pmid("1"), "Nanometre-scale <i>thermometry</i>"),
        (
            ArxivId("hep-ex/0307015"),
            "Multi-Electron Production at High Transverse Momenta in ep Collisions at HERA",
        ),
        (Isbn("9780632058082"), "Sea Ice: An Introduction"),
    ],
)
def test_each_kind_of_identifier_is_asked_where_it_is_known(
    services: Services, identifier: Identifier, title: str
) -> None:
    assert (
        with_client(lambda client: works(client, services.url).find(identifier))["title"] == title
    )


def test_a_pmcid_is_found_through_its_pubmed_number(services: Services) -> None:
    with pytest.raises(WorkNotFoundError):
        with_client(lambda client: works(client, services.url).find(Pmcid("PMC3531190")))
    assert "id=23193287" in services.asked[1][0]


def test_crossref_stands_in_when_doi_org_fails(services: Services) -> None:
    services.first += [Reply(503, b"")] * 4
    item = with_client(lambda client: works(client, services.url).find(Doi("10.1038/nature12373")))
    assert item["volume"] == "500"
    assert services.asked[-1][0].startswith("/works/")


def test_a_doi_that_does_not_exist_is_asked_for_once(services: Services) -> None:
    with pytest.raises(WorkNotFoundError):
        with_client(lambda client: works(client, services.url).find(Doi("10.5555/none")))
    assert len(services.asked) == 1


def test_a_page_in_place_of_metadata_stays_the_reason_when_crossref_has_nothing(
    services: Services,
) -> None:
    with pytest.raises(UnreadableAnswerError):
        with_client(lambda client: works(client, services.url).find(Doi("10.5555/page")))


def test_a_catalogue_that_cannot_be_asked_says_more_than_one_that_has_nothing(
    services: Services,
) -> None:
    services.first += [Reply(200, b"{}"), *[Reply(500, b"")] * 3]
    with pytest.raises(ServiceFailedError):
        with_client(lambda client: works(client, services.url).find(Isbn("9780804429573")))
