"""BibLaTeX's data model, and what other programs write into BibTeX fields."""

from typing import Any

import pytest

from carrel.libraries.bibliography.bibtex.reader import read_bibtex


def items(text: str) -> dict[str, dict[str, Any]]:
    answer = read_bibtex(text)
    assert not answer.failures
    return {each.item["id"]: each.item for each in answer.items}


def one(fields: str, kind: str = "misc") -> dict[str, Any]:
    return items(f"@{kind}{{a, title = {{x}}, {fields}}}")["a"]


def test_a_volume_has_the_author_of_the_whole_and_a_part_names_the_author_of_its_book() -> None:
    found = items(
        "@mvbook{whole, author = {A One}, title = {Whole}}"
        "@book{volume, crossref = {whole}, title = {Volume}, volume = 2}"
        "@book{book, author = {B Two}, title = {Book}}"
        "@inbook{part, author = {C Three}, crossref = {book}, title = {Part}}"
        "@inbook{own, crossref = {book}, title = {Own}}"
        "@article{other, crossref = {book}, title = {Other}}"
    )
    assert found["volume"]["author"] == [{"family": "One", "given": "A"}]
    assert found["part"]["container-author"] == [{"family": "Two", "given": "B"}]
    assert found["own"]["author"] == [{"family": "Two", "given": "B"}]
    assert "container-author" not in found["own"]
    assert "author" not in found["other"]


def test_keys_of_words_that_styles_translate_become_words() -> None:
    assert one("pubstate = {inpress}")["status"] == "in press"
    assert one("pubstate = {in review}")["status"] == "in review"
    assert one("location = {countryus}", "patent")["publisher-place"] == "United States"


def test_the_kind_of_a_further_editor_is_kept_where_csl_has_no_role() -> None:
    item = one("editora = {A B}, editoratype = {redactor}, editorb = {C D}, editorbtype={compiler}")
    assert item["editor"] == [{"family": "B", "given": "A"}]
    assert item["compiler"] == [{"family": "D", "given": "C"}]
    assert item["custom"]["fields"] == {"editoratype": "redactor"}


@pytest.mark.parametrize(
    ("fields", "variable", "value"),
    [
        (r"note = {\ensuremath{x^2} and \ensuremath{\Lambda}CDM}", "note", "x² and ΛCDM"),
        ("url = {http://a.b/c http://d.e/f}", "URL", "http://a.b/c"),
        ("urldate = {2020-02-02TZ}", "accessed", {"date-parts": [[2020, 2, 2]]}),
        ("date = {2004-05-06T10:20:30+02:00}", "issued", {"date-parts": [[2004, 5, 6]]}),
        ("author = {John Doe 0001}", "author", [{"family": "Doe", "given": "John"}]),
    ],
)
def test_values_of_other_programs(fields: str, variable: str, value: object) -> None:
    assert one(fields)[variable] == value


def test_fields_of_jabref_that_begin_with_underscores_are_read() -> None:
    assert one("__markedentry = {[me:1]}")["custom"]["fields"] == {"__markedentry": "[me:1]"}
