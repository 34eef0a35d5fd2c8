"""Rows of the tables `work_key`, `reference_key` and `reference_list` of a segment.

A key is a hash of 62 bits and its kind in the two lowest bits. A reference and a paper are joined
where they have a key in common; a title counts only with first author and year, see `meet`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from carrel.libraries.identifiers import ARXIV_DOI_PREFIX
from carrel.libraries.works.cited_works import CitedWork, decode_cited_works
from carrel.libraries.works.keys import WorkKeys, is_telling_title, make_work_keys, work_keys
from carrel.libraries.works.work import PREPRINT_PREFIXES
from carrel.rooms.papers.building.paper_keys import KeyKind, PaperKey, find_year
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.papers import PublishedPaper
from carrel.rooms.papers.citation_models import LinkKind
from carrel.stores.corpus.records import StoredPaper

# Whose word counts first: the first kind that finds any paper decides.
LINK_KINDS: tuple[LinkKind, ...] = ("doi", "version", "arxiv", "pmid", "openalex", "title")
BY_TITLE = LINK_KINDS.index("title")
# Behind them, where title and first author are the same: one of the two has no year, which counts
# if no other paper has that title and author; it may be the work, but nothing makes it sure; and
# another work, which counts only against the first.
BY_UNDATED_TITLE, IN_DOUBT, ANOTHER_WORK = BY_TITLE + 1, BY_TITLE + 2, BY_TITLE + 3

_KEY_KINDS = ("doi", "arxiv", "pmid", "title")
_TITLE = _KEY_KINDS.index("title")
_KIND_OF_NAME = {"paper": "doi", "openalex": "pmid"}
_KIND_BITS = 0b11

# Bits of `flags`: the work has a DOI that is no preprint's; the key is that of another version.
HAS_FINAL_DOI = 1
IS_OTHER_VERSION = 2
# In `reference_key` alone: the reference has further keys that may decide before this one.
HAS_STRONGER_KEY = 4
# The title is too short to count without a year.
IS_SHORT_TITLE = 8
# The key is an OpenAlex id: its kind is that of numbers of PubMed, for which two bits have room.
IS_OPENALEX = 16

# Relations that say that two works are versions of one; a citation of either counts for both.
VERSION_RELATIONS = frozenset({"preprint_of", "published_as", "version_of"})
# The `number` of a key of another version of the paper itself, which is no reference of it.
VERSION_NUMBER = 0
# A greater number is no year, and may be more than the tables hold.
_LATEST_YEAR = 9999
_ARXIV_DOI = f"doi:{ARXIV_DOI_PREFIX}"
# Published and printed years of one work differ by this much at most.
YEARS_APART = 1


class WorkKeyRow(NamedTuple):
    """A row of `work_key` without its paper."""

    hash: int
    year: int
    person: int
    flags: int


class ReferenceKeyRow(NamedTuple):
    """A row of `reference_key` without its paper; `number` counts the list from 1."""

    hash: int
    number: int
    year: int
    person: int
    flags: int


@dataclass(frozen=True, slots=True)
class CitationRows:
    """What a paper adds to the three tables; `entries` is None where no list is known."""

    works: tuple[WorkKeyRow, ...]
    references: tuple[ReferenceKeyRow, ...]
    entries: int | None


def citation_rows(
    paper: PublishedPaper | StoredPaper, read: Callable[[str], bytes]
) -> CitationRows:
    """The rows of a paper; `read` returns an asset by its name."""
    record = paper.record
    try:
        references = read_references(record, read)
    except ValueError:
        # A damaged list must not keep its paper out of the corpus; asking for it says so.
        references = None
    versions = dict.fromkeys(map(hash_key, version_names(record)))
    # What says nothing of itself is left out: year and person of identifiers are 0.
    rows = [ReferenceKeyRow(value, VERSION_NUMBER, 0, 0, IS_OTHER_VERSION) for value in versions]
    for number, cited in enumerate(references or (), start=1):
        rows += reference_rows(number, cited)
    return CitationRows(
        work_rows(paper), tuple(rows), None if references is None else len(references)
    )


def read_references(
    record: PaperRecord, read: Callable[[str], bytes]
) -> tuple[CitedWork, ...] | None:
    """The reference list of a paper, or None where none is known. Raises ValueError if damaged."""
    if record.references_sha256 is None:
        return None
    return decode_cited_works(read(references_name(record.references_sha256)))


def references_name(sha256: str) -> str:
    """The name of the asset that is a reference list."""
    return f"references/{sha256}.json"


def work_rows(paper: PublishedPaper | StoredPaper) -> tuple[WorkKeyRow, ...]:
    """What a paper is known by: its own keys, then those of its other versions."""
    record = paper.record
    own = _own_keys(record, paper.keys)
    flags = HAS_FINAL_DOI if _has_final_doi(make_work_keys(doi=record.doi), own) else 0
    names = (_name_paper(paper.paper_id), *own.identifiers)
    rows = {
        value: WorkKeyRow(value, 0, 0, flags | _name_flags(name))
        for name in names
        for value in (hash_key(name),)
    }
    for value in map(hash_key, version_names(record)):
        rows.setdefault(value, WorkKeyRow(value, 0, 0, flags | IS_OTHER_VERSION))
    if own.title:
        value = hash_key(f"title:{own.title}")
        flags |= _title_flags(own.title)
        rows[value] = WorkKeyRow(value, _known_year(own), hash_person(own.person), flags)
    return tuple(rows.values())


def reference_rows(number: int, cited: CitedWork) -> list[ReferenceKeyRow]:
    """The keys of one entry of a reference list, the strongest first."""
    if cited.openalex_id and not (cited.doi or cited.title or cited.pmid or cited.arxiv_id):
        # Nearly all references of a dump of OpenAlex.
        value = hash_key(f"openalex:{cited.openalex_id.lower()}")
        return [ReferenceKeyRow(value, number, 0, 0, IS_OPENALEX)]
    keys = work_keys(cited)
    flags = HAS_FINAL_DOI if _has_final_doi(keys) else 0
    rows: list[ReferenceKeyRow] = []
    strongest = None
    named = ((hash_key(name), _name_flags(name)) for name in _identifiers(keys))
    for value, more in sorted(named, key=lambda each: (kind_of(each[0]), each[1])):
        strongest = kind_of(value) if strongest is None else strongest
        is_weaker = kind_of(value) > strongest or (more and rows)
        stronger = HAS_STRONGER_KEY if is_weaker else 0
        rows.append(ReferenceKeyRow(value, number, 0, 0, flags | stronger | more))
    if keys.title:
        flags |= (HAS_STRONGER_KEY if rows else 0) | _title_flags(keys.title)
        value, person = hash_key(f"title:{keys.title}"), hash_person(keys.person)
        rows.append(ReferenceKeyRow(value, number, _known_year(keys), person, flags))
    return rows


def _name_flags(name: str) -> int:
    return IS_OPENALEX if name.startswith("openalex:") else 0


def _title_flags(key: str) -> int:
    return 0 if is_telling_title(key) else IS_SHORT_TITLE


def _known_year(keys: WorkKeys) -> int:
    return keys.year if keys.year and 0 < keys.year <= _LATEST_YEAR else 0


def _name_paper(paper_id: str) -> str:
    """The key of a paper by its id, by which versions name each other; no reference has it."""
    return f"paper:{paper_id}"


def version_names(record: PaperRecord) -> Iterator[str]:
    """The keys of other versions of a paper, as its record names them."""
    for related in record.related:
        if related.relation in VERSION_RELATIONS and related.paper_id:
            yield _name_paper(related.paper_id)
        elif related.relation in VERSION_RELATIONS:
            yield from _identifiers(make_work_keys(doi=related.doi))


def identifier_names(paper: StoredPaper) -> dict[int, str]:
    """The identifiers of a paper by their hashes."""
    return {hash_key(name): name for name in _own_keys(paper.record, paper.keys).identifiers}


def agrees(reference: ReferenceKeyRow, other: ReferenceKeyRow) -> bool:
    """Whether a key in common makes two references one work."""
    return not is_title(other.hash) or _compare_titles(reference, other) == BY_TITLE


def meet(reference: ReferenceKeyRow, work: WorkKeyRow) -> int | None:
    """How a key in common joins a reference and a paper, the strongest first; None: not at all."""
    if work.flags & IS_OTHER_VERSION:
        return LINK_KINDS.index("version")
    if is_title(work.hash):
        return _compare_titles(reference, work)
    if work.flags & IS_OPENALEX:
        return LINK_KINDS.index("openalex")
    return LINK_KINDS.index(_KEY_KINDS[kind_of(work.hash)])


def _compare_titles(reference: ReferenceKeyRow, work: WorkKeyRow | ReferenceKeyRow) -> int | None:
    """What a title in common says, with the first author and a year at most one apart.

    Where both have a DOI that is no preprint's, those differ or the DOI would have decided.
    """
    are_dated = bool(reference.year and work.year)
    is_other = bool(reference.flags & work.flags & HAS_FINAL_DOI) or (
        are_dated and abs(reference.year - work.year) > YEARS_APART
    )
    is_short = bool(reference.flags & IS_SHORT_TITLE)
    if not reference.person or not work.person:
        return None if is_other or is_short else IN_DOUBT
    if reference.person != work.person:
        return None
    if is_other:
        return ANOTHER_WORK
    if are_dated:
        return BY_TITLE
    is_one_dated = bool(reference.year or work.year)
    return BY_UNDATED_TITLE if is_one_dated and not is_short else IN_DOUBT


def name_kind(kind: int) -> LinkKind:
    """The kind of a link as answers name it."""
    return LINK_KINDS[min(kind, BY_TITLE)]


def hash_key(key: str) -> int:
    """The hash of `doi:…`, `arxiv:…`, `pmid:…`, `title:…`, `paper:…` or `openalex:…`, of 64 bits.

    The id of a paper counts as a DOI, that of OpenAlex as a number of PubMed."""
    name = key.partition(":")[0]
    kind = _KEY_KINDS.index(_KIND_OF_NAME.get(name, name))
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) & ~_KIND_BITS | kind


def is_title(value: int) -> bool:
    """Whether a hash is that of a title key."""
    return kind_of(value) == _TITLE


def kind_of(value: int) -> int:
    """The kind of a key by its hash: 0 is a DOI, 3 a title."""
    return value & _KIND_BITS


def hash_person(person: str | None) -> int:
    """A name as a number of 31 bits that is never 0; 0 where there is none."""
    if person is None:
        return 0
    digest = blake2b(person.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return (int.from_bytes(digest, "big") & 0x7FFFFFFF) or 1


def _own_keys(record: PaperRecord, keys: Sequence[PaperKey]) -> WorkKeys:
    """The keys of a paper. A DOI that its record claims but another paper has is none of them."""
    year = find_year(record.publication_date)
    described = make_work_keys(
        title=record.title,
        authors=record.authors,
        year=int(year) if year.isdecimal() else None,
        pmid=record.pmid,
    )
    names: dict[str, None] = {}
    for key in keys:
        name = key.value.partition(":")[2]
        if key.kind is KeyKind.DOI:
            names |= dict.fromkeys(_identifiers(make_work_keys(doi=name)))
        elif key.kind is KeyKind.ARXIV:
            names |= dict.fromkeys(_identifiers(make_work_keys(arxiv_id=name)))
        elif key.kind is KeyKind.OPENALEX:
            names[key.value] = None
    identifiers = (*names, *described.identifiers)
    return WorkKeys(identifiers, described.title, described.year, described.person)


def reference_names(cited: CitedWork) -> dict[int, str]:
    """The identifiers of an entry of a reference list by their hashes."""
    return {hash_key(name): name for name in _identifiers(work_keys(cited))}


def _identifiers(keys: WorkKeys) -> tuple[str, ...]:
    """The identifiers without the DOIs that arXiv registers, which say nothing more."""
    more = {f"{_ARXIV_DOI}{key.removeprefix('arxiv:')}" for key in keys.identifiers}
    return tuple(key for key in keys.identifiers if key not in more)


def is_preprint_doi(doi: str) -> bool:
    """Whether a DOI, in the form of `libraries.identifiers`, is of a server of preprints."""
    return doi.partition("/")[0] in PREPRINT_PREFIXES


def _has_final_doi(*several: WorkKeys) -> bool:
    return any(
        key.startswith("doi:") and not is_preprint_doi(key.removeprefix("doi:"))
        for keys in several
        for key in keys.identifiers
    )
