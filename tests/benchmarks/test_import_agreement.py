"""The strict scale of imports: nothing that differs, is missing or was not read agrees."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from benchmarks.agreement.bibtex_entries import plain_text, read_entries
from benchmarks.agreement.strict import StrictAgreement, field_text, normal, pair
from benchmarks.agreement.strict_jabref import expected_records, our_record, subtitles


def test_a_file_that_was_not_read_costs_all_its_fields() -> None:
    agreement = StrictAgreement()
    agreement.fail("a.txt", [{"title": "x", "author": "y"}], "unknown")
    assert (agreement.same, agreement.total, agreement.share) == (0, 2, 0.0)


def test_missing_extra_and_other_fields_are_told_apart() -> None:
    agreement = StrictAgreement()
    expected = {"title": "The <i>A</i>", "page": "1", "publisher": "House", "author": "Doe, J"}
    ours = {"title": "The A", "page": "1", "publisher": "house", "DOI": "10.1/x"}
    agreement.add("a", expected, ours)
    assert agreement.same == 1
    assert set(agreement.causes()) == {"markup", "case", "missing: author", "only ours: DOI"}
    assert agreement.extra == 1


def test_records_are_paired_by_identity_and_not_by_place() -> None:
    expected = [{"title": "One", "author": "A, B"}, {"DOI": "10.1/x", "title": "Two"}]
    ours = [{"DOI": "10.1/x", "title": "2"}, {"title": "One: below", "author": "A, B"}]
    pairs = pair(expected, ours)
    assert {theirs["title"]: mine["title"] for theirs, mine in pairs} == {
        "One": "One: below",
        "Two": "2",
    }


def test_records_without_a_partner_stay_alone() -> None:
    assert pair([{"title": "a"}], []) == [({"title": "a"}, {})]
    assert pair([{"title": "a"}, {"title": "b"}], [{"title": "c"}])[-1] == ({}, {"title": "c"})


@pytest.mark.parametrize(
    ("raw", "text"),
    [(r"Or{\l}owski", "Orłowski"), (r"50\% \& {A}pis", "50% & Apis"), (r"M{\"u}ller", "Müller")],
)
def test_the_reader_of_expectations_knows_the_tex_that_they_hold(raw: str, text: str) -> None:
    assert normal(plain_text(raw)) == text


def test_expectations_in_bibtex_are_read_without_our_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    path.write_text(
        '@string{j = "Journal"}\n@comment{x @article{y}}\n'
        "@Article{k, author = {Doe, Jane and {The Group}}, journal = j # { A}, month = mar,\n"
        "  year = 2020, pages = {1--9}, isbn = {0022-3263}, title = {One}, subtitle = {two},}",
        encoding="utf-8",
    )
    assert read_entries(path.read_text(encoding="utf-8"))[0].fields["journal"] == "Journal A"
    (record,) = expected_records(path)
    assert record == {
        "entry type": "article",
        "id": "k",
        "issued": "2020-03",
        "author": "Doe, Jane & The Group",
        "journal": "Journal A",
        "pages": "1-9",
        "issn": "00223263",
        "title": "One: two",
    }
    item = {
        "id": "k",
        "type": "article-journal",
        "title": "One: two",
        "author": [{"family": "Doe", "given": "Jane"}, {"literal": "The Group"}],
        "container-title": "Journal A",
        "issued": {"date-parts": [[2020, 3, 4]]},
        "page": "1-9",
        "ISSN": "0022-3263",
    }
    agreement = StrictAgreement()
    agreement.add("k", record, our_record(item, record))
    assert not agreement.differences, "an institution in braces stays whole"


def compare(item: dict[str, Any], expected: dict[str, str], *below: str) -> StrictAgreement:
    agreement = StrictAgreement()
    agreement.add("a", expected, our_record({"type": "book", **item}, expected, frozenset(below)))
    return agreement


def test_a_subtitle_of_the_source_is_a_field_that_only_we_have() -> None:
    item = {"title": "Horsemeat: The guide"}
    expected = {"entry type": "book", "title": "Horsemeat"}
    parted = compare(item, expected, "The guide")
    assert (parted.same, parted.extra, parted.causes()) == (2, 1, {"only ours: subtitle": 1})
    # Where the source knows no such subtitle, the title is another.
    assert compare(item, expected).causes() == {"different: title": 1}
    assert compare(item, expected, "guide").causes() == {"different: title": 1}


def test_subtitles_are_read_from_the_source_without_our_readers(tmp_path: Path) -> None:
    content = (
        '<a xmlns="urn:x"><Subtitle>One  <b>two</b></Subtitle><subTitle/><other>no</other></a>'
    )
    plain, packed, text = (tmp_path / name for name in ("a.xml", "a.zip", "a.ris"))
    plain.write_text(content, encoding="utf-8")
    text.write_text("TY  - BOOK", encoding="utf-8")
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("project", content)
    assert subtitles(plain) == subtitles(packed) == {"One two"}
    assert subtitles(text) == frozenset()


def test_both_forms_of_one_isbn_are_one_number() -> None:
    both = field_text("ISBN", "0-12-375106-3, 978-0-12-375106-5")
    assert both == field_text("ISBN", "0123751063") == "9780123751065"
    assert field_text("ISBN", "0123751060") != field_text("ISBN", "9780123751065")
    assert field_text("ISSN", "0022-3263") == "00223263"


@pytest.mark.parametrize(
    ("item", "expected", "agrees"),
    [
        ({"number-of-pages": "113"}, {"pages": "113"}, True),
        ({"number-of-pages": "113"}, {"pages": "114"}, False),
        ({"number-of-pages": "113", "page": "1-9"}, {"pages": "113"}, False),
        ({"keyword": "Todd, Sweeney; meat"}, {"keywords": "Sweeney | Todd | meat"}, True),
        ({"keyword": "Todd; meat"}, {"keywords": "Sweeney | Todd | meat"}, False),
        ({"note": "Index.\nBy Doe."}, {"note": "By Doe., Index."}, True),
        ({"note": "Index."}, {"note": "By Doe., Index."}, False),
        ({"note": "Index.\nBy Doe.\nMore"}, {"note": "By Doe., Index."}, False),
    ],
)
def test_what_a_bibtex_field_cannot_hold_is_compared_as_it_can(
    item: dict[str, Any], expected: dict[str, str], agrees: bool
) -> None:
    assert (not compare(item, expected | {"entry type": "book"}).differences) is agrees
