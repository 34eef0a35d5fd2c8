"""An identifier never asks another question than its own: not by its path, not by its query."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.libraries.identifiers import Doi
from carrel.services.literature.datacite import DataCite
from carrel.services.literature.doaj import Doaj
from carrel.services.literature.errors import WorkLookupError
from carrel.services.literature.europepmc import EuropePmc
from carrel.services.literature.openalex import OpenAlex
from carrel.services.literature.outgoing import refuse_climbing
from carrel.services.literature.pubmed import PubMed
from carrel.services.literature.semantic_scholar import SemanticScholar
from tests.services.literature.adapters import AnsweringServer

HOST = "https://host.example/api/"


@pytest.mark.parametrize("adapter", [OpenAlex, SemanticScholar, DataCite])
@pytest.mark.parametrize("doi", ["10.1234/../../../admin", "10.1234/a/./b", "10.1234//..//x"])
def test_an_identifier_that_climbs_is_not_sent(adapter: Any, doi: str) -> None:
    server = AnsweringServer("openalex")
    with pytest.raises(WorkLookupError, match="climbs"):
        server.run(lambda client, url: adapter(client, url).look_up([Doi(doi)]))
    assert server.paths == []


@pytest.mark.parametrize("path", ["..", "../x", "a/..", "a/%2e%2E/x", "a/.%2e", "a\\..\\x", "./x"])
def test_every_spelling_of_climbing_is_refused(path: str) -> None:
    with pytest.raises(WorkLookupError, match="climbs"):
        refuse_climbing("openalex", HOST + path)


@pytest.mark.parametrize(
    "path", ["10.1/a..b", "10.1/...", "10.1%2F..%2Fx", ".x", "a?b=/../", "a#/.."]
)
def test_other_dots_are_sent_as_they_are(path: str) -> None:
    refuse_climbing("openalex", HOST + path)


@pytest.mark.parametrize("adapter", [EuropePmc, PubMed, Doaj])
@pytest.mark.parametrize("doi", ['10.1234/a"OR"b', "10.1234/a\\b", '10.1234/"'])
def test_an_identifier_that_ends_its_quotation_is_not_sent(adapter: Any, doi: str) -> None:
    """Its query would ask for other works, and in a list crowd out the records of the rest."""
    server = AnsweringServer("openalex")
    answer = server.run(lambda client, url: adapter(client, url).look_up([Doi(doi)]))
    assert answer.found == ()
    assert server.paths == []
    assert not server.run(lambda client, url: _knows(adapter(client, url), doi))


async def _knows(service: Any, doi: str) -> bool:
    return bool(service.knows(Doi(doi)))
