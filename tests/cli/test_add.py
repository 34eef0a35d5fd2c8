"""`carrel add`: what goes where, what fails alone, and what is said at the end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.services.things_to_add import sort_things
from tests.services.pdf_files import make_pdf

pytestmark = pytest.mark.promise("P12")

WORDS = "They sing in spring, and dive for squid in winter. " * 5
PAPER = "---\ntitle: On squid\nauthors: [Bob Ray]\nyear: 2020\ndoi: 10.1000/squid\n---\nSquid.\n"
BIB = "@article{lee2001, title={Growth}, author={Lee, Ann}, year=2001, doi={10.1000/growth}}\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("CARREL_", "DATABASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    # Services are looked for where nobody answers.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    return folder


def write(folder: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def add(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = main(["add", *words, "--json", "--quiet"])
    return code, json.loads(capsys.readouterr().out)


def reasons(facts: Any) -> dict[str, str]:
    return {Path(one["thing"]).name: one["code"] for one in facts["left_out"] if one["failed"]}


def test_a_folder_is_sorted_by_content_and_counted(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        place,
        whales_DOT_pdf=make_pdf([[(18, "On whales"), (11, WORDS)]], "On whales"),
        refs_DOT_bib=BIB,
        more_DOT_txt="TY  - JOUR\nTI  - Form\nAU  - Poe, Cy\nPY  - 1999\nER  - \n",
        squid_DOT_md=PAPER,
        notes__idea_DOT_md="# An idea\n\nSee [[Squid]].\n",
    )
    code, facts = add(capsys, "desk")
    assert (code, reasons(facts)) == (0, {})
    assert facts["papers"]["new"] == 3, facts
    assert facts["notes"]["new"] == 1
    assert facts["desk"]["papers"] == 3
    # The list's two works, and the paper that names its authors and DOI.
    assert {"lee2001"} < set(facts["references"]["added_ids"])
    assert facts["desk"]["references"] >= 3
    code, again = add(capsys, "desk")
    assert code == 0
    assert (again["papers"]["new"], again["references"]["new"], again["notes"]["new"]) == (0, 0, 0)
    assert again["desk"] == facts["desk"]


def test_a_list_and_its_papers_become_one_paper_and_one_reference(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = BIB.replace("10.1000/growth", "10.1000/squid").replace("Growth", "On squid")
    write(place, squid_DOT_md=PAPER, refs_DOT_bib=same)
    _, facts = add(capsys, "desk")
    assert (facts["desk"]["papers"], facts["papers"]["joined"]) == (1, 1)
    assert facts["references"]["added_ids"] == ["lee2001"]


def test_what_is_bad_fails_alone_and_the_exit_code_says_so(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        place,
        squid_DOT_md=PAPER,
        empty_DOT_pdf=b"",
        broken_DOT_pdf=b"%PDF-1.4 broken",
        lies_DOT_pdf=b"\x89PNG\r\n\x1a\n",
        picture_DOT_png=b"\x89PNG\r\n\x1a\n",
        office_DOT_docx=b"PK\x03\x04word",
        empty_DOT_txt=b"",
        config_DOT_json=b'{"a": 1}',
    )
    (place / "loop").symlink_to(place)
    (place / "nowhere.pdf").symlink_to(place / "gone.pdf")
    Path(os.fsdecode(os.fsencode(place) + b"/bad-\xff.pdf")).write_bytes(b"%PDF-1.4 x")
    code, facts = add(capsys, "desk", "missing.pdf", "https://example.org/a.html", "10.1/x")
    assert code == 1
    assert facts["desk"]["papers"] == 1
    assert reasons(facts) == {
        "empty.pdf": "empty",
        "broken.pdf": "pdf_not_valid",
        "lies.pdf": "not_a_pdf",
        "nowhere.pdf": "not_found",
        "bad-\ufffd.pdf": "not_readable",
        "missing.pdf": "not_found",
        "a.html": "url_not_supported",
        "x": "not_found",
    }
    unknown = {
        Path(one["thing"]).name for one in facts["left_out"] if one["code"] == "unknown_kind"
    }
    assert unknown == {"picture.png", "office.docx", "config.json"}
    assert (place / "broken.pdf").read_bytes() == b"%PDF-1.4 broken"


def test_without_network_identifiers_fail_one_by_one_and_the_rest_goes_on(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(place, squid_DOT_md=PAPER)
    code, facts = add(
        capsys, "10.1234/abcd", "desk/squid.md", "1706.03762", "https://doi.org/10.1234/efgh"
    )
    assert (code, facts["desk"]["papers"]) == (1, 1)
    failed = [one["thing"] for one in facts["left_out"] if one["code"] == "lookup_unavailable"]
    assert sorted(failed) == ["10.1234/abcd", "1706.03762", "https://doi.org/10.1234/efgh"]


def test_nothing_at_all_is_2(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(capsys, "missing")[0] == 2
    assert add(capsys, "desk")[0] == 2
    write(place, office_DOT_docx=b"PK\x03\x04word")
    code, facts = add(capsys, "desk/office.docx")
    assert (code, reasons(facts)) == (2, {"office.docx": "unknown_kind"})


def test_a_vault_is_notes_even_where_they_are_about_papers(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(place, _DOT_obsidian__app_DOT_json="{}", About_DOT_md=PAPER)
    _, facts = add(capsys, "desk")
    assert (facts["papers"]["new"], facts["notes"]["new"]) == (0, 1)


@pytest.mark.parametrize(
    ("given_as", "papers", "notes"), [("papers", 1, 0), ("notes", 0, 1), (None, 0, 1)]
)
def test_a_person_may_say_what_a_text_is(
    place: Path, capsys: pytest.CaptureFixture[str], given_as: str | None, papers: int, notes: int
) -> None:
    write(place, text_DOT_md="# Some text\n\nOf no plain kind.\n")
    words = ["desk"] if given_as is None else ["desk", "--as", given_as]
    _, facts = add(capsys, *words)
    assert (facts["papers"]["new"], facts["notes"]["new"]) == (papers, notes)


def test_only_papers_leaves_the_library_alone(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(place, squid_DOT_md=PAPER, refs_DOT_bib=BIB, note_DOT_md="# A note\n\nText.\n")
    _, facts = add(capsys, "desk", "--only", "papers")
    assert facts["desk"] == {"papers": 2, "references": 0, "notes": 0}
    assert [one["code"] for one in facts["left_out"]] == ["not_wanted"]


def test_a_guess_does_not_become_a_reference(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(place, text_DOT_md="Text without any name. It has a second sentence.\n")
    _, facts = add(capsys, "desk", "--as", "papers")
    assert (facts["desk"]["papers"], facts["desk"]["references"]) == (1, 0)
    assert len(facts["papers"]["doubtful"]) == 1


def test_a_dry_run_changes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(place, squid_DOT_md=PAPER, refs_DOT_bib=BIB)
    code, facts = add(capsys, "desk", "--dry-run")
    assert (code, facts["dry_run"]) == (0, True)
    assert [Path(one).name for one in facts["plan"]["papers"]] == ["squid.md", "refs.bib"]
    assert not (place.parent / "home" / "papers").exists()


def test_what_to_do_next_is_said_in_exact_commands(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(place, squid_DOT_md=PAPER)
    assert main(["add", "desk", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert "papers: 1 new" in out
    assert "On the desk: 1 paper, 1 reference, 0 notes." in out
    assert 'carrel find "WORDS"' in err
    assert "carrel watch desk keeps" in err


def test_translations_go_where_their_text_goes(place: Path) -> None:
    write(place, squid_DOT_md=PAPER, squid_DOT_zh_DOT_md="鱿鱼。\n", note_DOT_de_DOT_md="Notiz.\n")
    found = sort_things([str(place)])
    assert sorted(path.name for path in found.papers) == ["squid.md", "squid.zh.md"]
    assert list(found.notes.values()) == [["note.de.md"]]


def test_a_name_as_long_as_a_file_system_allows_is_added(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / f"{'n' * 250}.md").write_text(PAPER)
    code, facts = add(capsys, "desk")
    assert (code, facts["desk"]["papers"]) == (0, 1)
    code, facts = add(capsys, "n" * 300 + ".pdf")
    assert (code, facts["left_out"][0]["code"]) == (2, "not_found")


def test_a_watch_after_add_leaves_notes_notes(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        place,
        squid_DOT_md=PAPER,
        forced_DOT_md="Text without any name. It has a second sentence.\n",
        log__field_DOT_md="# Field log\n\nRain.\n",
        vault__dated_DOT_md=PAPER.replace("squid", "vault"),
    )
    (place / "vault" / ".obsidian").mkdir()
    add(capsys, "desk/forced.md", "--as", "papers")
    _, facts = add(capsys, "desk")
    assert facts["desk"]["papers"] == 2
    assert main(["watch", "desk", "--once", "--quiet"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "2 of the Markdown files are notes" in said.err
    # A paper that a person forced stays one, also where it is renamed.
    (place / "forced.md").rename(place / "moved.md")
    assert main(["watch", "desk", "--once", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("renamed")
    _, facts = add(capsys, "desk/squid.md")
    assert facts["desk"]["papers"] == 2


def test_a_build_after_add_leaves_notes_notes_and_takes_other_texts(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(place, squid_DOT_md=PAPER, log_DOT_md="# Field log\n\nRain.\n")
    add(capsys, "desk")
    # A text that nobody imported is a paper of a build, as ever.
    write(place, plain_DOT_md="# Plain words\n\nNo front matter.\n")
    assert main(["papers", "build", "desk", "--report", "json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["papers"]["total"], report["papers"]["added"]) == (2, 1)
    left = {Path(line["source"]).name for line in report["lines"] if line["code"] == "is_note"}
    assert left == {"log.md"}
    # A corpus elsewhere has no notes beside it.
    elsewhere = str(place.parent / "elsewhere")
    words = ["papers", "build", "desk", "--into", elsewhere, "--report", "json", "--quiet"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["papers"]["total"] == 3


def test_as_many_papers_are_doubtful_as_the_review_lists(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        place,
        squid_DOT_md=PAPER,
        undated_DOT_md="---\ntitle: Undated\nauthors: [Bob Ray]\ndoi: 10.1000/undated\n---\nWords.",
        text_DOT_md="Text without any name. It has a second sentence.\n",
    )
    add(capsys, "desk/text.md", "--as", "papers")
    _, first = add(capsys, "desk")
    _, again = add(capsys, "desk")
    capsys.readouterr()
    assert main(["papers", "review", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert main(["papers", "build", "desk", "--report", "json", "--quiet"]) == 0
    built = json.loads(capsys.readouterr().out)
    assert len(listed) == 2
    counts = {first["papers"]["in_doubt"], again["papers"]["in_doubt"], listed[0]["total"]}
    assert counts == {2} == {built["papers"]["in_doubt"]}
    assert first["papers"]["doubtful"] == ["Undated"]


def test_refused_files_are_named_again_and_gone_files_once_they_left(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(place, squid_DOT_md=PAPER, broken_DOT_pdf=b"%PDF-1.4 broken", refs_DOT_bib=BIB)
    code, first = add(capsys, "desk")
    again_code, again = add(capsys, "desk")
    assert (code, again_code) == (1, 1)
    assert reasons(first) == reasons(again) == {"broken.pdf": "pdf_not_valid"}
    assert again["papers"]["files_unchanged"] == 2
    assert again["papers"]["files_gone"] == []
    (place / "squid.md").unlink()
    _, gone = add(capsys, "desk")
    assert gone["papers"]["files_gone"] == [str(place / "squid.md")]
    assert gone["desk"]["papers"] == 2
    for name in ("refs.bib", "broken.pdf"):
        (place / name).unlink()
    main(["add", "desk", "--quiet"])
    said = capsys.readouterr()
    assert f"gone, and their papers stay: {place / 'broken.pdf'}" in said.out
    assert "carrel watch desk --once" in said.err


def test_an_entry_without_a_title_is_added_once_and_said_to_be_no_paper(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = "@article{broken, author={X}}\n"
    write(place, library_DOT_bib=BIB + broken)
    _, first = add(capsys, "desk")
    assert first["references"]["added_ids"] == ["lee2001", "broken"]
    assert "no_title" in {one["code"] for one in first["left_out"]}
    for _ in range(2):
        code, again = add(capsys, "desk")
        assert (code, again["references"]["added_ids"]) == (0, [])
    # Another entry under the same key is another work, and is known again as well.
    write(place, library_DOT_bib=BIB + broken + "@misc{broken, author={Roe, Ann}}\n")
    assert [add(capsys, "desk")[1]["references"]["added_ids"] for _ in range(2)] == [
        ["brokena"],
        [],
    ]


def test_doubt_and_next_steps_are_said_as_a_person_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    folder = tmp_path / "my papers"
    folder.mkdir()
    (folder / "one.md").write_text(
        "# Warm rooms and cold fingers\n\nCleo Marsh\n\n## Results\n\nOne.\n"
    )
    assert main(["add", str(folder), "--as", "papers", "--quiet"]) == 0
    said = capsys.readouterr()
    doubt = "1 paper has doubtful fields: Warm rooms and cold fingers (carrel papers review)"
    assert doubt in said.out.splitlines()
    steps = said.err.split("Next:\n")[1].splitlines()
    assert len(steps) == 3
    assert steps[2].startswith("  carrel watch ~/'my papers' keeps")
    assert main(["add", str(folder), "--as", "papers", "--quiet"]) == 0
    assert "papers: 1 file unchanged" in capsys.readouterr().out.splitlines()
    assert main([]) == 0
    assert "1 paper to review: carrel papers review" in capsys.readouterr().out.splitlines()


def test_plain_text_becomes_a_note_where_it_is_called_one(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = place / "memos"
    folder.mkdir()
    (folder / "memo.txt").write_text("\n\nCold hands: a memo\n\nFish oil thins the blood.\n")
    (folder / "long.txt").write_text("word " * 60 + "\n")
    (folder / "savedrecs.txt").write_text("TY  - JOUR\nTI  - A work\nPY  - 2001\nER  - \n")
    (folder / "noise.txt").write_bytes(bytes(range(256)))
    assert main(["add", str(folder / "memo.txt")]) == 2
    assert "plain text, which is not read unless --as notes says" in capsys.readouterr().err
    assert main(["add", str(folder / "memo.txt"), "--as", "notes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"]["new"] == 1
    assert main(["knowledge", "import", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"new": 1, "unchanged": 1}
    for words, title in (("fish oil", "Cold hands: a memo"), ("word", "long")):
        assert main(["knowledge", "search", words, "--json"]) == 0
        notes = json.loads(capsys.readouterr().out)
        assert [note["title"] for note in notes] == [title]
    # What came in is written back byte for byte.
    before = {file.name: file.read_bytes() for file in folder.glob("*.txt")}
    assert main(["knowledge", "export", str(folder)]) == 0
    assert {file.name: file.read_bytes() for file in folder.glob("*.txt")} == before
    assert not list(folder.glob("*.md"))


def test_a_service_that_is_not_reached_is_told_by_the_exit_code(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add", "10.1038/nature12373"]) == 5
    assert main(["references", "add", "10.1038/nature12373"]) == 5
    assert "Crossref cannot be reached" in capsys.readouterr().out
    # What no later try mends keeps its code, also beside what one might.
    assert main(["add", "/nowhere/paper.pdf", "10.1038/nature12373"]) == 2
    assert main(["references", "add", "no bibliography at all"]) != 5
