"""What a format has a field for is somewhere in the item: nothing that a file says is dropped."""

import json
import re
from typing import Any

import pytest

from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.recognition import InputKind


def read(text: str, kind: InputKind) -> list[dict[str, Any]]:
    return [imported.item for imported in read_bibliography(text, kind).items]


def word(tag: str) -> str:
    return f"Word{re.sub(r'[^A-Za-z0-9]', '', tag)}x"


def tagged(tags: str, form: str) -> str:
    return "".join(form.format(tag, word(tag)) for tag in tags.split())


NBIB = (
    "AB AD AID AUID BTI CI CIN CN COIS CON CP CRDT CRF CRI CTDT CTI DA DCOM DDIN DEP DP DRDT DRIN "
    "ECF ECI EDAT EFR EIN EN FAU FED FIR FPS GN GR GS IP IS JID JT LA LID LR MH MHDA MID NM OAB "
    "OCI OID ORI OT OTO OWN PB PG PHST PL PMC PMCR PS PST PUBM RF RIN RN ROF RPF RPI RRF RRI SB "
    "SFM SI SO SPIN STAT TA TI TT UIN UOF VI VTI"
)
WEB_OF_SCIENCE = (
    "AF TI SO SE LA DT DE ID AB C1 RP EM CR NR TC PU PI PA SN J9 JI PY VL IS BP EP AR PN SU SI MA "
    "DI PG WC SC GA UT PM OA FU FX GP CT CY CL SP HO BF CA RI OI BE BS U1 U2 Z9"
)
SILVER_PLATTER = (
    "TI AU AF SO JN PB PY IS LA AB DE ID CC PT NT AD CA CF CL CP CT DT DN ET ED IN KP MJ MN OD PA "
    "PG PR RN RP SF SP SU TC UD VO VI"
)
RIS = (
    "TI T2 T3 J2 ST TT AU A2 A3 A4 VL IS SP PB CY ET SN M1 M2 M3 N1 AB KW UR L1 LA DB DP CN AN AD "
    "AV C1 C2 C3 C4 C5 C6 C7 C8 NV SE RN RP RI OP CA LB U1 U2 U3 SV TA"
)
COPAC = "TI AU SE ED PY PU IS NT PD LA DT SH LC UN EX OT HL KW"
BIBLIOSCAPE = (
    "AU AA TI ST TT QT SA EA TA QA YP VL NB PS PB CY CO LG ED AB NT KW SH AT UR AD C1 C2 C3 C4 C5 "
    "C6 SB CA TH TW DE IS DI SE FN"
)


@pytest.mark.parametrize(
    ("kind", "tags", "begin", "form", "end"),
    [
        (InputKind.NBIB, NBIB, "PMID- 123\n", "{:<4}- {}\n", ""),
        (InputKind.WEB_OF_SCIENCE, WEB_OF_SCIENCE, "FN x\nVR 1\nPT J\n", "{} {}\n", "ER\nEF\n"),
        (InputKind.SILVER_PLATTER, SILVER_PLATTER, "Record 1 of 1 - X\n\n", "{}:  {}\n", ""),
        *(
            (InputKind.RIS, RIS, f"TY  - {kind}\n", "{}  - {}\n", "ER  - \n")
            for kind in ("JOUR", "BOOK", "CHAP", "CONF", "THES", "RPRT", "PAT", "MAP", "EDBOOK")
        ),
        (InputKind.RIS, "JO T2 JF BT TI", "TY  - CHAP\n", "{}  - {}\n", "ER  - \n"),
        (InputKind.COPAC, COPAC, "", "{}- {}\n", ""),
        (InputKind.BIBLIOSCAPE, BIBLIOSCAPE, "", "--{}-- {}\n", "------\n"),
        *(
            (InputKind.REFER, "T A B J S E V N P I C D K X Z", f"%0 {kind}\n", "%{} {}\n", "")
            for kind in ("Book", "Journal Article", "Book Section", "Edited Book", "Thesis")
        ),
    ],
)
def test_every_tag_is_kept(kind: InputKind, tags: str, begin: str, form: str, end: str) -> None:
    (item,) = read(begin + tagged(tags, form) + end, kind)
    text = json.dumps(item, ensure_ascii=False)
    assert [tag for tag in tags.split() if word(tag) not in text] == []


def node(tag: str, content: str = "") -> str:
    return f"<{tag}>{content or word(tag)}</{tag}>"


def nodes(tags: str) -> str:
    return "".join(node(tag) for tag in tags.split())


