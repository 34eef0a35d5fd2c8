"""Names of papers and the identifiers made from them, compared with a genuine snapshot."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.plain_text import plain_text, spaced_for_index
from carrel.rooms.papers.building.identity import group_records
from carrel.rooms.papers.building.paper_groups import RecordClaim
from carrel.rooms.papers.building.paper_ids import assign_ids
from carrel.rooms.papers.building.paper_keys import (
    KeyKind,
    PaperKey,
    find_month,
    find_year,
    make_paper_id,
    meta_fingerprint,
    paper_keys,
)
from carrel.rooms.papers.building.paper_records import PaperRecord
from tests.rooms.papers.building.conftest import Corpus

GENUINE = Path(__file__).parents[4] / ".." / "shared" / "data" / "snapshots" / "demo"


@pytest.mark.promise("P9")
def test_identifiers_and_fingerprints_are_those_of_a_genuine_snapshot() -> None:
    if not GENUINE.is_dir():
        pytest.skip(f"the genuine snapshot is not at {GENUINE}")
    with closing(
        sqlite3.connect(
            f"file:{(GENUINE / 'paper_snapshot.db').resolve()}?mode=ro&immutable=1", uri=True
        )
    ) as connection:
        rows = connection.execute(
            "SELECT paper_id, paper_key, title, venue, publication_date FROM paper"
        ).fetchall()
        prints = dict(
            connection.execute(
                "SELECT paper_id, meta_fingerprint FROM paper_key_alias WHERE paper_key_type = "
                "'meta'"
            )
        )
        texts = dict(connection.execute("SELECT paper_id, source FROM paper_fts"))
        hashes = dict(connection.execute("SELECT paper_id, source_md_content_hash FROM paper"))
    assert rows
    for paper_id, key, title, venue, date in rows:
        summary = orjson.loads(
            (GENUINE / "paper-static" / "summary" / f"{paper_id}.json").read_bytes()
        )
        record = PaperRecord(
            title, authors=tuple(summary["paper_authors"]), venue=venue, publication_date=date
        )
        assert make_paper_id(key) == paper_id
        assert meta_fingerprint(record) == prints[paper_id]
        if key.startswith("meta:"):
            assert paper_keys(record)[0].value == key
        if hashes[paper_id]:
            text = (GENUINE / "paper-static" / "md" / f"{hashes[paper_id]}.md").read_text()
            assert spaced_for_index(plain_text(text)) == texts[paper_id]


def test_names_are_ordered_and_a_doi_of_arxiv_names_the_preprint_too() -> None:
    record = PaperRecord("T", doi="10.48550/arxiv.1706.03762", citation_key="v17")
    assert [key.value for key in paper_keys(record)][:3] == [
        "doi:10.48550/arxiv.1706.03762",
        "arxiv:1706.03762",
        "bib:v17",
    ]
    assert [key.value for key in paper_keys(PaperRecord("", arxiv_id="1706.03762v7"))] == [
        "arxiv:1706.03762"
    ]
    assert paper_keys(PaperRecord(" ?! ")) == ()


@pytest.mark.parametrize(
    ("date", "year", "month"),
    [
        ("2017-06", "2017", "06"),
        ("2017/6/12", "2017", "06"),
        ("March 2021", "2021", "03"),
        ("12 Sept. 1999", "1999", "09"),
        ("2016", "2016", "unknown"),
        ("no date", "unknown", "unknown"),
        (None, "unknown", "unknown"),
        ("Maybe in 12017", "unknown", "unknown"),
    ],
)
def test_years_and_months_are_found_in_dates(date: str | None, year: str, month: str) -> None:
    assert (find_year(date), find_month(date)) == (year, month)


def claim(number: int, *keys: str, title: str = "same words") -> RecordClaim:
    kinds = {"doi": KeyKind.DOI, "arxiv": KeyKind.ARXIV, "bib": KeyKind.BIB, "meta": KeyKind.META}
    facts = {"authors": ["ann body"], "title": title, "venue": "", "year": ""}
    fingerprint = orjson.dumps(facts).decode()
    made = [
        PaperKey(kinds[key.partition(":")[0]], key, fingerprint if key.startswith("meta") else None)
        for key in keys
    ]
    return RecordClaim(
        number, f"source {number}", (0, "", number), tuple(sorted(made, key=lambda key: key.kind))
    )


def members(*claims: RecordClaim) -> list[tuple[int, ...]]:
    return sorted(found.record_ids for found in group_records(claims))


def test_a_weak_likeness_never_overrides_two_different_dois() -> None:
    assert members(claim(1, "doi:a", "meta:x"), claim(2, "doi:b", "meta:x")) == [(1,), (2,)]
    assert members(claim(1, "doi:a", "meta:x"), claim(2, "meta:x")) == [(1, 2)]


def test_a_chain_of_names_makes_one_paper_whatever_the_order() -> None:
    chain = (
        claim(1, "doi:a", "meta:x"),
        claim(2, "doi:a", "arxiv:p", "meta:y"),
        claim(3, "arxiv:p", "meta:z"),
        claim(4, "meta:z"),
    )
    assert members(*chain) == members(*reversed(chain)) == [(1, 2, 3, 4)]


def test_the_same_label_for_different_titles_joins_nothing() -> None:
    assert members(
        claim(1, "bib:smith", "meta:x", title="whales"),
        claim(2, "bib:smith", "meta:y", title="bread"),
    ) == [
        (1,),
        (2,),
    ]


NAMES = st.lists(
    st.sampled_from(["doi:a", "doi:b", "arxiv:p", "arxiv:q", "bib:k", "meta:x", "meta:y"]),
    min_size=1,
    max_size=3,
    unique=True,
)


@given(every=st.lists(NAMES, min_size=1, max_size=6), before=st.lists(NAMES, max_size=4))
def test_every_record_is_in_one_paper_and_no_two_papers_share_a_name_or_identifier(
    every: list[list[str]], before: list[list[str]]
) -> None:
    earlier = [
        found
        for found in group_records(claim(at, *names) for at, names in enumerate(before))
        if found.keys
    ]
    known = {
        key.value: paper_id
        for found, paper_id in zip(earlier, assign_ids(earlier, {}), strict=True)
        for key in found.keys
    }
    groups = group_records(claim(at, *names) for at, names in enumerate(every))
    assert sorted(number for found in groups for number in found.record_ids) == list(
        range(len(every))
    )
    names = [key.value for found in groups for key in found.keys]
    assert len(names) == len(set(names))
    assert all(found.keys for found in groups)
    paper_ids = assign_ids(groups, known)
    assert len(set(paper_ids)) == len(groups)


def test_a_file_whose_name_is_no_text_is_reported(corpus: Corpus) -> None:
    corpus.write("good.md", "# Good\n")
    try:
        Path(os.fsdecode(os.fsencode(corpus.sources) + b"/bad\xff.md")).write_text("# Bad\n")
    except OSError:
        pytest.skip("this file system takes only names that are text")
    report = corpus.build()
    assert (report.papers, [line.code for line in report.lines]) == (1, ["not_readable"])
    assert report.to_text().encode()
