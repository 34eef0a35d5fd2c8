"""`carrel knowledge` and `carrel search` on the command line."""

from __future__ import annotations

import asyncio
import json
import os
import tarfile
import uuid
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.core.caller import Caller
from carrel.core.clock import SystemClock
from carrel.rooms.knowledge.folder_import import (
    FolderImporter,
    ImportReport,
    ImportSource,
    NoteFile,
)
from carrel.wiring.knowledge import open_stores
from tests.rooms.knowledge.desk import settings_at

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "notes"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CARREL_ROOMS", "knowledge")
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["knowledge", *words]) == code
    return capsys.readouterr().out


def found(capsys: pytest.CaptureFixture[str], query: str) -> list[dict[str, object]]:
    return list(json.loads(run(capsys, "search", query, "--json", "--limit", "100")))


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "sub").mkdir(parents=True)
    (folder / "one.md").write_text("---\ntitle: One\ntags: [a]\nkept: yes\n---\nSee [[two]] #b\n")
    (folder / "sub" / "two.md").write_text("Second note")
    (folder / "empty.md").write_text("")
    (folder / "latin.md").write_bytes(b"caf\xe9")
    (folder / "odd.md").write_text('---\ntitle: "a\\0"\n---\nx')
    return folder


def test_a_folder_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", "import", "nowhere"]) == 2
    assert "There is no folder nowhere" in capsys.readouterr().err


@pytest.mark.promise("K7")
def test_importing_twice_saves_once_and_bad_files_are_named(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["knowledge", "import", str(vault)]) == 0
    told = capsys.readouterr()
    assert told.out == "2 new, 3 refused\n"
    assert "latin.md: not UTF-8 text" in told.err and "empty.md: the file has no text" in told.err
    assert run(capsys, "import", str(vault)) == "3 refused, 2 unchanged\n"
    (hit,) = found(capsys, "#a #b")
    shown = json.loads(run(capsys, "show", str(hit["id"]), "--json"))
    assert shown["title"] == "One" and shown["links"] == [
        {"target": "two", "id": found(capsys, "two")[0]["id"]}
    ]


@pytest.mark.promise("K7")
def test_notes_that_were_imported_as_personal_are_shared_by_importing_them_for_the_team(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "import", str(vault)) == "2 new, 3 refused\n"
    assert not json.loads(run(capsys, "search", "*", "--whose", "team", "--json"))
    (vault / "sub" / "two.md").write_text("Second note, changed")
    assert run(capsys, "import", str(vault), "--source", "team") == "3 refused, 2 shared\n"
    shared = json.loads(run(capsys, "search", "*", "--whose", "team", "--json"))
    assert {hit["content"].strip() for hit in shared} == {"See [[two]] #b", "Second note, changed"}
    assert not json.loads(run(capsys, "search", "*", "--whose", "mine", "--json"))
    # A later import without the option does not take them back.
    assert run(capsys, "import", str(vault)) == "3 refused, 2 unchanged\n"
    assert len(json.loads(run(capsys, "search", "*", "--whose", "team", "--json"))) == 2


@pytest.mark.promise("K7")
def test_each_side_may_change_and_neither_is_overwritten(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "import", str(vault))
    one = json.loads(run(capsys, "show", str(found(capsys, "one")[0]["id"]), "--json"))

    (vault / "sub" / "two.md").write_text("Second note, changed in the file")
    assert run(capsys, "import", str(vault)) == "1 changed, 3 refused, 1 unchanged\n"
    assert found(capsys, "two")[0]["content"] == "Second note, changed in the file"

    run(
        capsys,
        "save",
        "changed in Carrel #b",
        "--id",
        one["id"],
        "--updated-at",
        one["updated_at"],
        "--tags",
        "a",
        "new",
    )
    assert run(capsys, "import", str(vault)) == "1 kept, 3 refused, 1 unchanged\n"

    (vault / "one.md").write_text("---\ntitle: One\n---\nchanged in both")
    assert run(capsys, "import", str(vault), code=6) == "1 conflict, 3 refused, 1 unchanged\n"
    assert found(capsys, "one")[0]["content"] == "changed in Carrel #b"
    assert run(capsys, "export", str(vault), code=6) == "1 conflict, 1 unchanged\n"
    assert (vault / "one.md").read_text() == "---\ntitle: One\n---\nchanged in both"

    out = tmp_path / "out"
    assert run(capsys, "export", str(out)) == "2 new\n"
    assert (
        out / "one.md"
    ).read_text() == "---\ntitle: One\nkept: yes\ntags:\n- a\n- new\n---\nchanged in Carrel #b"
    assert run(capsys, "export", str(out)) == "2 unchanged\n"
    assert run(capsys, "import", str(out)) == "2 unchanged\n"


