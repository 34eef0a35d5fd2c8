"""Pages as a person sees them: at a real terminal of several widths, and in a pipe."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections.abc import Mapping

import pytest

from carrel.cli.generic_page import make_generic_page
from carrel.cli.markdown_page import parse_markdown
from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Item,
    Line,
    Note,
    Paragraph,
    Span,
    Table,
    Verbatim,
    mark_matches,
    plain_text,
)
from carrel.cli.page_text import write_page_text
from tests.cli.terminal import read_terminal
from tests.journeys.doors import ENVIRONMENT
from tests.processes import warm

WIDTHS = (40, 80, 120)
COLOURS = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM")
CLEAN = {name: value for name, value in ENVIRONMENT.items() if name not in COLOURS}
TERMINAL = {**CLEAN, "TERM": "xterm-256color"}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")

at_terminals = pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")

HOSTILE = {
    "markup": "[red]mine[/red] [link=http://x]here[/link]",
    "control": "bell\x07 escape\x1b[2J c1\x9b31m",
    "direction": "name \u202egnp.exe\u2069 end",
    "hebrew": "שלום עולם and מאמר מדעי",
    "wide": "血液粘度の測定方法について",
    "combining": "Zu\u0308rich, cafe\u0301, n\u0303andu\u0301",
    "zero width": "non\u200bbreaking and \u200dfamily",
    "emoji": ":smile: 🧪 done",
}

SAMPLE = """
from carrel.cli.output import show_page
from carrel.cli.page import *
HOSTILE = {hostile!r}
long = "word " * 60
show_page(Page((
    Heading("Heading of the page"),
    Line(("a line: ", strong("strong"), " and ", dim("dim"))),
    Paragraph(long),
    Fields([("authors", "Ada Moor, Ben Lind"), ("empty", ""), ("text", long)]),
    Table(
        [Column("id", whole=True), "title", Column("count", "right")],
        [[f"p{{n}}", text, str(n * 111)] for n, text in enumerate(HOSTILE.values())],
    ),
    Item("1.", (Line((strong("First"),)), Line("https://example.org/" + "x" * 90))),
    Item("10.", (Line((strong("Tenth"),)), Paragraph(long))),
    Note("a remark"),
    Verbatim("@article{{key,\\n\\ttitle = {{" + "V" * 150 + "}}\\n}}"),
)))
"""


def draw(environment: Mapping[str, str], width: int = 80, program: str | None = None) -> str:
    code = SAMPLE.format(hostile=HOSTILE) if program is None else program
    return read_terminal([sys.executable, "-c", code], environment, width=width)


def pipe(environment: Mapping[str, str], program: str | None = None) -> tuple[str, str]:
    code = SAMPLE.format(hostile=HOSTILE) if program is None else program
    done = warm.run(
        [sys.executable, "-c", code], env=dict(environment), capture_output=True, check=True
    )
    return done.stdout.decode(), done.stderr.decode()


def cells(text: str) -> int:
    """How many columns of a terminal a text takes; not asked of rich, which drew it."""
    width = 0
    for character in text:
        if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
            continue
        width += 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
    return width


@at_terminals
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_but_verbatim_text_is_wider_than_the_terminal(width: int) -> None:
    shown = ESCAPE.sub("", draw(TERMINAL, width)).replace("\r\n", "\n")
    body, _, verbatim = shown.partition("@article")
    assert max(cells(line) for line in body.split("\n")) <= width
    assert f"title = {{{'V' * 150}}}" in verbatim, "verbatim text is not broken"
    assert "\tauthors" not in body


@at_terminals
@pytest.mark.parametrize("width", WIDTHS)
def test_text_of_others_stays_text(width: int) -> None:
    shown = ESCAPE.sub("", draw(TERMINAL, width)).replace("\r\n", "\n")
    whole = " ".join(shown.split())
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\u2069"} & set(shown)
    for text in ("[red]mine[/red]", "\\x07", "\\x1b[2J", "\\u202egnp.exe", ":smile:"):
        assert text in whole


@at_terminals
@pytest.mark.parametrize("width", [80, 120])
def test_columns_stand_below_each_other_whatever_script_they_hold(width: int) -> None:
    shown = ESCAPE.sub("", draw(TERMINAL, width)).replace("\r\n", "\n")
    rows = [line.rstrip() for line in shown.split("\n") if re.match(r"p\d ", line)]
    assert len(rows) == len(HOSTILE)
    assert len({cells(row) for row in rows}) == 1, "the last column ends at one place"
    for number, row in enumerate(rows):
        assert row.endswith(str(number * 111))


@at_terminals
def test_a_table_that_does_not_fit_becomes_a_list_of_labels_and_values() -> None:
    program = """
from carrel.cli.output import show_page
from carrel.cli.page import *
show_page(Page((Table([Column("id", whole=True), "title", "venue"],
    [["0123456789abcdef0123456789abcdef", "Fish oil", "Lipid Letters"]]),)))
