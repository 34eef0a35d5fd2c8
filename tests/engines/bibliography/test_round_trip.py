"""Import of an export gives the items back, whatever they hold."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.engines.bibliography.bibtex.fields import Titles
from carrel.engines.bibliography.bibtex.reader import read_bibtex
from carrel.engines.bibliography.bibtex.writer import Dialect, write_bibtex
from carrel.engines.bibliography.csl_json import read_csl_json, write_csl_json
from carrel.engines.bibliography.imports import CslItem
from carrel.engines.bibliography.reading import read
from carrel.engines.bibliography.ris.reader import read_ris
from carrel.engines.bibliography.ris.writer import write_ris
from carrel.engines.bibliography.writing import Form, write

TYPES = [
    "article-journal", "article", "book", "chapter", "paper-conference", "thesis", "report", "webpage", "document", "dataset",
    "software", "patent",
    "motion_picture", "entry-encyclopedia", "manuscript", "standard", "speech", "article-newspaper", "interview",
]  # fmt: skip
TEXT_VARIABLES = [
    "title", "container-title", "container-title-short", "collection-title", "publisher", "publisher-place", "volume", "issue",
    "number", "page", "edition",
    "abstract", "note", "annote", "DOI", "URL", "ISBN", "ISSN", "PMID", "PMCID", "genre", "language", "keyword", "event-title",
    "version", "title-short",
    "source", "section", "chapter-number", "original-title", "archive", "unheard-of",
]  # fmt: skip

any_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
word = st.sampled_from(
    [
        "Zürich",
        "the",
        "of",
        "Quantum",
        "NASA",
        "α-helix",
        "R&D",
        "50%",
        "$x_1$",
        "{curly}",
        "\\TeX",
        "--",
        "''",
        "``",
        "<i>Homo sapiens</i>",
        "CO<sub>2</sub>",
        "#",
        "~",
        "@article{x,",
        "and",
        "O'Neil",
        "naïve",
        "京都",
    ]
)
sentence = st.lists(word, min_size=1, max_size=8).map(" ".join)
texts = st.one_of(sentence, any_text)
names = st.one_of(
    st.fixed_dictionaries({"literal": texts}),
    st.fixed_dictionaries(
        {"family": texts},
        optional={
            "given": texts,
            "suffix": st.sampled_from(["Jr.", "III", "PhD"]),
            "non-dropping-particle": st.sampled_from(["van", "de la"]),
            "dropping-particle": st.sampled_from(["von", "d'"]),
        },
    ),
)
parts = st.one_of(
    st.tuples(st.integers(-500, 2500)).map(list),
    st.tuples(st.integers(1000, 2500), st.integers(1, 12)).map(list),
    st.tuples(st.integers(1000, 2500), st.integers(1, 12), st.integers(1, 31)).map(list),
)
dates = st.one_of(
    st.fixed_dictionaries(
        {"date-parts": st.lists(parts, min_size=1, max_size=2)}, optional={"circa": st.just(True), "season": st.integers(1, 4)}
    ),
    st.fixed_dictionaries({"literal": texts}),
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-10, 10), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)


@st.composite
def items(draw: st.DrawFn) -> CslItem:
    item: dict[str, Any] = {
        "id": draw(st.one_of(st.from_regex(r"[a-z]{2,8}[0-9]{4}", fullmatch=True), any_text)),
        "type": draw(st.sampled_from(TYPES)),
    }
    for variable in draw(st.lists(st.sampled_from(TEXT_VARIABLES), unique=True, max_size=8)):
        item[variable] = draw(texts)
    for role in draw(st.lists(st.sampled_from(["author", "editor", "translator", "director"]), unique=True, max_size=2)):
        item[role] = draw(st.lists(names, min_size=1, max_size=3))
    for variable in draw(st.lists(st.sampled_from(["issued", "accessed", "original-date"]), unique=True, max_size=2)):
        item[variable] = draw(dates)
    if draw(st.booleans()):
        item["custom"] = draw(
            st.dictionaries(st.sampled_from(["arxiv_id", "uuid", "fields", "additional_urls"]), json_values, max_size=2)
        )
    return item


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("titles", Titles)
@settings(max_examples=50, deadline=None)
@given(library=st.lists(items(), max_size=3))
def test_bibtex_gives_back_what_it_was_given(library: list[CslItem], dialect: Dialect, titles: Titles) -> None:
    answer = read_bibtex(write_bibtex(library, dialect), titles)
    assert [imported.item for imported in answer.items] == library
    assert not answer.failures


@settings(max_examples=80, deadline=None)
@given(library=st.lists(items(), max_size=3))
def test_ris_gives_back_what_it_was_given(library: list[CslItem]) -> None:
    answer = read_ris(write_ris(library))
    assert [imported.item for imported in answer.items] == library
    assert not answer.failures


@settings(max_examples=80, deadline=None)
@given(library=st.lists(items(), max_size=3))
def test_csl_json_gives_back_what_it_was_given(library: list[CslItem]) -> None:
    answer = read_csl_json(write_csl_json(library))
    assert [imported.item for imported in answer.items] == library


COMMON: CslItem = {
    "id": "muller-2020",
    "type": "article-journal",
    "title": "Why CO<sub>2</sub> matters in Zürich: <i>Homo sapiens</i> & others",
    "container-title": "Journal of Things",
    "container-title-short": "J. Things",
    "author": [{"family": "Müller", "given": "Anna", "non-dropping-particle": "von"}, {"literal": "World Health Organization"}],
    "editor": [{"family": "King", "given": "Martin Luther", "suffix": "Jr."}],
    "issued": {"date-parts": [[2020, 5, 17]]},
    "accessed": {"date-parts": [[2021, 1, 2]]},
    "volume": "12",
    "issue": "3",
    "page": "100-120",
    "publisher": "Verlag & Söhne",
    "publisher-place": "Bern",
    "DOI": "10.1000/xyz_1",
    "URL": "https://example.org/a_b?c=1&d=2%20e",
    "ISSN": "1234-5679",
    "PMID": "12345",
    "abstract": "One 50% line.\nTwo lines.",
    "keyword": "carbon; city, large",
    "language": "en",
    "note": "Read it.",
}


@pytest.mark.parametrize("dialect", Dialect)
def test_common_fields_have_fields_of_their_own_in_bibtex(dialect: Dialect) -> None:
    written = write_bibtex([COMMON], dialect)
    assert "carrel-csl" not in written
    assert "\\textsubscript{2}" in written
    assert "{Zürich}" in written
    assert read_bibtex(written).items[0].item == COMMON


def test_what_bibtex_has_no_field_for_is_kept_in_one() -> None:
    item = COMMON | {"type": "speech", "unheard-of": {"deep": ["{", 1.5, None]}}
    written = write_bibtex([item], Dialect.BIBLATEX)
    kept = next(line for line in written.splitlines() if "carrel-csl" in line)
    assert json.loads(kept.partition(" = ")[2].strip().removesuffix(",")[1:-1])["set"]["type"] == "speech"
    assert read_bibtex(written).items[0].item == item


def test_an_item_without_a_key_stays_without_one() -> None:
    item = {"type": "book", "title": "Nothing"}
    assert read_bibtex(write_bibtex([item], Dialect.BIBTEX)).items[0].item == item
    assert read_ris(write_ris([item])).items[0].item == item


@pytest.mark.parametrize("form", Form)
def test_every_form_is_recognised_and_read_back(form: Form) -> None:
    assert [imported.item for imported in read(write([COMMON], form)).items] == [COMMON]
