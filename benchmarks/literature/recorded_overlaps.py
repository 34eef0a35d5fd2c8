"""Works that several recorded services have, as the services sent them."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from carrel.libraries.literature import (
    arxiv,
    crossref,
    datacite,
    dblp,
    doaj,
    europepmc,
    openalex,
    pubmed,
    semantic_scholar,
    unpaywall,
)
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import ServiceRecord, WorkIds


def _is_openalex(found: dict[str, Any]) -> bool:
    return "authorships" in found and "id" in found


def _is_crossref(found: dict[str, Any]) -> bool:
    return "DOI" in found and isinstance(found.get("title"), list) and "type" in found


def _is_semantic_scholar(found: dict[str, Any]) -> bool:
    return "paperId" in found and bool(found.get("title")) and bool(found.get("externalIds"))


def _is_europepmc(found: dict[str, Any]) -> bool:
    return "source" in found and "authorString" in found and "title" in found


_READERS: dict[str, tuple[Callable[[dict[str, Any]], bool], Callable[[Any], ServiceRecord]]] = {
    "openalex": (_is_openalex, openalex.read_work),
    "crossref": (_is_crossref, crossref.read_work),
    "semanticscholar": (_is_semantic_scholar, semantic_scholar.read_work),
    "europepmc": (_is_europepmc, europepmc.read_work),
    "datacite": (lambda found: "titles" in found and "creators" in found, datacite.read_work),
    "unpaywall": (lambda found: "oa_locations" in found and "title" in found, unpaywall.read_work),
    "dblp": (lambda found: "info" in found and "@id" in found, dblp.read_work),
    "doaj": (lambda found: "bibjson" in found, doaj.read_work),
}

_XML_READERS: tuple[tuple[str, str, Callable[[Any], ServiceRecord]], ...] = (
    ("pubmed", "PubmedArticle", pubmed.read_work),
    ("arxiv", "{http://www.w3.org/2005/Atom}entry", arxiv.read_work),
)


def read_overlaps(data: Path) -> list[tuple[str, ServiceRecord]]:
    """Records of works that two or more services have by DOI, PubMed or arXiv identifier.

    The dumps count as answers of their services. Works are named by their least identifier. What
    carries a preprint's and an article's identifier at once belongs to its DOI's work.
    """
    records: dict[tuple[str, str, str], ServiceRecord] = {}
    for record in _read_recordings(data / "services"):
        records.setdefault((record.service, record.service_id, record.work.title), record)
    groups: dict[str, list[ServiceRecord]] = defaultdict(list)
    by_key: dict[str, str] = {}
    for record in sorted(records.values(), key=lambda each: (not each.work.ids.doi, repr(each))):
        keys = _label_keys(record)
        known = next((by_key[key] for key in keys if key in by_key), keys[0] if keys else None)
        if known is None:
            continue
        for key in keys:
            by_key.setdefault(key, known)
        groups[known].append(record)
    return [
        (name, record)
        for name, found in sorted(groups.items())
        if len({record.service for record in found}) > 1
        for record in found
    ]


def _label_keys(record: ServiceRecord) -> list[str]:
    ids = record.work.ids
    arxiv_doi = f"10.48550/arxiv.{ids.arxiv}" if ids.arxiv else None
    doi = arxiv_doi if record.service == "arxiv" else ids.doi or arxiv_doi
    return [f"{kind}:{value}" for kind, value in (("doi", doi), ("pmid", ids.pmid)) if value]


def hide_identifiers(record: ServiceRecord) -> ServiceRecord:
    """The record without what names it elsewhere."""
    return replace(record, work=replace(record.work, ids=WorkIds(), versions=()))


def _read_recordings(services: Path) -> Iterator[ServiceRecord]:
    for folder, (is_work, read) in _READERS.items():
        for body in _read_bodies(services / folder):
            for found in _walk(_read_json(body)):
                if is_work(found):
                    yield from _try(read, found)
    for folder, tag, read_node in _XML_READERS:
        for body in _read_bodies(services / folder):
            for node in _read_nodes(body, tag):
                yield from _try(read_node, node)
    yield from _read_dumps(services / "dumps")


def _read_dumps(dumps: Path) -> Iterator[ServiceRecord]:
    for line in _read_lines(sorted((dumps / "openalex" / "works").glob("*/*.gz"))):
        yield from _try(openalex.read_work, json.loads(line))
    for line in _read_lines(sorted((dumps / "unpaywall").glob("*.gz"))):
        yield from _try(unpaywall.read_work, json.loads(line))
    tree = "".join(_read_lines([dumps / "pubmed" / "pubmed25n9001.xml.gz"]))
    for node in _read_nodes(tree, "PubmedArticle"):
        yield from _try(pubmed.read_work, node)
    for name in ("0.json.gz", "1.json.gz"):
        items = json.loads("".join(_read_lines([dumps / "crossref-2020" / name])))["items"]
        for item in items:
            yield from _try(crossref.read_work, item)


def _read_lines(paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from lines


def _try(read: Callable[[Any], ServiceRecord], raw: object) -> Iterator[ServiceRecord]:
    try:
        record = read(raw)
    except UnreadableRecordError:
        return
    if record.work.title:
        yield record


def _read_nodes(body: str, tag: str) -> list[ElementTree.Element]:
    try:
        return list(ElementTree.fromstring(body.encode()).iter(tag))
    except ElementTree.ParseError:
        return []


def _read_bodies(folder: Path) -> Iterator[str]:
    """The bodies of the answers with status 200."""
    for path in sorted(folder.glob("*.json")):
        exchange = json.loads(path.read_text("utf-8"))
        if not isinstance(exchange, dict) or exchange.get("status") != 200:
            continue
        body = exchange.get("body")
        if name := exchange.get("body_file"):
            body = "".join(_read_lines([path.with_name(name)]))
        if isinstance(body, str):
            yield body


def _read_json(body: str) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _walk(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _walk(each)
    elif isinstance(value, list):
        for each in value:
            yield from _walk(each)
