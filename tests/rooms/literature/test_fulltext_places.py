"""The order of places, and mentions of one place by several services."""

from __future__ import annotations

import pytest

from carrel.libraries.literature.records import TextLocation
from carrel.rooms.literature.fulltext_places import list_places

pytestmark = pytest.mark.promise("W2")


def test_structured_texts_come_first_then_versions_then_sites_that_answer_programs() -> None:
    order = [
        TextLocation("https://www.ebi.ac.uk/x/PMC1/fullTextXML", "jats", "published"),
        TextLocation("https://arxiv.org/html/2404.00001v1", "html", "submitted", service="arxiv"),
        TextLocation("https://arxiv.org/e-print/2404.00001v1", "tex", "submitted", service="arxiv"),
        TextLocation("https://arxiv.org/pdf/2404.00001v1", "pdf", "submitted", service="arxiv"),
        TextLocation("https://journal.example/a.pdf", "pdf", "published", host="publisher"),
        TextLocation("https://repository.example/a.pdf", "pdf", "published", host="repository"),
        TextLocation("https://pmc.ncbi.nlm.nih.gov/a.pdf", "pdf", "published", host="repository"),
        TextLocation("https://repository.example/b.pdf", "pdf", "accepted", host="repository"),
        TextLocation("https://repository.example/c.pdf", "pdf", "submitted", host="repository"),
        TextLocation("https://somewhere.example/d.pdf", "pdf"),
        TextLocation("https://doi.org/10.5555/x", "landing_page", "published"),
    ]
    assert [each.location for each in list_places(reversed(order), "any")] == order


def test_one_file_that_several_services_name_is_one_place_that_knows_what_each_said() -> None:
    (found,) = list_places(
        [
            TextLocation("https://Repository.example/a.pdf/", "pdf", service="openalex"),
            TextLocation(
                "http://www.repository.example/a.pdf",
                "pdf",
                "accepted",
                "cc-by",
                service="unpaywall",
            ),
        ],
        "any",
    )
    assert found.named_by == ("openalex", "unpaywall")
    assert (found.location.version, found.location.licence) == ("accepted", "cc-by")


def test_texts_of_one_arxiv_paper_are_one_place_each_whatever_version_is_named() -> None:
    found = list_places(
        [
            TextLocation("https://arxiv.org/pdf/1706.03762v7", "pdf", service="arxiv"),
            TextLocation("http://arxiv.org/pdf/1706.03762.pdf", "pdf", service="unpaywall"),
            TextLocation("https://arxiv.org/pdf/quant-ph/0201082", "pdf", service="openalex"),
        ],
        "any",
    )
    assert [each.named_by for each in found] == [("arxiv", "unpaywall"), ("openalex",)]


def test_a_wanted_format_leaves_the_others_out() -> None:
    places = [
        TextLocation("https://a.example/x.xml", "jats"),
        TextLocation("https://a.example/x.pdf", "pdf"),
        TextLocation("https://a.example/x", "landing_page"),
    ]
    assert [each.location.format for each in list_places(places, "jats")] == ["jats"]
    # A page may name a PDF.
    assert [each.location.format for each in list_places(places, "pdf")] == ["pdf", "landing_page"]
