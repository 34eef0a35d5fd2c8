"""Words with an apostrophe, as services are asked for them."""

from __future__ import annotations

import pytest

from carrel.libraries.literature.queries import arxiv, crossref, europepmc, openalex, pubmed
from carrel.libraries.literature.queries.apostrophes import join_apostrophes
from carrel.libraries.query.papers import parse_paper_query

pytestmark = pytest.mark.promise("W1")


@pytest.mark.parametrize("written", ["Crohn's disease", "Crohn\u2019s disease"])
def test_services_are_asked_for_a_word_with_its_apostrophe(written: str) -> None:
    query = join_apostrophes(parse_paper_query(written))
    # With a blank between them PubMed maps both words to one heading.
    assert pubmed.translate(query).text == "Crohn's disease"
    assert openalex.translate(query).text == "title_and_abstract.search:Crohn's AND disease"
    assert crossref.translate(query).text == "query.bibliographic=Crohn's disease"
    assert arxiv.translate(query).text == "all:Crohn's AND all:disease"
    assert "TITLE:Crohn's" in europepmc.translate(query).text


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("author:O'Brien", "O'Brien[au]"),
        ('author:"Tim O\'Brien"', "(O'Brien T[au] OR Tim O'Brien[fau])"),
        ('title:"Fermat\'s last theorem"', '"Fermat\'s last theorem"[ti]'),
        ("sleep NOT Alzheimer's", "sleep NOT Alzheimer's"),
    ],
)
def test_a_family_name_with_an_apostrophe_is_no_initial(written: str, asked: str) -> None:
    assert pubmed.translate(join_apostrophes(parse_paper_query(written))).text == asked


def test_a_query_without_apostrophes_stays_what_it_is() -> None:
    query = parse_paper_query("'quoted' sleep year:2019..")
    assert join_apostrophes(query) is query
