"""Records of arXiv: every recorded entry, and what the facts warn of."""

# Samples keep the lines that programs write.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.identifiers import ArxivId
from carrel.libraries.literature.arxiv import is_error_entry, read_work
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import ServiceRecord, WorkIds
from carrel.libraries.text.xml import XmlNode, parse_xml_nodes
from carrel.services.literature.recordings import read_exchanges
from tests.libraries.literature.invariants import check_record
from tests.services.literature.recorded import SERVICES_DATA, needs_recordings

ENTRY = """<entry xmlns:arxiv="http://arxiv.org/schemas/atom"><id>http://arxiv.org/abs/{id}</id><updated>{updated}</updated>
<published>2003-07-07T13:46:39Z</published><title>On a
  title</title><summary>  Some words.
</summary><author><name>H1 Collaboration</name></author><author><name>Jane van Doe</name><arxiv:affiliation>A Place</arxiv:affiliation></author>
<arxiv:comment>{comment}</arxiv:comment><arxiv:doi>{doi}</arxiv:doi><arxiv:primary_category term="hep-ex"/><category term="hep-ex"/><category term="cs.LG"/></entry>"""


def read(
    id: str = "hep-ex/0307015v2",
    updated: str = "2003-08-07T13:46:39Z",
    doi: str = "10.1000/J.1",
    comment: str = "23 pages",
) -> ServiceRecord:
    text = ENTRY.format(id=id, updated=updated, doi=doi, comment=comment)
    record = read_work(parse_xml_nodes(text))
    check_record(record)
    return record


def recorded_entries() -> Iterator[XmlNode]:
    for _, exchange in read_exchanges(SERVICES_DATA / "arxiv"):
        if exchange.status == 200:
            yield from parse_xml_nodes(exchange.body).each("entry")


@needs_recordings
def test_every_recorded_entry_is_read_with_and_without_namespaces() -> None:
    count = 0
    for entry in recorded_entries():
        record = read_work(entry)
        check_record(record)
        assert record.work.ids.arxiv == ArxivId.parse(record.service_id).value
        assert record.work.ids.doi == f"10.48550/arxiv.{record.work.ids.arxiv}"
        assert record.work.authors
        assert record.work.abstract
        count += 1
    assert count > 100
    for _, exchange in read_exchanges(SERVICES_DATA / "arxiv"):
        if exchange.status == 200:
            plain = ElementTree.fromstring(exchange.body)
            entries = plain.findall("{http://www.w3.org/2005/Atom}entry")
            named = parse_xml_nodes(exchange.body).each("entry")
            assert [read_work(each) for each in entries] == [read_work(each) for each in named]


def test_an_error_entry_is_no_work() -> None:
    entry = parse_xml_nodes(
        "<entry><id>http://arxiv.org/api/errors#incorrect_id</id><title>Error</title></entry>"
    )
    assert is_error_entry(entry)
    with pytest.raises(UnreadableRecordError):
        read_work(entry)


def test_the_identity_has_no_version_and_the_texts_have() -> None:
    record = read()
    assert record.service_id == "hep-ex/0307015v2"
    assert record.work.ids == WorkIds(doi="10.48550/arxiv.hep-ex/0307015", arxiv="hep-ex/0307015")
    assert record.work.issued == "2003-07-07"
    assert record.work.title == "On a title"
    assert [author.literal or author.family for author in record.work.authors] == [
        "H1 Collaboration",
        "van Doe",
    ]
    assert [(place.format, place.url) for place in record.work.locations] == [
        ("tex", "https://arxiv.org/e-print/hep-ex/0307015v2"),
        ("pdf", "https://arxiv.org/pdf/hep-ex/0307015v2"),
    ]
    assert read(updated="2024-01-01T00:00:00Z").work.locations[0].format == "html"


def test_the_doi_of_the_journal_names_another_work_and_arxivs_own_does_not() -> None:
    assert [(each.relation, each.ids.doi) for each in read().work.versions] == [
        ("published_as", "10.1000/j.1")
    ]
    assert read(doi="10.48550/arXiv.hep-ex/0307015").work.versions == ()
    assert read(doi="").work.versions == ()
    assert read(doi="see text").work.versions == ()


@pytest.mark.parametrize(
    ("comment", "is_withdrawn"),
    [
        ("This paper has been withdrawn by the author due to an error", True),
        ("Withdrawn: superseded by 2101.00001", True),
        ("12 pages, a study of withdrawn drugs", False),
    ],
)
def test_withdrawn_papers_are_told(comment: str, is_withdrawn: bool) -> None:
    assert read(comment=comment).work.is_retracted == is_withdrawn


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["id", "title", "summary", "author", "published", "doi", "comment"]),
            st.text(max_size=30),
        ),
        max_size=8,
    )
)
def test_no_entry_breaks_the_reader(parts: list[tuple[str, str]]) -> None:
    entry = ElementTree.Element("entry")
    for name, text in parts:
        ElementTree.SubElement(entry, name).text = text
    ElementTree.SubElement(entry, "id").text = "http://arxiv.org/abs/2101.00001v1"
    try:
        check_record(read_work(entry), may_have_tags=True)
    except UnreadableRecordError:
        return
