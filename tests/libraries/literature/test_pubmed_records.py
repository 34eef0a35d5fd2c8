"""Records of PubMed: every recorded article, the dump samples, and what the facts warn of."""

# Samples keep the lines that programs write.
# ruff: noqa: E501

from __future__ import annotations

import gzip
from collections.abc import Iterator
from io import BytesIO
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.pubmed import iterate_records, read_work
from carrel.libraries.literature.records import ServiceRecord, WorkIds, WorkRecord
from carrel.libraries.text.xml import parse_xml_nodes
from carrel.services.literature.recordings import read_exchanges
from tests.libraries.literature.invariants import check_record
from tests.services.literature.recorded import SERVICES_DATA, needs_recordings

ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">7</PMID><Article>
<Journal><ISSN>0028-0836</ISSN><JournalIssue><Volume>5</Volume><PubDate>{date}</PubDate></JournalIssue>
<Title>Nature</Title></Journal><ArticleTitle>{title}</ArticleTitle>{article}</Article>{citation}
</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pubmed">7</ArticleId></ArticleIdList>
{data}</PubmedData></PubmedArticle>"""


def read(
    title: str = "A title.",
    article: str = "",
    citation: str = "",
    data: str = "",
    date: str = "<Year>2001</Year>",
) -> WorkRecord:
    text = ARTICLE.format(title=title, article=article, citation=citation, data=data, date=date)
    record = read_work(parse_xml_nodes(text))
    check_record(record)
    return record.work


def recorded_records() -> Iterator[tuple[str, ServiceRecord]]:
    for path, exchange in read_exchanges(SERVICES_DATA / "pubmed"):
        is_xml = exchange.body.lstrip().startswith(b"<?xml")
        if exchange.status == 200 and is_xml and b"<PubmedArticleSet>" in exchange.body:
            for node in iterate_records(parse_xml_nodes(exchange.body)):
                yield path.name, read_work(node)


@needs_recordings
def test_every_recorded_article_is_read() -> None:
    found = list(recorded_records())
    assert len(found) >= 30
    for _, record in found:
        check_record(record)
    named = {record.service_id: record.work for _, record in found}
    # Identifiers of the reference list are not those of the article.
    many = named["39236155"]
    assert many.ids.doi is not None
    assert many.references is not None
    assert many.ids.doi not in {cited.ids.doi for cited in many.references}
    assert len(named["26430984"].authors) > 400
    assert named["34843274"].authors[0].literal
    assert named["38048813"].language == "de"
    assert named["38962805"].authors == ()
    assert any(notice.kind == "correction" for notice in named["38147649"].notices)
    assert all(notice.doi for notice in named["38147649"].notices)


@needs_recordings
def test_every_record_of_the_dump_samples_is_read_the_same_way_as_a_stream() -> None:
    for path in sorted((SERVICES_DATA / "dumps" / "pubmed").glob("*.xml*")):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        whole = [read_work(node) for node in iterate_records(parse_xml_nodes(content))]
        assert whole
        for record in whole:
            check_record(record)
        streamed = [
            read_work(element)
            for _, element in ElementTree.iterparse(BytesIO(content))
            if element.tag in {"PubmedArticle", "PubmedBookArticle"}
        ]
        if streamed:
            assert streamed == whole


@pytest.mark.parametrize(
    "missing", ["<PubmedArticle/>", "<DeleteCitation><PMID>1</PMID></DeleteCitation>"]
)
def test_a_record_without_title_or_number_is_refused(missing: str) -> None:
    with pytest.raises(UnreadableRecordError):
        read_work(parse_xml_nodes(missing))


def test_a_deletion_is_no_record() -> None:
    root = parse_xml_nodes(
        "<PubmedArticleSet><DeleteCitation><PMID>1</PMID></DeleteCitation></PubmedArticleSet>"
    )
    assert list(iterate_records(root)) == []


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("A plain title.", "A plain title"),
        ("[Eine Übersicht].", "Eine Übersicht"),
        ("[Two] brackets [here].", "[Two] brackets [here]"),
        ("Outbreaks of Listeria spp.", "Outbreaks of Listeria spp."),
        ("Health in the U.S.", "Health in the U.S."),
        ("What now?", "What now?"),
        ("On <i>E. coli</i>.", "On <i>E. coli</i>"),
        ("H<sub>2</sub>O and<i> yeast</i> cells.", "H<sub>2</sub>O and <i>yeast</i> cells"),
        ("P &lt; .05 is <b>not</b> enough.", "P < .05 is <b>not</b> enough"),
        ("CO&amp;lt;sub&amp;gt;2&amp;lt;/sub&amp;gt; uptake.", "CO<sub>2</sub> uptake"),
    ],
)
def test_titles_lose_what_pubmed_adds(written: str, read_as: str) -> None:
    assert read(written).title == read_as


def test_a_title_that_is_not_available_is_the_vernacular_one() -> None:
    vernacular = "<VernacularTitle>Sur la théorie.</VernacularTitle>"
    assert read("[Not Available].", article=vernacular).title == "Sur la théorie"
    assert read("", article=vernacular).title == "Sur la théorie"


@pytest.mark.parametrize(
    ("date", "issued"),
    [
        ("<Year>2001</Year><Month>Sep</Month><Day>3</Day>", "2001-09-03"),
        ("<Year>2001</Year><Month>09</Month>", "2001-09"),
        ("<Year>2001</Year><Season>Spring</Season>", "2001"),
        ("<MedlineDate>2000 Spring</MedlineDate>", "2000"),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "1998-12"),
        ("<MedlineDate>2000 Mar 15-31</MedlineDate>", "2000-03-15"),
        ("<MedlineDate>1978-1979</MedlineDate>", "1978"),
        ("<Year>2001</Year><Month>Feb</Month><Day>30</Day>", "2001-02"),
        ("<Year>soon</Year>", None),
    ],
)
def test_dates_are_as_precise_as_they_are_known(date: str, issued: str | None) -> None:
    assert read(date=date).issued == issued


def test_the_article_date_makes_the_date_of_the_issue_more_precise_and_never_another() -> None:
    online = "<ArticleDate><Year>2001</Year><Month>04</Month><Day>09</Day></ArticleDate>"
    assert read(article=online).issued == "2001-04-09"
    assert read(article=online, date="<Year>2002</Year>").issued == "2002"


def test_abstracts_keep_labels_and_inline_markup_and_use_another_one_where_there_is_none() -> None:
    parts = (
        '<Abstract><AbstractText Label="AIMS">To <i>see</i>.</AbstractText>'
        '<AbstractText Label="UNLABELLED">More.</AbstractText>'
        "<CopyrightInformation>Ours.</CopyrightInformation></Abstract>"
    )
    assert read(article=parts).abstract == "AIMS: To <i>see</i>. More."
    other = (
        '<OtherAbstract Type="Publisher" Language="spa"><AbstractText>Hola.</AbstractText>'
        '</OtherAbstract><OtherAbstract Type="Publisher" Language="eng"><AbstractText>Hello.'
        "</AbstractText></OtherAbstract>"
    )
    assert read(citation=other).abstract == "Hello."
    assert read(article=parts, citation=other).abstract.startswith("AIMS")


def test_formulas_are_read_in_one_line() -> None:
    formula = (
        '<Abstract><AbstractText>With <mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML">'
        "<mml:msub><mml:mi>x</mml:mi><mml:mn>1</mml:mn></mml:msub></mml:math> given."
        "</AbstractText></Abstract>"
    )
    assert read(article=formula).abstract == "With x<sub>1</sub> given."


def test_invalid_identifiers_and_authors_are_left_out() -> None:
    work = read(
        article='<ELocationID EIdType="doi" ValidYN="N">10.1/wrong</ELocationID>'
        '<ELocationID EIdType="doi" ValidYN="Y">10.1000/RIGHT</ELocationID>'
        '<AuthorList CompleteYN="N"><Author ValidYN="N"><LastName>Wrong</LastName></Author>'
        "<Author><LastName>van Doe</LastName><Initials>J</Initials><Suffix>Jr</Suffix><Identifier "
        'Source="ORCID">http://orcid.org/0000000218250097</Identifier></Author>'
        "<Author><CollectiveName>The Group.</CollectiveName></Author><Author/></AuthorList>"
    )
    assert work.ids.doi == "10.1000/right"
    assert [author.family or author.literal for author in work.authors] == ["van Doe", "The Group"]
    assert work.authors[0].orcid == "0000-0002-1825-0097"
    assert work.is_authors_cut


def test_retractions_are_told_by_their_link_and_by_the_type_alone() -> None:
    link = (
        '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>Nature. '
        "2019 Mar 5;5(1):1. doi: 10.1000/r.1.</RefSource><PMID>99</PMID></CommentsCorrections>"
        '<CommentsCorrections RefType="ExpressionOfConcernIn"><RefSource>Nature. 2018;4:2'
        '</RefSource></CommentsCorrections><CommentsCorrections RefType="Cites"><RefSource>X. 1999'
        "</RefSource></CommentsCorrections></CommentsCorrectionsList>"
    )
    kind = (
        "<PublicationTypeList><PublicationType>Retracted Publication</PublicationType>"
        "</PublicationTypeList>"
    )
    told = read(article=kind, citation=link)
    assert [(n.kind, n.date, n.doi, n.pmid) for n in told.notices] == [
        ("retraction", "2019-03-05", "10.1000/r.1", "99"),
        ("expression_of_concern", "2018", None, None),
    ]
    assert [notice.kind for notice in read(article=kind).notices] == ["retraction"]
    assert told.is_retracted
    notice = "<PublicationTypeList><PublicationType>Retraction Notice</PublicationType></PublicationTypeList>"
    assert read(article=notice).kind == "retraction"
    assert not read(article=notice).is_retracted


def test_a_preprint_points_to_its_article() -> None:
    work = read(
        article="<PublicationTypeList><PublicationType>Preprint</PublicationType></PublicationTypeList>",
        citation='<CommentsCorrectionsList><CommentsCorrections RefType="UpdateIn"><RefSource>Nature. '
        "2021 Mar;5(1):1. doi: 10.1000/n.1.</RefSource><PMID>99</PMID></CommentsCorrections>"
        "</CommentsCorrectionsList>",
    )
    assert [(each.relation, each.ids) for each in work.versions] == [
        ("published_as", WorkIds(doi="10.1000/n.1", pmid="99"))
    ]


def test_a_chapter_of_a_book_is_read() -> None:
    record = read_work(
        parse_xml_nodes(
            "<PubmedBookArticle><BookDocument><PMID>20301295</PMID><ArticleIdList>"
            '<ArticleId IdType="bookaccession">NBK1</ArticleId></ArticleIdList><Book><Publisher>'
            "<PublisherName>University</PublisherName></Publisher><BookTitle>GeneReviews<sup>®</sup>"
            "</BookTitle><PubDate><Year>1993</Year></PubDate><Isbn>9780632058082</Isbn></Book>"
            "<ArticleTitle>A syndrome.</ArticleTitle><AuthorList><Author><LastName>Doe</LastName>"
            "</Author></AuthorList><Abstract><AbstractText>Text.</AbstractText></Abstract>"
            "<ContributionDate><Year>2004</Year><Month>5</Month><Day>6</Day></ContributionDate>"
            "</BookDocument></PubmedBookArticle>"
        )
    )
    check_record(record)
    assert record.work.kind == "chapter"
    assert record.work.issued == "2004-05-06"
    assert record.work.title == "A syndrome"
    assert record.work.ids.isbn == "9780632058082"
    assert record.work.venue.publisher == "University"


_NAMES = [
    "PubmedArticle", "MedlineCitation", "Article", "PMID", "ArticleTitle", "Journal", "PubDate", "Year",
    "Month", "AuthorList", "Author", "LastName", "Abstract", "AbstractText", "i", "sup", "PubmedData",
    "ArticleIdList", "ArticleId", "ReferenceList", "Reference", "CommentsCorrectionsList",
    "CommentsCorrections", "RefSource", "BookDocument", "Book", "JournalIssue", "MedlineDate",
]  # fmt: skip
_TEXTS = st.lists(st.text(max_size=30), min_size=3, max_size=3)
_ATTRIBUTES = st.lists(
    st.tuples(
        st.sampled_from(["IdType", "RefType", "Label", "EIdType"]),
        st.sampled_from(["doi", "pmc", "RetractionIn", "UpdateOf", "X"]),
    ),
    max_size=2,
)


@st.composite
def elements(draw: st.DrawFn) -> ElementTree.Element:
    # Three texts for a whole tree: drawing others for each of its hundred elements takes most of
    # the time, and finds no more.
    drawn = draw(_TEXTS)
    return _draw_element(draw, st.sampled_from([None, "1999", "10.1/x", "7", "Jan", *drawn]))


def _draw_element(
    draw: st.DrawFn, texts: st.SearchStrategy[str | None], depth: int = 0
) -> ElementTree.Element:
    element = ElementTree.Element(draw(st.sampled_from(_NAMES)))
    element.text, element.tail = draw(texts), draw(texts)
    for name, value in draw(_ATTRIBUTES):
        element.set(name, value)
    if depth < 5:
        for _ in range(draw(st.integers(0, 4))):
            element.append(_draw_element(draw, texts, depth + 1))
    return element


@settings(max_examples=150, deadline=None)
@given(elements(), elements())
def test_no_element_breaks_the_reader(
    inside: ElementTree.Element, other: ElementTree.Element
) -> None:
    root = ElementTree.fromstring(
        "<PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>T</ArticleTitle>"
        "</Article></MedlineCitation></PubmedArticle>"
    )
    root[0].append(other)
    root[0][1].append(inside)
    for node in (root, inside):
        try:
            check_record(read_work(node), may_have_tags=True)
        except UnreadableRecordError:
            continue
