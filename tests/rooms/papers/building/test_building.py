"""Building a corpus from sources, again and again."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.papers.building.build_reports import BuildReport
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.building.paper_keys import make_paper_id
from carrel.rooms.papers.building.papers import NO_MODEL_NOTE
from carrel.wiring.papers_build import build_demo, build_papers
from tests.rooms.papers.building.conftest import Corpus

Codes = Callable[[BuildReport], list[str]]

ATTENTION = """---
title: Attention Is All You Need
authors: [Ashish Vaswani, Noam Shazeer]
date: 2017-06
venue: NeurIPS
doi: https://doi.org/10.48550/arXiv.1706.03762
keywords: [Transformer, attention]
tags: [method]
abstract: The dominant models are based on recurrence.
---
# Attention Is All You Need

## Introduction

Recurrent models are slow.

![a figure](fig.png) ![gone](missing.png) ![outside](../../../etc/passwd.png)

## Results

| a | hiddencell |
|---|---|
| 1 | 2 |
"""


@pytest.mark.promise("P9")
def test_markdown_with_front_matter_becomes_a_paper(corpus: Corpus) -> None:
    corpus.write("attention.md", ATTENTION)
    corpus.write("fig.png", b"\x89PNG picture")
    corpus.write("attention.zh.md", "# 译文\n\n注意力机制\n")
    report = corpus.build()
    assert (report.papers, report.lines) == (1, ())
    paper_id = make_paper_id("doi:10.48550/arxiv.1706.03762")
    [row] = corpus.ask(
        "SELECT paper_id, paper_key, paper_key_type, doi, title, year, month, venue FROM paper"
    )
    assert row == (
        *(paper_id, "doi:10.48550/arxiv.1706.03762", "doi", "10.48550/arxiv.1706.03762"),
        *("Attention Is All You Need", "2017", "06", "NeurIPS"),
    )
    assert corpus.ask("SELECT paper_key_type FROM paper_key_alias ORDER BY 1") == [
        ("arxiv",),
        ("doi",),
        ("meta",),
    ]
    assert corpus.ask("SELECT value, paper_count FROM keyword ORDER BY 1") == [
        ("attention", 1),
        ("transformer", 1),
    ]
    [(source, translated)] = corpus.ask("SELECT source, translated FROM paper_fts")
    assert "Recurrent models are slow." in str(source) and "hiddencell" not in str(source)
    assert translated == "译 文 注 意 力 机 制"
    summary = corpus.static_json(f"summary/{paper_id}.json")
    assert summary["paper_authors"] == ["Ashish Vaswani", "Noam Shazeer"]
    manifest = corpus.static_json(f"manifest/{paper_id}.json")
    images = manifest["images"]
    assert isinstance(images, list)
    assert [image["status"] for image in images] == ["available", "missing", "missing"]
    sha256 = hashlib.sha256(b"\x89PNG picture").hexdigest()
    [text] = (corpus.static / "md").iterdir()
    assert f"(images/{sha256}.png)" in text.read_text()
    assert not text.read_text().startswith("---")


@pytest.mark.promise("P9")
def test_a_summary_without_a_model_holds_abstract_and_outline_and_says_so(corpus: Corpus) -> None:
    corpus.write("attention.md", ATTENTION)
    corpus.build()
    [(paper_id, preview, provider)] = corpus.ask(
        "SELECT paper_id, summary_preview, provider FROM paper"
    )
    summary = str(corpus.static_json(f"summary/{paper_id}.json")["summary"])
    assert "The dominant models are based on recurrence." in summary
    assert "- Introduction\n- Results" in summary
    assert NO_MODEL_NOTE in summary
    assert provider is None
    assert str(preview).startswith("The dominant models")
    assert corpus.ask("SELECT 1 FROM paper_fts WHERE paper_fts MATCH '\"language model\"'") == []


@pytest.mark.promise("P9")
def test_the_same_paper_from_two_sources_is_one_paper(corpus: Corpus) -> None:
    corpus.write("attention.md", ATTENTION)
    corpus.write_lines(
        "list.jsonl",
        {
            "doi": "10.48550/ARXIV.1706.03762",
            "title": "Attention",
            "keywords": ["attention", "sequence"],
        },
    )
    report = corpus.build()
    assert (report.papers, report.records) == (1, 2)
    assert corpus.one("SELECT title FROM paper") == "Attention Is All You Need"
    assert corpus.ask("SELECT value FROM keyword ORDER BY 1") == [
        ("attention",),
        ("sequence",),
        ("transformer",),
    ]


@pytest.mark.promise("P9")
def test_a_doi_that_arrives_later_joins_the_paper_under_the_identifier_it_has(
    corpus: Corpus,
) -> None:
    about = {"title": "On Growth", "authors": ["A. Author"], "year": 2019, "journal": "Forms"}
    corpus.write_lines("first.jsonl", about)
    corpus.build()
    before = corpus.one("SELECT paper_id FROM paper")
    corpus.write_lines("second.jsonl", {**about, "doi": "10.1000/growth"})
    report = corpus.build()
    assert (report.papers, report.papers_added, report.papers_changed) == (1, 0, 1)
    assert corpus.ask("SELECT paper_id, doi, paper_key FROM paper") == [
        (before, "10.1000/growth", "doi:10.1000/growth")
    ]
    assert corpus.ask("SELECT DISTINCT paper_id FROM paper_key_alias") == [(before,)]


@pytest.mark.promise("P9")
def test_an_unchanged_source_is_not_read_again_and_a_removed_one_leaves(corpus: Corpus) -> None:
    corpus.write("attention.md", ATTENTION)
    corpus.write("other.md", "# Another paper\n\nText about whales.\n")
    first = corpus.build()
    again = corpus.build()
    assert (again.sources_read, again.sources_unchanged, again.is_changed) == (0, 2, False)
    assert again.build_id == first.build_id
    (corpus.sources / "other.md").unlink()
    last = corpus.build()
    assert (last.papers, last.papers_removed, last.sources_removed) == (1, 1, 1)
    assert corpus.ask("SELECT title FROM paper") == [("Attention Is All You Need",)]
    assert len(list((corpus.static / "md").iterdir())) == 1
    assert len(list((corpus.static / "manifest").iterdir())) == 1


@pytest.mark.promise("P9")
def test_building_bit_by_bit_gives_what_building_at_once_gives(
    corpus: Corpus, tmp_path: Path
) -> None:
    records = [
        {
            "title": f"Paper {number}",
            "authors": [f"Author {number % 5}", "Everybody"],
            "year": 2000 + number % 7,
            "doi": f"10.1000/{number}",
        }
        for number in range(40)
    ]
    corpus.write_lines("base.jsonl", *records[:30])
    corpus.build()
    corpus.write_lines("more.jsonl", *records[30:36])
    corpus.build()
    corpus.write_lines(
        "base.jsonl", *records[2:28], {**records[28], "title": "A new title"}, records[29]
    )
    corpus.build()
    at_once = tmp_path / "at_once"
    build_papers([corpus.sources], at_once, BuildOptions(workers=1))

    def everything(into: Path) -> dict[str, list[tuple[object, ...]]]:
        looked = Corpus.__new__(Corpus)
        looked.into = into
        return {
            "paper": looked.ask("SELECT paper_id, title, year FROM paper ORDER BY 1"),
            "author": looked.ask("SELECT value, paper_count FROM author ORDER BY 1"),
            "node": looked.ask(
                "SELECT facet_type, value, paper_count FROM facet_node ORDER BY 1, 2"
            ),
            "edge": looked.ask(
                """WITH node AS (SELECT node_id, facet_type || value AS name FROM facet_node)
                   SELECT min(a.name, b.name), max(a.name, b.name), e.paper_count FROM facet_edge e
                   JOIN node a ON a.node_id = e.node_id_a JOIN node b ON b.node_id = e.node_id_b ORDER BY 1, 2"""  # noqa: E501
            ),
            "year": looked.ask("SELECT * FROM year_count ORDER BY 1"),
            "found": looked.ask(
                "SELECT paper_id FROM paper_fts WHERE paper_fts MATCH 'title' ORDER BY 1"
            ),
        }

    assert everything(corpus.into) == everything(at_once)


@pytest.mark.promise("P16")
def test_a_reader_keeps_the_segments_of_the_manifest_that_it_opened(corpus: Corpus) -> None:
    corpus.write("attention.md", ATTENTION)
    corpus.build()
    before = corpus.segment_files()
    corpus.write("attention.md", ATTENTION.replace("recurrence", "attention"))
    corpus.write("other.md", "# Another paper\n")
    corpus.build()
    assert before.items() <= corpus.segment_files().items()
    assert corpus.one("SELECT count(*) FROM paper") == 2


def test_a_snapshot_built_elsewhere_is_not_overwritten(corpus: Corpus) -> None:
    corpus.write("attention.md", ATTENTION)
    corpus.build()
    foreign = corpus.into.parent / "foreign"
    foreign.mkdir()
    shutil.copy(corpus.snapshot, foreign / "paper_snapshot.db")
    with pytest.raises(CarrelError, match="did not build"):
        build_papers([corpus.sources], foreign)


def test_sources_that_do_not_exist_are_an_error_and_change_nothing(corpus: Corpus) -> None:
    corpus.write("attention.md", ATTENTION)
    corpus.build()
    with pytest.raises(CarrelError, match="None of the sources exists"):
        build_papers([corpus.sources / "nowhere"], corpus.into)
    assert corpus.one("SELECT count(*) FROM paper") == 1


@pytest.mark.promise("P9")
def test_paper_infos_bring_summaries_sources_translations_and_tags(corpus: Corpus) -> None:
    corpus.write("papers/deep.md", "# Deep\n\n## Method\n\nThe body.\n")
    corpus.write("papers/deep.de.md", "# Tief\n\nDer Text.\n")
    paper = {
        **{
            "paper_title": "Deep",
            "paper_authors": ["Jane Q. Public"],
            "publication_date": "March 2021",
            "publication_venue": "ICRA",
        },
        **{
            "keywords": ["robotics"],
            "abstract": "Short.",
            "summary": "## Summary\n\nWhat it says.",
            "output_language": "en",
        },
        **{
            "source_path": "papers/deep.md",
            "source_hash": "abc",
            "prompt_template": "deep_read",
            "provider": "p",
            "model": "m-1",
        },
        **{
            "ai_generated_tags": ["survey"],
            "extracted_at": "2026-01-01T00:00:00Z",
            "paper_institutions": ["MIT"],
        },
    }
    corpus.write("paper_infos.json", orjson.dumps({"template_tag": "Deep Read", "papers": [paper]}))
    report = build_papers(
        [corpus.sources / "paper_infos.json"], corpus.into, BuildOptions(workers=1)
    )
    assert report.lines == ()
    [(paper_id, preferred, month, model)] = corpus.ask(
        "SELECT paper_id, preferred_summary_template, month, model FROM paper"
    )
    assert (preferred, month, model) == ("deep_read", "03", "m-1")
    assert corpus.ask("SELECT template_tag FROM paper_summary ORDER BY 1") == [
        ("deep_read",),
        ("simple",),
    ]
    assert corpus.ask("SELECT value FROM tag") == [("survey",)]
    assert corpus.ask("SELECT lang FROM paper_translation") == [("de",)]
    assert (
        corpus.static_json(f"summary/{paper_id}.json")["summary"] == "## Summary\n\nWhat it says."
    )


@pytest.mark.promise("Q3")
@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("bad.md", b"# T\xff\xfe\n", "not_utf8"),
        ("bad.jsonl", b'{"title": "ok"}\n{nope\n', "json_not_valid"),
        ("bad.jsonl", b"[1, 2]\n", "json_not_valid"),
        ("bad.jsonl.gz", b"not gzip at all", "not_unpacked"),
        ("bad.jsonl.xz", b"not xz at all", "not_unpacked"),
        ("bad.md", b"---\ntitle: [unclosed\n---\n# Heading\n", "front_matter_not_valid"),
        ("bad.md", b"---\ntitle: T\ndoi: 10.1000/with space\n---\n", "doi_not_valid"),
        ("bad.jsonl", b'{"abstract": "no title"}\n', "no_title"),
        ("huge.md", b"x" * 1_000_001, "too_large"),
        ("paper_infos.json", b'{"papers": [{"paper_title": ', "json_not_valid"),
    ],
)
def test_bad_input_is_a_line_of_the_report_and_the_rest_goes_on(
    corpus: Corpus, codes: Codes, name: str, content: bytes, code: str
) -> None:
    corpus.write("good.md", ATTENTION)
    corpus.write(name, content)
    report = corpus.build()
    assert code in codes(report)
    assert "Attention Is All You Need" in [
        title for (title,) in corpus.ask("SELECT title FROM paper")
    ]


@pytest.mark.promise("Q3")
def test_two_strangers_that_claim_one_doi_are_both_kept_and_reported(
    corpus: Corpus, codes: Codes
) -> None:
    corpus.write(
        "a.md", "---\ntitle: Whales of the North\nauthors: [Ann Lee]\ndoi: 10.1000/x\n---\ntext a"
    )
    corpus.write(
        "b.md", "---\ntitle: Bread and yeast\nauthors: [Bob Ray]\ndoi: 10.1000/x\n---\ntext b"
    )
    report = corpus.build()
    assert codes(report) == ["id_claimed_twice"]
    assert corpus.ask("SELECT title, paper_key_type FROM paper ORDER BY 1") == [
        ("Bread and yeast", "meta"),
        ("Whales of the North", "doi"),
    ]


@pytest.mark.promise("Q1")
def test_the_demonstration_corpus_builds_without_a_word_of_complaint(tmp_path: Path) -> None:
    report = build_demo(tmp_path)
    assert report.lines == ()
    assert report.papers >= 8
    assert not build_demo(tmp_path).is_changed
