"""Pages of the library resource, styles by their kinds, and Markdown that arrives as itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from tests.rooms.references.desk import Reader, Stage
from tests.rooms.references.test_alone import call, talk

MARKDOWN = '# Title\n\nA "quoted" line with \\ and tabs\tand ünïcode.\n\n- one\n- two\n'


@pytest.mark.promise("L7")
def test_a_page_that_is_none_is_refused_and_a_large_library_comes_page_by_page(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path)
    items = [{"id": f"k{at}", "type": "book"} for at in range(2001)]
    stage.library.write_text(json.dumps(items), "utf-8")

    async def scene(reader: Reader) -> None:
        for typed in ("0", "4", "-1", "x", "²", "1" * 30):
            with pytest.raises(CarrelError) as refused:
                await reader.read(f"library://references/{typed}")
            assert refused.value.code == "resource_not_found"
        first = json.loads(await reader.read("library://references"))
        assert (first["total"], first["pages"]) == (2001, 3)
        assert first == json.loads(await reader.read("library://references/1"))
        found, page = list(first["references"]), first
        while page["next"] is not None:
            page = json.loads(await reader.read(page["next"]))
            found += page["references"]
        assert found == items

    stage.play(scene)


@pytest.mark.promise("L7")
def test_a_small_library_is_one_array_as_its_specification_says(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    items = [{"id": f"k{at}", "type": "book"} for at in range(1000)]
    stage.library.write_text(json.dumps(items), "utf-8")

    async def scene(reader: Reader) -> None:
        assert json.loads(await reader.read("library://references")) == items
        page = json.loads(await reader.read("library://references/1"))
        assert (page["total"], page["next"], page["references"]) == (1000, None, items)

    stage.play(scene)


@pytest.mark.promise("L4")
def test_styles_are_found_by_words_format_field_and_parent(tmp_path: Path) -> None:
    async def scene(reader: Reader) -> None:
        async def find(query: str, **more: Any) -> Any:
            return await reader.ask("list_citation_styles", query=query, limit=500, **more)

        for wrong in ({"parent": "no such style"}, {"field": "alchemy"}, {"format": "verse"}):
            with pytest.raises(CarrelError):
                await find("*", **wrong)
        notes = await find("*", format="note", field="history")
        assert notes["total"] > 50
        assert all("history" in style["fields"] for style in notes["styles"])
        assert all(style["format"] == "note" for style in notes["styles"] if "parent" not in style)
        children = await find("*", parent="nature")
        assert {style["parent"] for style in children["styles"]} == {"nature"}
        own = await find("nature", is_independent=True)
        nature = next(style for style in own["styles"] if style["name"] == "nature")
        assert nature["dependents"] == children["total"] > 10
        assert not any("parent" in style for style in own["styles"])
        science = await find("*", field="Political Science", is_independent=False)
        assert all("parent" in style for style in science["styles"])
        both = await find("vancouver medicine")
        assert any("medicine" in style["fields"] for style in both["styles"])
        pages = [
            (await reader.ask("list_citation_styles", query="*", format="label", limit=2, page=at))
            for at in (1, 2)
        ]
        names = [style["name"] for page in pages for style in page["styles"]]
        assert len(set(names)) == len(names)

    Stage(tmp_path).play(scene)


@pytest.mark.promise("L3")
def test_markdown_arrives_as_itself_and_a_pdf_as_its_path(tmp_path: Path) -> None:
    text, long_text, pdf = tmp_path / "t.md", tmp_path / "l.md", tmp_path / "p.pdf"
    text.write_text(MARKDOWN, "utf-8")
    long_text.write_text(MARKDOWN * 2000, "utf-8")
    pdf.write_bytes(b"%PDF-1.4")
    keys = ("short", "long", "both", "paper")
    (tmp_path / "lib.json").write_text(json.dumps([{"id": key, "type": "book"} for key in keys]))
    files = [("short", text), ("long", long_text), ("both", text), ("both", pdf), ("paper", pdf)]
    library = ("--library", str(tmp_path / "lib.json"))
    for key, path in files:
        talk(tmp_path, call(1, "fulltext_attach", id=key, path=str(path)), arguments=library)
    questions = [call(at, "fulltext_get", id=key) for at, key in enumerate(keys, 1)]
    answers = talk(tmp_path, *questions, arguments=library)
    short, long, both, paper = (answers[at]["result"] for at in (1, 2, 3, 4))
    assert short["content"][0] == {"type": "text", "text": MARKDOWN}
    assert short["structuredContent"]["markdown"] == MARKDOWN
    assert long["content"][0]["text"].startswith(MARKDOWN * 10)
    assert long["content"][0]["text"] == long["structuredContent"]["markdown"]
    assert long["structuredContent"]["next_cursor"]
    assert both["content"][0]["text"] == MARKDOWN
    beside = json.loads(both["content"][1]["text"])
    assert Path(beside["pdf"]["path"]).read_bytes() == b"%PDF-1.4"
    path = json.loads(paper["content"][0]["text"])["pdf"]["path"]
    assert Path(path).read_bytes() == b"%PDF-1.4"
