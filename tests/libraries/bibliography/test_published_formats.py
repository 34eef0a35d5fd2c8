"""What the published field lists of databases and catalogues say, in small records."""

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
    assert patent["custom"]["fields"] == {"assignee": "BIG COMPANY"}


def test_medline_suffixes_chapters_and_short_journals() -> None:
    article, chapter = read_items(
        "PMID- 1\nTI  - A title\nFAU - Smith, John A Jr\nAU  - Smith JA Jr\nTA  - J Foo\n\n"
        "PMID- 2\nPT  - Book\nBTI - The book\nTI  - A chapter\nEN  - 2nd\n"
    )
    assert article["author"] == [{"family": "Smith", "given": "John A", "suffix": "Jr"}]
    assert article["container-title"] == article["container-title-short"] == "J Foo"
    assert (chapter["type"], chapter["container-title"]) == ("chapter", "The book")
    assert chapter["edition"] == "2"
