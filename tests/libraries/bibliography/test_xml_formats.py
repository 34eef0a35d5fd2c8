"""PubMed, EndNote, MODS, MARC and Word, in XML."""

# Samples keep the lines that programs write.
# ruff: noqa: E501

import io
import zipfile

import pytest

from carrel.libraries.bibliography.endnote_xml import read_endnote_xml
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import BibliographyError
from carrel.libraries.bibliography.marc import read_marc_xml
from carrel.libraries.bibliography.mods import read_mods
from carrel.libraries.bibliography.ms_bib import read_ms_bib
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml

PUBMED = """<?xml version="1.0"?>
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID>1</PMID><Article>
  <Journal><ISSN>1234-5679</ISSN><JournalIssue><Volume>2</Volume><Issue>3</Issue><PubDate><MedlineDate>1999 Jan-Feb</MedlineDate></PubDate></JournalIssue>
  <Title>Journal of Things</Title></Journal>
  <ArticleTitle>About H<sub>2</sub>O.</ArticleTitle><Pagination><MedlinePgn>228-42</MedlinePgn></Pagination>
  <Abstract><AbstractText Label="METHODS">We did.</AbstractText><AbstractText Label="RESULTS">It was.</AbstractText></Abstract>
  <AuthorList CompleteYN="N"><Author><LastName>Doe</LastName><ForeName>Jane</ForeName><Suffix>Jr</Suffix></Author><Author><CollectiveName>The Group</CollectiveName></Author></AuthorList>
  </Article><MedlineJournalInfo><MedlineTA>J Things</MedlineTA></MedlineJournalInfo>
  <MeshHeadingList><MeshHeading><DescriptorName>Water</DescriptorName></MeshHeading></MeshHeadingList></MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="doi">10.1000/x</ArticleId><ArticleId IdType="pmc">PMC7</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
<PubmedBookArticle><BookDocument><PMID>2</PMID><Book><BookTitle>A Book</BookTitle><Publisher><PublisherName>P</PublisherName></Publisher><PubDate><Year>2009</Year></PubDate><Isbn>9780632058082</Isbn></Book>
  <ArticleTitle>A chapter</ArticleTitle></BookDocument></PubmedBookArticle>
<PubmedArticle/>
"""


def test_pubmed_articles_and_books_even_when_the_end_is_cut_off() -> None:
    answer = read_pubmed_xml(PUBMED)
    article, chapter = (imported.item for imported in answer.items)
    assert article["title"] == "About H<sub>2</sub>O"
    assert article["page"] == "228-242"
    assert article["issued"] == {"date-parts": [[1999, 1], [1999, 2]]}
    assert article["author"] == [
        {"family": "Doe", "given": "Jane", "suffix": "Jr"},
        {"literal": "The Group"},
    ]
    assert article["custom"]["et_al"] == ["author"]
    assert article["abstract"] == "METHODS: We did.\nRESULTS: It was."
    assert article["container-title-short"] == "J Things"
    assert (article["DOI"], article["PMCID"], article["keyword"]) == ("10.1000/x", "PMC7", "Water")
    assert chapter["type"] == "chapter"
    assert chapter["container-title"] == "A Book"
    assert [imported.line for imported in answer.items] == [3, 12]
    assert [failure.line for failure in answer.failures] == [14]
    assert len(answer.warnings) == 1


def test_endnote_records_with_styles_in_every_field() -> None:
    styled = '<style face="normal">{}</style>'.format
    answer = read_endnote_xml(
        f"""<xml><records><record><ref-type name="Journal Article">17</ref-type><contributors><authors><author>{styled("Doe, Jane")}</author></authors>
        <secondary-authors><author>Itor, Ed</author></secondary-authors></contributors><titles><title>{styled("About")} {styled("water")}</title><secondary-title>{styled("Things")}</secondary-title></titles>
        <pages>1-9</pages><volume>2</volume><number>3</number><dates><year>{styled("2015")}</year><pub-dates><date>Mar 3</date></pub-dates></dates>
        <keywords><keyword>{styled("a")}</keyword><keyword/></keywords><isbn>1234-5679</isbn><electronic-resource-num>10.1000/X</electronic-resource-num>
        <urls><related-urls><url>http://a.org</url></related-urls><pdf-urls><url>internal-pdf://x.pdf</url></pdf-urls></urls></record></records></xml>"""
    )
    item = answer.items[0].item
    assert item["title"] == "About water"
    assert item["container-title"] == "Things"
    assert item["issued"] == {"date-parts": [[2015, 3, 3]]}
    assert (item["DOI"], item["ISSN"], item["keyword"], item["URL"]) == (
        "10.1000/x",
        "1234-5679",
        "a",
        "http://a.org",
    )
    assert item["editor"] == [{"family": "Itor", "given": "Ed"}]
    assert item["custom"]["fields"] == {"file": "internal-pdf://x.pdf"}


