"""Samples of real dumps are loaded whole; nothing in them is set aside."""

from __future__ import annotations

import pytest

from tests.services.dumps.dump_files import LoadingDesk
from tests.services.literature.recorded import SERVICES_DATA

_DUMPS = SERVICES_DATA / "dumps"
pytestmark = [
    pytest.mark.promise("W3"),
    pytest.mark.skipif(not _DUMPS.is_dir(), reason="the shared samples of dumps are not here"),
]


@pytest.mark.parametrize(
    ("service", "folder", "papers", "words", "title"),
    [
        ("openalex", "openalex", 289, "watershed services Guatemala", "Can payments for watershed"),
        ("arxiv", "arxiv-kaggle", 249, "zeros derivatives random polynomials", "Zeros of a grow"),
        ("pubmed", "pubmed", 163, "Hfe mutations iron overload", "Hfe mutations and iron"),
    ],
)
def test_every_record_of_a_real_sample_is_a_paper(
    desk: LoadingDesk, service: str, folder: str, papers: int, words: str, title: str
) -> None:
    report = desk.load(service, _DUMPS / folder)
    assert (report["papers"], report["bad"]) == (papers, 0)
    assert desk.search(words)[0].startswith(title)


def test_records_of_crossref_without_a_title_are_counted(desk: LoadingDesk) -> None:
    report = desk.load("crossref", _DUMPS / "crossref-2020")
    assert report["records"] == 6_004
    assert report["bad"] == 0
    assert report["papers"] + report["left_out"]["no_title"] == 6_004
