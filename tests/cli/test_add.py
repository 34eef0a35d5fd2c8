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
    write(place, text_DOT_md="Text without any name.\n")
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
