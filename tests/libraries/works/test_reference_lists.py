"""Reference lists: found, cut into entries and parsed, whatever their style."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.reference_lists import (
    MAX_PARSED_ENTRIES,
    ReferenceLine,
    find_reference_list,
    parse_reference_list,
    read_reference_list,
)
from carrel.libraries.works.reference_names import split_printed_names
from carrel.libraries.works.reference_parsing import MAX_KEPT_CHARACTERS, parse_reference
from carrel.libraries.works.reference_sections import is_list_heading
from carrel.libraries.works.reference_splitting import MAX_ENTRIES, join_entry_lines, split_entries

ENTRIES = (
    "Agresti A (2002). Categorical Data Analysis. 2nd edition. John Wiley & Sons, Hoboken.",
    "Genz A, Bretz F (1999). “Numerical computation of t-probabilities.” Journal of Statistical "
    "Computation, 63, 361–378.",
    "Westfall PH, Young SS (1993). Resampling-Based Multiple Testing. John Wiley & Sons, New York.",
)


def set_lines(
    entries: tuple[str, ...], *, hang: float = 0.0, gap: float = 0.0, width: int = 60, page: int = 1
) -> list[ReferenceLine]:
    """The entries as lines of a column, with a hanging indent or a gap between them."""
    lines: list[ReferenceLine] = []
    y = 100.0
    for entry in entries:
        text, x = "", 72.0
        for word in entry.split():
            if len(text) + len(word) > width:
                lines.append(ReferenceLine(text, x, y, page))
                text, x, y = "", 72.0 + hang, y + 12.0
            text = f"{text} {word}".strip()
        lines.append(ReferenceLine(text, x, y, page))
        y += 12.0 + gap
    return lines


HEADING = ReferenceLine("References", 72.0, 80.0, 1, 14.0, is_bold=True)


@pytest.mark.parametrize(
    "heading",
    [
        "References",
        "REFERENCES",
        "7 References",
        "7. References",
        "VII. References",
        "R E F E R E N C E S",
        "Bibliography",
        "Literature Cited",
        "Works cited:",
        "Literatur",
        "Literaturverzeichnis",
        "Références",
        "Références bibliographiques",
        "Bibliographie",
        "Referencias",
        "Bibliografía",
        "Riferimenti bibliografici",
        "Литература",
        "Список литературы",
        "参考文献",
        "참고문헌",
        "Piśmiennictwo",
        "Kaynakça",
    ],
)
def test_headings_of_many_languages_are_known(heading: str) -> None:
    assert is_list_heading(heading)


@pytest.mark.parametrize(
    "text", ["References . . . . . 12", "References 12", "see the references", "", "Reference card"]
)
def test_lines_that_only_name_the_list_are_no_headings(text: str) -> None:
    assert not is_list_heading(text)


def test_the_last_list_counts_and_ends_at_what_follows_it() -> None:
    first = [HEADING, *set_lines(("An earlier list that does not count 1999.",))]
    body = [ReferenceLine(f"Words of the text, line {number}.", 72.0) for number in range(20)]
    entries = set_lines(ENTRIES, hang=12.0)
    for ending in (
        "Appendix",
        "A. Appendix",
        "Affiliation:",
        "Acknowledgments",
        "About the authors",
    ):
        after = [ReferenceLine(ending, 72.0, 700.0, 1, 14.0, is_bold=True), *body]
        found = find_reference_list([*first, *body, HEADING, *entries, *after])
        assert [line.text for line in found] == [line.text for line in entries]


def test_a_running_head_does_not_cut_the_list() -> None:
    lines = [
        HEADING,
        *set_lines(ENTRIES[:1], hang=12.0),
        ReferenceLine("References", 72.0, 20.0, 2),
        *set_lines(ENTRIES[1:], hang=12.0, page=2),
    ]
    assert len(read_reference_list(lines)) == 3


@pytest.mark.parametrize(
    "labels",
    [
        ("[1] ", "[2] ", "[3] "),
        ("1. ", "2. ", "3. "),
        ("1 ", "2 ", "3 "),
        ("(1) ", "(2) ", "(3) "),
        ("[Agr02] ", "[GB99] ", "[WY93] "),
    ],
)
def test_labelled_entries_are_cut_at_their_labels(labels: tuple[str, ...]) -> None:
    entries = tuple(label + entry for label, entry in zip(labels, ENTRIES, strict=True))
    works = read_reference_list([HEADING, *set_lines(entries)])
    assert [work.label for work in works] == [label.strip(" []().") for label in labels]
    assert [work.text for work in works] == list(ENTRIES)


def test_labels_that_stand_apart_from_their_entries() -> None:
    lines = [HEADING]
    for number, entry in enumerate(ENTRIES, start=1):
        y = 100.0 + number * 40
        lines.append(ReferenceLine(f"[{number}]", 72.0, y))
        lines.append(ReferenceLine(entry, 100.0, y + 0.5))
    assert [work.text for work in read_reference_list(lines)] == list(ENTRIES)


@pytest.mark.parametrize(("hang", "gap"), [(12.0, 0.0), (0.0, 8.0), (20.0, 4.0), (0.0, 0.0)])
def test_entries_without_labels_are_cut_by_indent_gap_or_names(hang: float, gap: float) -> None:
    works = read_reference_list([HEADING, *set_lines(ENTRIES, hang=hang, gap=gap)])
    assert [work.text for work in works] == list(ENTRIES)


def test_an_entry_goes_on_over_columns_and_pages() -> None:
    lines = set_lines(ENTRIES, hang=12.0, width=40)
    cut = next(number for number, line in enumerate(lines) if line.text.startswith("Genz")) + 1
    second = [
        ReferenceLine(line.text, line.x + 250.0, line.y - lines[cut].y + 90.0, 1)
        for line in lines[cut:]
    ]
    works = read_reference_list([HEADING, *lines[:cut], *second])
    assert [work.text for work in works] == list(ENTRIES)


def test_what_is_no_list_gives_nothing() -> None:
    prose = [ReferenceLine(f"this line says nothing of a work {number}") for number in range(30)]
    assert read_reference_list([HEADING, *prose]) == ()
    assert read_reference_list(prose) == ()
    assert read_reference_list([HEADING]) == ()


def test_words_and_addresses_broken_at_line_ends_are_whole_again() -> None:
    lines = [
        "Wu TF (2004). Probabilistic esti-",
        "mates by Hsu-",
        "Han. URL http://www.example.org/papers/",
        "files/nips16.pdf. doi:10.1000/abc-",
        "def.2004.",
        "Accessed 2005.",
    ]
    assert join_entry_lines([ReferenceLine(text) for text in lines]) == (
        "Wu TF (2004). Probabilistic estimates by Hsu-Han. "
        "URL http://www.example.org/papers/files/nips16.pdf. doi:10.1000/abc-def.2004. "
        "Accessed 2005."
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Smith, J. A., Doe, B., & Roe, C.", ("Smith, J. A.", "Doe, B.", "Roe, C.")),
        ("Smith JA, Doe B, et al.", ("Smith JA", "Doe B")),
        ("J. A. Smith, B. Doe and C. Roe", ("J. A. Smith", "B. Doe", "C. Roe")),
        ("Smith, John, Jane Doe, and Bob Roe", ("Smith, John", "Jane Doe", "Bob Roe")),
        ("Smith, J.A.; Doe, B.", ("Smith, J.A.", "Doe, B.")),
        ("Müller, K. und Schäfer, L.", ("Müller, K.", "Schäfer, L.")),
        ("van der Berg P, de la Cruz M", ("van der Berg P", "de la Cruz M")),
        ("R Core Team", ("R Core Team",)),
        ("Jimmy J. Lin.", ("Jimmy J. Lin",)),
        ("Smith, J., Jr., & Doe, B.", ("Smith, J., Jr.", "Doe, B.")),
        ("", ()),
    ],
)
def test_names_in_every_habit(text: str, names: tuple[str, ...]) -> None:
    assert split_printed_names(text) == names


STYLES = {
    "apa": "Vaswani, A., Shazeer, N., & Parmar, N. (2017). Attention is all you need for "
    "translation. Journal of Machine Learning, 30(2), 5998–6008. https://doi.org/10.1000/abc.1",
    "vancouver": "12. Vaswani A, Shazeer N, Parmar N. Attention is all you need for translation. "
    "J Mach Learn. 2017;30(2):5998-6008. doi:10.1000/abc.1",
    "ieee": "[12] A. Vaswani, N. Shazeer, and N. Parmar, “Attention is all you need for "
    "translation,” Journal of Machine Learning, vol. 30, no. 2, pp. 5998–6008, 2017, "
    "doi: 10.1000/abc.1.",
    "chicago": "Vaswani, Ashish, Noam Shazeer, and Niki Parmar. 2017. “Attention Is All You Need "
    "for Translation.” Journal of Machine Learning 30 (2): 5998–6008. "
    "https://doi.org/10.1000/abc.1.",
    "nature": "12. Vaswani, A., Shazeer, N. & Parmar, N. Attention is all you need for "
    "translation. J. Mach. Learn. 30, 5998–6008 (2017). https://doi.org/10.1000/abc.1",
    "acl": "Ashish Vaswani, Noam Shazeer, and Niki Parmar. 2017. Attention is all you need for "
    "translation. Journal of Machine Learning, 30(2):5998–6008. doi:10.1000/abc.1",
    "plainnat": "A. Vaswani, N. Shazeer, and N. Parmar. Attention is all you need for "
    "translation. Journal of Machine Learning, 30(2):5998–6008, 2017. doi: 10.1000/abc.1.",
}


@pytest.mark.parametrize("style", STYLES)
def test_one_work_is_read_alike_in_every_style(style: str) -> None:
    work = parse_reference(STYLES[style])
    assert work.title is not None
    assert work.title.lower() == "attention is all you need for translation"
    assert work.authors[0] in {
        "Vaswani, A.",
        "Vaswani A",
        "A. Vaswani",
        "Ashish Vaswani",
        "Vaswani, Ashish",
    }
    assert len(work.authors) == 3
    assert (work.year, work.volume, work.doi) == (2017, "30", "10.1000/abc.1")
    assert work.pages == "5998-6008"
    assert work.confidence > 0.5


def test_a_bracket_that_closes_a_title_belongs_to_it() -> None:
    work = parse_reference(
        "Carolyn E Lipscomb. 2000. Medical Subject Headings (MeSH). Bulletin of the Medical "
        "Library Association."
    )
    assert work.title == "Medical Subject Headings (MeSH)"


def test_identifiers_are_found_and_belong_to_the_entry() -> None:
    work = parse_reference(
        "Doe J. A book of things. Springer, 2010. ISBN 978-3-16-148410-0. PMID: 12345. "
        "arXiv:1706.03762v2 [cs.CL]. URL https://example.org/a_(b)."
    )
    assert (work.isbn, work.pmid, work.arxiv_id) == ("9783161484100", "12345", "1706.03762")
    assert work.url == "https://example.org/a_(b)"


def test_a_long_list_keeps_every_text_and_a_long_entry_is_cut() -> None:
    lines = [
        ReferenceLine(f"[{number}] Doe J. Title of the work, {number}. Journal, 1999.", 72.0)
        for number in range(1, MAX_ENTRIES + 50)
    ]
    entries = split_entries(lines)
    assert len(entries) == MAX_ENTRIES
    works = parse_reference_list(lines[: MAX_PARSED_ENTRIES + 3])
    assert works[-1].text.endswith("Journal, 1999.")
    assert works[-1].title is None
    long = parse_reference("Doe J (1999). " + "word " * 200_000 + "doi:10.1000/late")
    assert len(long.text) == MAX_KEPT_CHARACTERS
    assert long.title is None


LETTERS = st.text(alphabet='AbcÄz ,.()[]"“”&;:-–/0129\n\u00a0\ue000王', max_size=400)


@settings(max_examples=150, deadline=None)
@given(LETTERS)
def test_any_text_is_parsed_and_kept(text: str) -> None:
    work = parse_reference(text, "")
    assert isinstance(work, CitedWork)
    assert work.text == " ".join(text.split())
    assert work.title is None or work.title
    assert 0.0 <= work.confidence <= 1.0


@settings(max_examples=60, deadline=None)
@given(st.lists(LETTERS, max_size=12))
def test_any_lines_are_cut_without_loss_of_order(texts: list[str]) -> None:
    lines = [
        ReferenceLine(text, float(number % 3) * 9, number * 12.0)
        for number, text in enumerate(texts)
    ]
    assert all(entry.text is not None for entry in split_entries(lines))


def test_a_row_of_a_table_that_names_a_list_does_not_hide_the_list() -> None:
    rows = [
        ReferenceLine("Bibliography", 72.0, 300.0, 3),
        ReferenceLine("96.5 98.6 97.5", 172.0, 300.0, 3),
        ReferenceLine("Caption", 72.0, 312.0, 3),
        ReferenceLine("70.3 70.0 70.2", 172.0, 312.0, 3),
    ]
    appendix = ReferenceLine("A Appendix", 72.0, 80.0, 2, 14.0, is_bold=True)
    lines = [HEADING, *set_lines(ENTRIES, hang=12.0), appendix, *rows]
    assert [work.year for work in read_reference_list(lines)] == [2002, 1999, 1993]
