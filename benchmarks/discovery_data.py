"""Reads the discovery folder: marked titles, pipe-separated titles with headings, MEDLINE lines,
MeSH, gold.
"""

import gzip
import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.records import Paper, Term

BESIDE_THE_CHECKOUT = Path(__file__).parents[1].parent / "shared" / "data" / "discovery"


@dataclass(frozen=True)
class Case:
    """One of Swanson's cases as the gold file tells it."""

    id: str
    start_name: str
    end_names: tuple[str, ...]
    bridges: tuple[str, ...]


def find(folder: Path, pattern: str) -> Path | None:
    """A file of the folder, of a folder in it, or of a sister folder."""
    for place in (
        folder,
        *(path for path in sorted(folder.iterdir()) if path.is_dir()),
        *folder.resolve().parent.iterdir(),
    ):
        if place.is_dir() and (found := sorted(place.glob(pattern))):
            return found[0]
    return None


def files_near(folder: Path, pattern: str) -> list[Path]:
    """Files of the folder, or where it has none, of the data beside the checkout: background and
    vocabulary serve any case.
    """
    return sorted(folder.glob(pattern)) or sorted(BESIDE_THE_CHECKOUT.glob(pattern))


def discovery_folder(folder: Path) -> Path:
    """Where the gold file lies."""
    gold = find(folder, "gold.json")
    if gold is None:
        raise SystemExit(
            f"no gold.json in {folder}: give the folder that holds the discovery data, DATA=folder"
        )
    return gold.parent


def cases(folder: Path) -> list[Case]:
    """The gold cases: C is the disorder one starts from, A the thing found."""
    told = json.loads((folder / "gold.json").read_text(encoding="utf-8"))["cases"]
    return [
        Case(
            case["id"],
            case["c"]["name"],
            (case["a"]["name"], *case["a"].get("also", ())),
            tuple(case.get("b", ())),
        )
        for case in told
    ]


def mesh(folder: Path) -> Vocabulary | None:
    """The newest MeSH of the folder, as a vocabulary."""
    paths = files_near(folder, "mesh*_id_label_synonyms_trees.tsv.xz")
    if not paths:
        return None
    with lzma.open(paths[-1], "rt", encoding="utf-8") as lines:
        return Vocabulary(_term(line) for line in lines)


def _term(line: str) -> Term:
    number, label, synonyms, trees = line.rstrip("\n").split("\t")[:4]
    return Term(
        number,
        label,
        tuple(name for name in synonyms.split("|") if name),
        tuple(tree for tree in trees.split("|") if tree),
    )


def marked_titles(path: Path) -> Iterator[tuple[str, Paper]]:
    """Titles marked with the literature they belong to: `12Mig: !Mig Title`."""
    with gzip.open(path, "rt", encoding="latin-1") as lines:
        for line in lines:
            if found := re.match(r"\s*(\d+\w+): !(\w+) (.*)", line):
                yield found[2], Paper(f"{path.stem}:{found[1]}", found[3])


def piped_titles(path: Path) -> Iterator[Paper]:
    """`pmid|year|title[|heading;heading]`."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            pmid, year, title, *headings = line.rstrip("\n").split("|")
            named = tuple(headings[0].split(";")) if headings and headings[0] else ()
            yield Paper(pmid, title, headings=named, year=int(year) if year.isdigit() else None)


def medline(folder: Path, with_headings: bool) -> Iterator[Paper]:
    """The background: MEDLINE of some years, titles with or without headings."""
    for path in files_near(folder, "medline_*.jsonl.xz"):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                told = json.loads(line)
                yield Paper(
                    told["pmid"],
                    told["title"],
                    headings=tuple(told.get("mesh", ())) if with_headings else (),
                    year=told.get("year"),
                )


def elife_metadata(folder: Path) -> Path | None:
    """The eLife articles of the folder or beside it, or where it has none, of the data beside the
    checkout.
    """
    name = "elife_metadata.jsonl.xz"
    return find(folder, name) or (
        find(BESIDE_THE_CHECKOUT, name) if BESIDE_THE_CHECKOUT.is_dir() else None
    )


def elife(path: Path) -> list[Paper]:
    """eLife articles with title, abstract, keywords and year."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        told = [json.loads(line) for line in lines]
    return [
        Paper(
            one["id"],
            one["title"],
            one.get("abstract") or "",
            tuple(one.get("keywords") or ()),
            (),
            one.get("year"),
        )
        for one in told
    ]
