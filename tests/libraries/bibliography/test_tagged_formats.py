"""RIS, MEDLINE, EndNote's tags and the smaller tagged forms."""

# Samples keep the lines that programs write.

import pytest

from carrel.libraries.bibliography.nbib import read_nbib
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml
from carrel.libraries.bibliography.refer import read_refer
from carrel.libraries.bibliography.ris import read_ris
from carrel.libraries.bibliography.tagged_formats import (
    read_biblioscape,
    read_copac,
    read_repec_nep,
)

ARTICLE = """\ufeff
TY  - JOUR
ID  - shannon
AU  - Shannon,Claude E.
A1  - World Bank,
ED  - Itor, Ed
PY  - 1948
DA  - 1948/07/01/
Y2  - 2020/03/04
TI  - A Mathematical   Theory
T2  - The Bell System Technical Journal
JO  - Bell Syst. Tech. J.
VL  - 27
IS  - 3
SP  - 379
EP  - 423
DO  - https://doi.org/10.1002/J.1538-7305.1948.TB01338.X
SN  - 0005-8580
SN  - 978-0-632-05808-2
KW  - information; entropy
KW  - channel
N2  - First line
second line
N1  - a note
UR  - http://a.org; http://b.org
L1  - file.pdf
U1  - 123[pmid]
XX  - strange
ER  -
"""


def test_ris_in_its_usual_form() -> None:
    answer = read_ris(ARTICLE)
    assert not answer.warnings
    assert answer.items[0].line == 2
    assert answer.items[0].item == {
        "id": "shannon",
        "type": "article-journal",
        "title": "A Mathematical Theory",
        "container-title": "The Bell System Technical Journal",
        "container-title-short": "Bell Syst. Tech. J.",
        "author": [{"family": "Shannon", "given": "Claude E."}, {"literal": "World Bank"}],
        "editor": [{"family": "Itor", "given": "Ed"}],
        "issued": {"date-parts": [[1948, 7, 1]]},
        "accessed": {"date-parts": [[2020, 3, 4]]},
        "volume": "27",
        "issue": "3",
        "page": "379-423",
        "DOI": "10.1002/j.1538-7305.1948.tb01338.x",
        "ISSN": "0005-8580",
        "ISBN": "978-0-632-05808-2",
        "keyword": "information; entropy; channel",
        "abstract": "First line second line",
        "note": "a note",
        "URL": "http://a.org",
        "PMID": "123",
        "custom": {
            "additional_urls": ["http://b.org"],
            "fields": {"l1": "file.pdf", "xx": "strange"},
        },
    }


def test_ris_with_ends_and_beginnings_missing() -> None:
    answer = read_ris(
        "TY  - BOOK\nTI  - One\nTY  - CHAP\nTI  - Two\nBT  - Whole\nER  -\nAU  - No, Type\nER  "
        "-\nTY  - JOUR\nER  -\nTY  - RPRT\nTI  - Last"
    )
    assert [imported.item.get("title") for imported in answer.items] == ["One", "Two", None, "Last"]
    assert [imported.item["type"] for imported in answer.items] == [
        "book",
        "chapter",
        "document",
        "report",
    ]
    assert [warning.line for warning in answer.warnings] == [3, 7, 12]
    assert [failure.line for failure in answer.failures] == [9]


def test_a_book_in_ris_has_a_series_and_a_number_of_pages() -> None:
    item = (
        read_ris(
            "TY  - BOOK\nTI  - One\nT2  - Great Books\nSP  - 402\nSN  - 0-632-05808-0\nET  - "
            "2nd\nA2  - Series, Ed\nER  - "
        )
        .items[0]
        .item
    )
    assert item["collection-title"] == "Great Books"
    assert item["number-of-pages"] == "402"
    assert item["edition"] == "2"
    assert item["collection-editor"] == [{"family": "Series", "given": "Ed"}]


def test_medlines_tags() -> None:
    answer = read_nbib(
        "PMID- 23193287\nOWN - NLM\nIS  - 1362-4962 (Electronic)\nVI  - 41\nIP  - Database "
        "issue\nDP  - 2013 Jan\nTI  - GenBank: a very\n      long title.\nPG  - D36-42\n"
        "LID - 10.1093/nar/gks1195 [doi]\nAB  - BACKGROUND: x.\nFAU - Benson, Dennis A\nAU  - "
        "Benson DA\nCN  - The Group\nLA  - eng\nPT  - Journal Article\nTA  - Nucleic Acids Res\n"
        "JT  - Nucleic acids research\nMH  - *Databases, Nucleic Acid\nOT  - genes\nPMC - "
        "PMC3531190\nDCOM- 20130401\n\nPMID- 1\nTI  - Second\nnonsense\nPMID- 2\nTI  - Third\n"
    )
    first = answer.items[0].item
    assert first["PMID"] == "23193287"
    assert first["title"] == "GenBank: a very long title"
    assert first["page"] == "D36-D42"
    assert first["issued"] == {"date-parts": [[2013, 1]]}
    assert first["author"] == [{"family": "Benson", "given": "Dennis A"}, {"literal": "The Group"}]
    assert first["DOI"] == "10.1093/nar/gks1195"
    assert first["PMCID"] == "PMC3531190"
    assert first["language"] == "en"
    assert first["custom"]["fields"]["completed"] == "2013-04-01"
    assert [imported.line for imported in answer.items] == [1, 24, 27]
    assert [warning.line for warning in answer.warnings] == [26, 27]


