"""BibTeX and BibLaTeX mean what they mean to TeX."""

# Samples keep the lines that programs write.
# ruff: noqa: E501

import base64
import plistlib
from typing import Any

import pytest

from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.bibtex.tex import to_plain, to_rich
from carrel.libraries.bibliography.bibtex.writer import BibtexDialect, write_bibtex
from carrel.libraries.bibliography.file_links import item_file_links


def one(text: str, titles: TitleCase = TitleCase.SENTENCE_CASE) -> dict[str, Any]:
    answer = read_bibtex(text, titles)
    assert not answer.failures
    assert len(answer.items) == 1
    return answer.items[0].item


def test_strings_concatenation_and_months() -> None:
    item = one("""
        @string{jan10 = "January" # " 10"}
        @STRING(J = {Journal of })
        @article{a, journal = j # "Things" # { and More}, month = jan, year = 1999, title = {x}}
    """)
    assert item["container-title"] == "Journal of Things and More"
    assert item["issued"] == {"date-parts": [[1999, 1]]}


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ("year = 1999, month = mar", [[1999, 3]]),
        ("year = {1999}, month = {OCT 1}", [[1999, 10, 1]]),
        ('year = "1999", month = 10 # "~" # jan', [[1999, 1, 10]]),
        ("year = 1999, month = {July 18--22}", [[1999, 7, 18], [1999, 7, 22]]),
        ("year = 1999, month = jan # { / } # feb", [[1999, 1], [1999, 2]]),
        ("year = 1999, month = {08}", [[1999, 8]]),
        ("date = {2019-06-25}", [[2019, 6, 25]]),
        ("date = {1997/1999-05}", [[1997], [1999, 5]]),
        ("date = {1997/}", [[1997], [0]]),
        ("date = {-0044}", [[-44]]),
    ],
)
def test_dates(fields: str, parts: list[list[int]]) -> None:
    assert one(f"@misc{{a, title = {{x}}, {fields}}}")["issued"]["date-parts"] == parts


def test_a_date_that_is_none_is_kept_as_it_is_written() -> None:
    assert one("@misc{a, year = {in press}}")["issued"] == {"literal": "in press"}
    assert one("@misc{a, date = {1990~}}")["issued"] == {"date-parts": [[1990]], "circa": True}
    assert one("@misc{a, date = {2001-22}}")["issued"] == {"date-parts": [[2001]], "season": 2}


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Donald E. Knuth", {"family": "Knuth", "given": "Donald E."}),
        (
            "Ludwig van Beethoven",
            {"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"},
        ),
        (
            "de la Vall{\\'e}e Poussin, Charles",
            {"family": "Vallée Poussin", "given": "Charles", "non-dropping-particle": "de la"},
        ),
        ("King, Jr., Martin Luther", {"family": "King", "given": "Martin Luther", "suffix": "Jr."}),
        ("{Barnes and Noble, Inc.}", {"literal": "Barnes and Noble, Inc."}),
        (
            "family=Berg, given=Anna, prefix=van den",
            {"family": "Berg", "given": "Anna", "non-dropping-particle": "van den"},
        ),
        ('Gr{\\"u}n, J{\\"o}rg', {"family": "Grün", "given": "Jörg"}),
        ("Plato", {"literal": "Plato"}),
    ],
)
def test_names(raw: str, name: dict[str, str]) -> None:
    assert one(f"@misc{{a, author = {{{raw}}}}}")["author"] == [name]


