"""Samples of real dumps, repeated under other identifiers until they are as long as asked for.

    python -m benchmarks.loading.repeated SERVICE SAMPLE_FOLDER RECORDS TARGET_FOLDER

Texts, people and reference lists are those of the sample; only what a record is known by changes,
so that none is joined with another.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from carrel.rooms.papers.loading.models import DumpService, RawRecords
from carrel.services.dumps.finding import find_dump
from carrel.services.dumps.streams import read_file

_FILE_RECORDS = 25_000
_PMID = re.compile(rb'(<PMID[^>]*>|IdType="pubmed">)\d+(?=<)')
_PUBMED_DOI = re.compile(rb'(IdType="doi"[^>]*>)[^<]+(?=<)')


def records_of(service: DumpService, sample: Path) -> list[bytes]:
    return [
        record
        for file in find_dump(service, sample).files
        for chunk in read_file(service, file, 0)
        if isinstance(chunk, RawRecords)
        for record in chunk.records
        if record.strip() and not record.startswith(b"<DeleteCitation")
    ]


def _rename_openalex(record: bytes, number: int) -> bytes:
    raw = orjson.loads(record)
    name = f"https://openalex.org/W{5_000_000_000 + number}"
    doi = f"https://doi.org/10.5555/again.{number}" if raw.get("doi") else None
    raw |= {"id": name, "doi": doi, "ids": {"openalex": name, "doi": doi}}
    raw["title"] = raw["display_name"] = f"{raw.get('title') or ''} {number}"
    return orjson.dumps(raw)


def _rename_arxiv(record: bytes, number: int) -> bytes:
    raw = orjson.loads(record)
    raw["id"] = (
        f"{10 + number // 100_000 % 90:02d}{1 + number // 1_200_000:02d}.{number % 100_000:05d}"
    )
    raw["title"] = f"{raw['title']} {number}"
    return orjson.dumps(raw)


def _rename_crossref(record: bytes, number: int) -> bytes:
    raw = orjson.loads(record)
    raw["DOI"] = f"10.5555/again.{number}"
    raw["title"] = [f"{title} {number}" for title in raw.get("title") or []]
    return orjson.dumps(raw)


def _rename_pubmed(record: bytes, number: int) -> bytes:
    name = b"%d" % (50_000_000 + number)
    record = _PMID.sub(rb"\g<1>" + name, record, count=1)
    head, joint, tail = record.partition(b"<ArticleIdList>")
    own, end, rest = tail.partition(b"</ArticleIdList>")
    own = _PMID.sub(rb"\g<1>" + name, _PUBMED_DOI.sub(rb"\g<1>10.5555/again." + name, own))
    head = re.sub(rb"<ELocationID[^>]*>[^<]*</ELocationID>", b"", head)
    head = head.replace(b"</ArticleTitle>", b" %d.</ArticleTitle>" % number, 1)
    return head + joint + own + end + rest


_RENAME: dict[DumpService, Callable[[bytes, int], bytes]] = {
    "openalex": _rename_openalex,
    "arxiv": _rename_arxiv,
    "crossref": _rename_crossref,
    "pubmed": _rename_pubmed,
}


def write_repeated(service: DumpService, sample: Path, count: int, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    found = itertools.islice(itertools.cycle(records_of(service, sample)), count)
    renamed: Iterator[bytes] = (_RENAME[service](each, at) for at, each in enumerate(found))
    for number in itertools.count():
        block = list(itertools.islice(renamed, _FILE_RECORDS))
        if not block:
            return
        match service:
            case "pubmed":
                name = f"pubmed26n{number:04d}.xml.gz"
                content = b"<PubmedArticleSet>" + b"\n".join(block) + b"</PubmedArticleSet>"
            case "crossref":
                name, content = f"{number}.json.gz", b'{"items":[' + b",".join(block) + b"]}"
            case _:
                name, content = f"part_{number:04d}.jsonl.gz", b"\n".join(block) + b"\n"
        (target / name).write_bytes(gzip.compress(content, 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("service", choices=tuple(_RENAME))
    parser.add_argument("sample", type=Path)
    parser.add_argument("records", type=int)
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    write_repeated(options.service, options.sample, options.records, options.target)
