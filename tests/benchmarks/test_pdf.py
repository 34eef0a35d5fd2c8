"""`make bench-pdf` scores any folder with PDFs and a gold.jsonl through the reader of a build."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.pdf.__main__ import main
from benchmarks.pdf.made_pages import write_made_pages
from benchmarks.pdf.scoring import score_headings, score_order, score_paragraphs


def test_a_folder_with_gold_rows_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [gold.row for gold in write_made_pages(tmp_path)]
    rows[0]["own_doi"] = "10.5555/another"
    rows.append({**rows[1], "id": "missing/one", "path": "missing.pdf"})
    lines = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "gold.jsonl").write_text(lines, "utf-8")
    monkeypatch.setattr(sys, "argv", ["bench-pdf", str(tmp_path), "--only-ours", "--failures"])
    main()
    said = capsys.readouterr().out
    count = len(rows) - 1
    assert f"{count} PDFs" in said
    assert "1 PDFs are not there: missing/one" in said
    row = next(line for line in said.splitlines() if line.startswith("| Carrel "))
    title, people, year, doi = [cell.split("/")[0].strip() for cell in row.split("|")[2:6]]
    assert (title, people, year) == ("100.0", "100.0", "100.0")
    assert doi == f"{100 * (count - 1) / count:.1f}"
    assert "made/elsevier: doi wrong" in said


def test_headings_and_order_are_counted_against_the_row() -> None:
    row = {"headings": [[1, "Introduction"], [2, "Aims"], [1, "Methods"], [3, "Deep"]]}
    assert score_headings(row, ["1 Introduction", "Methods", "Noise"]) == (2, 3, 2, 3)
    assert score_order(row, "## 1 Introduction\n\n## Methods\n\n### Aims\n") == (1, 2)


def test_paragraphs_that_were_torn_apart_are_not_whole() -> None:
    whole = "The sentence begins here and " + "goes on " * 30 + "to its end."
    torn = "begins in the middle and " + "goes on " * 30 + "without end"
    assert score_paragraphs(f"{whole}\n\n{torn}\n\nshort\n") == (1, 2)