def test_a_list_of_names_is_parted_only_outside_braces() -> None:
    item = one("@misc{a, author = {A. One and {Two and Three} AND Four, B. and others}}")
    assert [person.get("literal") or person["family"] for person in item["author"]] == [
        "One",
        "Two and Three",
        "Four",
    ]
    assert item["custom"] == {"et_al": ["author"]}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (
            r"G{\"o}del, \'{E}tude, \c{c}a, \v{s}, {\ss}, {\AA}ngstr\"om, \l{}",
            "Gödel, Étude, ça, š, ß, Ångström, ł",
        ),
        (r"\'{\i} \=a \.z \u{g} \H{o} \k{a} \r{u} \d{h}", "í ā ż ğ ő ą ů ḥ"),
        (r"pages 1--2 --- ``quoted'' and `single'", "pages 1–2 — “quoted” and ‘single’"),
        (r"A \& B 50\% \$5 \#1 a\_b \{c\}", "A & B 50% $5 #1 a_b {c}"),
        (r"H$_2$O, $x^{10}$, $\alpha$, $\leq$, $H_{max}$", "H₂O, x¹⁰, α, ≤, H<sub>max</sub>"),
        (
            r"\emph{in} {\bf bold} \textsc{sc} \textsuperscript{a}",
            '<i>in</i> <b>bold</b> <span style="font-variant:small-caps;">sc</span> <sup>a</sup>',
        ),
        (r"The \TeX book and \LaTeX{} too", "The TeXbook and LaTeX too"),
        (r"\href{http://x.org/~a}{here} \url{http://x.org/~a_b}", "here http://x.org/~a_b"),
        (r"unknown \foo{argument} and \SPQR here", "unknown argument and SPQR here"),
        (r"a {nested {deep {er}}} end", "a nested deep er end".replace("deep er", "deep er")),
        ("broken {brace and $ sign", "broken brace and $ sign"),
        (r"$n \leq 3$ and $n\leq3$, $\frac{1}{2}$ and $\frac{a}{b}$", "n ≤ 3 and n≤3, ½ and a/b"),
        (r"\underline{two words} and \=a", "two words and ā"),
    ],
)
def test_tex_becomes_unicode(raw: str, text: str) -> None:
    assert to_rich(raw).text == text


def test_markup_is_left_out_where_it_is_not_welcome() -> None:
    assert to_plain(r"\emph{Springer} \& {S}ons") == "Springer & Sons"


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        (
            "The Theory of Everything in {Switzerland}: A New View",
            "The theory of everything in Switzerland: a new view",
        ),
        (
            "Advances in {NASA} Research: Past and Future",
            "Advances in NASA research: Past and future",
        ),
        ("An overview of KRL, a language", "An overview of KRL, a language"),
        ("{The Whole Title in Braces}", "The whole title in braces"),
        (
            "Introduction to \\emph{Escherichia Coli} Genetics",
            "Introduction to <i>Escherichia Coli</i> genetics",
        ),
        ("DNA and RNA iPhone Studies", "DNA and RNA iPhone studies"),
        ("THE STRUCTURE OF {NASA} TEAMS: PART II", "The structure of NASA teams: Part II"),
        ("DNA REPAIR", "DNA REPAIR"),
        ("Minutes of the Meeting, May 2001", "Minutes of the meeting, May 2001"),
        ("Old Networks: {von Neumann} Revisited", "Old networks: von Neumann revisited"),
        ("The Old World. A Study of Things", "The old world. A study of things"),
        ("The Role of Vitamin A and B", "The role of vitamin A and B"),
        ("On ``Whose Turn?'' Revisited", "On “whose turn?” revisited"),
        ("On {\\bf Bold}", "On <b>bold</b>"),
        ("{{A Theory of Justice}}", "A Theory of Justice"),
    ],
)
def test_titles_in_title_case_become_sentence_case_but_for_what_is_protected(
    raw: str, title: str
) -> None:
    assert one(f"@article{{a, title = {{{raw}}}}}")["title"] == title


def test_a_journal_is_no_volume_of_a_work() -> None:
    found = one("@article{a, title = {T}, journal = {J}, maintitle = {M}}")
    assert found["container-title"] == "J"
    assert "volume-title" not in found
    assert found["custom"]["fields"] == {"maintitle": "M"}
    book = one("@proceedings{a, title = {Proc. of X}, booktitle = {Proc. of X}}")
    assert "container-title" not in book


def test_titles_stay_as_written_when_asked_or_not_english() -> None:
    assert (
        one("@article{a, title = {The Theory of Everything}}", TitleCase.AS_WRITTEN)["title"]
        == "The Theory of Everything"
    )
    assert (
        one("@article{a, langid = {german}, title = {Die Theorie der Großen Dinge}}")["title"]
        == "Die Theorie der Großen Dinge"
    )


