"""The record of a paper in a segment: everything known of it but its long texts, packed."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import asdict, astuple, dataclass, fields
from functools import cached_property
from typing import Any

import orjson

from carrel.rooms.papers.building.paper_groups import Conflict
from carrel.rooms.papers.building.paper_keys import KeyKind, PaperKey, find_year, meta_fingerprint
from carrel.rooms.papers.building.paper_records import (
    BibtexEntry,
    FieldOrigin,
    FiledSummary,
    Heading,
    KeptImage,
    OtherValue,
    PaperRecord,
    PossibleTwin,
    RelatedWork,
    TextOrigin,
    mark_guesses,
)
from carrel.rooms.papers.building.papers import PublishedPaper, collect_summaries

# Names that every record repeats. Packed with them, a record of an abstract is a quarter smaller.
# Part of the format: a change needs a new number in `schema.FORMAT`.
_DICTIONARY = (
    b'"conflicts":[{"source":"","other_source":"","key":"","message":""}],"images":[{"static_path":"'
    b'images/","extension":"png","sha256":"","translations":[["zh",""]],"inferred":["title",'
    b'"authors","publication_date"],"pdf_sha256":"","source_hash":"","markdown_sha256":"",'
    b'"summaries":[{"template":"simple","markdown":"## Abstract","language":"en","provider":"",'
    b'"model":"","prompt_template":"deep_read","extracted_at":"20"}],"headings":[{"level":1,'
    b'"title":"Introduction"},{"level":1,"title":"Results"},{"level":1,"title":"Discussion"},'
    b'{"level":1,"title":"Materials and methods"},{"level":2,"title":"References"}],"language":"en"'
    b',"bibtex":{"raw":"@article{,\\n  title = {},\\n  author = { and },\\n  journal = {},\\n  '
    b'year = {20},\\n  doi = {10.}\\n}","key":"","kind":"article"},"citation_key":"","arxiv_id":"",'
    b'"tags":[""],"keywords":["","human","mouse"],"abstract":"The of the and in to that with for '
    b'is we are by these results show using here","publication_date":"2020-","venue":"Journal of ",'
    b'"institutions":["University of ","Department of "],"authors":["",""],'
    b'{"paper_id":"","paper_index":1,"keys":[[0,"doi:10."],[3,"meta:"]],"preview":"",'
    b'"templates":["simple"],"preferred":"simple","record":{"title":"'
)
_LEVEL = 6
# What cannot be packed smaller is kept as it is, behind a sign of its own.
_PACKED, _PLAIN = b"z", b"p"


def pack(content: bytes) -> bytes:
    """The content packed, or as it is where packing gains nothing."""
    packed = zlib.compress(content, _LEVEL)
    return _PACKED + packed if len(packed) < len(content) else _PLAIN + content


def unpack(body: bytes) -> bytes:
    """Raises ValueError where the body is damaged."""
    if body[:1] == _PLAIN:
        return body[1:]
    try:
        return zlib.decompress(body[1:])
    except zlib.error as error:
        raise ValueError(f"a packed text is damaged: {error}") from error


def pack_json(content: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, zdict=_DICTIONARY)
    return packer.compress(content) + packer.flush()


def unpack_json(body: bytes) -> bytes:
    """Raises ValueError where the body is damaged."""
    try:
        return zlib.decompressobj(zdict=_DICTIONARY).decompress(body)
    except zlib.error as error:
        raise ValueError(f"a packed record is damaged: {error}") from error


@dataclass(frozen=True)
class StoredPaper:
    """A paper as a segment keeps it; what lists show is ready, the rest is made when asked for."""

    paper_id: str
    paper_index: int
    keys: tuple[PaperKey, ...]
    record: PaperRecord
    preview: str
    templates: tuple[str, ...]
    preferred: str
    conflicts: tuple[Conflict, ...] = ()
    sources: tuple[str, ...] = ()
    twins: tuple[PossibleTwin, ...] = ()

    @property
    def year(self) -> str:
        return find_year(self.record.publication_date)

    @cached_property
    def published_paper(self) -> PublishedPaper:
        """The paper with its summaries, as exports and static files need it."""
        return PublishedPaper(
            self.paper_id,
            self.paper_index,
            self.keys,
            self.record,
            collect_summaries(self.record),
            self.conflicts,
            self.sources,
            self.twins,
        )


def encode_paper(paper: PublishedPaper) -> bytes:
    """The paper as JSON, the same bytes for the same paper."""
    fingerprint = _fingerprint_of(paper.record)
    facts: dict[str, object] = {
        "paper_id": paper.paper_id,
        "paper_index": paper.paper_index,
        "keys": [_key_facts(key, fingerprint) for key in paper.keys],
        "preview": paper.summaries.preview,
        "templates": paper.summaries.templates,
        "preferred": paper.summaries.preferred.template,
        "record": record_facts(paper.record),
    }
    if paper.conflicts:
        facts["conflicts"] = [asdict(conflict) for conflict in paper.conflicts]
    if paper.sources:
        facts["sources"] = paper.sources
    if paper.twins:
        facts["twins"] = [astuple(twin) for twin in paper.twins]
    return orjson.dumps(facts)


def decode_paper(content: bytes) -> StoredPaper:
    """Raises ValueError, KeyError or TypeError where the content is not of `encode_paper`."""
    facts: dict[str, Any] = orjson.loads(content)
    record = read_record(facts["record"])
    return StoredPaper(
        facts["paper_id"],
        facts["paper_index"],
        tuple(_read_key(key, record) for key in facts["keys"]),
        record,
        facts["preview"],
        tuple(facts["templates"]),
        facts["preferred"],
        tuple(Conflict(**conflict) for conflict in facts.get("conflicts", ())),
        tuple(facts.get("sources", ())),
        tuple(PossibleTwin(*twin) for twin in facts.get("twins", ())),
    )


def read_stored(body: bytes) -> StoredPaper:
    """The paper of a `record` column."""
    return decode_paper(unpack_json(body))


def record_facts(record: PaperRecord) -> dict[str, object]:
    """The fields of a record that say something, in their order."""
    facts = {field.name: getattr(record, field.name) for field in fields(record)}
    # Every merged record has some: their names would be longer than what they say.
    for name in ("origins", "other_values"):
        facts[name] = [astuple(each) for each in facts[name]] or None
    return {
        name: value
        for name, value in facts.items()
        if value not in (None, (), "") and _USUAL.get(name) != value
    }


# Values that most records have, which are not written.
_USUAL = {"origin": "list", "confidence": 1.0}


def read_record(facts: dict[str, Any]) -> PaperRecord:
    """The record of such fields; those of earlier versions name the empty ones as well."""
    known = dict(facts)
    known.setdefault("title", "")
    for name in ("authors", "editors", "institutions", "keywords", "tags", "overruled", "files"):
        known[name] = tuple(known.get(name, ()))
    # Records of earlier versions name the fields that are guesses.
    known["origins"] = (
        *mark_guesses(*known.pop("inferred", ())),
        *(FieldOrigin(*origin) for origin in known.get("origins", ())),
    )
    known["other_values"] = tuple(OtherValue(*each) for each in known.get("other_values", ()))
    known["related"] = tuple(RelatedWork(**work) for work in known.get("related", ()))
    known["affiliations"] = tuple(
        (author, institution) for author, institution in known.get("affiliations", ())
    )
    known["translations"] = tuple(
        (language, sha256) for language, sha256 in known.get("translations", ())
    )
    known["headings"] = tuple(Heading(**heading) for heading in known.get("headings", ()))
    known["summaries"] = tuple(FiledSummary(**summary) for summary in known.get("summaries", ()))
    known["images"] = tuple(KeptImage(**image) for image in known.get("images", ()))
    bibtex = known.get("bibtex")
    known["bibtex"] = BibtexEntry(**bibtex) if bibtex else None
    fetched = known.get("text_origin")
    known["text_origin"] = TextOrigin(**fetched) if fetched else None
    return PaperRecord(**known)


def _fingerprint_of(record: PaperRecord) -> tuple[str, str]:
    """The meta key that follows from the record, and its readable form."""
    fingerprint = meta_fingerprint(record)
    return f"meta:{hashlib.sha256(fingerprint.encode()).hexdigest()}", fingerprint


def _key_facts(key: PaperKey, own: tuple[str, str]) -> list[object]:
    """Kind and value; the fingerprint only where it does not follow from the record."""
    if key.fingerprint is None or key.value == own[0]:
        return [int(key.kind), key.value]
    return [int(key.kind), key.value, key.fingerprint]


def _read_key(facts: list[Any], record: PaperRecord) -> PaperKey:
    kind = KeyKind(facts[0])
    if len(facts) > 2:
        return PaperKey(kind, facts[1], facts[2])
    return PaperKey(kind, facts[1], meta_fingerprint(record) if kind is KeyKind.META else None)
