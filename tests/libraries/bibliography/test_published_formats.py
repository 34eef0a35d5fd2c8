"""What the published field lists of databases and catalogues say, in small records."""

import pytest

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import CslItem

WEB_OF_SCIENCE = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Smith, JA
   Roe, R
AF Smith, John A.
   Roe, R. B.
CA Big Consortium
TI A title
SO JOURNAL OF FOO
CT Conference on Foo
CY MAY 03-07, 2010
PI NEW YORK
PY 2010
ER

PT B
AU Au, A
TI A chapter
SO THE WHOLE BOOK
ER

PT S
AU Au, A
TI A paper
SO PROCEEDINGS
SE LECTURE NOTES
CT Conference on Foo
ER

PT P
AU Inv, A
TI A device
PN US123-A
IS 4
AE BIG COMPANY
ER
EF
"""


def read_items(content: str) -> list[CslItem]:
    answer = read_bibliography(content)
    assert not answer.failures
    return [each.item for each in answer.items]


def test_web_of_science_initials_with_stops_are_not_stopped_twice() -> None:
    article = read_items(WEB_OF_SCIENCE)[0]
    assert article["author"] == [
        {"family": "Smith", "given": "John A."},
        {"family": "Roe", "given": "R. B."},
        {"literal": "Big Consortium"},
    ]
    assert article["event-date"] == {"date-parts": [[2010, 5, 3], [2010, 5, 7]]}
    assert article["publisher-place"] == "New York"


def test_web_of_science_parts_of_books_and_patents_are_what_they_are() -> None:
    _, chapter, paper, patent = read_items(WEB_OF_SCIENCE)
    assert (chapter["type"], chapter["container-title"]) == ("chapter", "The Whole Book")
    assert (paper["type"], paper["collection-title"]) == ("paper-conference", "LECTURE NOTES")
    assert (patent["type"], patent["number"]) == ("patent", "US123-A")
    assert patent["custom"]["fields"] == {"assignee": "BIG COMPANY", "issue": "4"}


def test_medline_suffixes_chapters_and_short_journals() -> None:
    article, chapter = read_items(
        "PMID- 1\nTI  - A title\nFAU - Smith, John A Jr\nAU  - Smith JA Jr\nTA  - J Foo\n\n"
        "PMID- 2\nPT  - Book\nBTI - The book\nTI  - A chapter\nEN  - 2nd\n"
    )
    assert article["author"] == [{"family": "Smith", "given": "John A", "suffix": "Jr"}]
    assert article["container-title"] == article["container-title-short"] == "J Foo"
    assert (chapter["type"], chapter["container-title"]) == ("chapter", "The book")
    assert chapter["edition"] == "2"


def test_older_medline_records_have_the_initials_last() -> None:
    (item,) = read_items("PMID- 1\nTI  - A title\nAU  - van Berg JA Jr\nAU  - Doe J\n")
    assert item["author"] == [
        {"family": "Berg", "given": "JA", "non-dropping-particle": "van", "suffix": "Jr"},
        {"family": "Doe", "given": "J"},
    ]


def test_silver_platter_names_and_types_have_hyphens_for_blanks() -> None:
    (item,) = read_items(
        "Record 1 of 1 in MEDLINE 2000\nTI:  A title\nAU:  Van-Berg-JA; Doe-J\n"
        "SO:  J-Foo. 2000 May; 12(3): 100-9\nPT:  JOURNAL-ARTICLE\n"
    )
    assert item["type"] == "article-journal"
    assert item["author"] == [
        {"family": "Van Berg", "given": "J. A."},
        {"family": "Doe", "given": "J."},
    ]


def mods(inner: str) -> CslItem:
    return read_items(f"<modsCollection><mods>{inner}</mods></modsCollection>")[0]


def test_mods_conferences_are_events_and_no_authors() -> None:
    paper = mods(
        "<titleInfo><title>P</title></titleInfo><genre>conference publication</genre>"
        '<relatedItem type="host"><titleInfo><title>Proceedings</title></titleInfo>'
        '<name type="conference"><namePart>Conference on Foo</namePart></name></relatedItem>'
    )
    assert (paper["type"], paper["event-title"]) == ("paper-conference", "Conference on Foo")
    assert "editor" not in paper


def test_mods_places_links_series_and_theses() -> None:
    thesis = mods(
        "<titleInfo><title>T</title></titleInfo><genre>theses</genre><name><namePart>Doe, J."
        '</namePart><role><roleTerm type="code">dis</roleTerm></role></name><originInfo><place>'
        '<placeTerm type="code">nyu</placeTerm></place><place><placeTerm type="text">New York'
        '</placeTerm></place></originInfo><relatedItem type="series"><titleInfo><title>Series'
        "</title><partNumber>12</partNumber></titleInfo></relatedItem>"
        '<identifier type="hdl">http://handle</identifier><location><url access="preview">'
        'http://preview</url><url usage="primary display">http://work</url></location>'
    )
    assert thesis["type"] == "thesis"
    assert thesis["author"] == [{"family": "Doe", "given": "J."}]
    assert thesis["publisher-place"] == "New York"
    assert thesis["custom"]["fields"] == {"country-code": "nyu"}
    assert (thesis["collection-title"], thesis["collection-number"]) == ("Series", "12")
    assert thesis["URL"] == "http://work"
    assert thesis["custom"]["additional_urls"] == ["http://preview", "http://handle"]


def marc_field(tag: str, **subfields: str) -> str:
    inner = "".join(
        f'<subfield code="{code}">{text}</subfield>' for code, text in subfields.items()
    )
    return f'<datafield tag="{tag}" ind1="1" ind2=" ">{inner}</datafield>'


def test_marc_illustrators_other_titles_and_german_enumerations() -> None:
    fields = (
        marc_field("245", a="T"),
        marc_field("246", a="Other"),
        marc_field("700", a="Rand, Ted,", e="ill."),
        marc_field("773", t="Zeitschrift", g="12(2010), 3, Seite 100-110", x="1234-5678"),
    )
    (item,) = read_items(
        f"<collection><record><leader>01142nab a2200301 a 4500</leader>{''.join(fields)}"
        "</record></collection>"
    )
    assert item["illustrator"] == [{"family": "Rand", "given": "Ted"}]
    assert (item["volume"], item["issue"], item["page"]) == ("12", "3", "100-110")
    assert item["custom"]["fields"] == {"alternative-title": "Other"}


def test_pica_keeps_the_issn_of_the_journal() -> None:
    (item,) = read_items(
        '<record><datafield tag="021A"><subfield code="a">T</subfield></datafield>'
        '<datafield tag="039B"><subfield code="t">Zeitschrift</subfield>'
        '<subfield code="C">ISSN</subfield><subfield code="6">1234-5678</subfield></datafield>'
        "</record>"
    )
    assert item["ISSN"] == "1234-5678"


def test_a_list_of_names_in_one_person_of_word_is_split() -> None:
    (item,) = read_items(
        "<Sources><Source><SourceType>Book</SourceType><Title>T</Title><LCID>de-DE</LCID>"
        "<Author><Author><NameList><Person><Last>Doe</Last><Middle>and Or{\\l}owski, Cezary"
        "</Middle><First>Jane</First></Person></NameList></Author></Author></Source></Sources>"
    )
    assert item["author"] == [
        {"family": "Doe", "given": "Jane"},
        {"family": "Orłowski", "given": "Cezary"},
    ]
    assert item["language"] == "de-DE"


def test_a_citation_file_keeps_its_version_and_says_where_a_conference_was() -> None:
    software, paper = read_items(
        "cff-version: 1.2.0\ntitle: Tool\nversion: 1.10\nurl: https://tool\n"
        "identifiers:\n  - type: url\n    value: https://other\nauthors:\n  - name: Team\n"
        "preferred-citation:\n  type: conference-paper\n  title: Paper\n  authors:\n"
        "    - name: Team\n  conference:\n    name: Conf\n    city: Paris\n    country: FR\n"
        "    date-start: 2020-01-02\n    date-end: 2020-01-05\n"
    )
    assert (software["version"], software["URL"]) == ("1.10", "https://tool")
    assert paper["event-place"] == "Paris, FR"
    assert paper["event-date"] == {"date-parts": [[2020, 1, 2], [2020, 1, 5]]}


def test_persons_and_titles_within_bibtexml() -> None:
    (item,) = read_items(
        '<bibtex:file xmlns:bibtex="http://bibtexml.sf.net/"><bibtex:entry id="k"><bibtex:book>'
        "<bibtex:author><bibtex:person><bibtex:first>Jane</bibtex:first><bibtex:last>Doe"
        "</bibtex:last></bibtex:person></bibtex:author><bibtex:title><bibtex:title>T"
        "</bibtex:title><bibtex:subtitle>S</bibtex:subtitle></bibtex:title></bibtex:book>"
        "</bibtex:entry></bibtex:file>"
    )
    assert item["author"] == [{"family": "Doe", "given": "Jane"}]
    assert item["title"] == "T: S"


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("1998 Dec-1999 Jan", [[1998, 12], [1999, 1]]),
        ("Dec 1998 to Jan 1999", [[1998, 12], [1999, 1]]),
        ("Monday, 3 May 2010", [[2010, 5, 3]]),
        ("2010-00-00", [[2010]]),
    ],
)
def test_dates_over_two_years_with_weekdays_and_empty_parts(
    written: str, parts: list[list[int]]
) -> None:
    assert read_date(written) == {"date-parts": parts}


def test_ovid_chapters_standard_numbers_and_names_that_end_in_a_stop() -> None:
    article, chapter = read_items(
        "<1>\nAuthors\n  Smith, John A.  Doe, Anna.\nTitle\n  A title\n"
        "Source\n  Journal of Foo. 12(3):100-9, 2010 May.\nISSN Print\n  1234-5678\n"
        "ISSN Online\n  8765-4321\n\n<2>\nAuthor\n  Au, A;  Be, B\nTitle\n  A chapter.\n"
        "Source\n  In: Ed, E (Ed). (2001). The book. (pp. 1-20). xii, 300 pp. New York, NY, US: "
        "Pub; US.\nPublication Type\n  Book, Edited Book\n"
    )
    assert [name["given"] for name in article["author"]] == ["John A.", "Anna"]
    assert article["ISSN"] == "1234-5678, 8765-4321"
    assert (chapter["type"], chapter["container-title"]) == ("chapter", "The book")
    assert chapter["editor"] == [{"family": "Ed", "given": "E"}]
    assert (chapter["publisher"], chapter["publisher-place"]) == ("Pub", "New York, NY, US")


def test_pubmed_tells_when_an_article_was_received_and_first_seen() -> None:
    day = "<Year>2009</Year><Month>12</Month><Day>31</Day>"
    (item,) = read_items(
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Journal>"
        "<JournalIssue><PubDate><Year>2010</Year></PubDate></JournalIssue></Journal>"
        f"<ArticleTitle>T</ArticleTitle><ArticleDate>{day}</ArticleDate></Article>"
        "</MedlineCitation><PubmedData><History>"
        f'<PubMedPubDate PubStatus="received">{day}</PubMedPubDate>'
        f'<PubMedPubDate PubStatus="entrez">{day}</PubMedPubDate></History></PubmedData>'
        "</PubmedArticle></PubmedArticleSet>"
    )
    assert item["issued"] == {"date-parts": [[2010]]}
    assert item["custom"]["fields"] == {"epub": "2009-12-31", "history": "2009-12-31 [received]"}


@pytest.mark.parametrize(
    ("genre", "kind"),
    [
        ("journalArticle", "article-journal"),
        ("bookSection", "chapter"),
        ("webpage", "webpage"),
        ("videoRecording", "motion_picture"),
        ("conferencePaper", "paper-conference"),
    ],
)
def test_zoteros_types_are_genres_of_its_mods(genre: str, kind: str) -> None:
    item = mods(
        f'<titleInfo><title>T</title></titleInfo><genre authority="local">{genre}</genre>'
        '<location><url dateLastAccessed="2010-05-03">http://work</url></location>'
    )
    assert item["type"] == kind
    assert "genre" not in item
    assert item["accessed"] == {"date-parts": [[2010, 5, 3]]}
