"""The traps that bibliographies of the world hold for importers, each with data of our own."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.libraries.bibliography import (
    ExportFormat,
    ImportResult,
    TitleCase,
    read_bibliography,
    write_bibliography,
)
from carrel.libraries.bibliography.file_links import item_file_links


def read(text: str | bytes, titles: TitleCase = TitleCase.AS_WRITTEN) -> ImportResult:
    return read_bibliography(text, titles=titles)


def one(text: str | bytes, titles: TitleCase = TitleCase.AS_WRITTEN) -> dict[str, Any]:
    result = read(text, titles)
    (imported,) = result.items
    return imported.item


def misc(**fields: str) -> dict[str, Any]:
    """One entry with these fields, as they are written between braces."""
    given = ", ".join(f"{name} = {{{value}}}" for name, value in fields.items())
    return one(f"@misc{{key, {given}}}")


def authors(written: str) -> list[dict[str, str]]:
    found = misc(title="T", author=written).get("author", [])
    return list(found)


def told(text: str | bytes) -> str:
    return " | ".join(warning.message for warning in read(text).warnings)


def test_lines_of_notes_stay_lines() -> None:
    found = misc(note="First\n\n  second \\\\ third", abstract="One\nline")
    assert found["note"] == "First\nsecond\nthird"
    assert found["abstract"] == "One line"
    assert misc(annote="One", annotation="Two")["annote"] == "One\nTwo"


@pytest.mark.parametrize(
    ("journal", "is_short"),
    [
        ("Phil. Trans. Roy. Soc. A", True),
        ("Nano Lett.", True),
        ("Proc. AAAI", False),
        ("Dr. Dobb's Journal", False),
        ("Journal of the U.S. Army", False),
    ],
)
def test_an_abbreviated_name_of_a_journal_is_its_short_name_too(
    journal: str, is_short: bool
) -> None:
    found = one(f"@article{{key, title = {{T}}, journal = {{{journal}}}}}")
    assert found["container-title"] == journal
    assert found.get("container-title-short") == (journal if is_short else None)
    written = write_bibliography([found], ExportFormat.BIBLATEX)
    assert "shortjournal" not in written
    assert one(written) == found


def test_titles_stay_as_written_and_sentence_case_is_an_option() -> None:
    text = "@article{k, title={Sheep Farming in New Zealand and the {TP53} Gene of Bayesian Rats}}"
    assert one(text)["title"] == "Sheep Farming in New Zealand and the TP53 Gene of Bayesian Rats"
    found = one(text, TitleCase.SENTENCE_CASE)
    assert found["title"] == "Sheep farming in New Zealand and the TP53 gene of Bayesian rats"
    assert found["custom"]["title_as_written"].startswith("Sheep Farming in New Zealand")


def test_braces_around_a_whole_title_keep_it_and_add_no_markup() -> None:
    text = "@article{k, title={{Seven Rivers of NASA}}}"
    for titles in TitleCase:
        assert one(text, titles)["title"] in {"Seven Rivers of NASA", "Seven rivers of NASA"}
    assert "<" not in one(text)["title"]


def test_braces_inside_a_word_belong_to_it() -> None:
    assert misc(title="{A}pis and {RNA}i in {\\'E}vora")["title"] == "Apis and RNAi in Évora"


def test_letters_of_tex_become_letters_and_unknown_commands_are_kept_and_told() -> None:
    written = r"Sm{\o}rrebr{\o}d, \o{}l, \'{\i}s, \c calk, M\olgaard"
    assert misc(title=written)["title"] == "Smørrebrød, øl, ís, çalk, Mølgaard"
    assert authors(r"M\olgaard, Anne") == [{"family": "Mølgaard", "given": "Anne"}]
    text = r"@misc{k, title={A \glyphname{kept} word}}"
    assert one(text)["title"] == "A kept word"
    assert r"\glyphname" in told(text)


def test_an_entry_with_an_open_brace_costs_no_other() -> None:
    text = "@misc{bad, title={Never {closed}, year=2001}\n\n@misc{good, title={Fine}}\n"
    result = read(text)
    assert result.items[-1].item["id"] == "good"
    told_lines = {each.line for each in result.warnings} | {each.line for each in result.failures}
    assert told_lines == {1}


def test_institutions_in_braces_are_one_name() -> None:
    assert authors("{Ministry of Tides and Sons} and Doe, Jane") == [
        {"literal": "Ministry of Tides and Sons"},
        {"family": "Doe", "given": "Jane"},
    ]


def test_others_are_nobody() -> None:
    found = misc(title="T", author="Doe, Jane and others")
    assert found["author"] == [{"family": "Doe", "given": "Jane"}]
    assert found["custom"]["et_al"] == ["author"]


def test_particles_and_suffixes_are_told_from_family_names() -> None:
    assert authors("Anna van der Meer and Roe, Jr., Richard and de la Paz, Ines") == [
        {"family": "Meer", "given": "Anna", "non-dropping-particle": "van der"},
        {"family": "Roe", "given": "Richard", "suffix": "Jr."},
        {"family": "Paz", "given": "Ines", "non-dropping-particle": "de la"},
    ]


@pytest.mark.parametrize(
    "written",
    ["Doe, Jane; Roe, Richard; Poe, Edgar", "Doe, Jane ; Roe, Richard; Poe, Edgar;"],
)
def test_names_parted_by_semicolons_are_split_and_told(written: str) -> None:
    assert [name["family"] for name in authors(written)] == ["Doe", "Roe", "Poe"]
    assert "'and'" in told(f"@misc{{k, title={{T}}, author={{{written}}}}}")


def test_names_parted_by_commas_are_split_only_where_one_reading_is_possible() -> None:
    assert [name["family"] for name in authors("Jane Doe, Richard Roe, Edgar A. Poe")] == [
        "Doe",
        "Roe",
        "Poe",
    ]
    assert authors("Doe, J., Roe, R. K.") == [
        {"family": "Doe", "given": "J."},
        {"family": "Roe", "given": "R. K."},
    ]
    # A suffix in the middle, a suffix at the end, and a name in one word are no lists.
    assert authors("Roe, Jr., Richard") == [{"family": "Roe", "given": "Richard", "suffix": "Jr."}]
    assert len(authors("Smith, Anna, Jones")) == 1
    assert len(authors("van der Berg, Jr, Jan Willem")) == 1
    assert "'and'" in told("@misc{k, title={T}, author={Doe, Jane, Roe, Richard, Poe}}")


def test_a_semicolon_of_an_entity_parts_no_names() -> None:
    assert len(authors("M&uuml;ller, Jane")) == 1


def test_months_of_every_spelling_keep_their_day() -> None:
    for month in ('"7~" # feb', 'feb # "~7"', "{7 Feb.}", "{Februar 7}"):
        found = one(f"@misc{{k, title={{T}}, year=1999, month={month}}}")
        assert found["issued"]["date-parts"] == [[1999, 2, 7]], month
    assert misc(title="T", year="1999", month="März")["issued"]["date-parts"] == [[1999, 3]]


@pytest.mark.parametrize(
    ("date", "issued"),
    [
        ("1987~", {"date-parts": [[1987]], "circa": True}),
        ("1987?", {"date-parts": [[1987]], "circa": True}),
        ("1987-03/1987-05", {"date-parts": [[1987, 3], [1987, 5]]}),
        ("1987/..", {"date-parts": [[1987], [0]]}),
        ("[1796]", {"date-parts": [[1796]]}),
        ("n.d.", {"literal": "n.d."}),
    ],
)
def test_dates_in_doubt_say_so(date: str, issued: dict[str, object]) -> None:
    assert misc(title="T", date=date)["issued"] == issued


def test_verbatim_fields_lose_the_escapes_of_tex_once() -> None:
    found = misc(
        title="T", doi=r"10.1234/a\_b", url=r"http://x.org/a\_b%20c?d=1\&e=2", eprint=r"q\_1"
    )
    assert (found["DOI"], found["URL"]) == ("10.1234/a_b", "http://x.org/a_b%20c?d=1&e=2")
    assert found["custom"]["fields"]["eprint"] == "q_1"


@pytest.mark.parametrize(
    "doi", ["https://doi.org/10.1234/AbC", "doi:10.1234/abc.", "DOI 10.1234/ABC", "10.1234/abc"]
)
def test_a_doi_is_bare_in_whatever_dress(doi: str) -> None:
    assert misc(title="T", doi=doi)["DOI"] == "10.1234/abc"


def test_files_are_a_list_in_every_notation() -> None:
    found = misc(title="T", file=r"Text:a/b\:c.pdf:PDF;:C$\backslash$:/x/y.pdf:PDF;plain.pdf")
    assert list(item_file_links(found)) == ["a/b:c.pdf", "C:/x/y.pdf", "plain.pdf"]


def test_a_child_takes_from_its_parent_though_that_comes_later() -> None:
    text = (
        "@inbook{c, crossref={p}, title={Part}}\n"
        "@book{p, title={Whole}, subtitle={All of It}, publisher={Press}, year=1999}"
    )
    child = read(text).items[0].item
    assert (child["title"], child["container-title"], child["publisher"]) == (
        "Part",
        "Whole: All of It",
        "Press",
    )


def test_strings_are_known_in_any_case_and_unknown_ones_are_kept_and_told() -> None:
    text = "@string{Prs = {The Press}}\n@book{k, title={T}, publisher=PRS, series=nowhere}"
    found = one(text)
    assert (found["publisher"], found["collection-title"]) == ("The Press", "nowhere")
    assert "nowhere" in told(text)


def test_two_entries_of_one_key_are_both_kept_and_told() -> None:
    text = "@misc{k, title={One}}\n@misc{k, title={Two}}"
    assert [each.item["title"] for each in read(text).items] == ["One", "Two"]
    assert "used before" in told(text)


def test_of_a_field_given_twice_the_first_is_kept_and_told() -> None:
    text = "@misc{k, title={One}, title={Two}}"
    assert one(text)["title"] == "One" and "twice" in told(text)


@pytest.mark.parametrize(
    "content",
    [
        "@misc{k, title={Größe}}".encode("cp1252"),
        "% Encoding: ISO-8859-1\n@misc{k, title={Größe}}".encode("latin-1"),
        "\ufeff@misc{k, title={Gro\u0308ße}}".encode(),
        "@misc{k, title={Größe}}".encode("utf-16-le"),
        "@misc{k, title={Größe}}".encode("utf-16-be"),
        "@misc{k, title={Größe}}".encode("utf-16"),
    ],
)
def test_letters_survive_every_encoding(content: bytes) -> None:
    assert one(content)["title"] == "Größe"


def test_simple_mathematics_becomes_text_and_emphasis_markup() -> None:
    written = r"H$_2$O in \emph{E. coli}, $\alpha$-helix, 5\textsuperscript{th}"
    assert misc(title=written)["title"] == "H₂O in <i>E. coli</i>, α-helix, 5<sup>th</sup>"


def test_keywords_are_one_list_in_which_a_group_is_one_word() -> None:
    found = misc(title="T", keywords="tides, {moon, full}; rivers", **{"mendeley-tags": "salt"})
    assert found["keyword"].split("; ") >= ["moon, full"] and "salt" in found["keyword"]
    assert misc(title="T", keywords="{moon, full}, tides")["keyword"] == "moon, full; tides"


@pytest.mark.parametrize(
    ("pages", "page"),
    [("3--9", "3-9"), ("3–9", "3-9"), ("3 - 9", "3-9"), ("e12", "e12"), ("12+", "12+"),
     ("1,3", "1,3"), ("S1--S4", "S1-S4"), ("1-9, 12--15", "1-9, 12-15")],
)  # fmt: skip
def test_pages_are_ranges_with_hyphens(pages: str, page: str) -> None:
    assert one(f"@article{{k, title={{T}}, pages={{{pages}}}}}")["page"] == page


def test_an_electronic_id_is_no_page() -> None:
    found = one("@article{k, title={T}, eid={042}}")
    assert "page" not in found and found["number"] == "042"


@pytest.mark.parametrize(
    ("entry", "variable"),
    [
        ("@article", "issue"),
        ("@techreport", "number"),
        ("@patent", "number"),
    ],
)
def test_a_number_is_what_its_type_says(entry: str, variable: str) -> None:
    assert one(f"{entry}{{k, title={{T}}, number={{7}}}}")[variable] == "7"


@pytest.mark.parametrize(
    ("entry", "fields", "kind"),
    [
        ("newspaper_article", "", "article-newspaper"),
        ("article", "entrysubtype={newspaper},", "article-newspaper"),
        ("misc", "entrysubtype={podcast},", "broadcast"),
        ("bachelorthesis", "", "thesis"),
        ("web_page", "", "webpage"),
        ("computer_program", "", "software"),
    ],
)
def test_types_of_many_programs_are_known(entry: str, fields: str, kind: str) -> None:
    assert one(f"@{entry}{{k, {fields} title={{T}}}}")["type"] == kind


def test_an_unknown_type_is_a_document_that_keeps_its_name() -> None:
    found = one("@gizmo{k, title={T}}")
    assert found["type"] == "document" and found["custom"]["fields"]["entrytype"] == "gizmo"


def test_a_ris_reference_ends_at_the_next_and_keeps_the_order_of_people() -> None:
    text = (
        "TY  - JOUR\r\nY1  - 2001/05/03/\r\nT1  - Tides\r\nJF  - Journal of Tides\r\n"
        "SP  - 1-9\r\nA1  - Doe, Jane\r\nAU  - Roe, R.\r\n"
        "TY  - CHAP\r\nTI  - Ebb\r\nT2  - Sea\r\nA2  - Ed, I.\r\nSP  - 3\r\nEP  - 9\r\nER  - \r\n"
    )
    first, second = (each.item for each in read(text).items)
    assert [name["family"] for name in first["author"]] == ["Doe", "Roe"]
    assert (first["page"], first["issued"]["date-parts"]) == ("1-9", [[2001, 5, 3]])
    assert (second["container-title"], second["page"]) == ("Sea", "3-9")
    assert second["editor"] == [{"family": "Ed", "given": "I."}]


def test_nbib_lines_are_joined_and_full_names_win() -> None:
    text = (
        "PMID- 123\nTI  - A title that\n      wraps.\nFAU - Doe, Jane A\nAU  - Doe JA\n"
        "JT  - Journal of tides\nTA  - J Tides\nPG  - 123-8\nDP  - 2001 Feb\n"
    )
    found = one(text)
    assert (found["title"], found["page"]) == ("A title that wraps", "123-128")
    assert found["author"] == [{"family": "Doe", "given": "Jane A"}]


@pytest.mark.parametrize(
    ("text", "issued"),
    [
        ("@misc{a, title = {A}, year = 2001, month = feb, day = 30}", [[2001, 2, 30]]),
        ("@misc{a, title = {A}, date = {2001-02-30}}", [[2001, 2, 30]]),
        ("TY  - JOUR\nTI  - A\nPY  - 2001/02/30/\nER  - \n", [[2001, 2, 30]]),
        ("PMID- 1\nTI  - A\nDP  - 2001 Feb 30\n", [[2001, 2, 30]]),
        ("%0 Book\n%T A\n%8 February 30\n%D 2001\n", [[2001, 2, 30]]),
        ('[{"type": "book", "issued": {"date-parts": [[2001, 2, 30]]}}]', [[2001, 2, 30]]),
    ],
    ids=["month and day", "BibLaTeX", "RIS", "NBIB", "refer", "CSL-JSON"],
)
def test_a_day_that_no_month_has_is_kept_and_told(text: str, issued: list[list[int]]) -> None:
    result = read(text)
    assert result.items[0].item["issued"]["date-parts"] == issued
    assert "a day from 1 to 28" in " ".join(each.message for each in result.warnings)


@pytest.mark.parametrize("date", ["2020/13/45", "2020/01/45/", "2020-01-45"])
def test_a_date_with_numbers_of_no_calendar_stays_as_it_is_written(date: str) -> None:
    assert one(f"TY  - JOUR\nTI  - A\nDA  - {date}\nER  - \n")["issued"] == {"literal": date}
    assert misc(title="A", date=date)["issued"] == {"literal": date}


def test_a_second_date_of_a_ris_reference_is_kept_where_it_says_something_else() -> None:
    item = one("TY  - JOUR\nTI  - A\nPY  - 2010\nDA  - 2011/04/05\nY1  - 2011/04//\nER  - \n")
    assert item["issued"] == {"date-parts": [[2011, 4, 5]]}
    assert item["custom"]["fields"] == {"py": "2010"}


def test_an_unreadable_link_of_bibdesk_is_kept_as_it_is_written() -> None:
    item = misc(title="A", **{"bdsk-file-1": "no property list"})
    assert item["custom"]["fields"] == {"bdsk-file-1": "no property list"}


def test_several_values_of_a_csl_variable_are_kept_and_told() -> None:
    result = read('[{"id": "a", "type": "book", "title": ["One", "Two"], "ISSN": ["1", "2"]}]')
    item = result.items[0].item
    assert (item["title"], item["ISSN"]) == ("One", "1, 2")
    assert item["custom"]["fields"] == {"title": "Two"}
    assert "title" in result.warnings[0].message


@pytest.mark.parametrize("rest", ['{"id": "c", "ty', "", '"c" "d"]'])
def test_what_stands_before_a_break_in_csl_json_is_read(rest: str) -> None:
    text = '[{"id": "a", "type": "book", "title": "A"},\n{"id": "b", "type": "book"},\n' + rest
    result = read(text)
    assert [each.item["id"] for each in result.items] == ["a", "b"]
    assert "broken here" in result.failures[0].reason