def test_mods_with_its_host() -> None:
    item = (
        read_mods(
            """<mods:modsCollection xmlns:mods="http://www.loc.gov/mods/v3"><mods:mods ID="k"><mods:titleInfo><mods:nonSort>The</mods:nonSort><mods:title>Part</mods:title></mods:titleInfo>
        <mods:name type="personal"><mods:namePart type="family">Doe</mods:namePart><mods:namePart type="given">J</mods:namePart></mods:name>
        <mods:originInfo><mods:dateIssued>2003</mods:dateIssued></mods:originInfo><mods:relatedItem type="host"><mods:titleInfo><mods:title>Whole</mods:title></mods:titleInfo>
        <mods:genre>academic journal</mods:genre><mods:part><mods:detail type="volume"><mods:number>30</mods:number></mods:detail><mods:extent unit="page"><mods:start>1</mods:start><mods:end>9</mods:end></mods:extent></mods:part>
        <mods:identifier type="issn">0948-3055</mods:identifier></mods:relatedItem></mods:mods></mods:modsCollection>"""
        )
        .items[0]
        .item
    )
    assert item == {
        "id": "k", "type": "article-journal", "title": "The Part",
        "author": [{"family": "Doe", "given": "J"}], "issued": {"date-parts": [[2003]]},
        "container-title": "Whole", "ISSN": "0948-3055", "volume": "30", "page": "1-9",
    }  # fmt: skip


def test_marc_with_a_prefix_nobody_declared() -> None:
    item = (
        read_marc_xml(
            """<zs:response><record><leader>00921nam a2200289 c 4500</leader><datafield tag="100" ind1="1"><subfield code="a">Blake, Carl</subfield><subfield code="4">aut</subfield></datafield>
        <datafield tag="245"><subfield code="a">Tempo /</subfield><subfield code="b">a thesis</subfield></datafield><datafield tag="264"><subfield code="a">Ann Arbor :</subfield>
        <subfield code="b">UMI,</subfield><subfield code="c">[1991]</subfield></datafield><datafield tag="502"><subfield code="b">Dissertation</subfield><subfield code="c">Cornell</subfield></datafield></record></zs:response>"""
        )
        .items[0]
        .item
    )
    assert item["type"] == "thesis"
    assert item["title"] == "Tempo: a thesis"
    assert item["publisher"] == "Cornell"
    assert item["publisher-place"] == "Ann Arbor"
    assert item["issued"] == {"date-parts": [[1991]]}


CITAVI = """<CitaviExchangeData Version="6.8"><Keywords><Keyword id="k1"><Name>fraud</Name></Keyword></Keywords>
<Periodicals><Periodical id="p1"><Name>Trends</Name><ISSN>1234-5679</ISSN></Periodical></Periodicals>
<Persons><Person id="a1"><FirstName>Jane</FirstName><MiddleName>Q.</MiddleName><LastName>Doe</LastName></Person><Person id="a2"><LastName>Oceana</LastName></Person></Persons>
<Publishers><Publisher id="h1"><Name>Press</Name></Publisher></Publishers>
<References><Reference id="r1"><PeriodicalID>p1</PeriodicalID><PageRange><![CDATA[<sp><os>24</os></sp><os>24-31</os>]]></PageRange><ReferenceType>JournalArticle</ReferenceType>
<Subtitle>Below</Subtitle><Title>Above</Title><Year>2012</Year></Reference>
<Reference id="r2"><ReferenceType>BookEdited</ReferenceType><Title>Whole</Title><Year>2001</Year></Reference>
<Reference id="r3"><ReferenceType>Contribution</ReferenceType><Title>Part</Title></Reference></References>
<ReferenceAuthors><OnetoN>r1;a1;a2</OnetoN></ReferenceAuthors><ReferenceKeywords><OnetoN>r1;k1</OnetoN></ReferenceKeywords>
<ReferencePublishers><OnetoN>r2;h1</OnetoN></ReferencePublishers><ReferenceReferences><OnetoN>r2;r3</OnetoN></ReferenceReferences>
<KnowledgeItems><KnowledgeItem id="q"><CoreStatement>Core</CoreStatement><ReferenceID>r1</ReferenceID><Text>words</Text></KnowledgeItem></KnowledgeItems></CitaviExchangeData>"""


