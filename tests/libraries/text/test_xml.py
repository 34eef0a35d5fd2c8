"""The one XML reader: nothing expanded, nothing fetched, depth bounded, broken files recovered."""

from __future__ import annotations

import pytest

from carrel.libraries.text.budget import MAX_DEPTH, InputTooCostlyError
from carrel.libraries.text.xml import UnsafeXmlError, XmlError, parse_xml, parse_xml_nodes


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1/"> %x;]><a/>',
        '<!DOCTYPE a [<!ENTITY x "never used">]><a/>',
    ],
)
def test_declared_entities_are_refused_used_or_not(document: str) -> None:
    for content in (document, document.encode(), f"\ufeff \n{document}"):
        with pytest.raises(UnsafeXmlError) as refusal:
            parse_xml(content)
        assert refusal.value.line >= 1
        with pytest.raises(UnsafeXmlError):
            parse_xml_nodes(content, on_break=lambda _: None)


def test_an_external_document_type_is_not_read_and_its_characters_have_html_names() -> None:
    head = '<!DOCTYPE a PUBLIC "-//X//EN" "http://127.0.0.1:9/x.dtd">'
    assert parse_xml(f"{head}<a>caf&eacute;&nbsp;x</a>").text == "café\u00a0x"
    with pytest.raises(XmlError, match="&nonsense;"):
        parse_xml(f"{head}<a>&nonsense;</a>")
    assert parse_xml_nodes(f"{head}<a>b&nonsense;c</a>", lambda _: None).text == "bc"


def test_names_come_without_prefixes_declared_or_not() -> None:
    root = parse_xml('<m:a xml:lang="de" x:href="u" plain="p"><m:b/><c xmlns="d"/></m:a>')
    assert [node.tag for node in root.iter()] == ["a", "b", "c"]
    assert root.attrib == {"lang": "de", "href": "u", "plain": "p"}


def test_depth_is_bounded_at_the_same_level_for_every_reader() -> None:
    allowed = "<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH
    assert len(list(parse_xml(allowed).iter())) == MAX_DEPTH
    for read in (parse_xml, parse_xml_nodes):
        with pytest.raises(InputTooCostlyError) as refusal:
            read(f"<a>{allowed}</a>")
        assert refusal.value.exceeded == "depth"
    with pytest.raises(InputTooCostlyError):
        parse_xml_nodes("<a>" * 100_000, on_break=lambda _: None)


def test_a_document_that_breaks_off_is_read_up_to_there_where_that_is_asked_for() -> None:
    broken = "<a>\n<b>whole</b>\n<c>half"
    with pytest.raises(XmlError) as refusal:
        parse_xml(broken)
    assert refusal.value.line == 3
    breaks: list[XmlError] = []
    root = parse_xml_nodes(broken, breaks.append)
    assert [error.line for error in breaks] == [3]
    assert root.at("b") == "whole"
    assert root.first("b").line == 2  # type: ignore[union-attr]
    for nothing in ("", "no xml", "<a>", "<a", "<?xml version='1.0'?>"):
        with pytest.raises(XmlError):
            parse_xml_nodes(nothing, breaks.append)
    assert len(breaks) == 1


def test_the_encoding_is_that_of_the_bytes_and_never_matters_for_text() -> None:
    head = '<?xml version="1.0" encoding="{}"?>'
    assert parse_xml((head.format("windows-1252") + "<a>é</a>").encode("cp1252")).text == "é"
    assert parse_xml(head.format("utf-16") + "<a>é</a>").text == "é"
    for unknown in ("shift_jis", "no-such-encoding"):
        with pytest.raises(XmlError):
            parse_xml((head.format(unknown) + "<a/>").encode())


def test_nodes_find_what_is_asked_for_and_nothing_is_false_for_being_empty() -> None:
    root = parse_xml_nodes("<a><b>1 <i>2</i>\n3</b><b/><c><b>4</b></c></a>")
    assert [node.all_text() for node in root.each("b")] == ["1 2 3", ""]
    assert [node.all_text() for node in root.deep("b")] == ["1 2 3", "", "4"]
    assert root.at("c", "b") == "4"
    assert root.at("c", "d") == root.at("d", "b") == ""
    assert root.first("c", "d") is None
    assert all(root.each("b"))
    assert list(parse_xml_nodes("<a/>").deep("a")) == []