"""
    narrow = draw({**TERMINAL, "NO_COLOR": "1"}, 40, program).split()
    fields = "id: 0123456789abcdef0123456789abcdef title: Fish oil venue: Lipid Letters"
    assert narrow == fields.split(" ")
    wide = draw({**TERMINAL, "NO_COLOR": "1"}, 80, program).split("\r\n")
    assert wide[0].split() == ["id", "title", "venue"]


@at_terminals
@pytest.mark.parametrize(
    ("extra", "is_coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"CLICOLOR": "0"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_are_as_the_environment_says(extra: dict[str, str], is_coloured: bool) -> None:
    assert ("\x1b[1m" in draw({**TERMINAL, **extra})) is is_coloured


@at_terminals
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_columns_in_the_environment_decide_the_width(term: str) -> None:
    shown = ESCAPE.sub("", draw({**TERMINAL, "TERM": term, "COLUMNS": "50"}, 120))
    body = shown.replace("\r\n", "\n").partition("@article")[0]
    assert 40 < max(cells(line) for line in body.split("\n")) <= 50


def test_a_pipe_gets_plain_text_without_wrapping_and_notes_apart() -> None:
    out, err = pipe(CLEAN)
    assert "\x1b[1m" not in out
    assert ("word " * 60).strip() in out
    assert "authors: Ada Moor, Ben Lind\n" in out
    assert "empty" not in out
    assert f"p4\t{HOSTILE['wide']}\t444\n" in out
    assert "id\ttitle" not in out, "a pipe gets rows alone"
    assert HOSTILE["control"] in out, "a pipe gets every byte"
    assert "a remark" not in out
    assert err == "a remark\n"


@pytest.mark.parametrize("name", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_forced_colour_draws_in_a_pipe_too_and_leaves_verbatim_text_alone(name: str) -> None:
    out, _ = pipe({**CLEAN, name: "1", "COLUMNS": "60"})
    assert "\x1b[1m" in out
    body, _, verbatim = out.partition("@article")
    assert max(cells(ESCAPE.sub("", line)) for line in body.split("\n")) <= 60
    assert "\x1b" not in verbatim


def test_rich_is_imported_only_where_a_page_is_drawn() -> None:
    program = SAMPLE.format(hostile=HOSTILE) + "\nimport sys; assert 'rich' not in sys.modules"
    subprocess.run(
        [sys.executable, "-c", program], env=dict(CLEAN), capture_output=True, check=True
    )


def test_matched_words_become_spans_and_lone_asterisks_stay() -> None:
    assert mark_matches("the **blood** rose") == ("the ", Span("blood", "mark"), " rose")
    assert plain_text(mark_matches("**blood** rose")) == "blood rose"
    assert mark_matches("a ** b") == "a ** b"


def test_markdown_is_read_as_headings_paragraphs_lists_and_verbatim_text() -> None:
    parts = list(
        parse_markdown(
            "# One\nfirst line\nsecond line\n\n- a\n  more\n- b\n\n> quoted\n> on\n\n"
            "```py\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | x \\| y |\n\n| odd |\n\n"
            "$$ a_1 $$\n\n2. two"
        )
    )
    assert parts == [
        Heading("One"),
        Paragraph("first line second line"),
        Item("•", (Paragraph("a more"),)),
        Item("•", (Paragraph("b"),)),
        Paragraph("quoted on", indent=4),
        Verbatim("x = 1"),
        Table(["a", "b"], [["1", "x | y"]]),
        Verbatim("| odd |"),
        Verbatim("$$ a_1 $$"),
        Item("2.", (Paragraph("two"),)),
    ]


def test_strong_words_and_code_stand_without_their_marks_and_formulas_as_they_are() -> None:
    for text, shown in (
        ("so **very** `x_1` good", ("so ", Span("very", "strong"), " ", "x_1", " good")),
        ("**all**", (Span("all", "strong"),)),
        ("2 ** 3 and a*b*c, __init__ and $a_1 * b$", "2 ** 3 and a*b*c, __init__ and $a_1 * b$"),
        ("not ** closed", "not ** closed"),
    ):
        assert list(parse_markdown(text)) == [Paragraph(shown)]
    assert list(parse_markdown("# The **one**")) == [Heading(("The ", Span("one", "strong")))]


def test_an_answer_without_a_page_of_its_own_is_a_table_fields_or_text() -> None:
    rows = [{"id": "a", "title": "Fish", "count": 3}, {"id": "b", "title": "Oil", "count": 20}]
    assert make_generic_page(rows).parts == (
        Table(
            [Column("id", whole=True), Column("title"), Column("count", "right")],
            [["a", "Fish", "3"], ["b", "Oil", "20"]],
        ),
    )
    record = {"paper_id": "p", "year": "1986", "inferred": ["year"], "none": None, "ok": True}
    assert make_generic_page(record).parts == (
        Fields([("paper id", "p"), ("year", ("1986", " ", Span("?", "doubt"))), ("ok", "yes")]),
        Note("? marks what no source states: carrel papers review says more."),
    )
    text = "sentence " * 40
    assert make_generic_page({"id": "x", "text": text, "rows": rows}).parts == (
        Fields([("id", "x")]),
        Heading("text"),
        Paragraph(text),
        Heading("rows"),
        *make_generic_page(rows).parts,
    )
    assert make_generic_page([]).parts == ()
    assert make_generic_page(["a", "b"]).parts == (Line("a"), Line("b"))
    long_rows = make_generic_page([{"id": "a", "text": text}])
    assert write_page_text(long_rows) == f"1. id: a\n   text: {text}"


@at_terminals
def test_lists_within_lists_keep_their_indentation_and_numbers_stand_right() -> None:
    program = r"""
from carrel.cli.output import show_page
from carrel.cli.page import *
show_page(Page((Markdown("- one\n  - two\n- three"),)))
show_page(Page((Item("9.", (Line("nine"),)), Item("10.", (Line("ten"),)))))
"""
    shown = draw({**TERMINAL, "NO_COLOR": "1"}, 40, program).split("\r\n")
    assert shown == ["• one", "  • two", "• three", " 9. nine", "10. ten", ""]