ENDNOTE = (
    "pages volume number issue num-vols edition section reprint-edition pub-location publisher "
    "orig-pub isbn accession-num call-num label abstract notes research-notes work-type language "
    "electronic-resource-num remote-database-name remote-database-provider custom1 custom7 "
    "caption auth-address access-date"
)
ENDNOTE_PEOPLE = "authors secondary-authors tertiary-authors subsidiary-authors translated-authors"
ENDNOTE_TITLES = "title secondary-title tertiary-title short-title translated-title"
MS_BIB = (
    "AbbreviatedCaseNumber AlbumTitle BookTitle Broadcaster BroadcastTitle CaseNumber City "
    "Comments ChapterNumber ConferenceName CountryRegion Court Department Distributor DOI Edition "
    "Institution InternetSiteTitle Issue JournalName Medium NumberVolumes Pages PatentNumber "
    "PeriodicalTitle ProductionCompany PublicationTitle Publisher RecordingNumber Reporter "
    "ShortTitle StandardNumber StateProvince Station Tag Theater ThesisType Title Type URL Version "
    "Volume"
)
MS_BIB_PEOPLE = (
    "Artist Author BookAuthor Compiler Composer Conductor Counsel Director Editor Interviewee "
    "Interviewer Inventor Performer ProducerName Translator Writer"
)
PUBMED = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID>"
    "<Article><Journal><JournalIssue>"
    + nodes("Volume Issue")
    + "</JournalIssue>"
    + nodes("Title")
    + "</Journal>"
    + nodes("ArticleTitle VernacularTitle")
    + node("Pagination", nodes("MedlinePgn"))
    + node("Abstract", nodes("AbstractText CopyrightInformation"))
    + node("AuthorList", node("Author", nodes("LastName ForeName Suffix Affiliation")))
    + node("GrantList", node("Grant", nodes("GrantID Agency")))
    + node("DataBankList", nodes("AccessionNumber"))
    + "</Article>"
    + node("MedlineJournalInfo", nodes("Country MedlineTA NlmUniqueID ISSNLinking"))
    + node("ChemicalList", node("Chemical", nodes("RegistryNumber NameOfSubstance")))
    + node("InvestigatorList", node("Investigator", node("LastName", "WordInvestigatorx")))
    + nodes("SupplMeshName CitationSubset GeneSymbol NumberOfReferences OtherID OtherAbstract")
    + node("MeshHeadingList", node("MeshHeading", nodes("DescriptorName")))
    + node("KeywordList", nodes("Keyword"))
    + nodes("CoiStatement SpaceFlightMission GeneralNote")
    + '</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="mid">WordMidx</ArticleId>'
    "</ArticleIdList></PubmedData></PubmedArticle></PubmedArticleSet>"
)
PUBMED_BOOK = node(
    "PubmedBookArticle",
    node(
        "BookDocument",
        node(
            "Book",
            node("Publisher", nodes("PublisherName PublisherLocation"))
            + nodes(
                "BookTitle Volume VolumeTitle Edition CollectionTitle Isbn Medium ReportNumber"
            ),
        )
        + nodes("LocationLabel ArticleTitle")
        + node("Sections", node("Section", nodes("SectionTitle"))),
    ),
)
MODS = (
    '<mods xmlns="http://www.loc.gov/mods/v3">'
    + node("titleInfo", nodes("nonSort title subTitle partNumber partName"))
    + '<titleInfo type="alternative"><title>WordAlternativex</title></titleInfo>'
    + '<titleInfo type="translated"><title>WordTranslatedx</title></titleInfo>'
    + node("name", nodes("namePart affiliation"))
    + node("name", nodes("displayForm"))
    + node("originInfo", nodes("publisher dateValid dateModified dateOther edition frequency"))
    + node("physicalDescription", nodes("form extent internetMediaType digitalOrigin note"))
    + nodes("abstract tableOfContents targetAudience")
    + node(
        "subject",
        nodes("topic geographic temporal occupation genre")
        + node("titleInfo", node("title", "WordSubjectTitlex"))
        + node("hierarchicalGeographic", nodes("country state city"))
        + node("cartographics", nodes("scale projection coordinates")),
    )
    + node("classification")
    + '<relatedItem type="original"><titleInfo><title>WordOriginalx</title></titleInfo>'
    + '</relatedItem><relatedItem type="reviewOf"><titleInfo><title>WordReviewOfx</title>'
    + "</titleInfo></relatedItem>"
    + node("location", nodes("physicalLocation shelfLocator url"))
    + node("accessCondition")
    + "</mods>"
)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(
            (
                InputKind.ENDNOTE_XML,
                "<xml><records><record>"
                f'<ref-type name="{name}">{number}</ref-type>'
                + node(
                    "contributors",
                    "".join(
                        node(group, node("author", f"{word(group)}, J."))
                        for group in ENDNOTE_PEOPLE.split()
                    ),
                )
                + node("titles", nodes(ENDNOTE_TITLES))
                + nodes(ENDNOTE)
                + "</record></records></xml>",
            )
            for name, number in (("Book", 6), ("Edited Book", 28), ("Journal Article", 17))
        ),
        (
            InputKind.MS_BIB,
            "<Sources><Source><SourceType>Misc</SourceType>"
            + nodes(MS_BIB)
            + node(
                "Author",
                "".join(
                    node(
                        role,
                        node("NameList", node("Person", node("Last", word(f"{role}Who")))),
                    )
                    for role in MS_BIB_PEOPLE.split()
                ),
            )
            + "</Source></Sources>",
        ),
        (InputKind.PUBMED_XML, PUBMED),
        (InputKind.PUBMED_XML, PUBMED_BOOK),
        (InputKind.MODS, MODS),
    ],
)
def test_every_element_is_kept(kind: InputKind, text: str) -> None:
    (item,) = read(text, kind)
    found = json.dumps(item, ensure_ascii=False)
    assert [each for each in re.findall(r"Word\w+?x(?=[<,])", text) if each not in found] == []


