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


def test_what_is_missing_or_of_another_kind_is_said_and_the_reference_is_kept(
    stage: Stage,
) -> None:
    for name in ("one.pdf", "data.csv", "notes.md"):
        put_file(stage.home / name)
    links = ":one.pdf:PDF;:data.csv:CSV;:notes.md:Markdown;:gone.pdf:PDF"
    answer = add(stage, put_file(stage.home / "refs.bib", entry("a", links)))
    assert answer["added"][0]["attached"] == ["one.pdf", "notes.md"]
    told = " ".join(each["message"] for each in answer["warnings"])
    assert "data.csv" in told
    assert "gone.pdf, which was not attached: there is no such file" in told


def test_further_files_of_a_kind_are_supplements_and_each_is_attached_once(stage: Stage) -> None:
    for name in ("one.pdf", "two.pdf", "notes.md", "more.md"):
        put_file(stage.home / name, name)
    links = ":one.pdf:PDF;:two.pdf:PDF;:one.pdf:PDF;:notes.md:Markdown;:more.md:Markdown"
    answer = add(stage, put_file(stage.home / "refs.bib", entry("a", links)))
    assert answer["added"][0]["attached"] == ["one.pdf", "two.pdf", "notes.md", "more.md"]
    assert not answer.get("warnings")

    async def scene(reader: Reader) -> Any:
        return (
            await reader.ask("get_fulltext", id="a"),
            await reader.ask("list_attachments", id="a"),
        )

    text, listed = stage.play(scene)
    assert text["markdown"] == "notes.md"
    assert [(each["name"], each["role"]) for each in listed["files"]] == [
        ("fulltext.pdf", "fulltext"),
        ("two.pdf", "supplement"),
        ("fulltext.md", "fulltext"),
        ("more.md", "supplement"),
    ]


def test_files_are_looked_for_in_the_folder_that_jabref_declares(stage: Stage) -> None:
    put_file(stage.home / "lib" / "pdfs" / "mine.pdf")
    bib = put_file(
        stage.home / "lib" / "refs.bib",
        entry("a", ":mine.pdf:PDF") + "@comment{jabref-meta: fileDirectory:pdfs;}\n",
    )
    answer = add(stage, bib)
    assert answer["added"][0]["attached"] == ["mine.pdf"]
    assert not answer.get("warnings")


def test_a_declared_folder_outside_the_allowed_ones_attaches_nothing_over_http(
    stage: Stage,
) -> None:
    put_file(stage.home / "private" / "secret.pdf")
    inside = stage.home / "open"
    bib = put_file(
        inside / "refs.bib",
        entry("a", ":secret.pdf:PDF") + "@comment{jabref-meta: fileDirectory:../private;}\n",
    )
    stage.references["allowed_folders"] = [inside]
    answer = add(stage, bib, door="http", user="eve")
    assert answer["added"][0].get("attached") is None
    assert "not attached" in answer["warnings"][0]["message"]


def test_an_import_that_attached_files_is_undone_change_by_change(stage: Stage) -> None:
    put_file(stage.home / "one.pdf")
    put_file(stage.home / "two.pdf")
    bib = put_file(
        stage.home / "refs.bib", entry("a", "one.pdf") + entry("b", "two.pdf") + entry("c", "")
    )

    async def scene(reader: Reader) -> None:
        await reader.ask("add_references", input=str(bib))
        rows = (await reader.ask("list_library_changes"))["changes"]
        assert [row["can_undo"] for row in rows] == [True, True, False]
        for number in [row["revision"] for row in rows]:
            rows = (await reader.ask("list_library_changes"))["changes"]
            assert {row["revision"]: row["can_undo"] for row in rows}[number]
            await reader.ask("undo_library_change", revision=number)
        assert (await reader.ask("list_references"))["total"] == 0

    stage.play(scene)


def test_files_of_endnote_are_attached_or_told(stage: Stage) -> None:
    records = "".join(
        f"<record><database name='Lab.enl' path='/Users/me/Lab.enl'>Lab.enl</database>"
        f"<ref-type name='Book'>6</ref-type><titles><title>{name}</title></titles>"
        f"<urls><pdf-urls><url>internal-pdf://{name}/{name} 1.pdf</url></pdf-urls></urls></record>"
        for name in ("beside", "library", "export", "gone")
    ).replace("'", '"')
    put_file(stage.home / "PDF" / "beside" / "beside 1.pdf")
    put_file(stage.home / "Lab.Data" / "PDF" / "library" / "library 1.pdf")
    put_file(stage.home / "mine.Data" / "PDF" / "export" / "export 1.pdf")
    answer = add(
        stage, put_file(stage.home / "mine.xml", f"<xml><records>{records}</records></xml>")
    )
    assert [each.get("attached") for each in answer["added"]] == [
        ["PDF/beside/beside 1.pdf"],
        ["PDF/library/library 1.pdf"],
        ["PDF/export/export 1.pdf"],
        None,
    ]
    (warned,) = answer["warnings"]
    assert "gone 1.pdf, which was not attached" in warned["message"]


def test_every_one_of_many_files_of_an_entry_is_attached_or_told(stage: Stage) -> None:
    names = [f"part {number}.pdf" for number in range(30)]
    for number, name in enumerate(names[:-1]):
        put_file(stage.home / name, f"%PDF-1.4 {number}")
    links = ";".join(f":{name}:PDF" for name in names)
    answer = add(stage, put_file(stage.home / "refs.bib", entry("a", links)))
    assert answer["added"][0]["attached"] == names[:-1]
    assert names[-1] in answer["warnings"][0]["message"]