def test_notes_that_were_never_files_go_out_and_come_back_as_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for title in ("A/B: c?", "a b c", "CON", "../up"):
        run(capsys, "save", f"content of {title}", "--title", title, "--tags", "t")
    out = tmp_path / "out"
    assert run(capsys, "export", str(out)) == "4 new\n"
    assert sorted(file.name for file in out.glob("*.md")) == [
        "A B c.md",
        "_CON.md",
        "a b c (2).md",
        "up.md",
    ]
    assert not (tmp_path / "up.md").exists()
    assert run(capsys, "import", str(out)) == "4 unchanged\n"
    (out / "up.md").write_text((out / "up.md").read_text() + " and more")
    assert run(capsys, "import", str(out)) == "1 changed, 3 unchanged\n"
    assert found(capsys, "../up")[0]["content"] == "content of ../up and more"
    assert run(capsys, "export", str(out)) == "4 unchanged\n"


@pytest.mark.promise("K7")
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/notes is not beside the checkout")
def test_a_real_vault_goes_in_and_comes_out_byte_for_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tarfile.open(DATA / "pi-base_3500notes_ccby4.tar.xz") as files:
        chosen = [member for member in files if "/spaces/S00000" in member.name]
        files.extractall(tmp_path / "real", chosen, filter="data")
    vault = tmp_path / "real" / "pi-base"
    count = len(list(vault.rglob("*.md")))
    assert run(capsys, "import", str(vault)) == f"{count} new\n"
    assert run(capsys, "import", str(vault)) == f"{count} unchanged\n"
    assert run(capsys, "export", str(tmp_path / "out")) == f"{count} new\n"
    for file in vault.rglob("*.md"):
        assert (tmp_path / "out" / file.relative_to(vault)).read_bytes() == file.read_bytes()


@pytest.mark.promise("K5")
def test_nodes_come_from_files_and_from_team_notes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nodes.jsonl"
    file.write_text(
        '{"name": "Magnesium", "content": "old"}\n{"name": "MAGNESIUM", "content": "new"}\nbad\n'
    )
    assert run(capsys, "import-nodes", str(file)) == "2 nodes, 1 line refused\n"
    run(capsys, "save", "of the team", "--title", "Serotonin", "--source", "team")
    run(capsys, "save", "private", "--title", "Hidden")
    assert run(capsys, "import-nodes", "--from-notes") == "1 node\n"
    answer = json.loads(
        run(capsys, "nodes", "MAGNESIUM", "Serotonin", "--include-metadata", "--json")
    )
    assert [result["knowledge"] for result in answer["results"]] == ["new", "of the team"]

    async def names() -> set[object]:
        stores = open_stores(settings_at(tmp_path / "home"))
        kept = {
            change.document.fields["name"]
            async for change in stores.nodes.changes(None)
            if hasattr(change, "document")
        }
        await stores.notes.close()
        return kept

    assert asyncio.run(names()) == {"MAGNESIUM", "Serotonin"}
    assert main(["knowledge", "import-nodes"]) == 2


def test_sync_without_a_cluster_says_what_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "sync"]) == 5
    assert "elasticsearch.url" in capsys.readouterr().err