def test_people_of_endnote_are_called_as_its_reference_types_call_them() -> None:
    form = (
        "<records><record><ref-type>{}</ref-type><contributors><authors><author>Doe, J.</author>"
        "</authors><secondary-authors><author>Roe, R.</author></secondary-authors>"
        "</contributors></record></records>"
    )
    (edited,) = read(form.format(28), InputKind.ENDNOTE_XML)
    assert edited["type"] == "book"
    assert [person["family"] for person in edited["editor"]] == ["Doe", "Roe"]
    (letter,) = read(form.format(26), InputKind.ENDNOTE_XML)
    assert letter["type"] == "personal_communication"
    assert letter["recipient"][0]["family"] == "Roe"
    (refer,) = read("%0 Edited Book\n%T T\n%A Doe, J.\n", InputKind.REFER)
    assert refer["editor"][0]["family"] == "Doe"
    assert "author" not in refer
    (book,) = read("TY  - EDBOOK\nAU  - Doe, J.\nTI  - T\nER  - \n", InputKind.RIS)
    assert book["editor"][0]["family"] == "Doe"
    (electronic,) = read("TY  - EBOOK\nAU  - Doe, J.\nA2  - Roe, R.\nER  - \n", InputKind.RIS)
    assert electronic["editor"][0]["family"] == "Roe"


def test_a_citation_file_gives_its_references_and_what_has_no_variable() -> None:
    text = """cff-version: 1.2.0
message: Please cite
title: A program
preferred-citation:
  type: article
  title: The article
  journal: A journal
  collection-title: A series
  department: A department
  database-provider: {name: A provider}
  number-volumes: 3
  senders:
    - family-names: Doe
      given-names: Jane
references:
  - type: book
    title: A book
  - type: generic
    title: Another
"""
    program, article, book, other = read(text, InputKind.CITATION_FILE)
    assert (program["type"], book["type"], other["type"]) == ("software", "book", "document")
    assert article["collection-title"] == "A series"
    assert article["number-of-volumes"] == "3"
    assert article["source"] == "A provider"
    assert article["custom"]["fields"] == {"department": "A department", "senders": "Doe, Jane"}


def test_sources_with_labels_are_parted() -> None:
    (item,) = read(
        "Record 1 of 1 - INSPEC\nTI: A paper\nAU: Doe, J.\nRT: Journal-Paper\n"
        "SO: Journal-of-Foo, vol.12, no.3-4 ; March 1999 ; p.10-20, 24 refs.\n",
        InputKind.SILVER_PLATTER,
    )
    assert item["container-title"] == "Journal of Foo"
    assert (item["volume"], item["issue"], item["page"]) == ("12", "3-4", "10-20")
    assert item["issued"] == {"date-parts": [[1999]]}


@pytest.mark.parametrize("years", [", 1950-", ", 1950-2001.", ", b. 1950"])
def test_years_of_life_are_no_part_of_a_name(years: str) -> None:
    (item,) = read(f"TI- A book\nAU- Doe, Jane{years}\n", InputKind.COPAC)
    assert item["author"] == [{"family": "Doe", "given": "Jane"}]


def test_a_note_that_is_a_doi_is_the_doi() -> None:
    (item,) = read("TY  - JOUR\nTI  - T\nN1  - doi: 10.1000/abc\nER  - \n", InputKind.RIS)
    assert item["DOI"] == "10.1000/abc"
    (other,) = read("TY  - JOUR\nTI  - T\nN1  - See 10.1000/abc\nER  - \n", InputKind.RIS)
    assert "DOI" not in other
