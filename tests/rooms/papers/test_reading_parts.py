"""A paper is read part by part, its pages are drawn, and facets of a search are counted."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from carrel.libraries.text.outline import Block, HeadingLine, read_parts
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.text_parts import TextParts
from carrel.services.paper_sources.pdf_page_images import draw_page
from carrel.settings import Settings
from carrel.wiring.papers_build import build_papers
from tests.journeys.doors import Failed, RestDoor, Said, serving
from tests.rooms.research.test_at_the_doors import posted
from tests.services.pdf_files import make_pdf

pytestmark = pytest.mark.promise("V1")

_SENTENCE = "Moths turn towards lamps in the evening, whatever the colour of the lamp. "
_LONG = "# A long book\n\n" + "\n\n".join(
    f"## Chapter {chapter}\n\n" + "\n\n".join(f"{_SENTENCE * 6}Paragraph {chapter}.{at}."
    for at in range(8))
    for chapter in range(1, 13)
)  # fmt: skip
_NEEDLE = "Only here the quokka is mentioned, between two chapters about lamps."
_LONG = _LONG.replace("## Chapter 7\n", f"## Chapter 7\n\n{_NEEDLE}\n\n", 1)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("reading")
    sources = folder / "source"
    sources.mkdir()
    (sources / "book.md").write_text(_LONG, encoding="utf-8")
    text = [(18, "A printed paper on moths"), (11, "Ann Able"), *[(11, _SENTENCE)] * 20]
    (sources / "printed.pdf").write_bytes(make_pdf([text, [(11, _SENTENCE)] * 30]))
    (sources / "papers.jsonl").write_text(
        '{"title": "An abstract alone", "abstract": "Moths and lamps, in short.", "year": 2001, '
        '"venue": "Moths Today", "keywords": ["Lamps"], "authors": ["Bo Bee"]}\n'
        '{"title": "Another on lamps", "year": 2002, "venue": "moths today"}\n'
    )
    build_papers([sources], folder / "corpus", BuildOptions(workers=1))
    snapshot = folder / "corpus" / "paper_snapshot.db"
    settings = {
        "home": folder / "home",
        "rooms": ("papers",),
        "papers": {"snapshot": snapshot},
        "limits": {"per_minute": 100_000, "burst": 100_000},
    }
    with serving(Settings.model_validate(settings)) as listening:
        yield listening


def ask(port: int, operation: str, **arguments: Any) -> Any:
    said = RestDoor(port).ask(operation, **arguments)
    assert isinstance(said, Said), said
    return said.value


def refuse(port: int, operation: str, **arguments: Any) -> Failed:
    said = RestDoor(port).ask(operation, **arguments)
    assert isinstance(said, Failed), said
    return said


def paper_id(port: int, title: str) -> str:
    return str(ask(port, "search_papers", query=f'"{title}"')[0]["paper_id"])


def test_what_is_not_there_is_refused_and_says_how_many_there_are(port: int) -> None:
    book = paper_id(port, "A long book")
    refused = refuse(port, "read_paper_part", paper_id=book, part=999)
    assert refused.means("part_not_found")
    assert refuse(port, "read_paper_part", paper_id="unknown").means("paper_not_found")
    unread = refuse(port, "read_paper_part", paper_id=book, section="Chapter 99")
    assert unread.means("section_not_found")
    assert refuse(port, "get_paper_page", paper_id=book, page=1).means("page_not_found")
    printed = paper_id(port, "A printed paper on moths")
    assert refuse(port, "get_paper_page", paper_id=printed, page=3).means("page_not_found")


def test_the_parts_together_are_the_text(port: int) -> None:
    book = paper_id(port, "A long book")
    first = ask(port, "read_paper_part", paper_id=book)
    assert first["parts"] > 3
    read = [
        ask(port, "read_paper_part", paper_id=book, part=at + 1) for at in range(first["parts"])
    ]
    pieces = [piece for part in read for piece in part["pieces"]]
    told = " ".join(f"{piece.get('heading') or ''} {piece['text']}" for piece in pieces)
    assert told.split() == _LONG.replace("#", "").split()[3:]
    assert max(sum(len(piece["text"]) for piece in part["pieces"]) for part in read) < 30_000
    assert [entry["title"] for entry in first["outline"]] == [f"Chapter {n}" for n in range(1, 13)]
    for entry in first["outline"]:
        assert any(
            piece.get("heading") == entry["title"] for piece in read[entry["part"] - 1]["pieces"]
        )


def test_a_query_opens_the_part_where_it_is_found(port: int) -> None:
    book = paper_id(port, "A long book")
    answer = ask(port, "read_paper_part", paper_id=book, query="quokka")
    assert answer["part"] > 1
    focus = answer["found"][answer["focus"]]
    assert focus["part"] == answer["part"]
    marked = [piece for piece in answer["pieces"] if piece.get("found") == answer["focus"]]
    assert any("quokka" in piece["text"] for piece in marked)
    by_id = ask(port, "read_paper_part", paper_id=book, passage_id=focus["passage_id"])
    assert (by_id["part"], len(by_id["found"])) == (answer["part"], 1)
    section = ask(port, "read_paper_part", paper_id=book, section="Chapter 12")
    assert section["part"] == section["parts"]


def test_a_paper_without_a_text_shows_its_abstract(port: int) -> None:
    answer = ask(port, "read_paper_part", paper_id=paper_id(port, "An abstract alone"))
    assert not answer["has_source"]
    assert [piece["text"] for piece in answer["pieces"]] == ["Moths and lamps, in short."]


def test_pages_of_the_pdf_are_pictures_and_the_text_says_which_page_it_is_on(port: int) -> None:
    printed = paper_id(port, "A printed paper on moths")
    assert ask(port, "count_paper_pages", paper_id=printed)["pages"] == 2
    assert ask(port, "count_paper_pages", paper_id=paper_id(port, "A long book"))["pages"] == 0
    text, image = ask(port, "get_paper_page", paper_id=printed, page=2, width=300)
    assert text["text"] == "Page 2 of 2."
    picture = base64.b64decode(image["data"])
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == 300
    pieces = ask(port, "read_paper_part", paper_id=printed)["pieces"]
    assert [piece["page"] for piece in pieces if piece.get("page")] == [1, 2]
    assert not any("<!--" in piece["text"] for piece in pieces)


@pytest.mark.parametrize("content", [b"", b"no PDF", b"%PDF-1.7\n" + b"x" * 1_000])
def test_what_is_no_pdf_has_no_pages(content: bytes) -> None:
    assert draw_page(content, 1, 300) == (0, None)


def test_facets_of_a_search_count_spellings_together(port: int) -> None:
    counted = ask(port, "count_search_facets", query="lamps")
    assert counted["counted"] == counted["total"] == 4
    assert {row["value"].lower(): row["paper_count"] for row in counted["venue"]} == {
        "moths today": 2
    }
    assert counted["keyword"] == [{"value": "lamps", "paper_count": 1}]
    nothing = ask(port, "count_search_facets", query="zzzz")
    assert (nothing["counted"], nothing["venue"]) == (0, [])


def test_reading_operations_are_not_offered_to_assistants(port: int) -> None:
    names = {"read_paper_part", "get_paper_page", "count_paper_pages", "count_search_facets"}
    listed = posted(port, "/mcp", "tools/list", {})["result"]["tools"]
    assert not names & {tool["name"] for tool in listed}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x" * 100_000,
        "word " * 20_000,
        "# T\n\n" + "| a | b |\n" * 9_000,
        "<!-- page 1 -->\n\nText.\n\n<!-- page 2 -->\n\n## Head\n\n### Below\n\nMore.\n",
        "```\n" + "code\n" * 20_000 + "```\n\n## After\n\nText.",
    ],
)
def test_no_text_is_lost_between_parts(text: str) -> None:
    parts = TextParts(text, size=1_000)
    blocks = "".join(text[b.start : b.end] for b in read_parts(text) if isinstance(b, Block))
    shown = "".join(
        text[piece.start : piece.end]
        for number in range(1, parts.count + 1)
        for piece in parts.pieces(number)
    )
    assert "".join(shown.split()) == "".join(blocks.split())
    headings = [p for p in read_parts(text) if isinstance(p, HeadingLine)]
    kept = [
        piece.heading
        for number in range(1, parts.count + 1)
        for piece in parts.pieces(number)
        if piece.heading
    ]
    assert [each.start for each in kept] == [h.start for h in headings if h.title != "T"]


def test_marked_stretches_stand_alone() -> None:
    text = "One.\n\nTwo.\n\nThree.\n\nFour."
    start = text.index("Two")
    pieces = TextParts(text).pieces(1, [(start, start + 4)])
    assert [(text[p.start : p.end], p.mark) for p in pieces] == [
        ("One.", None),
        ("Two.", 0),
        ("Three.\n\nFour.", None),
    ]
