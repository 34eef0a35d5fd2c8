"""Reading papers: metadata, summaries, sources, translations, and everything that can be
missing.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from carrel.core.caller import Visit
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.rooms.papers.models import DEFAULT_MAX_CHARS
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.papers_build import with_demo
from tests.rooms.papers.conftest import CORPUS, LIDAR, RESIDUAL, TRANSFORMER
from tests.rooms.papers.desk import Desk
from tests.rooms.papers.snapshots import Generation, write_snapshot


def refused(desk: Desk, name: str, **arguments: object) -> CarrelError:
    with pytest.raises(CarrelError) as caught:
        desk.ask(name, **arguments)
    return caught.value


@pytest.mark.promise("P7")
@pytest.mark.parametrize(
    "name", ["get_paper_metadata", "get_paper_summary", "get_paper_source", "get_paper_bibtex"]
)
def test_an_unknown_paper_is_said_to_be_unknown(desk: Desk, name: str) -> None:
    error = refused(desk, name, paper_id="nobody")
    assert error.code == "paper_not_found"
    assert error.details["paper_id"] == "nobody"


@pytest.mark.promise("P7")
def test_a_missing_template_names_those_there_are(desk: Desk) -> None:
    error = refused(desk, "get_paper_summary", paper_id=TRANSFORMER.paper_id, template="three_pass")
    assert error.code == "template_not_available"
    assert error.details == {
        "paper_id": TRANSFORMER.paper_id,
        "template": "three_pass",
        "available_summary_templates": ["deep_read", "simple"],
    }


@pytest.mark.promise("P7")
def test_a_missing_source_or_translation_is_reported_and_bibtex_is_made(desk: Desk) -> None:
    assert (
        refused(desk, "get_paper_source", paper_id=RESIDUAL.paper_id).code == "source_not_available"
    )
    made = desk.ask("get_paper_bibtex", paper_id=LIDAR.paper_id)
    assert made.body.startswith("@") and LIDAR.title in made.body
    with pytest.raises(CarrelError) as caught:
        desk.read(f"paper://{TRANSFORMER.paper_id}/translation/fr")
    assert caught.value.code == "translation_not_available"
    assert caught.value.details == {
        "paper_id": TRANSFORMER.paper_id,
        "lang": "fr",
        "available_translations": ["zh"],
    }


@pytest.mark.promise("P7")
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [("remove", "not_found"), ("garble", "unreadable"), ("not json", "unreadable")],
)
def test_a_summary_that_cannot_be_had_is_a_failed_fetch_that_shows_no_place(
    tmp_path: Path, spoil: str, reason: str
) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    file = tmp_path / "paper-static" / "summary" / TRANSFORMER.paper_id / "simple.json"
    match spoil:
        case "remove":
            file.unlink()
        case "garble":
            file.write_bytes(b"\xff\xfe\x00")
        case _:
            file.write_text("{", encoding="utf-8")
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        error = refused(desk, "get_paper_summary", paper_id=TRANSFORMER.paper_id)
    assert error.code == "asset_fetch_failed"
    assert error.details == {
        "paper_id": TRANSFORMER.paper_id,
        "template": "simple",
        "reason": reason,
    }
    shown = json.dumps(error.to_facts())
    assert str(tmp_path) not in shown
    assert "summary/" not in shown


@pytest.mark.promise("P11")
def test_a_link_out_of_the_static_folder_is_not_followed(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    (tmp_path / "secret.json").write_text('{"secret": true}', encoding="utf-8")
    file = tmp_path / "paper-static" / "summary" / TRANSFORMER.paper_id / "simple.json"
    file.unlink()
    file.symlink_to(tmp_path / "secret.json")
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        assert (
            refused(desk, "get_paper_summary", paper_id=TRANSFORMER.paper_id).code
            == "asset_fetch_failed"
        )


@pytest.mark.promise("P2")
def test_metadata_has_templates_and_authors_in_order(desk: Desk, generation: Generation) -> None:
    answer = desk.ask("get_paper_metadata", paper_id=TRANSFORMER.paper_id)
    is_newer = generation == "newer"
    assert answer.model_dump() == {
        "paper_id": TRANSFORMER.paper_id,
        "title": "Attention Is All You Need",
        "authors": ("Zoe Vaswani", "Ashish Müller"),
        "year": "2017",
        "publication_date": "2017",
        "venue": "NeurIPS",
        "doi": "10.48550/arxiv.1706.03762" if is_newer else None,
        "arxiv_id": "1706.03762",
        "keywords": ("attention mechanism", "transformer"),
        "institutions": ("google brain",),
        "tags": ("survey",),
        "preferred_summary_template": "simple",
        "available_summary_templates": ("deep_read", "simple"),
        "available_translations": ("zh",),
        "has_source": True,
        "has_bibtex": is_newer,
    }
    assert desk.ask("get_paper_metadata", paper_id=LIDAR.paper_id).authors == ("王伟", "李娜")


@pytest.mark.promise("P2")
def test_authors_come_from_the_summary_where_the_index_has_lost_their_order(tmp_path: Path) -> None:
    snapshot = write_snapshot(tmp_path, CORPUS)
    with sqlite3.connect(snapshot) as connection:
        connection.execute("UPDATE paper_fts SET metadata = ''")
    connection.close()
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        assert desk.ask("get_paper_metadata", paper_id=TRANSFORMER.paper_id).authors == (
            "Zoe Vaswani",
            "Ashish Müller",
        )
    summaries = list((tmp_path / "paper-static" / "summary").rglob("*.json"))
    kept = {file: file.read_bytes() for file in summaries}
    for file in summaries:
        file.write_bytes(b"\xff{damaged")
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        assert (
            refused(desk, "get_paper_metadata", paper_id=TRANSFORMER.paper_id).details["reason"]
            == "unreadable"
        )
    for file, content in kept.items():
        file.write_bytes(content)
    for file in (tmp_path / "paper-static" / "summary" / TRANSFORMER.paper_id).iterdir():
        file.unlink()
    with Desk(snapshot, tmp_path / "paper-static") as desk:
        assert set(desk.ask("get_paper_metadata", paper_id=TRANSFORMER.paper_id).authors) == {
            "zoe vaswani",
            "ashish müller",
        }


@pytest.mark.promise("P3")
def test_a_summary_is_the_stored_json_whole(desk: Desk) -> None:
    preferred = desk.ask("get_paper_summary", paper_id=TRANSFORMER.paper_id)
    assert preferred.media_type == "application/json"
    assert json.loads(preferred.body)["template_tag"] == "simple"
    assert (
        json.loads(
            desk.ask("get_paper_summary", paper_id=TRANSFORMER.paper_id, template="Deep_Read").body
        )["template_tag"]
        == "deep_read"
    )


@pytest.mark.promise("P6")
def test_a_long_source_is_cut_with_a_marker_and_read_on_by_offset(desk: Desk) -> None:
    whole = TRANSFORMER.source or ""
    first = desk.ask("get_paper_source", paper_id=TRANSFORMER.paper_id, max_chars=10_000)
    assert first.body == whole[:10_000] + f"\n[truncated: {len(whole) - 10_000} more chars]"
    second = desk.ask(
        "get_paper_source", paper_id=TRANSFORMER.paper_id, max_chars=len(whole), offset=10_000
    )
    assert second.body == whole[10_000:]
    by_default = desk.ask("get_paper_source", paper_id=TRANSFORMER.paper_id)
    assert by_default.body == whole, "only the MCP doors cut what nobody asked to be cut"
    left = len(whole) - DEFAULT_MAX_CHARS
    resource = desk.read(f"paper://{TRANSFORMER.paper_id}/source").body
    assert resource == whole[:DEFAULT_MAX_CHARS] + f"\n[truncated: {left} more chars]"
    with pytest.raises(InvalidInputError, match="past the end"):
        desk.ask("get_paper_source", paper_id=TRANSFORMER.paper_id, offset=len(whole))


@pytest.mark.promise("P6")
def test_a_piece_of_json_is_not_called_json(desk: Desk) -> None:
    answer = desk.ask("get_paper_summary", paper_id=TRANSFORMER.paper_id, max_chars=5)
    assert answer.media_type == "text/plain"
    assert "\n[truncated: " in answer.body


def test_a_summary_that_is_cut_says_beside_it_how_to_read_on(desk: Desk) -> None:
    paper_id = TRANSFORMER.paper_id
    told = desk.ask_whole("get_paper_summary", paper_id=paper_id, max_chars=5, offset=2)
    assert "call again with offset 7." in told.explanation.message


@pytest.mark.promise("P5")
def test_every_address_is_readable_and_cut_like_the_tools(desk: Desk) -> None:
    base = f"paper://{TRANSFORMER.paper_id}"
    assert json.loads(desk.read(f"{base}/metadata").body)["preferred_summary_template"] == "simple"
    assert json.loads(desk.read(f"{base}/summary").body)["template_tag"] == "simple"
    assert json.loads(desk.read(f"{base}/summary/deep_read").body)["template_tag"] == "deep_read"
    assert desk.read(f"{base}/translation/zh").body == "注意力机制翻译内容。"
    assert (
        desk.read(f"{base}/source").body
        == desk.ask(
            "get_paper_source", paper_id=TRANSFORMER.paper_id, max_chars=DEFAULT_MAX_CHARS
        ).body
    )
    for uri in (
        f"paper://{'x' * 65}/metadata",
        "paper://a%2F..%2Fb/source",
        "paper://nobody/summary",
    ):
        with pytest.raises(CarrelError) as caught:
            desk.read(uri)
        assert caught.value.code == "paper_not_found"


@pytest.mark.promise("P3")
def test_the_descriptions_say_what_the_specification_asks_for(desk: Desk) -> None:
    described = {operation.name: operation.description for operation in desk.room.operations}
    assert (
        "Call get_paper_metadata first to discover available templates"
        in described["get_paper_summary"]
    )
    assert "Content can be large" in described["get_paper_source"]
    assert "max_chars limits" in described["get_paper_source"]
    assert all(operation.title and operation.description for operation in desk.room.operations)


@pytest.mark.promise("P2")
def test_the_genuine_snapshot_is_read(demo: Desk) -> None:
    paper_id = demo.ask("search_papers", query="attention is all you need")[0].paper_id
    answer = demo.ask("get_paper_metadata", paper_id=paper_id)
    assert answer.authors == ("Ashish Vaswani", "Noam Shazeer")
    assert answer.available_summary_templates == ("deep_read", "simple")
    assert answer.has_bibtex
    assert "vaswani2017attention" in demo.ask("get_paper_bibtex", paper_id=paper_id).body
    assert (
        json.loads(demo.ask("get_paper_summary", paper_id=paper_id, template="deep_read").body)[
            "template_tag"
        ]
        == "deep_read"
    )
    assert demo.ask("get_paper_source", paper_id=paper_id).body.startswith(
        "# Attention Is All You Need"
    )
    assert "注意力" in demo.read(f"paper://{paper_id}/translation/zh").body
    missing = demo.ask("search_papers", query="A Paper Without Source Markdown")[0]
    assert missing.year == "unknown"
    assert (
        refused(demo, "get_paper_source", paper_id=missing.paper_id).code == "source_not_available"
    )


@pytest.mark.promise("P9")
def test_a_corpus_says_how_large_it_is_and_is_written_out(tmp_path: Path) -> None:
    settings = with_demo(
        Settings.model_validate(
            {"home": tmp_path, "rooms": ("papers",), "audit": {"enabled": False}}
        )
    )

    async def scene() -> tuple[Any, str, str, str]:
        async with open_desk(settings).session() as desk:
            visit = Visit("cli", "test")
            caller = await desk.gate.identify(visit)

            async def ask(name: str, **arguments: object) -> Any:
                return await desk.gate.call(
                    desk.catalogue.operations[name], arguments, caller, visit
                )

            found = [
                await ask("export_papers", format=form, query="BM25", limit=1)
                for form in ("jsonl", "bibtex")
            ]
            everything = await ask("export_papers")
            return await ask("get_corpus_statistics"), found[0].body, found[1].body, everything.body

    statistics, lines, bibtex, everything = asyncio.run(scene())
    assert statistics.papers == len(everything.splitlines()) == 10
    assert statistics.index == "fast index of words and passages"
    assert sum(year.paper_count for year in statistics.years) == 10
    assert json.loads(lines)["title"] in bibtex.replace("{", "").replace("}", "")
