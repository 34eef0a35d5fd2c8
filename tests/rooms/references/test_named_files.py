"""Files that the entries of an imported bibliography name are attached where they may be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rooms.references.desk import Reader, Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, {"attachments": tmp_path / "texts"})


def put_file(path: Path, text: str = "%PDF-1.4") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def entry(key: str, links: str) -> str:
    return f"@misc{{{key}, title = {{Work {key}}}, file = {{{links}}}}}\n"


def add(stage: Stage, bib: Path, **reader: str) -> dict[str, Any]:
    async def scene(reader: Reader) -> Any:
        return await reader.ask("add_references", input=str(bib))

    return dict(stage.play(scene, **reader))


def test_http_attaches_nothing_outside_the_allowed_folders(stage: Stage) -> None:
    outside = put_file(stage.home / "private" / "secret.pdf")
    inside = stage.home / "open"
    put_file(inside / "mine.pdf")
    (inside / "link.pdf").symlink_to(outside)
    bib = put_file(
        inside / "refs.bib",
        entry("a", ":mine.pdf:PDF")
        + entry("b", ":../private/secret.pdf:PDF")
        + entry("c", f":{outside}:PDF")
        + entry("d", "link.pdf"),
    )
    stage.references["allowed_folders"] = [inside]
    answer = add(stage, bib, door="http", user="eve")
    attached = {each["id"]: each.get("attached") for each in answer["added"]}
    assert attached == {"a": ["mine.pdf"], "b": None, "c": None, "d": None}
    assert len(answer["warnings"]) == 3
    assert all("not attached" in each["message"] for each in answer["warnings"])


def test_text_that_is_not_a_file_attaches_nothing(stage: Stage) -> None:
    pdf = put_file(stage.home / "mine.pdf")

    async def scene(reader: Reader) -> Any:
        return await reader.ask("add_references", input=entry("a", f":{pdf}:PDF"))

    assert "attached" not in stage.play(scene)["added"][0]


@pytest.mark.parametrize(
    "links",
    [
        ":papers/a b.pdf:PDF",
        "papers/a b.pdf",
        "Full text:papers/a b.pdf:application/pdf",
        ":papers/a b.pdf:pdf;Snapshot:papers/gone.html:text/html",
        r"Title\: with colon:papers/a b.pdf:application/pdf",
        r"papers\\a b.pdf",
    ],
)
def test_the_forms_of_jabref_zotero_and_mendeley_name_files_beside_the_bibliography(
    stage: Stage, links: str
) -> None:
    put_file(stage.home / "papers" / "a b.pdf")
    answer = add(stage, put_file(stage.home / "refs.bib", entry("a", links)))
    assert len(answer["added"][0]["attached"]) == 1

    async def scene(reader: Reader) -> Any:
        return await reader.ask("get_fulltext", id="a")

    assert stage.play(scene)["pdf"]["path"].endswith("fulltext.pdf")


def test_an_absolute_path_and_separators_behind_a_backslash_are_parts_of_a_name(
    stage: Stage,
) -> None:
    pdf = put_file(stage.home / "elsewhere" / "x; y: z.pdf")
    escaped = str(pdf).replace(";", r"\;").replace(":", r"\:")
    answer = add(stage, put_file(stage.home / "refs.bib", entry("a", f":{escaped}:PDF")))
    assert answer["added"][0]["attached"] == [str(pdf)]


def test_what_is_missing_of_another_kind_or_too_much_is_said_and_the_reference_is_kept(
    stage: Stage,
) -> None:
    for name in ("one.pdf", "two.pdf", "data.csv", "notes.md"):
        put_file(stage.home / name)
    links = ":one.pdf:PDF;:two.pdf:PDF;:data.csv:CSV;:notes.md:Markdown;:gone.pdf:PDF"
    answer = add(stage, put_file(stage.home / "refs.bib", entry("a", links)))
    assert answer["added"][0]["attached"] == ["one.pdf", "notes.md"]
    told = " ".join(each["message"] for each in answer["warnings"])
    assert "two.pdf, which was not attached: " in told
    assert "data.csv" in told
    assert "gone.pdf, which was not attached: there is no such file" in told
