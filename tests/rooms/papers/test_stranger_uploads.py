"""What a stranger found at uploads and additions: lists, names, texts that are no papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.libraries.works.file_kinds import FileKind, recognise_file
from carrel.libraries.works.prose import is_prose
from carrel.rooms.papers.errors import PaperNotAddedError
from carrel.rooms.papers.uploads import MAX_NAME_CHARACTERS, clean_file_name
from carrel.stores.file_lock import hold_lock
from carrel.stores.sqlite.papers import WORKSHOP_NAME
from carrel.stores.sqlite.papers.build_locks import wait_for_other_additions
from tests.access.support import bearer
from tests.access.test_uploads import PDF, begin, run, send, served, whole
from tests.rooms.papers.test_addition import a_call, add

pytestmark = pytest.mark.promise("P12")

PROSE = (
    b"Whales sing in spring and dive in winter. They hear each other over many miles of water.\n"
)
SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><text>Hi there.</text></svg>'
TEX = b"% a comment\n\n\\documentclass{article}\n\\begin{document}\nWhales sing.\n\\end{document}\n"


def test_finding_9_an_uploaded_list_names_every_paper_and_their_number(tmp_path: Path) -> None:
    async def test() -> None:
        entries = [
            f"@article{{a{n}, title={{Growth of form {n * 7}}}, year={2000 + n}}}\n"
            for n in range(6)
        ]
        async with served(tmp_path) as (house, token):
            sent = await whole(house, token, "".join(entries).encode(), name="list.bib")
            added = await house.invoke("add_paper", token, {"upload_id": sent.json()["upload_id"]})
            result = added.json()["result"]
            assert (result["count"], len(result["papers"])) == (6, 6)
            assert {each["title"] for each in result["papers"]} == {
                f"Growth of form {n * 7}" for n in range(6)
            }

    run(test)


def test_finding_9_the_name_of_an_upload_is_the_title_of_a_text_without_one(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            sent = await whole(house, token, PROSE, name="../notes\x00/songs_of\n_whales.txt")
            assert sent.json()["name"] == "songs_of _whales.txt"
            added = await house.invoke("add_paper", token, {"upload_id": sent.json()["upload_id"]})
            result = added.json()["result"]
            assert result["title"] == "songs of whales", added.text
            assert any("file's name" in note for note in result["notes"])
            inbox = [path.name for path in tmp_path.rglob("*") if "songs" in path.name]
            assert inbox == []

    run(test)


def test_finding_9_a_text_that_nobody_named_is_shown_by_its_first_line(tmp_path: Path) -> None:
    added = add(tmp_path, a_call(), markdown=PROSE.decode())
    assert added.title.startswith("Whales sing in spring")
    assert any("first line" in note for note in added.notes)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a/b\\c.pdf", "c.pdf"),
        ("..", "upload"),
        ("/", "upload"),
        ("\x00\x1b", "upload"),
        ("x" * 500 + ".pdf", "x" * (MAX_NAME_CHARACTERS - 4) + ".pdf"),
        ("y" * 500, "y" * MAX_NAME_CHARACTERS),
        ("鯨の歌.txt", "鯨の歌.txt"),
    ],
)
def test_finding_9_names_are_cleaned_and_bounded(given: str, kept: str) -> None:
    assert clean_file_name(given) == kept


@pytest.mark.parametrize(("content", "kind"), [(SVG, "picture"), (TEX, "tex")])
def test_finding_9_pictures_and_tex_sources_are_refused(
    tmp_path: Path, content: bytes, kind: str
) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            refused = await whole(house, token, content, name="paper.md")
            assert (refused.status_code, refused.json()["error_type"]) == (415, "upload_refused")
            assert refused.json()["details"]["kind"] == kind

    run(test)


def test_finding_9_five_bytes_are_no_paper_and_the_refusal_has_their_name(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            sent = await whole(house, token, b"hello", name="hello.txt")
            refused = await house.invoke(
                "add_paper", token, {"upload_id": sent.json()["upload_id"]}
            )
            assert refused.json()["error_type"] == "paper_not_added"
            [problem] = refused.json()["details"]["problems"]
            assert (problem["code"], problem["source"]) == ("not_a_paper", "hello.txt")

    run(test)


@pytest.mark.parametrize("content", [b"hello", SVG, TEX, b"a,b,c\n1,2,3\n" * 100])
def test_finding_9_a_file_of_the_machine_is_judged_the_same(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thing.md"
    path.write_bytes(content)
    with pytest.raises(PaperNotAddedError) as refused:
        add(tmp_path, a_call(), path=str(path))
    assert refused.value.details["problems"][0]["code"] == "not_a_paper"  # type: ignore[index]


def test_finding_9_prose_is_known_in_other_scripts() -> None:
    assert is_prose("鯨は春に歌い、冬に潜る。海の中で互いの声を聞くことができる。")
    assert is_prose("ปลาวาฬร้องเพลง" * 30)
    assert is_prose("Киты поют весной и ныряют зимой. Они слышат друг друга издалека!")
    assert not is_prose("hello")
    assert not is_prose("root:x:0:0:root:/root:/bin/bash\n" * 50)
    assert recognise_file("a.txt", b"%" * 60_000) is FileKind.TEXT


def test_finding_9_an_upload_is_not_deleted_while_it_is_being_added(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            sent = await whole(house, token, PDF)
            upload_id = sent.json()["upload_id"]
            # As an addition in another process holds it.
            with hold_lock(tmp_path / "uploads" / f"{upload_id}.use", shared=True):
                refused = await house.http.delete(f"/uploads/{upload_id}", headers=bearer(token))
                assert (refused.status_code, refused.json()["error_type"]) == (409, "conflict")
                assert refused.json()["details"]["upload_id"] == upload_id
            gone = await house.http.delete(f"/uploads/{upload_id}", headers=bearer(token))
            assert gone.status_code == 204

    run(test)


def test_finding_9_a_job_is_named_to_whoever_deletes_its_upload(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path, add_wait_seconds=0.05) as (house, token):
            sent = await whole(house, token, PROSE, name="whales.txt")
            upload_id = sent.json()["upload_id"]
            workshop = tmp_path / "papers" / WORKSHOP_NAME
            workshop.mkdir(parents=True)
            with wait_for_other_additions(workshop):
                begun = await house.invoke("add_paper", token, {"upload_id": upload_id})
                job_id = begun.json()["result"]["job_id"]
                refused = await house.http.delete(f"/uploads/{upload_id}", headers=bearer(token))
                assert refused.status_code == 409
                assert refused.json()["details"]["job_id"] == job_id
            state = "running"
            while state == "running":
                asked = {"job_id": job_id, "wait_seconds": 5}
                answer = await house.invoke("get_job", token, asked)
                state = answer.json()["result"]["state"]
            assert state != "failed", answer.text
            seen = await house.http.head(f"/uploads/{upload_id}", headers=bearer(token))
            assert seen.status_code == 404

    run(test)


def test_finding_9_encoded_bodies_are_refused(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            upload_id = (await begin(house, token, PDF)).json()["upload_id"]
            for encoding, status in (("gzip", 415), ("br", 415), ("identity", 200)):
                headers = {"content-encoding": encoding}
                sent = await send(house, token, upload_id, 0, PDF[:9], **headers)
                assert sent.status_code == status, encoding

    run(test)


def test_finding_9_a_complete_upload_says_that_it_is_complete(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            upload_id = (await whole(house, token, PDF)).json()["upload_id"]
            for offset in (0, len(PDF)):
                more = await send(house, token, upload_id, offset, b"x")
                assert (more.status_code, "is complete" in more.json()["error"]) == (409, True)
            paths: dict[str, Any] = (await house.http.get("/openapi.json")).json()["paths"]
            assert {"get", "head", "patch", "delete"} <= set(paths["/uploads/{upload_id}"])

    run(test)


def test_finding_12_a_huge_size_is_refused_with_the_bound_alone(tmp_path: Path) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            for size in (10**30, 10**12):
                refused = await begin(house, token, PDF, size=size)
                assert refused.status_code == 413, refused.text
                assert "209,715,200" in refused.json()["error"]
                assert "000,000" not in refused.json()["error"]

    run(test)


def test_finding_12_a_path_of_no_paper_says_what_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "passwd"
    path.write_text("root:x:0:0:root:/root:/bin/bash\n")
    with pytest.raises(CarrelError) as refused:
        add(tmp_path, a_call("stdio"), path=str(path))
    assert "PDF, JATS XML, Markdown, BibTeX" in refused.value.message


def test_finding_12_an_empty_list_points_at_clear_and_unknown_parameters_at_the_known(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        async with served(tmp_path) as (house, token):
            asked = {"action": "edit", "paper_id": "x", "authors": []}
            empty = await house.invoke("edit_paper", token, asked)
            assert "`clear`" in empty.json()["error"], empty.text
            odd = await house.invoke("search_papers", token, {"query": "a", "colour" * 999: 1})
            told = odd.json()
            assert "It takes query, limit, page." in str(told), odd.text
            assert len(odd.text) < 2000

    run(test)
