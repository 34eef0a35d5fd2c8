"""References, figures and tables of Markdown papers and of records as data."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.services.paper_sources.json_records import JsonLinesReader
from carrel.services.paper_sources.markdown import MarkdownReader
from carrel.services.paper_sources.markdown_lists import read_text_figures, read_text_references
from carrel.services.paper_sources.stated_references import read_stated_references
from tests.services.test_paper_sources import PAPERS, Shelf, read_all

TEXT = """# A title

![Figure 1: All cells.](images/{image})

> **Figure 2.** Visibility. (**A**) Clear.

Table 1: Counts of *things*.

| a | b |
|---|---|
| 1 | 2 |

```
| no | table |
|---|---|
```

<!-- page 7 -->

![](plot.png)

*Figure 4.* A plot below.

## References

{entries}

## Appendix

1. Not a reference of 1999.
"""
ENTRIES = (
    "Stone L, Thompson P (1992). Human speed perception is contrast dependent. *Vision Res* "
    "32:1535-1549. [doi](https://doi.org/10.1016/0042-6989(92)90209-2)",
    "Thompson P (1982). Perceived rate of movement depends on contrast. *Vision Res* 22:377-380.",
)
IMAGE = "0" * 64 + ".png"


@pytest.mark.parametrize(
    "entries",
    [
        "\n".join(f"{number}. {text}" for number, text in enumerate(ENTRIES, 1)),
        "\n".join(f"- {text}" for text in ENTRIES),
        "\n\n".join(f"[{number}] {text}" for number, text in enumerate(ENTRIES, 1)),
        "\n\n".join(ENTRIES),
    ],
)
def test_a_list_in_the_text_is_read_in_every_form(entries: str) -> None:
    first, second = read_text_references(TEXT.format(image=IMAGE, entries=entries))
    assert first.title == "Human speed perception is contrast dependent"
    assert first.authors == ("Stone L", "Thompson P")
    assert (first.year, first.container, first.volume) == (1992, "Vision Res", "32")
    assert (second.pages, second.label) == ("377-380", "2" if entries[0] in "1[" else None)


def test_a_text_without_such_a_list_has_none() -> None:
    assert read_text_references("# A\n\n## Results\n\n1. First of 1999\n") == ()
    assert read_text_references("# A\n\n## References\n\nsee the web site\n") == ()


def test_pictures_tables_and_captions_are_figures() -> None:
    figures = read_text_figures(TEXT.format(image=IMAGE, entries=""))
    assert [(figure.label, figure.kind) for figure in figures] == [
        ("Figure 1", "figure"),
        ("Figure 2", "figure"),
        ("Table 1", "table"),
        ("Figure 4", "figure"),
    ]
    first, second, table, last = figures
    assert (first.caption, first.image) == ("All cells.", f"images/{IMAGE}")
    assert second.caption == "Visibility. (A) Clear."
    assert (table.caption, table.markdown) == (
        "Counts of things.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    )
    assert (last.caption, last.page, last.image) == ("A plot below.", 7, None)


def test_the_reader_keeps_both_and_front_matter_states_references(tmp_path: Path) -> None:
    path = tmp_path / "paper.md"
    path.write_text(TEXT.format(image=IMAGE, entries=f"1. {ENTRIES[1]}"), encoding="utf-8")
    shelf = Shelf()
    (record,) = read_all(MarkdownReader(), path, shelf).records
    assert record.references_sha256
    assert record.figures_sha256
    assert [work.year for work in shelf.references] == [1982]
    stated = (
        "---\ntitle: T\nreferences:\n- id: x\n  title: A stated work\n  DOI: 10.1000/Y\n"
        "  author:\n  - family: Doe\n    given: Jane\n"
        "  issued: {date-parts: [[2001]]}\n---\nText.\n"
    )
    path.write_text(stated, encoding="utf-8")
    shelf = Shelf()
    read_all(MarkdownReader(), path, shelf)
    (work,) = shelf.references
    assert (work.title, work.doi, work.authors, work.year) == (
        "A stated work",
        "10.1000/y",
        ("Doe, Jane",),
        2001,
    )


def test_lists_of_services_are_kept(tmp_path: Path) -> None:
    crossref = {
        "title": "One",
        "reference": [
            {
                "key": "r1",
                "DOI": "10.1000/A",
                "article-title": "First",
                "author": "Doe",
                "year": "1999",
            },
            {"key": "r2", "unstructured": ENTRIES[1].replace("*", "")},
            {"key": "r3"},
        ],
    }
    openalex = {"title": "Two", "referenced_works": ["https://openalex.org/W1"]}
    scholar = {
        "title": "Three",
        "references": [
            {
                "title": "Cited",
                "year": 2001,
                "externalIds": {"DOI": "10.1000/b"},
                "authors": [{"name": "J Doe"}],
            }
        ],
    }
    path = tmp_path / "dump.jsonl"
    path.write_text("\n".join(map(json.dumps, (crossref, openalex, scholar, {"title": "Four"}))))
    shelf = Shelf()
    records = read_all(JsonLinesReader(), path, shelf).records
    assert [bool(record.references_sha256) for record in records] == [True, True, True, False]
    first, second, third, fourth = shelf.references
    assert (first.title, first.doi, first.year, first.authors) == (
        "First",
        "10.1000/a",
        1999,
        ("Doe",),
    )
    assert (second.title, second.year) == ("Perceived rate of movement depends on contrast", 1982)
    assert third.url == "https://openalex.org/W1"
    assert (fourth.doi, fourth.authors) == ("10.1000/b", ("J Doe",))


def test_every_reference_of_real_markdown_articles_is_found(tmp_path: Path) -> None:
    archive = PAPERS / "elife_fulltext_md.tar.xz"
    if not archive.exists():
        pytest.skip(f"{archive.name} is not here")
    with tarfile.open(archive) as packed:
        members = [member for member in packed.getmembers() if member.name.endswith(".md")][:12]
        packed.extractall(tmp_path, members, filter="data")
    for path in sorted(tmp_path.rglob("*.md")):
        text = path.read_text("utf-8")
        listed = (
            text.partition("\n## References\n")[2].count("\n") if "\n## References\n" in text else 0
        )
        works = read_text_references(text)
        numbered = sum(
            line[:1].isdigit() for line in text.partition("\n## References\n")[2].split("\n")
        )
        assert len(works) == numbered <= listed + 1
        if works:
            known = sum(bool(work.title and work.authors and work.year) for work in works)
            assert known >= 0.9 * len(works)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["DOI", "author", "title", "issued", "date-parts", "externalIds", "citedPaper"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=120, deadline=None)
@given(JSON)
def test_anything_in_a_stated_list_is_read_or_left_out(value: object) -> None:
    read_stated_references({"references": value})
    read_stated_references({"reference": [value]})


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="#|-![]()*_.:0123 \nFigureTabc>—", max_size=300))
def test_any_text_has_figures_or_none(text: str) -> None:
    for figure in read_text_figures(text):
        assert figure.label
    read_text_references("# R\n\n## References\n\n" + text)
