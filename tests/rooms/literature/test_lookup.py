"""get_work: one work by any identifier, merged over the services that know it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.core.errors import InvalidInputError, NotFoundError
from carrel.rooms.literature.errors import LiteratureUnavailableError
from tests.rooms.literature.desk import ask, coverage_of
from tests.rooms.literature.outside import XGEN, Outside
from tests.services.literature.recorded import needs_recordings

pytestmark = [needs_recordings, pytest.mark.promise("W1")]
JSON = {"content-type": "application/json"}
GONE = (404, {"content-type": "text/plain"}, b"Resource not found.")


@pytest.fixture
def outside() -> Iterator[Outside]:
    with Outside() as opened:
        # What is not about the work of a test is not known there.
        opened.faults = dict.fromkeys(("datacite", "unpaywall", "biorxiv", "doaj"), GONE)
        yield opened


def test_what_is_no_identifier_is_refused_before_anything_leaves(
    outside: Outside, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match="no identifier"):
        ask(outside.settings(tmp_path), "get_work", identifier="the paper on tides")
    assert not outside.asked


def test_a_work_that_no_service_knows_is_not_found_only_if_all_answered(
    outside: Outside, tmp_path: Path
) -> None:
    empty = {
        "europepmc": (200, JSON, b'{"hitCount": 0, "resultList": {"result": []}}'),
        "pubmed": (200, JSON, b'{"esearchresult": {"count": "0", "idlist": []}}'),
        "dblp": (200, JSON, b'{"result": {"hits": {"@total": "0"}}}'),
    }
    outside.faults |= {"openalex": GONE, "crossref": GONE, "semantic_scholar": GONE, **empty}
    with pytest.raises((NotFoundError, LiteratureUnavailableError)) as caught:
        ask(outside.settings(tmp_path), "get_work", identifier="10.1000/nobody.knows")
    failed = [
        line
        for line in caught.value.details["coverage"]  # type: ignore[attr-defined]
        if line["state"] == "failed"
    ]
    assert isinstance(caught.value, LiteratureUnavailableError if failed else NotFoundError)
    outside.faults["crossref"] = (503, {}, b"")
    with pytest.raises(LiteratureUnavailableError, match="Not known whether"):
        ask(outside.settings(tmp_path), "get_work", identifier="10.1000/nobody.knows.either")


def test_a_service_that_wants_an_address_does_not_make_a_wrong_doi_unknown(
    outside: Outside, tmp_path: Path
) -> None:
    empty = {
        "europepmc": (200, JSON, b'{"hitCount": 0, "resultList": {"result": []}}'),
        "pubmed": (200, {}, b"<eSearchResult><Count>0</Count><IdList></IdList></eSearchResult>"),
        "opencitations": (200, JSON, b"[]"),
        "doaj": (200, JSON, b'{"total": 0, "results": []}'),
    }
    outside.faults |= {"openalex": GONE, "crossref": GONE, **empty}
    settings = outside.settings(tmp_path, contact="")
    with pytest.raises(NotFoundError) as caught:
        ask(settings, "get_work", identifier="10.1000/nobody.knows")
    line = coverage_of(caught.value.details, "unpaywall")
    assert (line["state"], line["reason"]) == (
        "not_asked",
        "it wants an address: set literature.contact",
    )


@pytest.mark.parametrize(
    "name",
    [
        XGEN,
        f"https://doi.org/{XGEN.upper()}",
        f"doi:{XGEN}",
        # Services that know other identifiers of the work are asked by those.
        "W4408732759",
        "https://openalex.org/W4408732759",
    ],
)
def test_every_form_of_an_identifier_names_one_work_with_all_origins(
    outside: Outside, tmp_path: Path, name: str
) -> None:
    work = ask(outside.settings(tmp_path), "get_work", identifier=name)
    assert work["ids"]["doi"] == XGEN
    assert {record["service"] for record in work["records"]} >= {"openalex", "crossref"}
    assert work["origins"]["title"] == "crossref"
    assert set(work["citations"]) >= {"openalex", "crossref"}
    assert coverage_of(work, "crossref")["state"] == "answered"
    assert coverage_of(work, "semantic_scholar")["state"] == "not_asked"
    assert work["message"].startswith("Merged from")
