"""The references room: refusals first, then adding, finding, citing, editing, full texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from tests.rooms.references.desk import Reader, Stage

KNUTH = (
    "@book{knuth84, title={The {\\TeX}book}, author={Knuth, Donald E.}, year=1984, "
    "publisher={Addison-Wesley}}"
)
RIS = "TY  - JOUR\nAU  - Smith, Ann\nTI  - On cells\nPY  - 2024\nDO  - 10.1234/abc\nER  - \n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def refused(
    stage: Stage, name: str, *, door: str = "stdio", user: str = "local", **arguments: Any
) -> CarrelError:
    async def scene(reader: Reader) -> CarrelError:
        with pytest.raises(CarrelError) as error:
            await reader.ask(name, **arguments)
        return error.value

    return stage.play(scene, door=door, user=user)


def added(stage: Stage, *given: str) -> dict[str, Any]:
    async def scene(reader: Reader) -> dict[str, Any]:
        found: dict[str, Any] = await reader.ask("add_references", input=list(given))
        return found

    return stage.play(scene)


@pytest.mark.promise("L5")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("remove_reference", {"id": "smith2024", "force": True}),
        ("get_reference", {"id": "smith2024"}),
        ("edit_reference", {"id": "smith2024", "changes": {"title": "x"}}),
        ("cite_references", {"ids": ["smith2024"]}),
        ("get_fulltext", {"id": "smith2024"}),
        ("detach_fulltext", {"id": "smith2024"}),
        ("attach_fulltext", {"id": "smith2024", "path": "x.pdf"}),
    ],
)
def test_a_reference_that_is_not_there_is_named(
    stage: Stage, name: str, arguments: dict[str, Any]
) -> None:
    error = refused(stage, name, **arguments)
    assert (error.code, error.message) == ("resource_not_found", "Reference not found: smith2024")


@pytest.mark.promise("L2")
def test_removing_needs_force(stage: Stage) -> None:
    added(stage, KNUTH)
    assert "force" in refused(stage, "remove_reference", id="knuth84").message
    assert json.loads(stage.library.read_text(encoding="utf-8"))

    async def scene(reader: Reader) -> None:
        assert (await reader.ask("remove_reference", id="knuth84", force=True))["removed"][
            "id"
        ] == "knuth84"

    stage.play(scene)
    assert json.loads(stage.library.read_text(encoding="utf-8")) == []


@pytest.mark.promise("L8")
def test_over_http_no_file_is_read_unless_its_folder_is_named(stage: Stage, tmp_path: Path) -> None:
    added(stage, KNUTH)
    bibliography = tmp_path / "more.ris"
    bibliography.write_text(RIS, encoding="utf-8")
    paper = tmp_path / "paper.md"
    paper.write_text("text", encoding="utf-8")
    assert (
        refused(stage, "attach_fulltext", door="http", id="knuth84", path=str(paper)).code
        == "permission_denied"
    )

    async def scene(reader: Reader) -> list[dict[str, Any]]:
        reader.user = "ada"
        await reader.ask("add_references", input=KNUTH)
        with pytest.raises(CarrelError) as error:
            await reader.ask("attach_fulltext", id="knuth84", path=str(paper))
        assert error.value.code == "permission_denied"
        found: list[dict[str, Any]] = (await reader.ask("add_references", input=str(bibliography)))[
            "failed"
        ]
        return found

    failed = stage.play(scene, door="http")
    assert "allowed_folders" in failed[0]["reason"]
    stage.references["allowed_folders"] = [tmp_path]

    async def allowed(reader: Reader) -> int:
        return len((await reader.ask("add_references", input=str(bibliography)))["added"])

    assert stage.play(allowed, door="http", user="eve") == 1


@pytest.mark.promise("L8")
def test_each_user_has_a_library_of_their_own(stage: Stage) -> None:
    async def scene(reader: Reader) -> tuple[int, int]:
        reader.user = "ada"
        await reader.ask("add_references", input=KNUTH)
        mine = (await reader.ask("list_references"))["total"]
        reader.user = "../../eve"
        return mine, (await reader.ask("list_references"))["total"]

    assert stage.play(scene, door="http") == (1, 0)


@pytest.mark.promise("L2")
def test_a_mixed_list_is_recognised_element_by_element(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "more.bib"
    file.write_text(
        "@article{one, title={One}, author={A B}, year=2001}\n@article{two, title={Two}, "
        "year=2002}\n",
        encoding="utf-8",
    )
    csl = json.dumps([{"id": "csl-1", "type": "webpage", "title": "A page"}])
    found = added(stage, KNUTH, RIS, csl, str(file), "not anything", str(tmp_path / "absent.bib"))
    assert [item["id"] for item in found["added"]] == [
        "knuth84",
        "smith-2024",
        "csl-1",
        "one",
        "two",
    ]
    assert found["added"][4]["line"] == 2
    assert found["failed"][0]["source"] == "not anything"
    assert "There is no file" in found["failed"][1]["reason"]
    kept = json.loads(stage.library.read_text(encoding="utf-8"))
    assert all(item["custom"]["uuid"] and item["custom"]["created_at"] for item in kept)


@pytest.mark.promise("L6")
def test_the_same_work_again_is_skipped_and_said(stage: Stage) -> None:
    added(stage, RIS)
    again = added(
        stage,
        '[{"id": "x", "type": "article", "title": "Other", "DOI": "https://doi.org/10.1234/ABC"}]',
        KNUTH,
        KNUTH,
    )
    assert [(item["duplicate_of"], item["by"]) for item in again["skipped"]] == [
        ("smith-2024", "doi"),
        ("knuth84", "title"),
    ]
    assert [item["id"] for item in again["added"]] == ["knuth84"]


@pytest.mark.promise("L6")
def test_keys_that_clash_get_a_letter(stage: Stage) -> None:
    found = added(stage, RIS, RIS.replace("On cells", "On genes").replace("abc", "abd"))
    assert [item["id"] for item in found["added"]] == ["smith-2024", "smith-2024a"]


@pytest.mark.promise("L6")
def test_without_a_network_an_identifier_says_so(stage: Stage) -> None:
    stage.references["services"] = {
        "doi_org": "http://127.0.0.1:9",
        "crossref": "http://127.0.0.1:9",
    }
    failed = added(stage, "10.1000/xyz")["failed"]
    assert "cannot be reached" in failed[0]["reason"]
    assert "BibTeX" in failed[0]["reason"]


@pytest.mark.promise("L6")
def test_a_doi_is_looked_up_in_the_papers_at_hand_first(stage: Stage, tmp_path: Path) -> None:
    from carrel.rooms.papers.building.models import BuildOptions
    from carrel.wiring.papers_build import build_papers

    source = tmp_path / "source"
    source.mkdir()
    text = (
        "---\ntitle: Found at home\nauthors: [Ada Lovelace]\nyear: 2020\ndoi: "
        "10.5555/home\n---\n\n# Found at home\n\nText.\n"
    )
    (source / "paper.md").write_text(text, encoding="utf-8")
    build_papers([source], tmp_path / "corpus", BuildOptions(workers=1))
    stage.papers["snapshot"] = tmp_path / "corpus" / "paper_snapshot.db"
    stage.references["services"] = {
        "doi_org": "http://127.0.0.1:9",
        "crossref": "http://127.0.0.1:9",
    }
    found = added(stage, "https://doi.org/10.5555/HOME")
    assert [item["title"] for item in found["added"]] == ["Found at home"]
    assert json.loads(stage.library.read_text(encoding="utf-8"))[0]["issued"] == {
        "date-parts": [[2020]]
    }


@pytest.mark.promise("L2")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "Knuth, D. E. (1984). The TeXbook. Addison-Wesley."),
        ({"style": "ieee"}, "[1] D. E. Knuth, The TeXbook. Addison-Wesley, 1984."),
        ({"kind": "in_text"}, "(Knuth, 1984)"),
        ({"format": "html"}, "Knuth, D. E. (1984). <i>The TeXbook</i>. Addison-Wesley."),
    ],
)
def test_citing(stage: Stage, arguments: dict[str, Any], text: str) -> None:
    added(stage, KNUTH)

    async def scene(reader: Reader) -> str:
        return str((await reader.ask("cite_references", ids=["knuth84"], **arguments))["text"])

    assert stage.play(scene) == text


def test_an_unknown_style_and_unknown_ids_are_named(stage: Stage) -> None:
    added(stage, KNUTH)
    assert (
        refused(stage, "cite_references", ids=["knuth84"], style="nope").code == "style_not_found"
    )
    assert refused(stage, "cite_references", ids=["knuth84", "x", "y"]).details["missing"] == [
        "x",
        "y",
    ]


@pytest.mark.promise("L7")
def test_editing_changes_what_was_asked_and_nothing_else(stage: Stage) -> None:
    stage.library.write_text(
        '[{"id": "a", "type": "book", "weird": 1.10, "title": "Old", "note": "n"}]',
        encoding="utf-8",
    )

    async def scene(reader: Reader) -> Any:
        return await reader.ask("edit_reference", id="a", changes={"title": "New", "note": None})

    assert stage.play(scene)["reference"] == {
        "id": "a",
        "type": "book",
        "weird": 1.1,
        "title": "New",
    }
    assert '"weird": 1.10' in stage.library.read_text(encoding="utf-8")
    assert refused(stage, "edit_reference", id="a", changes={"id": "b"}).code == "invalid_input"


@pytest.mark.promise("L7")
@pytest.mark.parametrize("form", ["bibtex", "biblatex", "ris", "csl-json"])
def test_an_export_can_be_added_to_another_library(stage: Stage, tmp_path: Path, form: str) -> None:
    added(stage, KNUTH, RIS)

    async def scene(reader: Reader) -> str:
        return str(await reader.ask("export_references", format=form))

    other = Stage(tmp_path / "other")
    other.home.mkdir()
    assert {item["title"] for item in added(other, stage.play(scene))["added"]} == {
        "The TeXbook",
        "On cells",
    }


@pytest.mark.promise("L7")
def test_lists_have_pages_and_formats(stage: Stage) -> None:
    added(stage, KNUTH, RIS)

    async def scene(reader: Reader) -> tuple[Any, Any, Any]:
        second = await reader.ask("list_references", limit=1, page=2)
        bibtex = await reader.ask("list_references", format="bibtex")
        pretty = await reader.ask("list_references", format="pretty")
        return second, bibtex, pretty

    second, bibtex, pretty = stage.play(scene)
    assert (second["total"], [item["id"] for item in second["references"]]) == (2, ["smith-2024"])
    assert "@book{knuth84" in bibtex["text"]
    assert "[knuth84] Donald E. Knuth (1984). The TeXbook" in pretty["text"]
    assert refused(stage, "list_references", limit=501).code == "invalid_input"


@pytest.mark.promise("L3")
def test_full_texts_are_attached_read_and_detached(stage: Stage, tmp_path: Path) -> None:
    added(stage, KNUTH)
    markdown, pdf = tmp_path / "note.md", tmp_path / "book.pdf"
    markdown.write_text("# Text\n" + "x" * 100, encoding="utf-8")
    pdf.write_bytes(b"%PDF-1.4")

    async def scene(reader: Reader) -> tuple[Any, Any]:
        first = await reader.ask("attach_fulltext", id="knuth84", path=str(markdown))
        await reader.ask("attach_fulltext", id="knuth84", path=str(pdf))
        with pytest.raises(CarrelError, match="already has"):
            await reader.ask("attach_fulltext", id="knuth84", path=str(pdf))
        return first, await reader.ask("get_fulltext", id="knuth84", max_chars=6)

    first, text = stage.play(scene)
    assert Path(first["path"]).name == "fulltext.md"
    assert text["markdown"] == "# Text\n[truncated: 101 more chars]"
    assert Path(text["pdf"]["path"]).read_bytes() == b"%PDF-1.4"

    async def leaving(reader: Reader) -> Any:
        return await reader.ask("detach_fulltext", id="knuth84")

    assert sorted(stage.play(leaving)["deleted_files"]) == ["fulltext.md", "fulltext.pdf"]
    assert markdown.exists()
    assert pdf.exists()
    assert refused(stage, "get_fulltext", id="knuth84").code == "fulltext_not_available"


@pytest.mark.promise("L3")
def test_the_older_layout_is_read_and_never_deleted(stage: Stage, tmp_path: Path) -> None:
    stage.library.write_text(
        '[{"id": "a", "type": "book", "custom": {"fulltext": {"markdown": "old.md"}}}]',
        encoding="utf-8",
    )
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "old.md").write_text("old", encoding="utf-8")
    stage.references["attachments"] = folder

    async def scene(reader: Reader) -> tuple[Any, Any]:
        return await reader.ask("get_fulltext", id="a"), await reader.ask("detach_fulltext", id="a")

    text, gone = stage.play(scene)
    assert text["markdown"] == "old"
    assert gone["deleted_files"] == []
    assert (folder / "old.md").exists()


@pytest.mark.parametrize("name", ["../secret.md", "/etc/passwd", "link.md"])
def test_a_name_in_the_library_never_leads_out_of_the_folder(
    stage: Stage, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    item = {"id": "a", "type": "book", "custom": {"fulltext": {"markdown": name}}}
    stage.library.write_text(json.dumps([item]), encoding="utf-8")
    stage.references["attachments"] = folder
    assert refused(stage, "get_fulltext", id="a").code == "fulltext_not_available"


@pytest.mark.promise("L3")
def test_the_library_has_addresses(stage: Stage) -> None:
    added(stage, KNUTH)

    async def scene(reader: Reader) -> tuple[Any, Any, Any]:
        everything = json.loads(await reader.read("library://references"))
        one = json.loads(await reader.read("library://reference/knuth84"))
        return everything, one, json.loads(await reader.read("library://styles/vancouver"))

    everything, one, styles = stage.play(scene)
    assert [item["id"] for item in everything] == ["knuth84"]
    assert one["id"] == "knuth84"
    assert any("vancouver" in style["name"] for style in styles["styles"])


@pytest.mark.promise("L4")
def test_an_outside_edit_is_found_by_the_next_search(stage: Stage) -> None:
    added(stage, KNUTH)

    async def scene(reader: Reader) -> tuple[int, int]:
        before = (await reader.ask("search_references", query="newton"))["total"]
        items = json.loads(stage.library.read_text(encoding="utf-8"))
        items.append(
            {
                "id": "newton-1687",
                "type": "book",
                "title": "Principia",
                "author": [{"family": "Newton"}],
            }
        )
        stage.library.write_text(json.dumps(items), encoding="utf-8")
        return before, (await reader.ask("search_references", query="newton"))["total"]

    assert stage.play(scene) == (0, 1)


@pytest.mark.parametrize(
    "doi", ["https://doi.org/10.1000/ABC.d", "doi:10.1000/ABC.d", "10.1000/ABC.d"]
)
def test_a_doi_that_has_its_resolver_is_cited_with_one(tmp_path: Path, doi: str) -> None:
    stage = Stage(tmp_path)
    stage.library.write_text(
        json.dumps([{"id": "a", "type": "article-journal", "title": "T", "DOI": doi}]),
        encoding="utf-8",
    )

    async def scene(reader: Reader) -> Any:
        return await reader.ask("cite_references", ids=["a"], style="apa")

    assert stage.play(scene)["text"] == "T. (n.d.). https://doi.org/10.1000/ABC.d"


WITHOUT_IDS = (
    '[{"type": "book", "title": "Soils", "author": [{"family": "Ørsted"}],'
    ' "issued": {"date-parts": [[2001]]}},\n'
    ' {"id": null, "type": "book", "title": "Soils again", "author": [{"family": "Ørsted"}],'
    ' "issued": {"date-parts": [[2001]]}},\n'
    ' {"id": "orsted-2001b", "type": "book", "title": "Named"}, {}, "text"]'
)


def test_items_without_an_id_are_found_under_a_stable_one_that_is_written_only_with_a_change(
    stage: Stage,
) -> None:
    stage.library.write_text(WITHOUT_IDS, encoding="utf-8")

    async def ids(reader: Reader) -> list[str]:
        answer = await reader.ask("list_references")
        return [item["id"] for item in answer["references"]]

    assert stage.play(ids) == stage.play(ids) == ["orsted-2001", "orsted-2001a", "orsted-2001b"]

    async def use(reader: Reader) -> None:
        assert (await reader.ask("search_references", query="id:orsted-2001a"))["total"] == 1
        cited = await reader.ask("cite_references", ids=["orsted-2001"])
        assert "Soils" in cited["text"]
        again = await reader.ask(
            "add_references", input="@book{x, title={Soils again}, author={Ørsted, H.}, year=2001}"
        )
        assert [row["duplicate_of"] for row in again["skipped"]] == ["orsted-2001a"]

    stage.play(use)
    assert stage.library.read_text(encoding="utf-8") == WITHOUT_IDS

    async def change(reader: Reader) -> None:
        edited = await reader.ask(
            "edit_reference", id="orsted-2001a", changes={"title": "Soils, again"}
        )
        assert edited["reference"]["id"] == "orsted-2001a"

    stage.play(change)
    stored = json.loads(stage.library.read_text(encoding="utf-8"))
    assert [item.get("id") for item in stored[:3]] == [None, "orsted-2001a", "orsted-2001b"]
    assert stored[3:] == [{}, "text"]
    assert stage.play(ids) == ["orsted-2001", "orsted-2001a", "orsted-2001b"]

    async def remove(reader: Reader) -> None:
        await reader.ask("remove_reference", id="orsted-2001", force=True)

    stage.play(remove)
    assert stage.play(ids) == ["orsted-2001a", "orsted-2001b"]


def test_an_item_without_an_id_that_was_changed_here_survives_an_old_editors_save(
    stage: Stage,
) -> None:
    stage.library.write_text(WITHOUT_IDS, encoding="utf-8")

    async def scene(reader: Reader) -> list[str]:
        await reader.ask("edit_reference", id="orsted-2001", changes={"title": "Soils of Skåne"})
        stage.library.write_text(WITHOUT_IDS.replace("Named", "Renamed"), encoding="utf-8")
        answer = await reader.ask("list_references")
        return sorted(item["title"] for item in answer["references"])

    assert stage.play(scene) == ["Renamed", "Soils again", "Soils of Skåne"]
