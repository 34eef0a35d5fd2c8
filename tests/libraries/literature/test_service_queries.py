"""Our queries in the languages of PubMed, Europe PMC, arXiv, DOAJ and dblp."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.literature.queries import (
    TranslatedParameters,
    arxiv,
    dblp,
    doaj,
    europepmc,
    pubmed,
)
from carrel.libraries.literature.queries.author_names import split_name
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    Not,
    PaperQuery,
    QueryNode,
    YearRange,
    parse_paper_query,
    positive_phrases,
)
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import STOP_WORDS, Phrase
from tests.libraries.literature.query_readers import (
    Text,
    fits_boolean,
    fits_dblp,
    fits_field_leaf,
    fits_pubmed_leaf,
    fits_tree,
)

Translate = Callable[[PaperQuery], TranslatedParameters]
BOOLEAN: dict[str, tuple[Translate, Callable[[str, Text], bool]]] = {
    "pubmed": (pubmed.translate, fits_pubmed_leaf),
    "europepmc": (europepmc.translate, fits_field_leaf),
    "arxiv": (arxiv.translate, fits_field_leaf),
    "doaj": (doaj.translate, fits_field_leaf),
}
TRANSLATE: dict[str, Translate] = {
    **{name: both[0] for name, both in BOOLEAN.items()},
    "dblp": dblp.translate,
}
WORDS = st.sampled_from(["alpha", "alphabet", "beta", "gamma", "delta", "or", "not"])


@st.composite
def phrases(draw: st.DrawFn) -> Phrase:
    words = tuple(draw(st.lists(WORDS, min_size=1, max_size=3)))
    return Phrase(
        words,
        is_prefix=draw(st.booleans()) and len(words[-1]) > 3,
        in_title=draw(st.booleans()),
        is_exact=draw(st.booleans()),
    )


@st.composite
def years(draw: st.DrawFn) -> YearRange:
    first = draw(st.none() | st.integers(1995, 2005))
    last = draw(st.none() | st.integers(first or 1995, 2005))
    return YearRange(first, last) if first or last else YearRange(2000, 2000)


TREES: st.SearchStrategy[QueryNode] = st.recursive(
    phrases() | years(),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: AllOf(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
        inner.map(Not),
    ),
    max_leaves=8,
)
TEXTS = st.builds(
    Text,
    st.lists(WORDS, max_size=6).map(tuple),
    st.lists(WORDS, max_size=8).map(tuple),
    st.integers(1994, 2006),
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(BOOLEAN)), TREES, st.lists(TEXTS, min_size=1, max_size=8))
def test_a_translated_query_means_the_same_and_is_never_narrower(
    service: str, tree: QueryNode, texts: list[Text]
) -> None:
    translate, fits_leaf = BOOLEAN[service]
    asked = translate(PaperQuery("", strict=tree))
    if not asked.parameters:
        assert asked.not_expressed
        return
    for text in texts:
        is_found = fits_boolean(asked.text, text, fits_leaf)
        assert is_found or not fits_tree(tree, text), asked.text
        assert asked.not_expressed or is_found == fits_tree(tree, text), asked.text


@settings(max_examples=200, deadline=None)
@given(TREES, st.lists(TEXTS, min_size=1, max_size=8))
def test_a_query_at_dblp_is_never_narrower(tree: QueryNode, texts: list[Text]) -> None:
    asked = dblp.translate(PaperQuery("", strict=tree))
    for text in texts:
        if asked.parameters and fits_tree(tree, text):
            assert fits_dblp(asked.text, text), asked.text


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(TRANSLATE)), st.text(max_size=60))
def test_no_typed_text_breaks_a_translation_and_no_loose_word_is_lost(
    service: str, typed: str
) -> None:
    query = parse_paper_query(typed)
    asked = TRANSLATE[service](query)
    if query.identifiers or query.strict is not None or not query.loose:
        return
    words = {word for phrase in query.loose for word in phrase.words}
    sent = asked.text.lower()
    told = " ".join(asked.not_expressed).lower()
    for word in words:
        is_small = fold_text(word) in STOP_WORDS
        assert is_small or word.lower() in sent or word.lower() in told, (word, asked)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(TRANSLATE)), TREES)
def test_every_positive_word_is_asked_or_told(service: str, tree: QueryNode) -> None:
    asked = TRANSLATE[service](PaperQuery("", strict=tree))
    written = f"{asked.text} {' '.join(asked.not_expressed)}".lower()
    if "nothing but not" in written or "many long parts" in written:
        return
    for phrase in positive_phrases(tree):
        assert all(word in written for word in phrase.words)


@pytest.mark.parametrize("service", sorted(TRANSLATE))
@pytest.mark.parametrize(
    "typed", ['x") OR (y', "a[au] b", "ti:evil AND", "a|b $c", 'all:"', "a* b?"]
)
def test_signs_of_the_services_languages_do_not_pass(service: str, typed: str) -> None:
    query = parse_paper_query(typed)
    asked = TRANSLATE[service](query)
    if service in BOOLEAN and asked.parameters:
        translate, fits_leaf = BOOLEAN[service]
        del translate
        fits_boolean(asked.text, Text(("a",), ("b",), 2000), fits_leaf)
    assert asked.text.count('"') % 2 == 0
    assert asked.text.count("(") == asked.text.count(")")


def test_operators_as_words_are_quoted() -> None:
    assert arxiv.translate(parse_paper_query('"NOT" alpha')).text == 'all:alpha AND all:"NOT"'


def test_plain_words_are_all_asked_for_at_arxiv() -> None:
    asked = arxiv.translate(parse_paper_query("deep learning for protein folding"))
    assert asked.parameters["search_query"] == (
        "all:deep AND all:learning AND all:protein AND all:folding"
    )


def test_words_go_to_pubmed_as_typed_so_that_it_maps_them_to_its_headings() -> None:
    asked = pubmed.translate(parse_paper_query("breast cancer screening -men"))
    assert asked.parameters == {"term": "breast cancer screening NOT men"}
    assert not asked.not_expressed


def test_short_beginnings_and_tags_are_told_as_not_expressed() -> None:
    assert pubmed.translate(parse_paper_query("abc* cells")).not_expressed == ("abc",)
    for translate in TRANSLATE.values():
        assert "tag:mine" in translate(parse_paper_query("cells tag:mine")).not_expressed


def test_an_author_with_a_first_name_is_asked_wider_and_not_excluded_wider() -> None:
    asked = europepmc.translate(parse_paper_query('cells author:"jane smith"'))
    assert 'AUTH:"smith j"' in asked.text
    without = europepmc.translate(parse_paper_query('cells -author:"jane smith"'))
    assert "AUTH" not in without.text
    assert without.not_expressed == ('NOT author:"jane smith"',)


@pytest.mark.parametrize(
    ("typed", "family", "initials"),
    [
        ("smith", "smith", ""),
        ("jane smith", "smith", "j"),
        ("J A Smith", "Smith", "JA"),
        ("Smith JA", "Smith", "JA"),
        ("jan van der berg", "van der berg", "j"),
        ("van der berg", "van der berg", ""),
        ("Maria de la Cruz", "de la Cruz", "M"),
        ("li wei", "wei", "l"),
    ],
)
def test_names_are_split_into_family_and_initials(typed: str, family: str, initials: str) -> None:
    assert split_name(tuple(typed.split()))[:2] == (family, initials)


def test_doaj_takes_no_stars() -> None:
    asked = doaj.translate(parse_paper_query("cells vaccin*"))
    assert "*" not in asked.text
    assert asked.not_expressed == ("vaccin",)


@pytest.mark.parametrize(
    ("service", "found"),
    [
        ("pubmed", '"10.1000/abc"[doi]'),
        ("europepmc", 'DOI:"10.1000/abc"'),
        ("doaj", 'doi:"10.1000/abc"'),
    ],
)
def test_identifiers_are_asked_for(service: str, found: str) -> None:
    assert found in TRANSLATE[service](parse_paper_query("10.1000/ABC")).text
    assert found in TRANSLATE[service](parse_paper_query("doi:10.1000/abc cells")).text


def test_arxiv_takes_a_list_of_identifiers_and_its_categories() -> None:
    assert arxiv.translate(parse_paper_query("arXiv:1706.03762v2")).parameters == {
        "id_list": "1706.03762"
    }
    asked = arxiv.translate(parse_paper_query("attention keyword:cs.LG"))
    assert asked.text == "all:attention AND cat:cs.LG"
    assert arxiv.translate(parse_paper_query("attention keyword:hep-th")).text.endswith(
        "cat:hep-th"
    )


def test_alerts_ask_by_the_day_a_work_came_and_say_what_that_misses() -> None:
    query = parse_paper_query("cells")
    since, until = date(2026, 11, 1), date(2026, 11, 17)
    asked = pubmed.translate(query, since=since, until=until)
    assert {**asked.parameters, "term": ""} == {
        "term": "",
        "datetype": "edat",
        "mindate": "2026/11/01",
        "maxdate": "2026/11/17",
    }
    assert asked.not_expressed
    for translate, clause in (
        (europepmc.translate, "FIRST_IDATE:[2026-11-01 TO 2026-11-17]"),
        (arxiv.translate, "submittedDate:[202611010000 TO 202611172359]"),
        (doaj.translate, "created_date:[2026-11-01 TO 2026-11-17]"),
    ):
        translated = translate(query, since=since, until=until)
        assert clause in translated.text
        assert translated.not_expressed
    assert dblp.translate(query, since=since).not_expressed


def test_preprints_can_be_left_out_where_a_service_mixes_them() -> None:
    query = parse_paper_query("cells OR mice")
    assert pubmed.translate(query, includes_preprints=False).text == (
        "(cells OR mice) NOT preprint[pt]"
    )
    assert europepmc.translate(query, includes_preprints=False).text.endswith(") NOT SRC:PPR")


def test_nothing_but_not_cannot_be_asked_where_there_is_no_word_for_everything() -> None:
    query = parse_paper_query("NOT cells")
    assert pubmed.translate(query).text == "all[sb] NOT cells"
    for name in ("europepmc", "arxiv", "doaj", "dblp"):
        asked = TRANSLATE[name](query)
        assert not asked.parameters
        assert asked.not_expressed
    assert re.search("NOT", " ".join(arxiv.translate(query).not_expressed))
