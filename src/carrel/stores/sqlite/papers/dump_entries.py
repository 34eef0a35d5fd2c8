"""Records of dumps made ready for a build state, in whichever process read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from carrel.rooms.papers.loading.models import (
    NewRecord,
    RawRecords,
    ReadRecords,
    reader_name,
    source_name,
)
from carrel.rooms.papers.loading.ports import PackedRecords
from carrel.stores.corpus.citation_keys import references_name
from carrel.stores.sqlite.papers.build_tables import (
    block_hashes,
    key_hash,
    key_hashes,
    pack_record,
    record_digest,
)


class PackedEntry(NamedTuple):
    """A record as the tables take it; without a payload the dump withdraws it."""

    number: int
    name: int
    version: str
    digest: bytes = b""
    payload: bytes = b""
    keys: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()


def pack_records(
    service: str, read: Callable[[RawRecords], ReadRecords], raw: RawRecords
) -> PackedRecords:
    """Read records and make them ready for the state; runs in any process."""
    found = read(raw)
    source, reader = source_name(service), reader_name(service)
    entries = []
    references = []
    for each in found.entries:
        name = key_hash(f"{source} {each.name}")
        if isinstance(each, NewRecord):
            entries.append(_pack(each, name, source, reader))
            if each.references is not None and each.record.references_sha256 is not None:
                asset = references_name(each.record.references_sha256)
                references.append((asset, each.references))
        else:
            entries.append(PackedEntry(each.number, name, each.version))
    return PackedRecords(
        raw.file,
        raw.first,
        len(raw.records),
        entries,
        references,
        found.bad,
        dict(found.left_out),
        found.newest,
        raw.size_bytes,
    )


def _pack(each: NewRecord, name: int, source: str, reader: str) -> PackedEntry:
    record = each.record
    return PackedEntry(
        each.number,
        name,
        each.version,
        record_digest(record),
        pack_record(record),
        tuple(key_hashes(record, source, reader)),
        tuple(block_hashes(record, source, reader)),
    )
