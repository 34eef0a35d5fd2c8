"""Broken BibTeX is mended where a person could, and every mend is said with its line."""

import pytest

from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.imports import ImportResult


def warned(answer: ImportResult, line: int, words: str) -> bool:
    return any(warning.line == line and words in warning.message for warning in answer.warnings)


def test_a_missing_comma_between_fields() -> None:
    answer = read_bibtex("@article{a,\n  title = {One}\n  year = 1999\n  author = {A. Bee}\n}")
    item = answer.items[0].item
    assert item["title"] == "One"
    assert item["issued"] == {"date-parts": [[1999]]}
    assert item["author"] == [{"family": "Bee", "given": "A."}]
    assert warned(answer, 2, "No comma after the field 'title'")


def test_a_missing_comma_after_the_key() -> None:
    answer = read_bibtex("@article{key\n title = {One}}")
    assert answer.items[0].item["id"] == "key"
    assert answer.items[0].item["title"] == "One"
    assert warned(answer, 1, "No comma after the key")


def test_a_missing_key() -> None:
    answer = read_bibtex("@article{\n author = {A. Bee}, title = {One}}\n@book{, title = {Two}}")
    assert ["id" in imported.item for imported in answer.items] == [False, False]
    assert [imported.item["title"] for imported in answer.items] == ["One", "Two"]
    assert warned(answer, 3, "no key")


def test_a_field_that_is_not_closed_ends_before_the_next() -> None:
    answer = read_bibtex(
        "@article{a,\n  title = {One,\n  year = {1999}\n}\n\n@article{b, title = {Two}}"
    )
    first, second = (imported.item for imported in answer.items)
    assert first["title"] == "One"
    assert first["issued"] == {"date-parts": [[1999]]}
    assert second["title"] == "Two"
    assert warned(answer, 2, "not closed")


def test_an_entry_that_is_not_closed_ends_before_the_next() -> None:
    answer = read_bibtex(
        "@article{a,\n title = {One},\n year = 1999\n\n@article{b, title = {Two}}\n@book{c, title "
        "= {Three"
    )
    assert [imported.item["title"] for imported in answer.items] == ["One", "Two", "Three"]
    assert warned(answer, 3, "not closed")
    assert warned(answer, 6, "not closed")


def test_an_entry_closed_too_early_goes_on() -> None:
    answer = read_bibtex(
        "@article{a,\n title = {One}},\n year = {1999}\n}\n@misc{b, title = {Two}}"
    )
    assert answer.items[0].item["issued"] == {"date-parts": [[1999]]}
    assert len(answer.items) == 2
    assert warned(answer, 2, "closed too early")


def test_quotation_marks_inside_quotation_marks() -> None:
    answer = read_bibtex(
        '@article{a,\n title = "The "best" things",\n author = "M\\"uller, J\\"org",\n year = '
        '"1999"}'
    )
    item = answer.items[0].item
    assert item["title"] == 'The "best" things'
    assert item["author"] == [{"family": "Müller", "given": "Jörg"}]
    assert warned(answer, 2, "does not end it")


def test_an_unknown_string_keeps_its_name() -> None:
    answer = read_bibtex("@article{a,\n title = {x},\n journal = JACM}")
    assert answer.items[0].item["container-title"] == "JACM"
    assert warned(answer, 3, "No @string is called 'JACM'")


def test_a_sign_in_place_of_the_equals() -> None:
    answer = read_bibtex("@article{a,\n author : {A. Bee},\n title = {x}}")
    assert answer.items[0].item["author"] == [{"family": "Bee", "given": "A."}]
    assert warned(answer, 2, "No =")


def test_an_entry_without_its_opening_brace() -> None:
    answer = read_bibtex(
        "@Article,\n  author = {A. Bee},\n  title = {x},\n}\n@misc{b, title = {y}}"
    )
    assert [imported.item["title"] for imported in answer.items] == ["x", "y"]
    assert warned(answer, 1, "opening brace")


def test_a_field_given_twice_is_said() -> None:
    answer = read_bibtex(
        "@article{a,\n title = {One},\n title = {Two},\n author = {A. Bee},\n author = {C. Dee}}"
    )
    item = answer.items[0].item
    assert item["title"] == "One"
    assert [person["family"] for person in item["author"]] == ["Bee", "Dee"]
    assert warned(answer, 3, "twice")


