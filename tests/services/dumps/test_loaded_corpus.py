"""What was loaded is changed like every paper, and stays beside what was built and added."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.settings import read_settings
from carrel.wiring.papers_load import dump_reaches
from tests.services.dumps.dump_files import LoadingDesk, Shown, openalex_work, write_partition

pytestmark = pytest.mark.promise("W3")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    works = [openalex_work(number, f"Loaded work {number}") for number in range(1, 6)]
    write_partition(folder, "2026-05-01", works)
    return folder


def test_what_was_built_before_stays_and_joins_what_is_loaded(
    desk: LoadingDesk, tmp_path: Path, dump: Path
) -> None:
    built = tmp_path / "papers"
    built.mkdir()
    (built / "own.md").write_text("# A text of my own\n\nHedgehogs sleep.\n")
    (built / "known.md").write_text(
        "---\ndoi: 10.5555/oa.1\nauthors: [Ada Author1]\n---\n# Loaded work 1\n\nWalruses swim.\n"
    )
    desk.run("papers", "build", str(built), "--quiet")
    assert desk.load("openalex", dump)["papers"] == 6
    assert desk.search("walruses") == ["Loaded work 1"], "the text stays with its paper"
    assert desk.metadata("W4000000001")["doi"] == "10.5555/oa.1"
    # Building again, even with nothing else, does not let the dump leave.
    desk.run("papers", "build", str(built), "--quiet", "--only")
    assert desk.search("hedgehogs") == ["A text of my own"]
    assert "Loaded work 5" in desk.search("loaded", "work", "5")


def test_a_text_without_an_identifier_joins_the_loaded_work_that_it_is(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    title = "Nocturnal foraging of juvenile hedgehogs in suburban gardens"
    author = [{"author": {"display_name": "Selma Lagerlund"}}]
    write_partition(tmp_path / "d", "2026-05-01", [openalex_work(7, title, authorships=author)])
    desk.load("openalex", tmp_path / "d")
    text = tmp_path / "text.md"
    text.write_text(
        f"---\nauthors: [Selma Lagerlund]\nyear: 2020\n---\n# {title}\n\nTheir spines are sharp.\n"
    )
    answer = json.loads(desk.run("papers", "add", "--path", str(text), "--json"))
    assert answer["is_new"] is False
    assert desk.metadata("10.5555/oa.7")["paper_id"] == answer["paper_id"]


def test_loaded_papers_are_added_to_edited_removed_and_put_back(
    desk: LoadingDesk, tmp_path: Path, dump: Path
) -> None:
    desk.load("openalex", dump)
    text = tmp_path / "full.md"
    text.write_text("---\ndoi: 10.5555/oa.2\n---\n# Loaded work 2\n\nPangolins curl up.\n")
    assert json.loads(desk.run("papers", "add", "--path", str(text), "--json"))["is_new"] is False
    assert desk.search("pangolins") == ["Loaded work 2"]
    desk.run("papers", "edit", "10.5555/oa.3", "--title", "Corrected by hand")
    assert desk.search("corrected") == ["Corrected by hand"]
    removed = json.loads(desk.run("papers", "remove", "10.5555/oa.4", "--json"))
    newer = [
        openalex_work(number, f"Newer work {number}", updated_date="2026-06-01T00:00:00")
        for number in (3, 4, 5)
    ]
    write_partition(dump, "2026-06-01", newer)
    report = desk.load("openalex", dump)
    assert (report["changed"], report["papers"]) == (3, 4)
    assert desk.search("corrected") == ["Corrected by hand"], "a person's word stays"
    assert desk.search("newer") == ["Newer work 5"], "what was removed stays removed"
    desk.run("papers", "undo", str(removed["decision"]))
    assert sorted(desk.search("newer")) == ["Newer work 4", "Newer work 5"]


def test_a_removed_paper_keeps_its_references_until_it_is_put_back(
    desk: LoadingDesk, dump: Path
) -> None:
    desk.load("openalex", dump)
    removed = json.loads(desk.run("papers", "remove", "10.5555/oa.4", "--json"))
    cited = ["https://openalex.org/W4000000001"]
    newer = openalex_work(4, "Back again", referenced_works=cited, updated_date="2026-07-01")
    write_partition(dump, "2026-07-01", [newer])
    desk.load("openalex", dump)
    desk.run("papers", "undo", str(removed["decision"]))
    answer = json.loads(desk.run("papers", "citations", "10.5555/oa.1", "--json"))
    assert [each["title"] for each in answer["cited_by"]] == ["Back again"]


def test_a_backup_carries_what_was_loaded_and_how_far(
    desk: LoadingDesk, tmp_path: Path, dump: Path, capsys: Shown
) -> None:
    desk.load("openalex", dump)
    archive = tmp_path / "backup.carrel"
    desk.run("backup", str(archive))
    home = tmp_path / "restored"
    assert main(["restore", str(archive), "--home", str(home)]) == 0
    capsys.readouterr()
    restored = LoadingDesk(home, capsys)
    assert len(restored.search("loaded")) == 5
    report = restored.load("openalex", dump)
    assert (report["records"], report["papers"]) == (0, 5)
    settings = read_settings(environment={"CARREL_HOME": str(home)})
    [reach] = dump_reaches(settings)
    assert (reach.service, reach.newest, reach.is_complete) == ("openalex", "2026-05-01", True)
