"""Our queries as parameters of OpenAlex, Crossref, Semantic Scholar and DataCite."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from carrel.libraries.literature.queries import (
    TranslatedParameters,
    crossref,
    datacite,
    openalex,
    semantic_scholar,
)
from carrel.libraries.literature.queries.boolean import list_leaves
from carrel.libraries.query.papers import (
    AllOf,
    PaperQuery,
    QueryNode,
    parse_paper_query,
    positive_phrases,
)
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import STOP_WORDS, Phrase
from tests.libraries.literature.query_readers import Text, fits_boolean, fits_tree
from tests.libraries.literature.test_service_queries import TEXTS, TREES


def translate_for_semantic_scholar(query: PaperQuery) -> TranslatedParameters:
    return semantic_scholar.translate(query)[1]


TRANSLATE: dict[str, Callable[[PaperQuery], TranslatedParameters]] = {
    "openalex": openalex.translate,
    "crossref": crossref.translate,
    "semantic_scholar": translate_for_semantic_scholar,
    "datacite": datacite.translate,
}


def fits_words(written: str, text: Text, *, in_title: bool = False) -> bool:
    bare = written.strip('"')
    return text.has(bare.rstrip("*").split(), in_title=in_title, is_prefix=bare.endswith("*"))


def fits_openalex(asked: TranslatedParameters, text: Text) -> bool:
    """All filters; a search has its own operators."""
    return all(fits_openalex_filter(each, text) for each in asked.parameters["filter"].split(","))


def fits_openalex_filter(written: str, text: Text) -> bool:
    name, _, value = written.partition(":")
    match name.removesuffix(".exact"):
        case "from_publication_date":
            return text.year >= int(value[:4])
        case "to_publication_date":
            return text.year <= int(value[:4])
        case "title.search":
            return fits_boolean(value, text, lambda leaf, of: fits_words(leaf, of, in_title=True))
        case "title_and_abstract.search":
            return fits_boolean(value, text, fits_words)
        case _:
            raise AssertionError(written)


def fits_semantic_scholar(asked: TranslatedParameters, text: Text) -> bool:
    first, _, last = asked.parameters.get("publicationDateOrYear", ":").partition(":")
    if not int(first[:4] or 0) <= text.year <= int(last[:4] or 9999):
        return False
    query = asked.parameters["query"]
    if "sort" not in asked.parameters:
        # The search by relevance needs no word.
        return True
    query = query.replace(" + ", " AND ").replace(" | ", " OR ").replace(" -", " NOT ")
    return fits_boolean(query, text, fits_words)


def fits_datacite(asked: TranslatedParameters, text: Text) -> bool:
    query, _, _ = asked.parameters["query"].partition(" AND types.resourceTypeGeneral:")
    return fits_boolean(query, text, fits_datacite_leaf)


def fits_datacite_leaf(token: str, text: Text) -> bool:
    field, _, value = token.partition(":")
    match field:
        case "publicationYear":
            first, last = re.fullmatch(r"\[(\S+) TO (\S+)\]", value).groups()  # type: ignore[union-attr]
            return (first == "*" or int(first) <= text.year) and (
                last == "*" or text.year <= int(last)
            )
        case "titles.title":
            return fits_words(value, text, in_title=True)
        case "descriptions.description":
            return fits_words(value, Text(text.abstract, (), text.year), in_title=True)
        case "subjects.subject":
            return False
        case _:
            raise AssertionError(token)


FITS: dict[str, Callable[[TranslatedParameters, Text], bool]] = {
    "openalex": fits_openalex,
    "semantic_scholar": fits_semantic_scholar,
    "datacite": fits_datacite,
}


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(FITS)), TREES, st.lists(TEXTS, min_size=1, max_size=8))
def test_a_translated_query_means_the_same_and_is_never_narrower(
    service: str, tree: QueryNode, texts: list[Text]
) -> None:
    leaves = [leaf for leaf in list_leaves(tree) if isinstance(leaf, Phrase)]
    # Only OpenAlex has no star, and none has one behind several words: that is told.
    assume(not any(leaf.is_prefix and (service == "openalex" or leaf.words[1:]) for leaf in leaves))
    asked = TRANSLATE[service](PaperQuery("", strict=tree))
    if not asked.parameters:
        return
    for text in texts:
        is_found = FITS[service](asked, text)
        assert is_found or not fits_tree(tree, text), asked.parameters
        is_ranked = service == "semantic_scholar" and "sort" not in asked.parameters
        if not asked.not_expressed and not is_ranked:
            assert is_found == fits_tree(tree, text), asked.parameters


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(TRANSLATE)), TREES | st.none(), st.text(max_size=40))
def test_every_wanted_word_is_sent_or_told(
    service: str, tree: QueryNode | None, typed: str
) -> None:
    query = parse_paper_query(typed) if tree is None else PaperQuery("", strict=tree)
    asked = TRANSLATE[service](query)
    if query.identifiers:
        return
    said = fold_text(" ".join((*asked.parameters.values(), *asked.not_expressed)))
    if "a query of nothing but NOT" in asked.not_expressed:
        return
    wanted = (*query.loose, *positive_phrases(query.strict))
    for word in {word for phrase in wanted for word in phrase.words}:
        assert fold_text(word) in STOP_WORDS or fold_text(word) in said, (word, asked)


@pytest.mark.parametrize("service", sorted(TRANSLATE))
@pytest.mark.parametrize("typed", ["", "   ", "AND OR", "NOT alpha", "-alpha", "tag:mine"])
def test_what_cannot_be_asked_has_no_parameters(service: str, typed: str) -> None:
    asked = TRANSLATE[service](parse_paper_query(typed))
    assert not asked.parameters
    assert bool(asked.not_expressed) == bool(parse_paper_query(typed).strict)


@pytest.mark.parametrize(
    ("service", "typed", "name", "value"),
    [
        ("openalex", "10.1038/NATURE12373", "filter", "doi:10.1038/nature12373"),
        ("openalex", "arXiv:1706.03762v2", "filter", "doi:10.48550/arxiv.1706.03762"),
        ("openalex", "pmid:23903748", "filter", "ids.pmid:23903748"),
        ("crossref", "doi:10.1038/nature12373", "filter", "doi:10.1038/nature12373"),
        ("datacite", "10.5281/zenodo.1", "query", '(doi:"10.5281/zenodo.1")'),
    ],
)
def test_an_identifier_is_asked_for_as_such(
    service: str, typed: str, name: str, value: str
) -> None:
    assert TRANSLATE[service](parse_paper_query(typed)).parameters[name] == value


def test_openalex_filters_one_field_each_and_one_search_for_all_words() -> None:
    typed = 'title:graphene author:"Doe, Jane" institution:mit year:2019.. cats dogs -birds'
    asked = openalex.translate(parse_paper_query(typed))
    assert asked.parameters["filter"].split(",") == [
        "title_and_abstract.search:cats AND dogs NOT birds",
        "title.search:graphene",
        'raw_author_name.search:"Jane Doe" OR "Doe Jane"',
        "raw_affiliation_strings.search:mit",
        "from_publication_date:2019-01-01",
    ]
    assert asked.not_expressed == ()


def test_a_service_says_which_fields_it_does_not_have() -> None:
    query = parse_paper_query("venue:nature cats")
    assert openalex.translate(query).not_expressed == ("venue:nature",)
    assert crossref.translate(query).parameters["query.container-title"] == "nature"
    assert "venue:nature" in translate_for_semantic_scholar(query).not_expressed
    assert datacite.translate(query).not_expressed == ()


def test_crossref_is_not_asked_for_parts_of_works_and_for_data_only_on_demand() -> None:
    plain = crossref.translate(parse_paper_query("solar cells")).parameters["filter"]
    data = crossref.translate(parse_paper_query("solar cells dataset")).parameters["filter"]
    for part in ("component", "peer-review", "grant", "journal-issue", "dataset"):
        assert f"type:{part}" not in plain
    assert "type:dataset" in data
    no_preprints = crossref.translate(parse_paper_query("cells"), includes_preprints=False)
    assert "posted-content" in plain
    assert "posted-content" not in no_preprints.parameters["filter"]


def test_hyphens_do_not_reach_semantic_scholar() -> None:
    search, asked = semantic_scholar.translate(parse_paper_query("covid-19 state-of-the-art"))
    assert search == semantic_scholar.RELEVANCE_SEARCH
    assert asked.parameters["query"] == "covid 19 state of the art"


def test_semantic_scholar_takes_operators_in_its_bulk_search_alone() -> None:
    search, asked = semantic_scholar.translate(parse_paper_query('"deep sea" (cat OR dog*) -bird'))
    assert search == semantic_scholar.BULK_SEARCH
    assert asked.parameters["query"] == '"deep sea" + (cat | dog*) -bird'
    assert any("relevance" in each for each in asked.not_expressed)
    assert semantic_scholar.translate(parse_paper_query("cat"), order="newest")[0] == "search/bulk"


@pytest.mark.parametrize(
    ("service", "name", "part"),
    [
        ("openalex", "filter", "from_publication_date:2026-01-02,to_publication_date:2026-01-09"),
        ("crossref", "filter", "from-created-date:2026-01-02,until-created-date:2026-01-09"),
        ("semantic_scholar", "publicationDateOrYear", "2026-01-02:2026-01-09"),
        ("datacite", "query", "created:[2026-01-02 TO 2026-01-09]"),
    ],
)
def test_alerts_ask_by_a_day_and_say_what_that_misses(service: str, name: str, part: str) -> None:
    module = {
        "openalex": openalex,
        "crossref": crossref,
        "semantic_scholar": semantic_scholar,
        "datacite": datacite,
    }[service]
    query, span = parse_paper_query("cats"), {"since": date(2026, 1, 2), "until": date(2026, 1, 9)}
    found = module.translate(query, **span)
    asked = found[1] if isinstance(found, tuple) else found
    assert part in asked.parameters[name]
    # DataCite is asked by the day of registration, which misses nothing.
    assert bool(asked.not_expressed) == (service != "datacite")


def test_a_whole_query_that_is_all_conjuncts_is_not_bracketed_twice() -> None:
    tree = AllOf((Phrase(("alpha",)), Phrase(("beta",))))
    assert openalex.translate(PaperQuery("", strict=tree)).text == (
        "title_and_abstract.search:alpha AND beta"
    )