def test_a_crossref_gives_what_the_part_does_not_say() -> None:
    answer = read_bibtex(
        """
        @inproceedings{part, crossref = {WHOLE}, title = {Part}, pages = {1--2}}
        @proceedings{whole, title = {Proceedings of Things}, year = 1999, editor = {Ed Itor}, publisher = {P}, note = {mine}}
    """,
        TitleCase.AS_WRITTEN,
    )
    part = answer.items[0].item
    assert part["container-title"] == "Proceedings of Things"
    assert part["issued"] == {"date-parts": [[1999]]}
    assert part["editor"] == [{"family": "Itor", "given": "Ed"}]
    assert part["title"] == "Part"
    assert "note" not in part
    assert len(answer.items) == 2


def test_xdata_is_taken_in_through_several_steps_and_is_no_item() -> None:
    answer = read_bibtex("""
        @xdata{city, location = {Bern}}
        @xdata{house, xdata = {city}, publisher = {Haus}}
        @book{b, xdata = {house}, title = {T}}
    """)
    assert [imported.item["id"] for imported in answer.items] == ["b"]
    assert answer.items[0].item["publisher-place"] == "Bern"
    assert answer.items[0].item["publisher"] == "Haus"


def test_a_reference_to_itself_or_to_nothing_is_said() -> None:
    answer = read_bibtex(
        "@inbook{a, crossref = {b}, title = {x}}\n@book{b, crossref = {a}, title = "
        "{y}}\n@inbook{c, crossref = {nowhere}, title = {z}}"
    )
    assert len(answer.items) == 3
    assert any("refers to itself" in warning.message for warning in answer.warnings)
    assert [warning.line for warning in answer.warnings if "nowhere" in warning.message] == [3]


def test_comments_and_preambles_are_no_items() -> None:
    answer = read_bibtex(
        '@comment{jabref-meta: {x};}\n@preamble{"\\def\\x{y}"}\nfree text '
        "me@example.org\n@misc{a, title = {x}}\n@Comment unclosed {\n@misc{b, title = {y}}"
    )
    assert [imported.item["id"] for imported in answer.items] == ["a", "b"]


def test_fields_that_csl_has_no_variable_for_are_kept_by_name() -> None:
    item = one(
        "@article{a, title = {x}, journal = {J}, owner = {me}, adsurl = {http://ads/1}, eprint = "
        "{2101.00001v2}, archiveprefix = {arXiv}, primaryclass = {cs.LG}}"
    )
    assert item["custom"] == {
        "fields": {"owner": "me", "primaryclass": "cs.LG"},
        "additional_urls": ["http://ads/1"],
        "arxiv_id": "2101.00001v2",
    }


def test_types_of_both_dialects() -> None:
    kinds = {
        "article": "article-journal",
        "inbook": "chapter",
        "inproceedings": "paper-conference",
        "phdthesis": "thesis",
        "techreport": "report",
        "online": "webpage",
        "dataset": "dataset",
        "misc": "document",
        "unheardof": "document",
    }
    for written, kind in kinds.items():
        assert one(f"@{written}{{a, title = {{x}}, booktitle = {{y}}}}")["type"] == kind
    assert (
        one("@article{a, entrysubtype = {newspaper}, title = {x}}")["type"] == "article-newspaper"
    )
    assert one("@unheardof{a, title = {x}}")["custom"]["fields"] == {"entrytype": "unheardof"}


def test_identifiers_are_undressed() -> None:
    item = one(
        "@article{a, title = {x}, doi = {https://doi.org/10.1000/A\\_B}, url = "
        "{http://x.org/a\\%20b}, isbn = {3-16}, pmcid = {123}, note = {{PMID:} 23439512}}"
    )
    assert item["DOI"] == "10.1000/a_b"
    assert item["URL"] == "http://x.org/a%20b"
    assert item["PMCID"] == "PMC123"
    assert item["PMID"] == "23439512"


def test_groups_of_jabref_reach_their_entries_from_the_field_and_from_the_comment() -> None:
    text = (
        "@misc{A, title = {x}, groups = {One}}\n@misc{b, title = {y}}\n"
        "@comment{jabref-meta: groupstree:\n0 AllEntriesGroup:;\n"
        "1 ExplicitGroup:Two\\;0\\;a\\;b\\;;\n2 KeywordGroup:Three\\;0\\;keywords\\;z\\;0\\;0\\;;\n}"
    )
    items = [imported.item for imported in read_bibtex(text).items]
    assert [item["custom"]["fields"]["groups"] for item in items] == ["One, Two", "Two"]


