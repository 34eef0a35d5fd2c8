"""Labelled records for linkage: the same works from different sources, and PDFs with their .bib."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.linkage.bibliography_noise import write_entry
from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.works.work import Work

# Sources of the set that are files of their own, not entries of a list.
_OWN_FILES = frozenset({"elife-md", "elife-jats"})
# What a reader of PDFs leaves out or gets wrong, as the facts sheet measured (section 3, held-out
# rows of the layout draft): authors unknown or wrong, year unknown, title wrong.
_AUTHORS_UNKNOWN = 0.08
_AUTHORS_CUT = 0.10
_YEAR_UNKNOWN = 0.08
_TITLE_WRONG = 0.02


@dataclass(frozen=True, slots=True)
class LabelledWork:
    """A record and the name of the work that it truly is of."""

    work: Work
    truth: str


def is_for_tuning(truth: str) -> bool:
    """Whether a work belongs to the half on which weights may be fitted."""
    return hashlib.sha256(f"linkage {truth}".encode()).digest()[0] < 128


def read_source_set(data: Path) -> list[dict[str, Any]]:
    """The records of `make_linkage_set.py` that have a DOI, each once a source."""
    tool = data.parent / "tools" / "make_linkage_set.py"
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records.json"
        subprocess.run(
            [sys.executable, str(tool), str(data), str(records), str(Path(folder) / "refs.json")],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        found = json.loads(records.read_bytes())
    once: dict[tuple[str, str], dict[str, Any]] = {}
    for record in found:
        if record["doi"]:
            once.setdefault((record["src"], record["doi"]), record)
    return list(once.values())


def label_sources(
    records: Sequence[dict[str, Any]], hidden_share: float, seed: int
) -> list[LabelledWork]:
    """The records as works, with the identifiers of a share of them hidden."""
    rng = random.Random(seed)
    found = []
    for at, record in enumerate(records):
        is_hidden = rng.random() < hidden_share
        own_file = record["src"] in _OWN_FILES
        work = Work(
            title=record["title"],
            people=tuple(name for name in record["authors"] if name),
            year=record["year"],
            doi=None if is_hidden else record["doi"],
            arxiv_id=None if is_hidden else record["arxiv"],
            venue=record["venue"],
            kind=record["type"],
            source=None if own_file else record["src"],
            file=f"{record['src']}/{at}" if own_file else None,
            order=(at,),
        )
        found.append(LabelledWork(work, record["doi"]))
    return found


def read_gold_rows(data: Path) -> list[dict[str, Any]]:
    """The rows of the gold set of PDFs that have a title."""
    path = data / "pdf-gold" / "gold.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [row for row in rows if row["title"]]


def label_pdfs(
    rows: Sequence[dict[str, Any]],
    seed: int,
    read: dict[str, Work] | None = None,
) -> list[LabelledWork]:
    """Each PDF as its reader sees it and, for nine of ten, an entry of a noisy .bib.

    `read` are works by SHA-256 that a reader gave; without them the gold values are damaged.
    """
    rng = random.Random(seed)
    found: list[LabelledWork] = []
    entries: list[str] = []
    truths: list[str] = []
    for at, row in enumerate(rows):
        truth = f"pdf {row['sha256']}"
        if read is None:
            work = _damage(row, rng)
        elif row["sha256"] in read:
            work = read[row["sha256"]]
        else:
            continue
        found.append(LabelledWork(replace(work, order=(0, at), file=f"{at}.pdf"), truth))
        if rng.random() < 0.9:
            entries.append(write_entry(row, f"key{at}", rng))
            truths.append(truth)
    items = read_bibtex("\n\n".join(entries).encode(), TitleCase.AS_WRITTEN).items
    by_key = {item.item["id"]: item.item for item in items}
    keys = [entry[entry.index("{") + 1 : entry.index(",")] for entry in entries]
    for at, (key, truth) in enumerate(zip(keys, truths, strict=True)):
        found.append(LabelledWork(replace(_work_of_item(by_key[key]), order=(1, at)), truth))
    return found


def _work_of_item(item: Any) -> Work:
    issued = (item.get("issued") or {}).get("date-parts") or [[None]]
    people = tuple(
        " ".join(
            str(name[part])
            for part in ("given", "dropping-particle", "non-dropping-particle", "family", "literal")
            if name.get(part)
        )
        for name in item.get("author", ())
    )
    return Work(
        title=str(item.get("title", "")),
        people=people,
        year=int(issued[0][0]) if issued[0] and issued[0][0] else None,
        venue=item.get("container-title"),
        volume=item.get("volume"),
        kind=item.get("type"),
        source="refs.bib",
    )


def _damage(row: dict[str, Any], rng: random.Random) -> Work:
    """The fields of a gold row with the faults of a reader."""
    authors = tuple(row["authors"] or ())
    if rng.random() < _AUTHORS_UNKNOWN:
        authors = ()
    elif len(authors) > 1 and rng.random() < _AUTHORS_CUT:
        authors = authors[: len(authors) // 2 + 1]
    title = row["title"]
    if rng.random() < _TITLE_WRONG:
        title = title[: len(title) // 2]
    year = row["year"] if rng.random() >= _YEAR_UNKNOWN else None
    return Work(title=title, people=authors, year=year)
