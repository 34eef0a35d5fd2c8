"""Dumps of every service come into the corpus through the command and are found by search."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from carrel.cli import main
from tests.services.dumps.dump_files import (
    LoadingDesk,
    Shown,
    arxiv_line,
    crossref_item,
    openalex_work,
    pubmed_article,
    pubmed_set,
    write_lines,
    write_packed,
    write_partition,
)

pytestmark = pytest.mark.promise("W3")
DELETED = "<DeleteCitation><PMID>{}</PMID></DeleteCitation>"


def test_a_folder_without_a_dump_and_words_that_mean_nothing_are_refused(
    tmp_path: Path, capsys: Shown
) -> None:
    home = ["--home", str(tmp_path / "home")]
    (tmp_path / "empty").mkdir()
    for words, reason in (
        (["openalex", str(tmp_path / "nowhere")], "There is no"),
        (["openalex", str(tmp_path / "empty")], "no file of a dump"),
        (["arxiv", str(tmp_path / "empty"), "--years", "soon"], "no years"),
        (["arxiv", str(tmp_path / "empty"), "--years", "2020..2010"], "ends before"),
        (["arxiv", str(tmp_path / "empty"), "--types", "poem"], "no type of work"),
        (["arxiv", str(tmp_path / "empty"), "--languages", "english"], "no code of a language"),
    ):
        assert main(["papers", "load", *words, *home]) != 0
        assert reason in capsys.readouterr().err


def test_a_snapshot_of_openalex_is_found_by_search_and_by_its_identifiers(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    write_partition(
        tmp_path,
        "2026-05-01",
        [openalex_work(1, "Octopus arms"), openalex_work(2, "Squid eyes", doi=None)],
    )
    # What belongs to other things of a snapshot is no work.
    write_lines(tmp_path / "authors" / "updated_date=2026-05-01" / "part_0000.gz", [{"id": "A1"}])
    report = desk.load("openalex", tmp_path)
    assert (report["new"], report["papers"], report["bad"]) == (2, 2, 0)
    assert report["newest"] == "2026-05-01"
    assert desk.search("octopus") == ["Octopus arms"]
    assert desk.metadata("10.5555/oa.1")["title"] == "Octopus arms"
    assert desk.metadata("https://openalex.org/W4000000002")["title"] == "Squid eyes"
    assert "neuroscience" in desk.run("papers", "facets", "tag").lower()


def test_the_layout_of_2026_and_lists_of_merged_ids_are_read(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    works = tmp_path / "full" / "2026-07-01" / "jsonl" / "works"
    write_lines(works / "0001.jsonl.gz", [openalex_work(1, "Kept"), openalex_work(2, "Merged")])
    merged = b"merge_date,id,merge_into_id\n2026-07-02,W4000000002,W4000000001\n"
    write_packed(tmp_path / "merged_ids" / "works" / "2026-07-02.csv.gz", merged)
    report = desk.load("openalex", tmp_path)
    assert (report["deleted"], report["papers"]) == (1, 1)
    assert desk.search("merged") == []


def test_lines_of_arxiv_are_found_with_the_article_that_they_became(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    published = arxiv_line("2212.11867", "Zeros of\n  derivatives", doi="10.1000/journal.1")
    write_lines(tmp_path / "arxiv-metadata-oai-snapshot.json", [published])
    report = desk.load("arxiv", tmp_path)
    assert (report["new"], report["newest"]) == (1, "2022-12-23")
    found = desk.metadata("2212.11867")
    assert (found["title"], found["year"]) == ("Zeros of derivatives", "2022")
    assert found["doi"] == "10.48550/arxiv.2212.11867"


@pytest.mark.parametrize("shape", ["items", "lines"])
def test_both_shapes_of_crossref_are_read_and_what_is_no_work_is_left_out(
    desk: LoadingDesk, tmp_path: Path, shape: str
) -> None:
    items = [
        crossref_item("10.1000/one", "Deep sea corals", abstract="<jats:p>Cold.</jats:p>"),
        crossref_item("10.1000/part", "Figure 3", type="component"),
        crossref_item("10.1000/none", ""),
    ]
    if shape == "items":
        write_packed(tmp_path / "0.json.gz", json.dumps({"items": items}).encode())
    else:
        write_lines(tmp_path / "part-1.jsonl.gz", items)
    report = desk.load("crossref", tmp_path)
    assert report["left_out"] == {"no_title": 1, "no_work": 1}
    assert desk.search("corals") == ["Deep sea corals"]


def test_later_files_of_pubmed_win_and_deletions_are_obeyed(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    update = pubmed_set(pubmed_article("101", "Better wording of livers"), DELETED.format("102"))
    baseline = pubmed_set(pubmed_article("101", "Livers"), pubmed_article("102", "Wrong kidneys"))
    write_packed(tmp_path / "updatefiles" / "pubmed25n1300.xml.gz", update)
    write_packed(tmp_path / "baseline" / "pubmed25n0001.xml.gz", baseline)
    report = desk.load("pubmed", tmp_path)
    assert (report["papers"], report["deleted"], report["newest"]) == (1, 1, "2025-03-04")
    assert desk.search("livers") == ["Better wording of livers"]
    assert desk.search("kidneys") == []
    # An older file that comes later changes nothing, not even what was deleted.
    write_packed(
        tmp_path / "baseline" / "pubmed25n0002.xml.gz",
        pubmed_set(pubmed_article("101", "Old livers"), pubmed_article("102", "Wrong kidneys")),
    )
    report = desk.load("pubmed", tmp_path)
    assert (report["older"], report["papers_changed"]) == (2, 0)
    assert desk.search("livers") == ["Better wording of livers"]


def test_a_file_that_is_not_what_its_sum_says_is_not_read_and_the_rest_is(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    good = write_packed(tmp_path / "pubmed25n0001.xml.gz", pubmed_set(pubmed_article("1", "Good")))
    sum_ = hashlib.md5(good.read_bytes(), usedforsecurity=False).hexdigest()
    good.with_name(f"{good.name}.md5").write_text(f"MD5({good.name})= {sum_}\n")
    bad = write_packed(tmp_path / "pubmed25n0002.xml.gz", pubmed_set(pubmed_article("2", "Bad")))
    bad.with_name(f"{bad.name}.md5").write_text(f"MD5({bad.name})= {'0' * 32}\n")
    report = desk.load("pubmed", tmp_path)
    assert report["papers"] == 1
    assert "pubmed25n0002.xml.gz: it is not what" in report["notes"][0]


def test_a_cut_file_gives_what_stands_before_the_cut_and_is_tried_again(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    works = [openalex_work(number, f"Cut {number} {'word ' * 50}") for number in range(400)]
    whole = write_partition(tmp_path, "2026-05-01", works)
    content = whole.read_bytes()
    write_partition(tmp_path, "2026-05-02", [openalex_work(900, "Behind the cut")])
    whole.write_bytes(content[: len(content) // 2])
    report = desk.load("openalex", tmp_path)
    assert 1 < report["papers"] < 401
    assert "ends early" in report["notes"][0]
    assert desk.search("behind") == ["Behind the cut"]
    assert "not loaded to its end" in desk.run("papers", "load", "--status")
    whole.write_bytes(content)
    assert desk.load("openalex", tmp_path)["papers"] == 401
    assert "not loaded to its end" not in desk.run("papers", "load", "--status")


def test_bad_records_are_set_aside_with_file_line_and_reason(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    write_partition(
        tmp_path,
        "2026-05-01",
        [openalex_work(1, "Fine"), b"{broken", b"[1]", b"", b'{"id": 5}', openalex_work(2, "Too")],
    )
    report = desk.load("openalex", tmp_path)
    assert (report["papers"], report["bad"]) == (2, 3)
    lines = [json.loads(line) for line in Path(report["quarantine"]).read_text().splitlines()]
    assert [(each["record"], each["file"].split("/")[-1]) for each in lines] == [
        (2, "part_0000.gz"),
        (3, "part_0000.gz"),
        (5, "part_0000.gz"),
    ]
    assert "JSON" in lines[0]["reason"]
    assert lines[0]["beginning"] == "{broken"
    assert desk.load("openalex", tmp_path)["bad"] == 0, "what was loaded is not read again"
    assert len(Path(report["quarantine"]).read_text().splitlines()) == 3


def test_filters_say_how_many_each_left_out(desk: LoadingDesk, tmp_path: Path) -> None:
    old = {"publication_year": 1999, "publication_date": "1999-01-01"}
    write_partition(
        tmp_path,
        "2026-05-01",
        [
            openalex_work(1, "Wanted"),
            openalex_work(2, "Old", **old),
            openalex_work(3, "Book", type="book"),
            openalex_work(4, "German", language="de"),
            openalex_work(5, "Chemistry", topics=[{"display_name": "Organic Chemistry"}]),
        ],
    )
    words = ("--years", "2015..2024", "--types", "article,review", "--languages", "en")
    report = desk.load("openalex", tmp_path, *words, "--subjects", "neuroscience")
    assert report["left_out"] == {"languages": 1, "subjects": 1, "types": 1, "years": 1}
    assert (report["papers"], desk.search("wanted")) == (1, ["Wanted"])
    assert "filtered" in desk.run("papers", "load", "--status")
    assert desk.load("openalex", tmp_path)["papers"] == 5, "wider filters read the files again"


def test_categories_of_arxiv_are_subjects_with_those_below_them(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    lines = [
        arxiv_line("2101.00001", "Nets"),
        arxiv_line("2101.00002", "Knots", categories="math.GT"),
    ]
    write_lines(tmp_path / "dump.json", lines)
    assert desk.load("arxiv", tmp_path, "--subjects", "cs")["papers"] == 1
    assert desk.search("nets") == ["Nets"]


def test_a_limit_is_kept_and_raising_it_goes_on(desk: LoadingDesk, tmp_path: Path) -> None:
    works = [openalex_work(number, f"Paper {number}") for number in range(30)]
    write_partition(tmp_path, "2026-05-01", works)
    report = desk.load("openalex", tmp_path, "--limit", "10")
    assert (report["papers"], report["is_limited"]) == (10, True)
    assert desk.load("openalex", tmp_path, "--limit", "10")["papers"] == 10
    assert desk.load("openalex", tmp_path, "--limit", "25")["papers"] == 25
    assert desk.load("openalex", tmp_path)["papers"] == 30


def test_the_newest_record_wins_whatever_the_order_of_loads(
    desk: LoadingDesk, tmp_path: Path
) -> None:
    old = openalex_work(1, "Early title", updated_date="2026-01-01T00:00:00")
    new = openalex_work(1, "Later title", updated_date="2026-05-01T00:00:00")
    write_partition(tmp_path / "new", "2026-05-01", [new])
    write_partition(tmp_path / "old", "2026-01-01", [old])
    desk.load("openalex", tmp_path / "new")
    report = desk.load("openalex", tmp_path / "old")
    assert (report["older"], desk.search("title")) == (1, ["Later title"])
    newest = openalex_work(1, "Last title", updated_date="2026-06-01T00:00:00")
    write_partition(tmp_path / "last", "2026-06-01", [newest])
    report = desk.load("openalex", tmp_path / "last")
    assert (report["changed"], report["papers"], desk.search("title")) == (1, 1, ["Last title"])
    assert desk.load("openalex", tmp_path / "last")["records"] == 0


def test_a_second_dump_joins_the_first_by_identifiers(desk: LoadingDesk, tmp_path: Path) -> None:
    by_pmid = openalex_work(
        2, "Kidney stones", doi=None, ids={"pmid": "https://pubmed.ncbi.nlm.nih.gov/202"}
    )
    write_partition(tmp_path / "oa", "2026-05-01", [openalex_work(1, "Renal flow"), by_pmid])
    write_packed(
        tmp_path / "pm" / "pubmed25n0001.xml.gz",
        pubmed_set(
            pubmed_article("201", "Renal flow", 2020, "10.5555/OA.1"),
            pubmed_article("202", "Kidney stones", 2020),
            pubmed_article("203", "Something else"),
        ),
    )
    write_lines(tmp_path / "cr" / "x.jsonl", [crossref_item("10.5555/oa.1", "Renal flow")])
    assert desk.load("openalex", tmp_path / "oa")["papers"] == 2
    report = desk.load("pubmed", tmp_path / "pm")
    assert (report["papers"], report["papers_changed"]) == (3, 2)
    assert desk.load("crossref", tmp_path / "cr")["papers"] == 3
    found = desk.metadata("10.5555/oa.1")
    assert found["pmid"] == "201"
    assert desk.metadata("W4000000001")["paper_id"] == found["paper_id"]


def test_references_of_a_snapshot_are_citations(desk: LoadingDesk, tmp_path: Path) -> None:
    citing = openalex_work(
        1, "It cites", referenced_works=["https://openalex.org/W4000000002", "W4000000999"]
    )
    write_partition(tmp_path, "2026-05-01", [citing, openalex_work(2, "It is cited")])
    desk.load("openalex", tmp_path)
    answer = json.loads(desk.run("papers", "citations", "10.5555/oa.2", "--json"))
    assert [each["title"] for each in answer["cited_by"]] == ["It cites"]
    assert answer["cited_by"][0]["linked_by"] == "openalex"


def test_the_content_decides_whether_a_file_is_packed(desk: LoadingDesk, tmp_path: Path) -> None:
    plain = json.dumps(openalex_work(1, "Unpacked by somebody")).encode()
    (tmp_path / "part_0000.gz").write_bytes(plain)
    (tmp_path / "works.jsonl").write_bytes(
        gzip.compress(json.dumps(openalex_work(2, "Packed in fact")).encode())
    )
    assert desk.load("openalex", tmp_path)["papers"] == 2
