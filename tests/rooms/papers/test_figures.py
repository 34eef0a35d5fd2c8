"""Figures and tables of papers, listed and read at every kind of door."""

from __future__ import annotations

import base64
import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp
import pytest
from anyio.from_thread import start_blocking_portal

from carrel.cli import main
from carrel.libraries.works.figures import PaperFigure
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.figures import MAX_IMAGE_BYTES, find_figure
from carrel.settings import Settings
from carrel.wiring.papers_build import build_papers
from tests.journeys.doors import Failed, RestDoor, Said, desk_options, serving, stdio_parameters
from tests.rooms.research.test_at_the_doors import posted
from tests.services.test_jats_lists import ARTICLE

# One black pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
LABELS = ["Figure 1", "Figure 1—figure supplement 1", "Table 1", "Table 2"]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("figures")
    sources = folder / "source"
    sources.mkdir()
    (sources / "paper.xml").write_text(ARTICLE, encoding="utf-8")
    (sources / "cells.png").write_bytes(PNG)
    (sources / "papers.jsonl").write_text('{"title": "A paper without any figures"}')
    build_papers([sources], folder / "corpus", BuildOptions(workers=1))
    return Settings.model_validate(
        {
            "home": folder / "home",
            "rooms": ("papers",),
            "papers": {"snapshot": folder / "corpus" / "paper_snapshot.db"},
        }
    )


@pytest.fixture(scope="module")
def port(settings: Settings) -> Iterator[int]:
    with serving(settings) as listening:
        yield listening


def paper_id(port: int, title: str = "whole article") -> str:
    said = RestDoor(port).ask("search_papers", query=title)
    assert isinstance(said, Said)
    return str(said.value[0]["paper_id"])


def call(port: int, tool: str, **arguments: Any) -> Any:
    return posted(port, "/mcp", "tools/call", {"name": tool, "arguments": arguments})["result"]


def typed(settings: Settings, *words: str) -> tuple[int, str, str]:
    command, *rest = words
    with (
        contextlib.redirect_stdout(io.StringIO()) as said,
        contextlib.redirect_stderr(io.StringIO()) as told,
    ):
        exit_code = main(["papers", command, *desk_options(settings), *rest])
    return exit_code, said.getvalue(), told.getvalue()


def test_a_figure_that_is_not_there_is_refused_and_the_others_are_named(port: int) -> None:
    refused = call(port, "get_paper_figure", paper_id=paper_id(port), figure="Figure 9")
    assert refused["isError"]
    error = refused["structuredContent"]["error"]
    assert error["code"] == "figure_not_found"
    assert error["details"]["figures"] == LABELS
    assert "Table 1" in error["next_step"]
    unknown = RestDoor(port).ask("get_paper_figure", paper_id="nothing", figure="1")
    assert isinstance(unknown, Failed)
    assert unknown.means("paper_not_found")


def test_figures_are_listed_with_captions_and_counted_in_the_metadata(port: int) -> None:
    found = call(port, "list_paper_figures", paper_id=paper_id(port))["structuredContent"]["result"]
    assert [figure["label"] for figure in found] == LABELS
    assert found[0]["caption"] == "All cells. (**A**) One."
    assert [figure["has_image"] for figure in found] == [True, False, False, False]
    assert [figure["has_table"] for figure in found] == [False, False, True, True]
    metadata = call(port, "get_paper_metadata", paper_id=paper_id(port))["structuredContent"]
    assert (metadata["figures"], metadata["references"]) == (4, 3)


def test_a_paper_without_figures_says_so(port: int) -> None:
    named = paper_id(port, "without any figures")
    answer = call(port, "list_paper_figures", paper_id=named)["structuredContent"]
    assert answer["result"] == []
    assert "No figure" in answer["explanation"]["message"]
    metadata = call(port, "get_paper_metadata", paper_id=named)["structuredContent"]
    assert "figures" not in metadata
    assert "references" not in metadata