def test_bibdesk_names_its_files_in_property_lists() -> None:
    content = plistlib.dumps({"relativePath": "Papers/a; b.pdf"}, fmt=plistlib.FMT_BINARY)
    coded = base64.b64encode(content).decode()
    item = one(f"@misc{{a, title = {{x}}, bdsk-file-1 = {{{coded}}}, bdsk-file-2 = {{!!}}}}")
    assert item_file_links(item) == ("Papers/a; b.pdf",)


def test_keywords_of_every_field_are_joined_and_a_brace_group_is_one_word() -> None:
    item = one(
        "@misc{a, title = {x}, keywords = {{one, two}, three}, mendeley-tags = {four,three}}"
    )
    assert item["keyword"] == "one, two; three; four"


def test_the_name_of_a_conference_keeps_its_capitals() -> None:
    item = one("@inproceedings{a, title = {x}, eventtitle = {Conference on Automated Planning}}")
    assert item["event-title"] == "Conference on Automated Planning"


def test_entries_that_steer_a_style_are_no_works() -> None:
    answer = read_bibtex("@IEEEtranBSTCTL{IEEE:BSTcontrol, CTLuse_url = {yes}}")
    assert not answer.items
    assert "names no work" in answer.warnings[0].message


def test_a_brace_that_is_never_closed_does_not_join_names() -> None:
    item = one('@misc{a, author = "Thi\\{\'ebaux, Sylvie and Joachim Hertzberg", title = {x}}')
    assert [person["family"] for person in item["author"]][-1] == "Hertzberg"


def test_titles_stay_as_written_unless_sentence_case_is_asked_for() -> None:
    text = "@article{a, title = {The Fauna of Madagascar and Its Origins}}"
    assert read_bibtex(text).items[0].item["title"] == "The Fauna of Madagascar and Its Origins"
    item = one(text, TitleCase.SENTENCE_CASE)
    assert item["title"] == "The fauna of Madagascar and its origins"
    assert item["custom"]["title_as_written"] == "The Fauna of Madagascar and Its Origins"


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ("@newspaper_article{a, title = {x}}", "article-newspaper"),
        ("@Web_Page{a, title = {x}}", "webpage"),
        ("@bachelorthesis{a, title = {x}}", "thesis"),
        ("@online{a, title = {x}, entrysubtype = {blogpost}}", "post-weblog"),
        ("@article{a, title = {x}, entrysubtype = {magazine}}", "article-magazine"),
        ("@nosuchtype{a, title = {x}}", "document"),
    ],
)
def test_types_of_other_programs_and_subtypes(entry: str, kind: str) -> None:
    assert one(entry)["type"] == kind


def test_no_language_and_no_unknown_subtype_is_lost() -> None:
    item = one(
        "@misc{a, title = {x}, language = {german and english}, langid = {french}, "
        "entrysubtype = {odd}}"
    )
    assert item["language"] == "de"
    assert item["custom"]["fields"] == {
        "language": "german and english",
        "langid": "french",
        "entrysubtype": "odd",
    }


@pytest.mark.parametrize("dialect", BibtexDialect)
@pytest.mark.parametrize(
    "field",
    [
        "file = {Full Text:files/12/M\u00fcller\\: A_B & 50% ~x.pdf:application/pdf}",
        "file = {:C\\:\\\\Papers\\\\_new\\\\a_b.pdf:PDF}",
        "groups = {R&D, A_1}",
    ],
)
def test_paths_and_groups_are_exported_as_other_programs_wrote_them(
    field: str, dialect: BibtexDialect
) -> None:
    item = one(f"@article{{a, title = {{T}}, {field}}}")
    written = write_bibtex([item], dialect)
    assert f"  {field}," in written.splitlines()
    assert one(written)["custom"] == item["custom"]


def test_a_path_that_braces_or_a_last_backslash_would_break_is_still_one_value() -> None:
    for path in ("a{b.pdf", "a}b.pdf", "C:\\", "a\\{b\\}", "{a}.pdf"):
        item = {"id": "a", "type": "book", "custom": {"fields": {"file": path, "zzz": "kept"}}}
        assert one(write_bibtex([item], BibtexDialect.BIBTEX))["custom"]["fields"]["zzz"] == "kept"
