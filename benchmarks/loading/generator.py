"""OpenAlex works that nobody wrote, in the layout and the sizes of the snapshot.

    python -m benchmarks.loading.generator 1000000 FOLDER [--first N]

Words are drawn by Zipf's law. Two works of three have an abstract of about 160 words, half have a
reference list of about 25 works of the same set, three of four a DOI; a line has about 7 kB, as in
the snapshot (1.6 TB for 250 million works). The same numbers give the same works.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson

from benchmarks.synthetic_corpus import texts, vocabulary

_FILE_WORKS = 50_000
_TYPES = ("article", "article", "article", "article", "preprint", "book-chapter", "review")
_LANGUAGES = ("en",) * 17 + ("es", "de", "fr")


def works(first: int, count: int, total: int) -> Iterator[dict[str, object]]:
    """`count` works from the number `first` on, of a set of `total`."""
    words = vocabulary()
    random = np.random.default_rng([11, first])
    spoken = texts(count, words, seed=first + 29)
    for number, (title, abstract) in zip(range(first, first + count), spoken, strict=True):
        picks = random.integers(0, 1 << 30, size=40)
        yield _work(number, title, abstract, words, picks.tolist(), total, random)


def _work(
    number: int,
    title: str,
    abstract: str,
    words: list[str],
    picks: list[int],
    total: int,
    random: np.random.Generator,
) -> dict[str, object]:
    name = f"https://openalex.org/W{3_000_000_000 + number}"
    doi = f"https://doi.org/10.5555/synthetic.{number}" if picks[0] % 4 else None
    year = 1980 + picks[1] % 46
    index: dict[str, list[int]] = {}
    if picks[2] % 3:
        for place, word in enumerate(abstract.split()):
            index.setdefault(word, []).append(place)
    cited: list[str] = []
    if picks[3] % 2:
        numbers = random.integers(0, total, size=5 + picks[4] % 41).tolist()
        cited = [f"https://openalex.org/W{3_000_000_000 + at}" for at in numbers]
    people = [_authorship(words, picks[5 + at], at) for at in range(1 + picks[13] % 6)]
    venue = words[500 + picks[14] % 4000].title()
    topics = [_named(words, 100 + picks[15 + at] % 4500, "topics/T") for at in range(3)]
    return {
        "id": name,
        "doi": doi,
        "title": title.capitalize(),
        "display_name": title.capitalize(),
        "publication_year": year,
        "publication_date": f"{year}-{1 + picks[18] % 12:02d}-{1 + picks[19] % 28:02d}",
        "ids": {"openalex": name, "doi": doi, "mag": str(number)},
        "language": _LANGUAGES[picks[20] % len(_LANGUAGES)],
        "type": _TYPES[picks[21] % len(_TYPES)],
        "primary_location": {
            "is_oa": bool(picks[22] % 2),
            "landing_page_url": doi,
            "pdf_url": None,
            "source": {
                "id": f"https://openalex.org/S{picks[14] % 4000}",
                "display_name": f"Journal of {venue}",
                "issn_l": f"{1000 + picks[14] % 4000}-1234",
                "issn": [f"{1000 + picks[14] % 4000}-1234"],
                "host_organization_name": words[300 + picks[14] % 90].title(),
                "type": "journal",
            },
            "license": "cc-by" if picks[22] % 2 else None,
            "version": "publishedVersion",
        },
        "open_access": {"is_oa": bool(picks[22] % 2), "oa_status": "gold", "oa_url": doi},
        "authorships": people,
        "biblio": {
            "volume": str(1 + picks[23] % 90),
            "issue": str(1 + picks[24] % 12),
            "first_page": str(picks[25] % 900),
            "last_page": str(picks[25] % 900 + 12),
        },
        "is_retracted": picks[26] % 5000 == 0,
        "is_paratext": False,
        "primary_topic": topics[0],
        "topics": topics,
        "keywords": [_named(words, 200 + picks[27 + at] % 9000, "keywords/") for at in range(6)],
        "concepts": [_named(words, 200 + picks[33 + at] % 900, "C") for at in range(7)],
        "referenced_works": cited,
        "referenced_works_count": len(cited),
        "related_works": [f"https://openalex.org/W{picks[at] % total}" for at in range(10)],
        "abstract_inverted_index": index or None,
        "cited_by_count": picks[5] % 200,
        "counts_by_year": [{"year": 2020 + at, "cited_by_count": at} for at in range(5)],
        "updated_date": f"2026-04-{1 + number % 28:02d}T03:46:38.306776",
        "created_date": "2025-10-10",
    }


def _authorship(words: list[str], pick: int, place: int) -> dict[str, object]:
    name = f"{words[1000 + pick % 977].title()} {words[3000 + pick % 7919].title()}"
    institution = {
        "id": f"https://openalex.org/I{pick % 3000}",
        "display_name": f"University of {words[4000 + pick % 3000].title()}",
        "country_code": "DE",
        "type": "education",
    }
    return {
        "author_position": "first" if place == 0 else "middle",
        "author": {"id": f"https://openalex.org/A{pick}", "display_name": name, "orcid": None},
        "institutions": [institution],
        "raw_author_name": name,
        "raw_affiliation_strings": [f"{institution['display_name']}, Department, Town, Country"],
    }


def _named(words: list[str], at: int, kind: str) -> dict[str, object]:
    return {
        "id": f"https://openalex.org/{kind}{at}",
        "display_name": f"{words[at].capitalize()} {words[at + 7]}",
        "score": 0.5,
        "subfield": {"id": "https://openalex.org/subfields/1", "display_name": words[40 + at % 60]},
    }


def write_works(folder: Path, total: int, first: int = 0) -> None:
    """Files of 50,000 works each under `works/updated_date=…/`."""
    for at in range(first, total, _FILE_WORKS):
        part = folder / "works" / f"updated_date=2026-{1 + at // _FILE_WORKS % 12:02d}-01"
        part.mkdir(parents=True, exist_ok=True)
        target = part / f"part_{at // _FILE_WORKS:04d}.gz"
        with gzip.open(target, "wb", compresslevel=1) as file:
            lines = (orjson.dumps(each) for each in works(at, min(_FILE_WORKS, total - at), total))
            while block := list(itertools.islice(lines, 500)):
                file.write(b"\n".join(block) + b"\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("works", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    write_works(options.folder, options.works, options.first)
