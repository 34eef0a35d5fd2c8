"""No input, however broken, stops a reader in any way but its own errors; and nothing takes
long.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.bibtex.tex import to_plain, to_rich
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import (
    BibliographyError,
    UnreadableXmlError,
    UnsafeXmlError,
)
from carrel.libraries.bibliography.recognition import IDENTIFIER_KINDS, InputKind, recognise

FORMATS = [kind for kind in InputKind if kind not in IDENTIFIER_KINDS]
bits = st.sampled_from(
    [
        *(
            "@article{",
            "@string{",
            "@comment{",
            "k,",
            "title",
            " = ",
            "{",
            "}",
            '"',
            "#",
            ",",
            "\n",
            "\\",
            "$",
            "%",
            "author",
            "crossref",
        ),
        *(
            "xdata",
            "TY  - JOUR\n",
            "ER  - \n",
            "AU  - ",
            "PMID- 1\n",
            "      more",
            "%A ",
            "--TI-- x\n",
            "<record>",
            "</record>",
        ),
        *(
            "<titles><title>",
            "&amp;",
            "[",
            "{}",
            '{"type":',
            "null",
            "]",
            "\x00",
            "é",
            "1999",
            "--",
        ),
    ]
)
soup = st.one_of(st.text(max_size=200), st.lists(bits, max_size=40).map("".join))


@pytest.mark.parametrize("kind", FORMATS)
@settings(max_examples=40, deadline=None)
@given(text=soup)
def test_readers_answer_or_refuse(kind: InputKind, text: str) -> None:
    try:
        answer = read_bibliography(text, kind)
    except BibliographyError:
        return
    lines = text.count("\n") + text.count("\r") + text.count("\x0b") + text.count("\x0c") + 20
    for imported in answer.items:
        assert isinstance(imported.item.get("type"), str)
        assert 1 <= imported.line <= lines


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=200))
def test_bytes_of_any_encoding_are_read(content: bytes) -> None:
    read_bibtex(b"@misc{a, title = {" + content + b"}}\n@misc{b, title = {x}}")


@settings(max_examples=300, deadline=None)
@given(raw=st.text(st.sampled_from(list("\\{}$^_~`'\"-%& abcIÉ\n@#")), max_size=60))
def test_tex_of_any_shape_becomes_text(raw: str) -> None:
    rich = to_rich(raw)
    assert all(0 <= start <= end <= len(rich.text) for start, end in rich.protected)
    assert isinstance(to_plain(raw), str)


@settings(max_examples=200, deadline=None)
@given(text=soup)
def test_recognition_never_fails(text: str) -> None:
    recognise(text)


def test_entities_are_refused_not_expanded() -> None:
    bomb = (
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b '
        '"&a;&a;&a;">]><PubmedArticleSet>&b;</PubmedArticleSet>'
    )
    with pytest.raises(UnsafeXmlError) as caught:
        read_bibliography(bomb, InputKind.PUBMED_XML)
    assert caught.value.line == 1


def test_a_file_of_the_machine_cannot_be_read_through_xml() -> None:
    stealing = (
        "<!DOCTYPE x [<!ENTITY f SYSTEM "
        '"file:///etc/hostname">]><modsCollection><mods><note>&f;</note></mods></modsCollection>'
    )
    with pytest.raises(UnsafeXmlError):
        read_bibliography(stealing, InputKind.MODS)


def test_text_that_is_no_xml_is_said_to_be_none() -> None:
    with pytest.raises(UnreadableXmlError) as caught:
        read_bibliography("hello", InputKind.PUBMED_XML)
    assert caught.value.line == 1


def test_deep_nesting_is_read_without_exhausting_the_stack() -> None:
    answer = read_bibtex(
        "@misc{deep, title = {" + "{" * 5000 + "x" + "}" * 5000 + "}}\n@misc{next, title = {y}}"
    )
    assert [imported.item["id"] for imported in answer.items] == ["deep", "next"]


@pytest.mark.parametrize(
    "text",
    [
        "@article{k" + " " * 60_000 + "\n",
        "@article{k, title = {" + " " * 60_000,
        "@article{k, title = {x" + "\n" * 60_000 + "} ?" + "\n" * 60_000,
        "@article{k, author = {{" + " and " * 20_000 + "}}",
        "@article{k, title = {" + "$" * 60_001 + "}}",
        "@article{k, title = {" + "{A} \\'e " * 20_000 + "}}",
        '@article{k, title = "' + 'a "b" ' * 20_000 + '"}',
        "@article{k, " + "note = {x}, " * 20_000 + "}",
    ],
)
def test_long_runs_of_one_sign_are_read(text: str) -> None:
    answer = read_bibtex(text)
    assert len(answer.items) + len(answer.failures) == 1


def test_many_unclosed_entries_are_read_in_linear_time() -> None:
    text = "\n".join(
        f"@article{{key{number},\n title = {{Never closed\n author = {{A. Name"
        for number in range(3000)
    )
    answer = read_bibtex(text)
    assert len(answer.items) == 3000
    assert len(answer.warnings) >= 3000
