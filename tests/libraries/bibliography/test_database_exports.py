"""Exports of databases and repositories: Web of Science, Ovid, SilverPlatter, CFF, BibTeXML."""

from typing import Any

import pytest

from carrel.libraries.bibliography.citation_file import MAX_CHARACTERS
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import BibliographyError
from carrel.libraries.bibliography.recognition import InputKind, recognise


def read(text: str, kind: InputKind) -> list[dict[str, Any]]:
    assert recognise(text) is kind
    return [imported.item for imported in read_bibliography(text).items]


WEB_OF_SCIENCE = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Brown, JM
   van der Berg, A
TI MEASURING CO/sub 2/ IN AIR
   AND WATER
SO JOURNAL OF ORGANIC CHEMISTRY
LA English
DT Article
DE carbon; air
ID AIR
SN 0022-3263
PD JAN 15 2003
PY 2003
VL 12
IS 3
BP 10
EP 20
DI 10.1000/XYZ
CR Doe J, 1999, NATURE
   Roe K, 2000, SCIENCE
ER

PT S
AU Doe, J
AF Doe, Jane
TI A paper
SO Proceedings of a Meeting
DT Proceedings Paper
CT Meeting
PY 1999
AR 77
ER
EF
"""


def test_web_of_science_records_with_their_names_and_capitals() -> None:
    article, paper = read(WEB_OF_SCIENCE, InputKind.WEB_OF_SCIENCE)
    assert article["title"] == "Measuring Co<sub>2</sub> in Air and Water"
    assert article["container-title"] == "Journal of Organic Chemistry"
    assert article["author"] == [
        {"family": "Brown", "given": "J. M."},
        {"family": "Berg", "given": "A.", "non-dropping-particle": "van der"},
    ]
    assert (article["page"], article["issue"], article["DOI"]) == ("10-20", "3", "10.1000/xyz")
    assert article["issued"] == {"date-parts": [[2003, 1, 15]]}
    assert article["keyword"] == "carbon; air; AIR"
    cited = article["custom"]["fields"]["cited-references"]
    assert cited == "Doe J, 1999, NATURE; Roe K, 2000, SCIENCE"
    assert (paper["type"], paper["number"]) == ("paper-conference", "77")
    assert paper["author"] == [{"family": "Doe", "given": "Jane"}]


OVID = """Database: PsycINFO
<1>
Unique Identifier
  123
Authors
  Smith JM.  Doe A.
Title
  On the thing. [Review]
Source
  Annual Meeting Abstracts. 110(11):1-2, 2007.
Publication Type
  Journal Article.

<2>
Authors
  Bush, Mark; Singh, Gita
Chapter Title
  A chapter
Title
  The book.
Source
  Jones, A (Ed). (2001). The book. (pp. 12-34). xv, 300 pp. New York, NY: Wiley.
Publication Type
  Book; Chapter.

<3>
Source
  Something that nobody can take apart
"""


def test_ovid_articles_and_chapters_and_a_source_that_is_kept_whole() -> None:
    article, chapter, other = read(OVID, InputKind.OVID)
    assert article["title"] == "On the thing"
    assert article["author"][0] == {"family": "Smith", "given": "J. M."}
    assert article["container-title"] == "Annual Meeting Abstracts"
    assert (article["volume"], article["issue"], article["page"]) == ("110", "11", "1-2")
    assert (chapter["type"], chapter["title"]) == ("chapter", "A chapter")
    assert chapter["container-title"] == "The book"
    assert chapter["editor"] == [{"family": "Jones", "given": "A"}]
    assert (chapter["publisher"], chapter["publisher-place"]) == ("Wiley", "New York, NY")
    assert other["custom"]["fields"] == {"source": "Something that nobody can take apart"}


INSPEC = """Record 1 of 2 - INSPEC 1990
TI:  Prolog for X
AU:  Yao,-B.P.; Ingram,-D.
SO:  IEEE-Transactions-on-Software. Jan. 1986; SE-12(1): 10-20
RT:  Journal-Paper
ID:  logic; proof
Record 2 of 2 - INSPEC 1990
TI:  "A part" in The whole
AU:  Roe,-K. (ed)
PB:  Some-House: London, 1991
DT:  Chapter
"""


def test_inspec_and_silverplatter_records() -> None:
    article, chapter = read(INSPEC, InputKind.SILVER_PLATTER)
    assert article["container-title"] == "IEEE Transactions on Software"
    assert (article["volume"], article["issue"], article["page"]) == ("SE-12", "1", "10-20")
    assert article["author"][1] == {"family": "Ingram", "given": "D."}
    assert (chapter["title"], chapter["container-title"]) == ("A part", "The whole")
    assert chapter["editor"] == [{"family": "Roe", "given": "K."}]
    assert (chapter["publisher"], chapter["publisher-place"]) == ("Some House", "London")
    assert chapter["issued"] == {"date-parts": [[1991]]}


CITATION_FILE = """cff-version: 1.2.0
message: Cite it.
title: Tool
authors:
  - family-names: Doe
    given-names: Jane
    name-particle: van
  - name: The Group
version: "1.10"
date-released: 2020-01-02
identifiers:
  - {type: doi, value: 10.5281/zenodo.1}
repository-code: https://example.org/tool
preferred-citation:
  type: article
  title: Paper
  authors: [{family-names: Doe, given-names: J.}]
  journal: Journal
  year: 2021
  month: 3
  start: 1
  end: 9
"""


def test_a_citation_file_gives_the_software_and_the_work_to_cite() -> None:
    software, paper = read(CITATION_FILE, InputKind.CITATION_FILE)
    assert software == {
        "type": "software",
        "title": "Tool",
        "version": "1.10",
        "author": [
            {"family": "Doe", "given": "Jane", "non-dropping-particle": "van"},
            {"literal": "The Group"},
        ],
        "issued": {"date-parts": [[2020, 1, 2]]},
        "DOI": "10.5281/zenodo.1",
        "URL": "https://example.org/tool",
    }
    assert (paper["type"], paper["page"]) == ("article-journal", "1-9")
    assert paper["issued"] == {"date-parts": [[2021, 3]]}


@pytest.mark.parametrize(
    "text",
    [
        "cff-version: [",
        "cff-version: 1.2.0\n- a",
        f"cff-version: 1.2.0\ntitle: {'a' * MAX_CHARACTERS}",
    ],
)
def test_a_citation_file_that_is_no_yaml_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(BibliographyError):
        read_bibliography(text)


def test_bibtexml_is_read_as_the_bibtex_that_it_is() -> None:
    text = (
        '<?xml version="1.0"?><bibtex:file xmlns:bibtex="http://bibtexml.sf.net/">'
        '<bibtex:entry id="k1"><bibtex:article><bibtex:author>Max Mustermann and A. B'
        "</bibtex:author>"
        "<bibtex:title>T</bibtex:title><bibtex:journal>J</bibtex:journal>"
        "<bibtex:year>2000</bibtex:year><bibtex:month>jan</bibtex:month></bibtex:article>"
        '</bibtex:entry><bibtex:entry id="empty"/></bibtex:file>'
    )
    (item,) = read(text, InputKind.BIBTEX_XML)
    assert item["id"] == "k1"
    assert item["author"][0] == {"family": "Mustermann", "given": "Max"}
    assert item["issued"] == {"date-parts": [[2000, 1]]}
