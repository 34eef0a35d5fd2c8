"""No parser raises anything but its documented errors, whatever it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.core.errors import CarrelError
from carrel.libraries.bibliography.dates import read_date, read_year_and_month
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import BibliographyError
from carrel.libraries.bibliography.recognition import IDENTIFIER_KINDS, InputKind, recognise
from carrel.libraries.csl import CitationStyleError, load_style, render_bibliography
from carrel.libraries.identifiers import ArxivId, Doi, Isbn, NotAnIdentifierError, Pmcid, Pmid
from carrel.libraries.query.papers import parse_paper_query
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.libraries.text.front_matter import FrontMatterError, load_front_matter
from carrel.libraries.text.plain_text import plain_text
from carrel.rooms.knowledge.note_format import EmptyNoteError, parse_note
from carrel.rooms.knowledge.notes import BadRow
from carrel.rooms.research.human_input import read_legacy_hypotheses
from carrel.services.node_files import read_nodes

pytestmark = pytest.mark.promise("D14")

# Pieces of which the formats are made, so that chance finds their corners.
PIECES = st.sampled_from(
    r"""@article{ @string{ @comment{ @xdata{ k, title= author= crossref= xdata= ids= a0 # " { } ( )
        , = \emph \'{ \frac ^ _ $ ~ `` '' --
    TY__- ER__- AU__- PMID- FAU_- %0 %T --TI-- TI- <a> </a> <?xml <!DOCTYPE <!ENTITY &x; ]]> [ ]
    {"a": "issued": "date-parts": 1e999 9999999999
    --- a: &a *a <<: - ? | > ! # ## ``` ~~~ [[ ]] ![ ]( 10.1234/ arXiv: isbn 1999 jan / .. and AND
    OR NOT <i> </i> “ ” ‘ ’ <table> <!--""".split()  # noqa: SIM905 - a table of pieces
)
TEXTS = st.lists(
    st.one_of(
        PIECES.map(lambda piece: piece.replace("_", " ")),
        st.text(max_size=5),
        st.sampled_from([" ", "\n", "\r", "\x00"]),
    )
)
JOINED = TEXTS.map("".join)


@pytest.mark.parametrize("kind", [kind for kind in InputKind if kind not in IDENTIFIER_KINDS])
@settings(max_examples=60, deadline=None)
@given(text=JOINED)
def test_a_bibliography_is_read_or_refused(kind: InputKind, text: str) -> None:
    for content in (text, text.encode("utf-8", "surrogatepass")):
        try:
            read_bibliography(content, kind)
        except (BibliographyError, InputTooCostlyError) as refusal:
            assert str(refusal)


def _identifiers(text: str) -> None:
    for kind in (Doi, Pmid, Pmcid, ArxivId, Isbn):
        try:
            kind.parse(text)
        except NotAnIdentifierError:
            continue


def _cited(text: str) -> None:
    style = load_style("apa")
    item = {
        "id": "a",
        "type": "book",
        "title": text,
        "author": [{"family": text, "given": text}],
        "page": text,
        "issued": text,
    }
    render_bibliography([item], style)


def _in_style(text: str) -> None:
    head = (
        '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" '
        'version="1.0"><info><id>a</id><title>a</title></info>'
    )
    render_bibliography([{"id": "a", "type": "book", "title": "t"}], head + text + "</style>")


READERS: dict[str, tuple[Callable[[str], object], tuple[type[Exception], ...]]] = {
    "recognition": (recognise, ()),
    "identifiers": (_identifiers, ()),
    "dates": (lambda text: (read_date(text), read_year_and_month(text, text, text)), ()),
    "front matter": (load_front_matter, (FrontMatterError,)),
    "note": (lambda text: parse_note(text, "a.md"), (EmptyNoteError,)),
    "Markdown": (plain_text, ()),
    "papers query": (parse_paper_query, ()),
    "citation": (_cited, (CitationStyleError,)),
    "hypotheses": (read_legacy_hypotheses, (CarrelError,)),
    "style": (_in_style, (CitationStyleError,)),
}


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=100, deadline=None)
@given(text=JOINED)
def test_a_text_is_read_or_refused(name: str, text: str) -> None:
    reads, refusals = READERS[name]
    try:
        reads(text)
    except refusals as refusal:
        assert str(refusal)


@pytest.mark.parametrize(
    "text", ["[" * 5_000 + "]" * 5_000, '{"a":' * 300 + "1" + "}" * 300, "1" * 10_000]
)
def test_hypotheses_nested_too_deep_or_with_endless_numbers_are_refused(text: str) -> None:
    with pytest.raises(CarrelError):
        read_legacy_hypotheses(text)


@pytest.mark.parametrize("text", ["[" * 5_000 + "]" * 5_000, "1" * 10_000])
def test_nodes_nested_too_deep_or_with_endless_numbers_are_bad_rows(
    text: str, tmp_path: Path
) -> None:
    lines, table = tmp_path / "nodes.jsonl", tmp_path / "nodes.csv"
    lines.write_text(text)
    table.write_text(f'name,metadata\na,"{text}"\n')
    assert all(isinstance(row, BadRow) for row in read_nodes(lines))
    assert list(read_nodes(table))
