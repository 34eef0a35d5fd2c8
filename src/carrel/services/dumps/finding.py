"""The files of a dump below a folder, in the order in which later ones win."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

import orjson

from carrel.rooms.papers.loading.models import DumpFile, DumpService, FoundDump

_JSON_NAMES = (".json", ".jsonl", ".ndjson", ".jsonlines")
# Other kinds of things of an OpenAlex snapshot, each in a folder of its name.
_NOT_WORKS = frozenset(
    [
        "authors",
        "sources",
        "institutions",
        "publishers",
        "funders",
        "topics",
        "subfields",
        "fields",
        "domains",
        "concepts",
        "keywords",
        "countries",
        "continents",
        "languages",
        "licenses",
        "sdgs",
        "work-types",
        "source-types",
        "awards",
    ]
)
_MERGED_IDS = "merged_ids"
_PARTITION = re.compile(r"updated_date=(\d{4}-\d{2}-\d{2})")
_RELEASE = re.compile(r"\d{4}-\d{2}-\d{2}")
_PUBMED = re.compile(r"pubmed(\d{2})n(\d{4,})", re.IGNORECASE)
# An entry has some 200 bytes, so that 80,000 files can be listed.
_MAX_MANIFEST_BYTES = 16 * 1024 * 1024
_DIGITS = re.compile(r"\d+")


def find_dump(service: DumpService, folder: Path) -> FoundDump:
    """The files of a service's dump below a folder, or the file itself."""
    root = folder if folder.is_dir() else folder.parent
    paths = _walk(folder) if folder.is_dir() else iter([folder])
    is_part, order_of = _SHAPES[service]
    files = [
        DumpFile(path, name.as_posix(), (state := path.stat()).st_size, state.st_mtime_ns, order)
        for path in paths
        for name in [path.relative_to(root)]
        if not path.name.startswith(".") and is_part(name)
        for order in [order_of(name)]
    ]
    files.sort(key=lambda file: (_is_merge_list(file.name), file.order, _natural(file.name)))
    remarks = tuple(_check_manifest(root, files)) if service == "openalex" else ()
    return FoundDump(tuple(files), remarks)


def _walk(root: Path) -> Iterator[Path]:
    """The files below a folder; links to folders are followed, each folder is entered once.

    A link to a folder that the root is in, such as to the whole disk, is passed over.
    """
    real = root.resolve()
    entered = {real, *real.parents}

    def walk(folder: Path) -> Iterator[Path]:
        # Folders before links to them, so that a file has the name of its own place.
        for path in sorted(folder.iterdir(), key=lambda each: (each.is_symlink(), each)):
            if path.is_dir():
                place = path.resolve()
                if place not in entered:
                    entered.add(place)
                    yield from walk(path)
            elif path.is_file():
                yield path

    yield from walk(root)


def _is_json(name: PurePath) -> bool:
    return name.name.lower().removesuffix(".gz").endswith(_JSON_NAMES)


def _is_openalex(name: PurePath) -> bool:
    folders = set(name.parts[:-1])
    if _MERGED_IDS in folders:
        return not folders & _NOT_WORKS and name.name.endswith((".csv", ".csv.gz"))
    if folders & _NOT_WORKS:
        return False
    is_part = name.name.startswith("part_") and name.suffix in {".gz", ""}
    return is_part or _is_json(name)


def _openalex_order(name: PurePath) -> str:
    """The day of a partition, of a release, or of a list of merged ids."""
    if found := _PARTITION.search(name.as_posix()):
        return found[1]
    found = _RELEASE.search(name.as_posix())
    return found[0] if found else ""


def _is_pubmed(name: PurePath) -> bool:
    return name.name.lower().removesuffix(".gz").endswith(".xml")


def _pubmed_order(name: PurePath) -> str:
    """Year and number of a file: the baseline of a year, then its updates."""
    found = _PUBMED.search(name.name)
    return f"{found[1]}n{int(found[2]):06d}" if found else ""


def _no_order(name: PurePath) -> str:
    return ""


_SHAPES: dict[DumpService, tuple[Callable[[PurePath], bool], Callable[[PurePath], str]]] = {
    "openalex": (_is_openalex, _openalex_order),
    "pubmed": (_is_pubmed, _pubmed_order),
    "arxiv": (_is_json, _no_order),
    "crossref": (_is_json, _no_order),
}


def _is_merge_list(name: str) -> bool:
    """Lists of merged ids come last: they withdraw what the partitions had."""
    return _MERGED_IDS in PurePath(name).parts


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sorts `2.json.gz` before `10.json.gz`."""
    return tuple(
        (int(part), "") if part.isdigit() else (0, part)
        for part in re.split(r"(\d+)", name)
        if part
    )


def _read_manifest(path: Path) -> bytes:
    """Raises ValueError for what is no file of the size of a manifest, such as a device."""
    if not path.is_file() or path.stat().st_size > _MAX_MANIFEST_BYTES:
        raise ValueError
    return path.read_bytes()


def _check_manifest(root: Path, files: list[DumpFile]) -> Iterator[str]:
    """What a manifest of works lists and is not here, or has another size."""
    sizes = {_tail(file.name): file.size_bytes for file in files}
    for manifest in sorted(root.rglob("manifest")):
        if set(manifest.relative_to(root).parts[:-1]) & _NOT_WORKS:
            continue
        try:
            entries = orjson.loads(_read_manifest(manifest))["entries"]
            listed = {
                _tail(str(entry["url"])): entry.get("meta", {}).get("content_length")
                for entry in entries
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            yield f"{manifest.relative_to(root)} could not be read and was not compared"
            continue
        missing = sorted(name for name in listed if name not in sizes)
        if missing:
            yield (
                f"{manifest.relative_to(root)} lists {len(missing):,} files that are not here, "
                f"such as {missing[0]}"
            )
        differing = sorted(
            name
            for name, size in listed.items()
            if name in sizes and size not in {None, sizes[name]}
        )
        if differing:
            yield f"{len(differing):,} files have another size than listed, such as {differing[0]}"


def _tail(name: str) -> str:
    """The partition and the name of a file, which addresses and paths have in common."""
    return "/".join(PurePath(name).parts[-2:])
