"""Titles and abstracts of services as plain text with four marks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.literature.markup import read_abstract, read_plain_line, read_title

MARKS = re.compile(r"</?(?:i|b|sub|sup)>")


@pytest.mark.parametrize("value", [None, 3, [], {}, "", "  \n ", "<p></p>", "<i> </i>"])
def test_what_is_no_text_is_empty(value: object) -> None:
    assert read_title(value) == read_abstract(value) == read_plain_line(value) == ""


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("A  study\n   of <i> E. coli </i> cells", "A study of <i>E. coli</i> cells"),
        ("<jats:italic>x</jats:italic><sup>2</sup>", "<i>x</i><sup>2</sup>"),
        ("Cats &amp;amp; dogs &amp;lt;i&amp;gt;now&amp;lt;/i&amp;gt;", "Cats & dogs <i>now</i>"),
        ("p &lt; 0.05 and q > 3", "p < 0.05 and q > 3"),
        ("a<b and c>d", "a<b and c>d"),
        ("The operator <H> and <foo>bar</foo>", "The operator <H> and bar"),
        ("<b>All of it</b>", "All of it"),
        ("<i>one</i> and <i>two</i>", "<i>one</i> and <i>two</i>"),
        ("clams ( <i>Tridacna</i> ) , again", "clams (<i>Tridacna</i>) , again"),
        ("One <!-- no <i>two</i> --><?pi x?><![CDATA[three]]>", "One three"),
        ("An open <!-- comment", "An open <!-- comment"),
        ("CO\n   <jats:sub>2</jats:sub>\n   rises", "CO<sub>2</sub> rises"),
        ("cm\n <sup>2</sup>\n of\n <sup>18</sup>\nF", "cm<sup>2</sup> of <sup>18</sup> F"),
        ("<scp>DNA</scp> in <SUB>2</SUB>", "DNA in <sub>2</sub>"),
        ("An <i>open mark", "An open mark"),
        ("<i><b></i>crossed</b>", "crossed"),
        (
            '<mml:math xmlns:mml="http://x"> <mml:msub> <mml:mi>x</mml:mi> <mml:mn>1</mml:mn>'
            "</mml:msub> <mml:mo>=</mml:mo></mml:math> holds",
            "x<sub>1</sub>= holds",
        ),
        (
            "<alternatives><tex-math>$x$</tex-math><math><mi>x</mi></math></alternatives> holds",
            "x holds",
        ),
        ("Soft\u00adhyphen and zero\u200bwidth", "Softhyphen and zerowidth"),
    ],
)
def test_titles_keep_four_marks_and_no_other_tag(written: str, plain: str) -> None:
    assert read_title(written) == plain


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (
            "<jats:title>Abstract</jats:title><jats:sec><jats:title>Background</jats:title>"
            "<jats:p>We see.</jats:p></jats:sec><jats:sec><jats:title>Methods:</jats:title>"
            "<jats:p>We look.</jats:p></jats:sec>",
            "Background: We see. Methods: We look.",
        ),
        ("Abstract The study shows it.", "The study shows it."),
        ("Abstract Background The study shows it.", "Background The study shows it."),
        ("Abstract Sub‐Saharan Africa shows it.", "Sub‐Saharan Africa shows it."),
        ("ABSTRACT We show it.", "We show it."),
        ("AbstractThis paper shows it.", "This paper shows it."),
        ("<b>Abstract:</b> We show it.", "We show it."),
        ("Summary: We show it.", "We show it."),
        ("Abstract State Machines are shown.", "Abstract State Machines are shown."),
        ("Abstract interpretation is shown.", "Abstract interpretation is shown."),
        ("Abstract", ""),
        ("<p>One.<p>Two.", "One. Two."),
        ("One.<br/>Two.", "One. Two."),
    ],
)
def test_abstracts_lose_their_heading_and_name_their_sections(written: str, plain: str) -> None:
    assert read_abstract(written) == plain


PIECES = [*"<>/&;:\"'= \nabx", "<i>", "</i>", "<sub>", "</p>", "&lt;", "&amp;", "mml:", "jats:"]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_text_becomes_one_line(text: str) -> None:
    for read in (read_title, read_abstract, read_plain_line):
        plain = read(text)
        assert plain == " ".join(plain.split())
        assert "  " not in MARKS.sub("", plain) or "<" in MARKS.sub("", plain)
    assert not MARKS.search(read_plain_line(text))


@pytest.mark.parametrize(
    "text",
    [
        "<i>" * 50_000 + "x",
        "<" * 100_000,
        "<a b=" * 20_000,
        "<p>" * 50_000 + "x" + "</p>" * 50_000,
        "<!--" * 50_000,
        "-->" + "<!--" * 50_000,
        " \n" * 100_000 + "<",
        "<sup>" + "1" * 100_000,
        "&amp;" * 100_000,
        "<b>x</b> " * 30_000,
    ],
)
def test_costly_markup_is_read_in_one_pass(text: str) -> None:
    """A pass over the text for each of its signs would take minutes."""
    assert read_title(text) is not None
    assert read_abstract(text) is not None