def test_an_image_is_an_image_block_at_the_mcp_doors(port: int, settings: Settings) -> None:
    content = call(port, "get_paper_figure", paper_id=paper_id(port), figure="fig.1")["content"]
    text, image, source = content
    assert text["text"] == "**Figure 1**. All cells. (**A**) One."
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(image["data"]) == PNG
    assert "quoted material" in source["text"]

    named = paper_id(port)

    async def ask_over_stdio() -> Any:
        async with mcp.Client(stdio_parameters(desk_options(settings))) as client:
            return await client.call_tool("get_paper_figure", {"paper_id": named, "figure": "1"})

    with start_blocking_portal() as portal:
        result = portal.call(ask_over_stdio)
    assert base64.b64decode(result.content[1].data) == PNG


def test_a_table_is_markdown_and_rest_has_the_same_blocks(port: int) -> None:
    said = RestDoor(port).ask("get_paper_figure", paper_id=paper_id(port), figure="table 1")
    assert isinstance(said, Said)
    (block,) = said.value
    assert block["text"] == "**Table 1**. Counts.\n\n| a | b |\n|---|---|\n| 1 | 2\\|3 |"
    image = RestDoor(port).ask("get_paper_figure", paper_id=paper_id(port), figure="1")
    assert isinstance(image, Said)
    assert base64.b64decode(image.value[1]["data"]) == PNG


def test_a_missing_image_is_said_beside_the_caption(port: int) -> None:
    content = call(port, "get_paper_figure", paper_id=paper_id(port), figure=LABELS[1])["content"]
    assert "No image of it was kept" in content[0]["text"]
    assert all(block["type"] == "text" for block in content)


def test_the_command_line_prints_and_writes(port: int, settings: Settings, tmp_path: Path) -> None:
    named = paper_id(port)
    code, said, _ = typed(settings, "figures", named)
    assert code == 0
    assert "Figure 1" in said
    code, said, _ = typed(settings, "figure", named, "Table 1")
    assert code == 0
    assert "| 1 | 2\\|3 |" in said
    target = tmp_path / "one.png"
    code, _, told = typed(settings, "figure", named, "1", "--to", str(target))
    assert (code, target.read_bytes()) == (0, PNG)
    assert "bytes written" in told
    code, _, told = typed(settings, "figure", named, "1", "--to", str(target))
    assert code == 1
    assert "there already" in told
    code, _, told = typed(settings, "figure", named, LABELS[1], "--to", str(tmp_path / "x"))
    assert code == 1
    assert "no image or table" in told
    code, said, _ = typed(settings, "figure", named, "1", "--json")
    assert '"type":"image"' in said


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("3", "Figure 3"),
        ("Fig. 3", "Figure 3"),
        ("figure 3:", "Figure 3"),
        ("3b", "Figure 3"),
        ("Abbildung 3", "Figure 3"),
        ("Table 3", "Table 3"),
        ("Tab. 3", "Table 3"),
        ("S1", "Table S1"),
        ("4", None),
        ("", None),
    ],
)
def test_figures_are_found_by_label_and_number(name: str, label: str | None) -> None:
    figures = [
        PaperFigure("table", "Table 3"),
        PaperFigure("figure", "Figure 3"),
        PaperFigure("table", "Table S1"),
    ]
    found = find_figure(figures, name)
    assert (found.label if found else None) == label


def test_an_image_that_is_too_large_is_not_sent(tmp_path: Path) -> None:
    sources = tmp_path / "source"
    sources.mkdir()
    (sources / "paper.xml").write_text(ARTICLE, encoding="utf-8")
    (sources / "cells.png").write_bytes(PNG + b"0" * MAX_IMAGE_BYTES)
    build_papers([sources], tmp_path / "corpus", BuildOptions(workers=1))
    chosen = {
        "home": tmp_path / "home",
        "rooms": ("papers",),
        "papers": {"snapshot": tmp_path / "corpus" / "paper_snapshot.db"},
    }
    with serving(Settings.model_validate(chosen)) as listening:
        said = RestDoor(listening).ask("get_paper_figure", paper_id=paper_id(listening), figure="1")
    assert isinstance(said, Said)
    (block,) = said.value
    assert "more than the 5,000,000" in block["text"]