@pytest.mark.promise("K6")
def test_sync_fills_a_real_cluster_and_the_tool_asks_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = os.environ.get("CARREL_TEST_ELASTICSEARCH_URL")
    if not url:
        pytest.skip("CARREL_TEST_ELASTICSEARCH_URL is not set")
    elasticsearch = pytest.importorskip(
        "elasticsearch", reason="the extra `elasticsearch` is not installed"
    )
    prefix = f"carrel-test-{uuid.uuid4().hex[:8]}-"
    run(capsys, "save", "Blocks NMDA.", "--title", "Magnesium")
    monkeypatch.setenv("CARREL_ELASTICSEARCH_URL", url)
    monkeypatch.setenv("CARREL_ELASTICSEARCH_PREFIX", prefix)
    try:
        assert main(["search", "sync"]) == 0
        assert f"{prefix}knowledge: 1 written, 0 dropped" in capsys.readouterr().out
        assert main(["search", "sync"]) == 0
        assert f"{prefix}knowledge: 0 written, 0 dropped" in capsys.readouterr().out
        body = json.dumps({"query": {"match": {"content": "nmda"}}})
        answer = json.loads(run(capsys, "elasticsearch", "knowledge", body, "--json"))
        assert [(hit["_index"], hit["_source"]["title"]) for hit in answer["hits"]["hits"]] == [
            ("knowledge", "Magnesium")
        ]
        assert main(["knowledge", "elasticsearch", "secrets", "{}"]) == 4
    finally:

        async def clean() -> None:
            async with elasticsearch.AsyncElasticsearch(url) as client:
                # The names are aliases; what they name is removed.
                for name in dict(await client.indices.get(index=f"{prefix}*")):
                    await client.indices.delete(index=name)

        asyncio.run(clean())


def test_every_file_that_is_too_large_for_a_note_is_named_with_the_limit_and_none_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    (folder / "fine.md").write_text(
        "---\ntitle: "
        + "t" * 500
        + "\ntags: ["
        + ", ".join(f"t{n}" for n in range(100))
        + "]\n---\nx"
    )
    (folder / "title.md").write_text("---\ntitle: " + "t" * 501 + "\n---\nx")
    (folder / "heading.md").write_text("# " + "h" * 600 + "\nx")
    (folder / "tags.md").write_text(
        "---\ntags: [" + ", ".join(f"t{n}" for n in range(150)) + "]\n---\nx"
    )
    (folder / "inline.md").write_text(" ".join(f"#tag{n}x" for n in range(101)))
    (folder / "tag.md").write_text("#" + "y" * 101)
    for number in range(30):
        (folder / f"more{number}.md").write_text("---\ntitle: " + "t" * 501 + "\n---\nx")
    assert main(["knowledge", "import", str(folder)]) == 0
    told = capsys.readouterr()
    assert told.out == "1 new, 35 refused\n"
    for line in (
        "title.md: the title has 501 characters; at most 500 are allowed, so the file was not "
        "imported",
        "heading.md: the title has 600 characters; at most 500 are allowed, so the file was not "
        "imported",
        "tags.md: there are 150 tags; at most 100 are allowed, so the file was not imported",
        "inline.md: there are 101 tags; at most 100 are allowed, so the file was not imported",
        "tag.md: a tag has 101 characters; at most 100 are allowed, so the file was not imported",
        *(
            f"more{number}.md: the title has 501 characters; at most 500 are allowed, so the file "
            f"was not imported"
            for number in range(30)
        ),
    ):
        assert f"  {line}\n" in told.err
    (hit,) = found(capsys, "*")
    shown = json.loads(run(capsys, "show", str(hit["id"]), "--json"))
    assert (len(shown["title"]), len(shown["tags"])) == (500, 100)


