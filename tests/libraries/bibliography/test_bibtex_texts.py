"""TeX, links and lines of notes in BibTeX fields, as people write them."""

from typing import Any

import pytest

from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex


def one(fields: str, kind: str = "misc", titles: TitleCase = TitleCase.AS_WRITTEN) -> Any:
    answer = read_bibtex(f"@{kind}{{a, {fields}}}", titles)
    assert not answer.failures
    assert not answer.warnings
    return answer.items[0].item


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (r"Home of \~{}user and \^{}", "Home of ~user and ^"),
        (r"$n\log n$ and $\sin\theta$", "n log n and sin θ"),
        (r"$\mathcal{O}(n)$ in $\mathrm{H}$", "O(n) in H"),
        (r"A \SI{5}{\micro\meter} gap", "A 5 µm gap"),
        (r"\qty{3.2e-3}{\kilo\gram\meter\per\second\squared}", "3.2 × 10⁻³ kg m s⁻²"),
        (r"From \SIrange{1}{5}{\giga\hertz}", "From 1–5 GHz"),
        (r"At \SI[mode=text]{25}{\degreeCelsius} and \ang{45;30}", "At 25 °C and 45°30′"),
        (r"\si{kg.m^2/s} of \num{1e6}", "kg m²/s of 1 × 10⁶"),
        (r"\ce{H2SO4} and \ce{Ca^{2+}}", "H₂SO₄ and Ca²⁺"),
    ],
)
def test_signs_functions_quantities_and_formulas(raw: str, text: str) -> None:
    assert one(f"title = {{{raw}}}")["title"] == text


def test_a_link_in_a_note_keeps_where_it_leads() -> None:
    note = r"note = {See \href{https://x.org/a_b}{our page} or \href{https://x.org}{https://x.org}}"
    assert one(note)["note"] == "See our page (https://x.org/a_b) or https://x.org"
    assert one(r"title = {\href{https://x.org}{A title}}")["URL"] == "https://x.org"
    how = one(r"title = {T}, howpublished = {\href{https://x.org}{A weblog}}")
    assert how["URL"] == "https://x.org"
    assert how["custom"]["fields"] == {"howpublished": "A weblog"}


def test_lines_of_zoteros_extra_field_stay_lines() -> None:
    item = one("title = {T}, note = {Words that\ngo on\nPMID: 123\nPMCID: PMC5\ntex.key: value}")
    assert item["note"] == "Words that go on\nPMID: 123\nPMCID: PMC5\ntex.key: value"
    assert (item["PMID"], item["PMCID"]) == ("123", "PMC5")


@pytest.mark.parametrize(
    "fields",
    [
        "journal = {arXiv preprint arXiv:1801.01234}",
        "journal = {CoRR}, volume = {abs/1801.01234}",
        "howpublished = {arXiv:1801.01234}",
    ],
)
def test_an_e_print_is_known_by_its_number_wherever_that_stands(fields: str) -> None:
    assert one(f"title = {{T}}, {fields}", "article")["custom"]["arxiv_id"] == "1801.01234"


def test_proceedings_are_no_chapter_of_what_their_papers_call_them() -> None:
    item = one("title = {Proceedings of Foo}, booktitle = {Proc. Foo}", "proceedings")
    assert item["type"] == "book"
    assert item["custom"]["fields"] == {"booktitle": "Proc. Foo"}


def test_a_patent_holds_in_several_countries() -> None:
    item = one("title = {T}, location = {countryus and countryde}", "patent")
    assert item["publisher-place"] == "United States; Germany"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (r"The \textsuperscript{3}He Problem of Cells", "The <sup>3</sup>He problem of cells"),
        ("THE STRUCTURE OF GENES BY J. DOE", "The structure of genes by J. Doe"),
        (
            "pH-Dependent and mTOR-Mediated α-Synuclein Aggregation in Parkinson's Disease",
            "pH-dependent and mTOR-mediated α-synuclein aggregation in Parkinson's disease",
        ),
        ("mTOR signalling in E. coli and iPSC lines", "mTOR signalling in E. coli and iPSC lines"),
    ],
)
def test_sentence_case_keeps_isotopes_and_initials(written: str, title: str) -> None:
    item = one(f"title = {{{written}}}", titles=TitleCase.SENTENCE_CASE)
    assert item["title"] == title


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        ("Smith J., Jones K., Brown L.", ["Smith, J.", "Jones, K.", "Brown, L."]),
        ("Smith, J. & Jones, K.", ["Smith, J.", "Jones, K."]),
        (r"J. Smith, K. Jones \& L. Brown", ["Smith, J.", "Jones, K.", "Brown, L."]),
    ],
)
def test_lists_of_people_without_and_are_split_and_told(raw: str, names: list[str]) -> None:
    answer = read_bibtex(f"@misc{{a, author = {{{raw}}}}}")
    people = answer.items[0].item["author"]
    assert [f"{name['family']}, {name['given']}" for name in people] == names
    assert "not parted by 'and'" in answer.warnings[0].message


@pytest.mark.parametrize("raw", ["Barnes \\& Noble", "{Smith, J. & Jones, K.}", "Doe \\& Sons"])
def test_an_ampersand_within_an_institution_splits_nothing(raw: str) -> None:
    answer = read_bibtex(f"@misc{{a, author = {{{raw}}}}}")
    assert len(answer.items[0].item["author"]) == 1


def test_a_degree_behind_a_name_is_no_family_name() -> None:
    (name,) = one("author = {Jane Doe PhD}")["author"]
    assert name == {"family": "Doe", "given": "Jane", "suffix": "PhD"}


@pytest.mark.parametrize(
    ("how", "url"),
    [
        (r"https://x.org/page\_one?a=b\&c=d\%20e", "https://x.org/page_one?a=b&c=d%20e"),
        (r"\url{https://x.org/a\_b}", "https://x.org/a_b"),
        (r"\href{https://x.org/a\_b}{Weblog}", "https://x.org/a_b"),
        (r"https://x.org/\~{}me/{\_}a", "https://x.org/~me/_a"),
        (r"https://x.org/$\sim$me", "https://x.org/~me"),
        (r"https://x.org/{\textasciitilde}me", "https://x.org/~me"),
        (r"Available at https://x.org/a\_b, accessed 2020", "https://x.org/a_b"),
        (r"Online (https://x.org/a).", "https://x.org/a"),
        (r"https://x.org/Foo_(bar)", "https://x.org/Foo_(bar)"),
    ],
)
def test_an_address_among_words_is_whole_and_ends_where_the_sentence_goes_on(
    how: str, url: str
) -> None:
    item = one(f"title = {{T}}, howpublished = {{{how}}}")
    assert item["URL"] == url
    assert "_b" not in str(item.get("custom", ""))


def test_a_readers_comment_is_no_note_which_styles_print() -> None:
    item = one("title = {T}, note = {In press}, comment = {Dull}, annote = {Mine}")
    assert (item["note"], item["annote"]) == ("In press", "Mine\nDull")


def test_mendeleys_folders_are_groups() -> None:
    item = one(r"title = {T}, groups = {One}, mendeley-groups = {PhD/Chapter 1,R{\&}D,One}")
    assert item["custom"]["fields"] == {"groups": "One, PhD/Chapter 1, R&D"}
