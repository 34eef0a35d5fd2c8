"""What is published: a pointer that is swapped, and the catalogue that it names.

The pointer is small and never the same twice, since stores tell its states apart by their bytes.
The catalogue holds the manifest of the corpus, the pack of every segment, and the chain of changes
that the workshop (what builds go on from) is made of.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus.manifest import Manifest, parse_manifest
from carrel.stores.objects.store import (
    MissingObjectError,
    ObjectStore,
    ObjectStoreError,
    RegisterValue,
    read_whole,
)

POINTER = "published"
CATALOGUES = "catalogues"
PACKS = "packs"
CHANGES = "changes"
FILES = "files"
FORMAT = 1
# About 100 bytes for each of 40 segments and 256 changes; deleted rows are the rest.
_MOST_CATALOGUE_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object that is named for its content."""

    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class WorkshopChain:
    """The state of builds as a first object with all of it and the changes since.

    `state_sha256` is the hash of the state's file once all are applied.
    """

    changes: tuple[StoredObject, ...]
    state_sha256: str
    state_bytes: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """One generation of a published corpus; `token` is never the same twice."""

    generation: int
    token: str
    published_at: str
    manifest: Manifest
    packs: Mapping[str, StoredObject]
    workshop: WorkshopChain | None

    def object_keys(self) -> Iterator[str]:
        """Every object that a reader of this generation fetches."""
        for pack in self.packs.values():
            yield f"{PACKS}/{pack.sha256}"
        for change in self.workshop.changes if self.workshop is not None else ():
            yield f"{CHANGES}/{change.sha256}"

    @property
    def key(self) -> str:
        return f"{CATALOGUES}/{self.generation:012}-{self.token}.json"


@dataclass(frozen=True, slots=True)
class Head:
    """The published generation as it was read, to be replaced by a swap."""

    register: RegisterValue
    generation: int
    token: str
    catalogue_key: str
    catalogue_sha256: str


def new_token() -> str:
    return secrets.token_hex(16)


def read_head(store: ObjectStore) -> Head | None:
    """The pointer; None where nothing has been published yet. Raises ObjectStoreError."""
    register = store.read_register(POINTER)
    if register is None:
        return None
    try:
        facts: dict[str, Any] = orjson.loads(register.content)
        _check_format(facts)
        return Head(
            register,
            int(facts["generation"]),
            str(facts["token"]),
            str(facts["catalogue"]),
            str(facts["catalogue_sha256"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise ObjectStoreError(store.url, f"the register {POINTER} is damaged") from error


def read_catalogue(store: ObjectStore, head: Head) -> Catalogue:
    """The catalogue that the pointer names. Raises ObjectStoreError where it is not as written."""
    content = read_whole(store, head.catalogue_key, _MOST_CATALOGUE_BYTES)
    if hashlib.sha256(content).hexdigest() != head.catalogue_sha256:
        raise damaged_object(store, head.catalogue_key)
    return parse_catalogue(store, head.catalogue_key, content)


def parse_catalogue(store: ObjectStore, key: str, content: bytes) -> Catalogue:
    """A catalogue from its bytes."""
    try:
        facts: dict[str, Any] = orjson.loads(content)
        _check_format(facts)
        manifest = parse_manifest(orjson.dumps(facts["manifest"]))
        packs = {name: StoredObject(*pack) for name, pack in facts["packs"].items()}
        if any(entry.name not in packs for entry in manifest.segments):
            raise ValueError("a segment has no pack")
        workshop = facts["workshop"]
        return Catalogue(
            int(facts["generation"]),
            str(facts["token"]),
            str(facts["published_at"]),
            manifest,
            packs,
            None
            if workshop is None
            else WorkshopChain(
                tuple(StoredObject(*change) for change in workshop["changes"]),
                str(workshop["state_sha256"]),
                int(workshop["state_bytes"]),
            ),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise damaged_object(store, key) from error


def publish_catalogue(store: ObjectStore, catalogue: Catalogue, expected: Head | None) -> Head:
    """Write the catalogue, then swap the pointer to it. Raises LostSwapError."""
    workshop = catalogue.workshop
    content = orjson.dumps(
        {
            "format": FORMAT,
            "generation": catalogue.generation,
            "token": catalogue.token,
            "published_at": catalogue.published_at,
            "manifest": asdict(catalogue.manifest),
            "packs": {
                name: (pack.sha256, pack.size_bytes) for name, pack in catalogue.packs.items()
            },
            "workshop": None
            if workshop is None
            else {
                "changes": [(each.sha256, each.size_bytes) for each in workshop.changes],
                "state_sha256": workshop.state_sha256,
                "state_bytes": workshop.state_bytes,
            },
        }
    )
    store.write(catalogue.key, content)
    sha256 = hashlib.sha256(content).hexdigest()
    pointer = orjson.dumps(
        {
            "format": FORMAT,
            "generation": catalogue.generation,
            "token": catalogue.token,
            "catalogue": catalogue.key,
            "catalogue_sha256": sha256,
        }
    )
    register = store.swap_register(
        POINTER, pointer, None if expected is None else expected.register
    )
    return Head(register, catalogue.generation, catalogue.token, catalogue.key, sha256)


def next_catalogue(before: Catalogue | None, manifest: Manifest, published_at: str) -> Catalogue:
    """The generation after `before`, with its manifest and nothing else yet."""
    generation = 1 if before is None else before.generation + 1
    first = Catalogue(generation, new_token(), published_at, manifest, {}, None)
    return replace(first, workshop=None if before is None else before.workshop)


def damaged_object(store: ObjectStore, key: str) -> ObjectStoreError:
    return ObjectStoreError(
        store.url,
        f"the object {key} is damaged: it is not what was published",
        "What was fetched before goes on. The operator publishes the corpus again with carrel "
        "papers publish --replace from a folder that has it whole.",
    )


def is_missing(error: Exception) -> bool:
    """Whether a newer generation may have made the object superfluous."""
    return isinstance(error, MissingObjectError)


def _check_format(facts: Mapping[str, Any]) -> None:
    if facts["format"] > FORMAT:
        raise SnapshotUnavailableError(
            "it was published by a newer version of Carrel",
            next_step="Bring this server to the version of the one that publishes.",
        )