def test_a_key_used_twice_is_said_and_both_are_read() -> None:
    answer = read_bibtex("@misc{a, title = {One}}\n@misc{A, title = {Two}}")
    assert len(answer.items) == 2
    assert warned(answer, 2, "used before, on line 1")


def test_one_entry_that_cannot_be_read_does_not_stop_the_rest() -> None:
    answer = read_bibtex("@misc{a, title = {One}}\n@article{ , }\n@misc{b, title = {Two}}")
    assert [imported.item["id"] for imported in answer.items] == ["a", "b"]
    assert [failure.line for failure in answer.failures] == [2]


def test_lines_are_those_of_the_file() -> None:
    answer = read_bibtex("% comment\n\n@misc{a,\n title = {One}}\n\n\n@misc{b, title = {Two}}")
    assert [imported.line for imported in answer.items] == [3, 7]


def test_line_ends_of_old_machines_count_as_lines() -> None:
    answer = read_bibtex("@misc{a,\r title = {One}}\r@misc{b, title = {Two}}")
    assert [imported.line for imported in answer.items] == [1, 3]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_told_apart(encoding: str) -> None:
    answer = read_bibtex("@misc{a, title = {Grüße aus Köln}}".encode(encoding))
    assert answer.items[0].item["title"] == "Grüße aus Köln"


def test_a_declared_encoding_is_believed() -> None:
    answer = read_bibtex("% Encoding: ISO8859_2\n@misc{a, title = {Łódź}}".encode("iso8859-2"))
    assert answer.items[0].item["title"] == "Łódź"


def test_a_file_of_two_encodings_is_read_line_by_line() -> None:
    answer = read_bibtex(
        "@misc{a, title = {Grüße}}\n".encode() + "@misc{b, title = {Köln}}\n".encode("cp1252")
    )
    assert [imported.item["title"] for imported in answer.items] == ["Grüße", "Köln"]
    assert warned(answer, 2, "not UTF-8")


_WHOLE = (
    "@article{one, author = {A. Bee}, title = {The {DNA} of one}, journal = {J. Ex.}, year = 2001}",
    "@article{two,\n  author = {C. Dee},\n  title = {Two {RNA} things},\n  year = {2002},\n}",
    "@book{three, title = {Three}, author = {E. Eff}, publisher = {House}, year = {2003}}",
)


@pytest.mark.parametrize("which", range(len(_WHOLE)))
def test_no_lost_brace_hides_a_field_in_another_without_a_warning(which: int) -> None:
    whole = [imported.item for imported in read_bibtex("\n\n".join(_WHOLE)).items]
    text = _WHOLE[which]
    for place, sign in enumerate(text):
        # Without its first brace an entry does not begin.
        if sign not in "{}" or place == text.index("{"):
            continue
        entries = [*_WHOLE[:which], text[:place] + text[place + 1 :], *_WHOLE[which + 1 :]]
        answer = read_bibtex("\n\n".join(entries))
        items = {imported.item.get("id"): imported.item for imported in answer.items}
        for number, neighbour in enumerate(whole):
            if number != which:
                assert items[neighbour["id"]] == neighbour, entries[which]
        damaged = {key: value for key, value in items.items() if key == whole[which]["id"]}
        assert "=" not in str(damaged) or answer.warnings or answer.failures, entries[which]
        for field in ("author", "title"):
            assert " = " not in str(damaged[whole[which]["id"]].get(field)), entries[which]


def test_a_key_without_its_comma_is_the_key_and_hides_no_field() -> None:
    answer = read_bibtex("@article{ok3 title={No comma}, author={Eps, E} year=2005}")
    assert [imported.item for imported in answer.items] == [
        {
            "id": "ok3",
            "type": "article-journal",
            "title": "No comma",
            "author": [{"family": "Eps", "given": "E"}],
            "issued": {"date-parts": [[2005]]},
        }
    ]
    assert [warning.message for warning in answer.warnings] == [
        "No comma after the key 'ok3'",
        "No comma after the field 'author' of 'ok3'",
    ]


def test_a_field_that_the_file_cuts_off_is_not_said_to_end_where_the_next_begins() -> None:
    answer = read_bibtex("@misc{a, title = {Half a ti")
    assert answer.warnings[0].message == (
        "The field 'title' is not closed; it was ended with its entry"
    )
