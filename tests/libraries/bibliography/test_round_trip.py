"""Import of an export gives the items back, whatever they hold."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.bibtex.writer import BibtexDialect, write_bibtex
from carrel.libraries.bibliography.csl_json import read_csl_json, write_csl_json
from carrel.libraries.bibliography.formats import (
    ExportFormat,
    read_bibliography,
    write_bibliography,
)
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.ris import read_ris
from carrel.libraries.bibliography.ris_writer import write_ris

TYPES = [
    "article-journal", "article", "book", "chapter", "paper-conference", "thesis", "report",
    "webpage", "document", "dataset",
    "software", "patent",
    "motion_picture", "entry-encyclopedia", "manuscript", "standard", "speech", "article-newspaper",
    "interview",
]  # fmt: skip
TEXT_VARIABLES = [
    "title", "container-title", "container-title-short", "collection-title", "publisher",
    "publisher-place", "volume", "issue",
    "number", "page", "edition",
    "abstract", "note", "annote", "DOI", "URL", "ISBN", "ISSN", "PMID", "PMCID", "genre",
    "language", "keyword", "event-title",
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
        {"date-parts": st.lists(parts, min_size=1, max_size=2)},
        optional={"circa": st.just(True), "season": st.integers(1, 4)},
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
    for role in draw(
        st.lists(
            st.sampled_from(["author", "editor", "translator", "director"]), unique=True, max_size=2
        )
    ):
        item[role] = draw(st.lists(names, min_size=1, max_size=3))
    for variable in draw(
        st.lists(st.sampled_from(["issued", "accessed", "original-date"]), unique=True, max_size=2)
    ):
        item[variable] = draw(dates)
    if draw(st.booleans()):
        item["custom"] = draw(
            st.dictionaries(
                st.sampled_from(["arxiv_id", "uuid", "fields", "additional_urls"]),
                json_values,
                max_size=2,
            )
        )
    return item


@pytest.mark.parametrize("dialect", BibtexDialect)
@pytest.mark.parametrize("titles", TitleCase)
@settings(max_examples=50, deadline=None)
@given(library=st.lists(items(), max_size=3))
def test_bibtex_gives_back_what_it_was_given(
    library: list[CslItem], dialect: BibtexDialect, titles: TitleCase
) -> None:
    answer = read_bibtex(write_bibtex(library, dialect, lossless=True), titles)
    assert [imported.item for imported in answer.items] == library
    assert not answer.failures


@settings(max_examples=80, deadline=None)
@given(library=st.lists(items(), max_size=3))
def test_ris_gives_back_what_it_was_given(library: list[CslItem]) -> None:
    answer = read_ris(write_ris(library, lossless=True))
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
    "author": [
        {"family": "Müller", "given": "Anna", "non-dropping-particle": "von"},
        {"literal": "World Health Organization"},
    ],
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


@pytest.mark.parametrize("dialect", BibtexDialect)
def test_common_fields_have_fields_of_their_own_in_bibtex(dialect: BibtexDialect) -> None:
    written = write_bibtex([COMMON], dialect)
    assert "carrel-csl" not in written
    assert "\\textsubscript{2}" in written
    assert "{Zürich}" in written
    assert read_bibtex(written).items[0].item == COMMON


def test_what_bibtex_has_no_field_for_is_kept_in_one() -> None:
    item = COMMON | {"type": "speech", "unheard-of": {"deep": ["{", 1.5, None]}}
    assert "carrel" not in write_bibtex([item], BibtexDialect.BIBLATEX)
    written = write_bibtex([item], BibtexDialect.BIBLATEX, lossless=True)
    kept = next(line for line in written.splitlines() if "carrel-csl" in line)
    assert (
        json.loads(kept.partition(" = ")[2].strip().removesuffix(",")[1:-1])["set"]["type"]
        == "speech"
    )
    assert read_bibtex(written).items[0].item == item


def test_an_item_without_a_key_stays_without_one() -> None:
    item = {"type": "book", "title": "Nothing"}
    assert (
        read_bibtex(write_bibtex([item], BibtexDialect.BIBTEX, lossless=True)).items[0].item == item
    )
    assert read_ris(write_ris([item], lossless=True)).items[0].item == item


@pytest.mark.parametrize("form", ExportFormat)
def test_every_form_is_recognised_and_read_back(form: ExportFormat) -> None:
    assert [
        imported.item
        for imported in read_bibliography(write_bibliography([COMMON], form, lossless=True)).items
    ] == [COMMON]


# What a plain export must keep: everything that the format has a field of its own for, in texts as
# libraries have them.
plain_word = st.sampled_from(
    [
        "Zürich",
        "quantum",
        "α-helix",
        "R&D",
        "50%",
        "x_1",
        "#1",
        "costs $5",
        "naïve",
        "京都",
        "O'Neil",
        "(in press)",
        "NASA",
        "a/b",
    ]
)
plain_text = st.lists(plain_word, min_size=1, max_size=6).map(" ".join)
plain_names = st.one_of(
    st.fixed_dictionaries({"literal": plain_text.map(lambda text: f"Institute of {text}")}),
    st.fixed_dictionaries(
        {
            "family": st.sampled_from(["Müller", "O'Neil", "García Márquez", "Li"]),
            "given": st.sampled_from(["Ann", "J. R. R.", "Łukasz"]),
        },
        optional={
            "suffix": st.sampled_from(["Jr.", "III"]),
            "non-dropping-particle": st.sampled_from(["van", "de la"]),
        },
    ),
)
plain_dates = st.one_of(
    st.tuples(st.integers(1500, 2100)),
    st.tuples(st.integers(1500, 2100), st.integers(1, 12)),
    st.tuples(st.integers(1500, 2100), st.integers(1, 12), st.integers(1, 28)),
).map(lambda parts: {"date-parts": [list(parts)]})
PLAIN_TYPES = ["article-journal", "book", "chapter", "paper-conference", "report"]


@st.composite
def plain_items(draw: st.DrawFn) -> CslItem:
    item: dict[str, Any] = {
        "id": draw(st.from_regex(r"[a-z]{2,8}[0-9]{4}[a-z]?", fullmatch=True)),
        "type": draw(st.sampled_from(PLAIN_TYPES)),
        "title": draw(plain_text),
        "author": draw(st.lists(plain_names, min_size=1, max_size=3)),
        "issued": draw(plain_dates),
    }
    if item["type"] in {"article-journal", "chapter", "paper-conference"}:
        item["container-title"] = draw(plain_text)
        item["page"] = draw(st.sampled_from(["1-9", "e1234", "100-120"]))
    for variable, values in {
        "volume": st.sampled_from(["1", "12", "XII"]),
        "DOI": st.sampled_from(["10.1000/xyz_1", "10.1002/(sici)1097"]),
        "URL": st.sampled_from(["https://example.org/a_b?c=1&d=2%20e"]),
        "language": st.sampled_from(["en", "de"]),
        "publisher": plain_text,
        "abstract": plain_text,
        "note": plain_text,
        "keyword": st.lists(
            st.sampled_from(["carbon", "city", "Zürich"]), min_size=1, unique=True
        ).map("; ".join),
    }.items():
        if draw(st.booleans()):
            item[variable] = draw(values)
    if draw(st.booleans()):
        item["custom"] = {"et_al": ["author"]}
    return item


@pytest.mark.promise("L7")
@pytest.mark.parametrize("form", [ExportFormat.BIBTEX, ExportFormat.BIBLATEX, ExportFormat.RIS])
@settings(max_examples=80, deadline=None)
@given(library=st.lists(plain_items(), min_size=1, max_size=3, unique_by=lambda item: item["id"]))
def test_a_plain_export_has_no_field_of_ours_and_keeps_what_the_format_can_say(
    library: list[CslItem], form: ExportFormat
) -> None:
    written = write_bibliography(library, form)
    assert "carrel" not in written
    assert [
        imported.item for imported in read_bibliography(written, titles=TitleCase.AS_WRITTEN).items
    ] == library


@pytest.mark.parametrize("form", [ExportFormat.BIBTEX, ExportFormat.BIBLATEX])
def test_no_two_entries_of_a_bibtex_file_have_the_same_key(form: ExportFormat) -> None:
    items: list[CslItem] = [
        {"id": key, "type": "book", "title": "T"} for key in ("a b", "a_b", "A_B", "", "{}")
    ]
    keys = [
        imported.item["id"] for imported in read_bibliography(write_bibliography(items, form)).items
    ]
    assert len({key.lower() for key in keys}) == 5
    assert all(keys)


@pytest.mark.parametrize("form", [ExportFormat.BIBTEX, ExportFormat.BIBLATEX, ExportFormat.RIS])
@pytest.mark.parametrize(
    ("issued", "understood"),
    [
        ({"date-parts": [["2016", "11", 22]]}, {"date-parts": [[2016, 11, 22]]}),
        ({"date-parts": [[2016.0]]}, {"date-parts": [[2016]]}),
        ({"raw": "2016-11"}, {"date-parts": [[2016, 11]]}),
        ({"date-parts": [[2016, None, None]]}, {"date-parts": [[2016]]}),
    ],
)
def test_dates_that_other_programs_write_oddly_are_exported(
    form: ExportFormat, issued: CslItem, understood: CslItem
) -> None:
    written = write_bibliography(
        [{"id": "a", "type": "book", "title": "T", "issued": issued}], form
    )
    assert read_bibliography(written).items[0].item["issued"] == understood


def test_exports_of_earlier_versions_still_read_back_exactly() -> None:
    bibtex = (
        "@misc{talk,\n  title = {A talk},\n  carrel-csl = "
        '{{"set":{"type":"speech","custom":{"uuid":"u"}}}},\n}\n'
    )
    assert read_bibliography(bibtex).items[0].item == {
        "id": "talk",
        "type": "speech",
        "title": "A talk",
        "custom": {"uuid": "u"},
    }
    ris = (
        "TY  - SLIDE\r\nID  - talk\r\nTI  - A talk\r\nN1  - carrel-csl: "
        '{"set":{"custom":{"uuid":"u"}}}\r\nER  - \r\n'
    )
    assert read_bibliography(ris).items[0].item == {
        "id": "talk",
        "type": "speech",
        "title": "A talk",
        "custom": {"uuid": "u"},
    }


@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        (BibtexDialect.BIBTEX, "von Goethe, J. W. and de La Fontaine, Jean"),
        (
            BibtexDialect.BIBLATEX,
            "family=Goethe, given=J. W., prefix=von, useprefix=false and "
            "family=La Fontaine, given=Jean, prefix=de, useprefix=false",
        ),
    ],
)
def test_no_particle_of_a_name_is_lost_in_an_export(dialect: BibtexDialect, written: str) -> None:
    authors = [
        {"family": "Goethe", "given": "J. W.", "dropping-particle": "von"},
        {
            "family": "Fontaine",
            "given": "Jean",
            "dropping-particle": "de",
            "non-dropping-particle": "La",
        },
    ]
    text = write_bibtex([{"id": "a", "type": "book", "author": authors}], dialect)
    assert f"author = {{{written}}}" in text


def test_holders_of_patents_and_kinds_of_articles_come_back_from_biblatex() -> None:
    text = (
        "@patent{p, title = {Lamp}, holder = {{General Electric} and Edison, Thomas and others}}\n"
        "@article{n, title = {News}, entrysubtype = {newspaper}, journaltitle = {Times}}\n"
        "@article{m, title = {Story}, entrysubtype = {magazine}, journaltitle = {Life}}\n"
    )
    items = [imported.item for imported in read_bibliography(text).items]
    assert items[0]["custom"]["fields"]["holder"] == "General Electric; Edison, Thomas; et al."
    assert [item["type"] for item in items[1:]] == ["article-newspaper", "article-magazine"]
    back = read_bibliography(write_bibliography(items, ExportFormat.BIBLATEX))
    assert [imported.item for imported in back.items] == items
