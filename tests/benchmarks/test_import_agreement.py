"""The strict scale of imports: nothing that differs, is missing or was not read agrees."""

from pathlib import Path

import pytest

from benchmarks.agreement.bibtex_entries import plain_text, read_entries
from benchmarks.agreement.strict import StrictAgreement, normal, pair
from benchmarks.agreement.strict_jabref import expected_records, our_record


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
