"""Types of reference in Citavi's projects, and what their general fields mean."""

import pytest

from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import CslItem

_TABLES = {
    "Persons": '<Person id="p1"><FirstName>Jane</FirstName><LastName>Doe</LastName></Person>'
    '<Person id="o1"><LastName>University of Foo</LastName></Person>',
    "Periodicals": '<Periodical id="j1"><Name>Journal of Foo</Name></Periodical>',
    "Libraries": '<Library id="l1"><Name>British Library</Name></Library>',
}


def read(*references: str, **tables: str) -> list[CslItem]:
    parts = "".join(f"<{name}>{inner}</{name}>" for name, inner in (_TABLES | tables).items())
    answer = read_bibliography(
        f"<CitaviExchangeData>{parts}<References>{''.join(references)}</References>"
        "</CitaviExchangeData>"
    )
    assert not answer.failures
    return [each.item for each in answer.items]


def reference(kind: str, inner: str = "", key: str = "r1") -> str:
    return (
        f'<Reference id="{key}"><ReferenceType>{kind}</ReferenceType><Title>{key}</Title>{inner}'
        "</Reference>"
    )


def links(*rows: str) -> str:
    return "".join(f"<OnetoN>{row}</OnetoN>" for row in rows)


def test_gray_literature_is_a_report_and_a_press_release_says_so() -> None:
    report, release = read(reference("UnpublishedWork"), reference("PressRelease", key="r2"))
    assert report["type"] == "report"
    assert (release["type"], release["genre"]) == ("article-newspaper", "Press release")


def test_a_thesis_has_a_university_and_a_kind() -> None:
    (thesis,) = read(
        reference("Thesis", "<TitleSupplement>Dissertation</TitleSupplement>"),
        ReferenceAuthors=links("r1;p1"),
        ReferenceOrganizations=links("r1;o1"),
    )
    assert thesis["author"] == [{"family": "Doe", "given": "Jane"}]
    assert (thesis["publisher"], thesis["genre"]) == ("University of Foo", "Dissertation")


@pytest.mark.parametrize(
    ("kind", "field", "text", "variable"),
    [
        ("ComputerProgram", "SpecificField4", "1.3.1", "version"),
        ("Movie", "SpecificField2", "116 minutes", "dimensions"),
        ("ConferenceProceedings", "SpecificField1", "Bologna", "event-place"),
        ("CourtDecision", "SpecificField3", "Ruling", "genre"),
    ],
)
def test_numbered_fields_mean_what_the_type_says(
    kind: str, field: str, text: str, variable: str
) -> None:
    (item,) = read(reference(kind, f"<{field}>{text}</{field}>"))
    assert item[variable] == text
    assert "custom" not in item


def test_a_numbered_field_without_a_meaning_is_kept() -> None:
    (item,) = read(reference("Book", "<SpecificField3>words</SpecificField3>"))
    assert item["custom"]["fields"] == {"specific-field-3": "words"}


def test_patents_and_court_decisions() -> None:
    patent, case = read(
        reference(
            "Patent",
            "<Year>2010</Year><Date2>2010-08-26</Date2><SpecificField2>Big Company"
            "</SpecificField2><SpecificField6>2008-06-26</SpecificField6>",
        ),
        reference("CourtDecision", "<SpecificField2>232 U.S. 399</SpecificField2>", key="r2"),
        ReferenceOrganizations=links("r2;o1"),
    )
    assert patent["issued"] == {"date-parts": [[2010, 8, 26]]}
    assert patent["submitted"] == {"date-parts": [[2008, 6, 26]]}
    assert patent["custom"]["fields"] == {"assignee": "Big Company"}
    assert (case["volume"], case["container-title"], case["page"]) == ("232", "U.S.", "399")
    assert case["authority"] == "University of Foo"


def test_parts_of_special_issues_and_of_proceedings() -> None:
    _, article, _, paper = read(
        reference("SpecialIssue", "<PeriodicalID>j1</PeriodicalID><Number>2</Number>"),
        reference("Contribution", key="r2"),
        reference("ConferenceProceedings", "<SpecificField1>Bologna</SpecificField1>", key="r3"),
        reference("Contribution", key="r4"),
        ReferenceReferences=links("r1;r2", "r3;r4"),
    )
    assert (article["type"], article["container-title"]) == ("article-journal", "Journal of Foo")
    assert (article["issue"], article["custom"]["fields"]) == ("2", {"issuetitle": "r1"})
    assert (paper["type"], paper["event-place"]) == ("paper-conference", "Bologna")


def test_files_links_shelves_and_the_day_beside_the_year() -> None:
    (item,) = read(
        reference("Book", "<Year>2016</Year><Date>2016-05-27</Date>"),
        Locations="<Location><ReferenceID>r1</ReferenceID><Address>"
        '{"LinkedResourceType":1,"UriString":"Doe 2016.pdf"}</Address></Location>'
        "<Location><ReferenceID>r1</ReferenceID><Address>http://work</Address></Location>"
        "<Location><ReferenceID>r1</ReferenceID><CallNumber>YK 1</CallNumber>"
        "<LibraryID>l1</LibraryID></Location>",
    )
    assert item["issued"] == {"date-parts": [[2016, 5, 27]]}
    assert item["custom"]["fields"] == {"file": "Doe 2016.pdf"}
    assert (item["URL"], item["call-number"]) == ("http://work", "YK 1")
    assert item["archive"] == "British Library"


def test_quotations_say_whose_words_they_are() -> None:
    row = "<KnowledgeItem><ReferenceID>r1</ReferenceID><Text>words</Text>{}</KnowledgeItem>"
    (item,) = read(
        reference("Book"),
        KnowledgeItems=row.format("<QuotationType>1</QuotationType><PageRange>24</PageRange>")
        + row.format("<QuotationType>4</QuotationType><QuotationIndex>1</QuotationIndex>"),
    )
    assert item["annote"] == "words (direct quotation, p. 24)\nwords (comment)"