def test_citavi_projects_plain_and_zipped() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("project.ctv6", CITAVI)
    for content in (CITAVI, file.getvalue()):
        article, book, part = (imported.item for imported in read_bibliography(content).items)
        assert article == {
            "type": "article-journal", "title": "Above: Below",
            "author": [{"family": "Doe", "given": "Jane Q."}, {"literal": "Oceana"}],
            "container-title": "Trends", "ISSN": "1234-5679", "page": "24-31",
            "issued": {"date-parts": [[2012]]}, "keyword": "fraud", "annote": "Core: words",
        }  # fmt: skip
        assert book["publisher"] == "Press"
        assert part["container-title"] == "Whole"
        assert part["issued"] == {"date-parts": [[2001]]}


def test_an_archive_that_is_none_of_citavis_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("readme.txt", "hello")
    for content in (file.getvalue(), b"PK\x03\x04 broken"):
        with pytest.raises(BibliographyError):
            read_bibliography(content)


def test_words_sources() -> None:
    item = (
        read_ms_bib(
            """<b:Sources xmlns:b="http://schemas.openxmlformats.org/officeDocument/2006/bibliography"><b:Source><b:SourceType>Patent</b:SourceType><b:Tag>Lin78</b:Tag><b:Title>Hunter</b:Title>
        <b:Year>1978</b:Year><b:Month>March</b:Month><b:Author><b:Author><b:NameList><b:Person><b:Last>Lincoln</b:Last><b:First>Abraham</b:First><b:Middle>T</b:Middle></b:Person></b:NameList></b:Author></b:Author>
        <b:PatentNumber>12</b:PatentNumber></b:Source></b:Sources>"""
        )
        .items[0]
        .item
    )
    assert item == {
        "id": "Lin78",
        "type": "patent",
        "title": "Hunter",
        "number": "12",
        "author": [{"family": "Lincoln", "given": "Abraham T"}],
        "issued": {"date-parts": [[1978, 3]]},
    }


def test_word_sources_keep_types_languages_and_fields_of_other_programs() -> None:
    text = (
        '<b:Sources xmlns:b="http://schemas.openxmlformats.org/officeDocument/2006/bibliography">'
        "<b:Source><b:Tag>a</b:Tag><b:SourceType>Report</b:SourceType><b:Title>T</b:Title>"
        "<b:ThesisType>Dissertation</b:ThesisType><b:LCID>1031</b:LCID>"
        "<b:BIBTEX_ISSN>0022-3263</b:BIBTEX_ISSN><b:Department>Physics</b:Department></b:Source>"
        "<b:Source><b:SourceType>Misc</b:SourceType><b:BIBTEX_Entry>proceedings</b:BIBTEX_Entry>"
        "<b:Title>P</b:Title></b:Source></b:Sources>"
    )
    thesis, proceedings = (imported.item for imported in read_bibliography(text).items)
    assert (thesis["type"], thesis["language"], thesis["ISSN"]) == ("thesis", "de", "0022-3263")
    assert thesis["custom"]["fields"] == {"department": "Physics"}
    assert proceedings["type"] == "book"


def test_mods_genres_roles_and_extent() -> None:
    text = (
        '<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>T</title></titleInfo>'
        "<genre>film</genre><genre>silent</genre><name><namePart>Doe, Jane</namePart><role>"
        "<roleTerm>cinematographer</roleTerm></role></name>"
        "<physicalDescription><extent>xii, 384 p. : ill.</extent></physicalDescription></mods>"
    )
    (imported,) = read_bibliography(text).items
    assert imported.item["type"] == "motion_picture"
    assert imported.item["genre"] == "silent"
    assert imported.item["contributor"] == [{"family": "Doe", "given": "Jane"}]
    assert imported.item["number-of-pages"] == "384"


def test_the_edition_of_mods_is_a_number_where_it_says_one() -> None:
    text = (
        '<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>T</title></titleInfo>'
        "<originInfo><edition>2nd ed.</edition></originInfo></mods>"
    )
    assert read_mods(text).items[0].item["edition"] == "2"