def test_broken_front_matter_is_kept_as_text_and_named_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    texts = {
        "colon.md": "---\ntitle: one\nabout: a: b\n---\nBody",
        "list.md": "---\n- a list\n---\nBody",
        "open.md": "---\ntitle: never closed\nBody",
        "tab.md": "---\ntitle: one\nmore:\n\t- x\n---\nBody",
        "rule.md": "---\n\nA text below a rule",
        "good.md": "---\ntitle: Good\n---\nBody",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    assert main(["knowledge", "import", str(folder)]) == 0
    told = capsys.readouterr()
    assert told.out == "6 new\n"
    assert "colon.md: the front matter is not valid YAML, line 3: " in told.err
    assert "tab.md: the front matter is not valid YAML, line 4: " in told.err
    assert "list.md: the front matter, line 2, has no names with values" in told.err
    assert "open.md: the front matter that begins in line 1 has no end" in told.err
    assert "rule.md" not in told.err and "good.md" not in told.err
    contents = {str(hit["content"]) for hit in found(capsys, "*")}
    assert contents == {*(text for name, text in texts.items() if name != "good.md"), "Body"}


def a_folder(place: Path, **texts: str) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (place / f"{name}.md").write_text(text)
    return place


def contents(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return sorted(str(hit["content"]) for hit in found(capsys, "*"))


@pytest.mark.promise("K7")
def test_two_folders_of_one_name_never_write_to_each_others_notes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = a_folder(tmp_path / "p1" / "docs", readme="first project", only="only here")
    two = a_folder(tmp_path / "p2" / "docs", readme="second project")
    assert run(capsys, "import", str(one)) == "2 new\n"
    assert run(capsys, "import", str(two)) == "1 new\n"
    assert contents(capsys) == ["first project", "only here", "second project"]
    (two / "readme.md").write_text("second project, changed")
    assert run(capsys, "import", str(two)) == "1 changed\n"
    assert run(capsys, "import", str(one)) == "2 unchanged\n"
    assert contents(capsys) == ["first project", "only here", "second project, changed"]
    # By another way to the same place it is the same folder.
    (tmp_path / "link").symlink_to(one)
    assert run(capsys, "import", str(tmp_path / "link")) == "2 unchanged\n"


def test_a_moved_folder_is_linked_again_by_saying_so_and_its_old_place_is_free(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = a_folder(tmp_path / "before", readme="text", more="more")
    run(capsys, "import", str(before))
    after = before.rename(tmp_path / "after")
    (after / "readme.md").write_text("text, changed")
    assert (
        run(capsys, "import", str(after), "--moved-from", str(before)) == "1 changed, 1 unchanged\n"
    )
    assert run(capsys, "import", str(after)) == "2 unchanged\n"
    a_folder(before, readme="a new folder at the old place")
    assert run(capsys, "import", str(before)) == "1 new\n"
    assert contents(capsys) == ["a new folder at the old place", "more", "text, changed"]
    assert main(["knowledge", "import", str(before), "--moved-from", str(tmp_path / "never")]) == 2
    assert "No folder" in capsys.readouterr().err


def test_a_folder_that_moved_whole_under_its_name_is_recognised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = a_folder(tmp_path / "old" / "vault", readme="text", more="more", third="third")
    run(capsys, "import", str(before))
    (tmp_path / "new").mkdir()
    after = before.rename(tmp_path / "new" / "vault")
    (after / "third.md").write_text("changed on the way")
    assert run(capsys, "import", str(after)) == "1 changed, 2 unchanged\n"


def test_a_name_stands_for_one_folder_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = a_folder(tmp_path / "one", readme="one")
    two = a_folder(tmp_path / "two", readme="two")
    run(capsys, "import", str(one), "--as", "team")
    assert main(["knowledge", "import", str(two), "--as", "team"]) == 6
    assert "team is the name of" in capsys.readouterr().err
    assert main(["knowledge", "import", str(one), "--as", "other"]) == 6
    assert "was imported before, as team" in capsys.readouterr().err
    one.rename(tmp_path / "gone").joinpath("readme.md").write_text("one, elsewhere")
    assert run(capsys, "import", str(tmp_path / "gone"), "--as", "team") == "1 changed\n"
    assert contents(capsys) == ["one, elsewhere"]


def _as_older_versions_imported(folder: Path, home: Path) -> None:
    """Notes told apart by the last name of their folder, and no memory of where it was."""
    settings = settings_at(home)

    async def work() -> None:
        stores = open_stores(settings)
        files = [
            NoteFile(path.name, path.stem, path.read_text(), ())
            for path in sorted(folder.glob("*.md"))
        ]
        caller = Caller("local", frozenset())
        await FolderImporter(stores.notes, SystemClock()).import_files(
            files, ImportSource(folder.name), caller, "personal", {}, ImportReport()
        )
        await stores.notes.close()

    asyncio.run(work())


@pytest.mark.promise("Q11")
def test_notes_of_older_versions_are_recognised_and_a_namesake_leaves_them_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = a_folder(tmp_path / "p1" / "docs", readme="first", second="second", third="third")
    _as_older_versions_imported(docs, tmp_path / "home")
    namesake = a_folder(tmp_path / "p2" / "docs", readme="of another project")
    assert main(["knowledge", "import", str(namesake)]) == 6
    told = capsys.readouterr().err
    assert "--as docs" in told and "Nothing was imported" in told
    (docs / "third.md").write_text("third, changed")
    assert run(capsys, "import", str(docs)) == "1 changed, 2 unchanged\n"
    # Now it is known whose they are, and the namesake is plainly another folder.
    assert run(capsys, "import", str(namesake)) == "1 new\n"
    assert contents(capsys) == ["first", "of another project", "second", "third, changed"]


@pytest.mark.promise("Q11")
def test_an_older_folder_of_which_everything_changed_is_recognised_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = a_folder(tmp_path / "docs", readme="first")
    _as_older_versions_imported(docs, tmp_path / "home")
    (docs / "readme.md").write_text("changed")
    assert main(["knowledge", "import", str(docs)]) == 6
    capsys.readouterr()
    assert run(capsys, "import", str(docs), "--as", "docs") == "1 changed\n"
    assert run(capsys, "import", str(docs)) == "1 unchanged\n"
    assert contents(capsys) == ["changed"]


@pytest.mark.promise("K5")
def test_nodes_without_a_file_or_with_one_that_is_missing_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([], [str(tmp_path / "nowhere.jsonl")], [str(tmp_path)]):
        assert main(["knowledge", "import-nodes", *words]) == 2
        assert "A file of nodes is required" in capsys.readouterr().err


@pytest.mark.promise("K5")
def test_more_nodes_than_are_saved_at_once_all_arrive_and_the_last_of_a_name_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nodes.jsonl"
    rows = [{"name": f"n{number}", "content": "x"} for number in range(401)]
    rows.append({"name": "N400", "content": "last"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + "bad\n")
    assert run(capsys, "import-nodes", str(file)) == "402 nodes, 1 line refused\n"
    answer = json.loads(run(capsys, "nodes", "n0", "n200", "N400", "--json"))
    assert [result["knowledge"] for result in answer["results"]] == ["x", "x", "last"]
    folder = a_folder(
        tmp_path / "team", **{f"t{number}": f"text {number}" for number in range(201)}
    )
    assert run(capsys, "import", str(folder), "--source", "team") == "201 new\n"
    assert run(capsys, "import-nodes", "--from-notes") == "201 nodes\n"
    names = ["t0", "t99", "t100", "t199", "t200"]
    answer = json.loads(run(capsys, "nodes", *names, "--include-metadata", "--json"))
    assert [result["knowledge"] for result in answer["results"]] == [
        f"text {name[1:]}" for name in names
    ]
    assert {result["metadata"]["node_type"] for result in answer["results"]} == {"note"}
    assert all(result["metadata"]["note_id"] for result in answer["results"])