def test_endnotes_tags() -> None:
    answer = read_refer(
        "%0 Journal Article\n%A Knuth, Donald E.\n%A UNESCO,\n%T Literate\n%J The Computer "
        "Journal\n%D 1984\n%8 May 3\n%V 27\n%N 2\n%P 97-111\n%@ 0010-4620\n%R "
        "10.1093/comjnl/27.2.97\n%K a; b\n%X words\n\n%0 Book\n%T Two\n%I Press\n%C Bern\n"
    )
    first, second = (imported.item for imported in answer.items)
    assert first["author"] == [{"family": "Knuth", "given": "Donald E."}, {"literal": "UNESCO"}]
    assert first["issued"] == {"date-parts": [[1984, 5, 3]]}
    assert first["issue"] == "2"
    assert first["keyword"] == "a; b"
    assert second == {
        "type": "book",
        "title": "Two",
        "publisher": "Press",
        "publisher-place": "Bern",
    }
    assert answer.items[1].line == 16


def test_biblioscape_copac_and_repec() -> None:
    item = (
        read_biblioscape(
            "--AU-- Sa, M.; Kascheres, A.\n--TI-- One\n--ST-- Journal\n--PS-- 1\n--PE-- 9\n--RT-- "
            "Journal Article\n------\n"
        )
        .items[0]
        .item
    )
    assert item["author"] == [
        {"family": "Sa", "given": "M."},
        {"family": "Kascheres", "given": "A."},
    ]
    assert item["page"] == "1-9"
    item = (
        read_copac("\nTI- A book :\n    below\nAU- Prechelt, Lutz\nPY- 1992\nHL- Edinburgh\n")
        .items[0]
        .item
    )
    assert item["title"] == "A book : below"
    assert item["custom"]["fields"] == {"hl": "Edinburgh"}
    mail = (
        "NEP: New Economics Papers\n\nIn this issue we have:\n------\n\n1. One title\n   Jane "
        "Doe\n\n------\n\n1. One title\n\nBy: Jane Doe (Some University)\nDate: 2005-09\nURL: "
        "http://d.repec.org/n\nAbstract words\nKeywords: a, b\n"
    )
    item = read_repec_nep(mail).items[0].item
    assert item["title"] == "One title"
    assert item["author"] == [{"family": "Doe", "given": "Jane"}]
    assert item["issued"] == {"date-parts": [[2005, 9]]}
    assert item["keyword"] == "a; b"


def test_ris_tags_mean_what_endnote_says_they_mean_for_a_type() -> None:
    text = (
        "TY  - PAT\nTI  - P\nSN  - US 5,123,456\nM1  - 07/123\nER  - \n"
        "TY  - CPAPER\nTI  - C\nT2  - Meeting\nC3  - Proceedings of It\nCY  - Oslo\nC1  - Berlin\n"
        "ER  - \n"
        "TY  - JOUR\nTI  - J\nET  - 2019/03/04\nER  - \n"
        "TY  - PCOMM\nTI  - L\nA2  - Roe, Kim\nER  - \n"
        "TY  - RPRT\nTI  - R\nSN  - TR-7\nER  - \n"
        "TY  - MAP\nTI  - M\nC1  - 1:500\nER  - \n"
    )
    patent, paper, article, letter, report, plan = (
        imported.item for imported in read_ris(text).items
    )
    assert patent["number"] == "US 5,123,456"
    assert patent["custom"]["fields"] == {"m1": "07/123"}
    assert (paper["event-title"], paper["container-title"]) == ("Meeting", "Proceedings of It")
    assert (paper["event-place"], paper["publisher-place"]) == ("Oslo", "Berlin")
    assert article["available-date"] == {"date-parts": [[2019, 3, 4]]}
    assert letter["recipient"] == [{"family": "Roe", "given": "Kim"}]
    assert (report["number"], plan["scale"]) == ("TR-7", "1:500")


def test_a_year_of_five_digits_and_a_day_of_no_month_are_warned_of_in_ris() -> None:
    answer = read_ris("TY  - BOOK\nID  - a\nTI  - T\nPY  - 20155\nY2  - 2020/02/31\nER  - \n")
    assert answer.items[0].item["issued"] == {"date-parts": [[20155]]}
    told = [each.message for each in answer.warnings]
    assert len(told) == 2
    assert "accessed.date-parts[0][2] must be a day from 1 to 29, and is the number 31" in told[0]
    assert "20155" in told[1]
    assert not read_ris("TY  - BOOK\nTI  - T\nPY  - 2015\nY2  - 2020/02/29\nER  - \n").warnings


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("A living cell.", "A living cell"),
        ("[A study in Japanese].", "[A study in Japanese]"),
        ("Does it work?", "Does it work?"),
        ("Trials in the U.S.", "Trials in the U.S."),
        ("Of Candida spp.", "Of Candida spp."),
        ("And then...", "And then..."),
    ],
)
def test_medlines_full_stop_is_none_of_the_title(written: str, title: str) -> None:
    record = f"PMID- 1\nTI  - {written}\nPL  - England\nJT  - Nature\nPT  - Journal Article\n"
    item = read_nbib(record).items[0].item
    assert item["title"] == title
    article = f"<Article><ArticleTitle>{written}</ArticleTitle></Article>"
    xml = f"<PubmedArticle><MedlineCitation>{article}</MedlineCitation></PubmedArticle>"
    assert read_pubmed_xml(xml).items[0].item["title"] == title


def test_the_country_of_a_journal_is_no_place_that_styles_print() -> None:
    record = "PMID- 1\nTI  - T\nPL  - England\nJT  - Nature\nPT  - Journal Article\n"
    item = read_nbib(record).items[0].item
    assert "publisher-place" not in item
    assert item["custom"]["fields"]["country"] == "England"
    book = read_nbib(record.replace("Journal Article", "Book")).items[0].item
    assert book["publisher-place"] == "England"
