"""Citations of one paper by look-ups of keys: what it cites, what cites it, and its versions.

The cost depends on the lists themselves, not on how many papers the corpus holds.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from carrel.libraries.works.cited_works import CitedWork
from carrel.rooms.papers.citation_models import LinkKind
from carrel.stores.corpus.assets import read_asset
from carrel.stores.corpus.citation_keys import (
    ANOTHER_WORK,
    BY_TITLE,
    BY_UNDATED_TITLE,
    HAS_STRONGER_KEY,
    IN_DOUBT,
    IS_OTHER_VERSION,
    ReferenceKeyRow,
    WorkKeyRow,
    agrees,
    hash_key,
    identifier_names,
    is_title,
    meet,
    name_kind,
    read_references,
    reference_names,
    reference_rows,
    version_names,
    work_rows,
)
from carrel.stores.corpus.folder import CorpusSession, LiveSegment, SegmentReader
from carrel.stores.corpus.papers import FoundPaper, papers_of_rows
from carrel.stores.corpus.schema import FORMAT_WITH_CITATIONS, META_FORMAT

# More versions of one work than any real work has; what leads further is a mistake in the data.
MAX_VERSIONS = 20

KeyNames = Mapping[int, str]
"""The identifiers behind hashes, by which segments of the first format are asked."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The paper that a reference leads to, or those that it may be."""

    row: int | None = None
    kind: LinkKind | None = None
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReferenceLink:
    """An entry of a reference list, and where it leads."""

    number: int
    work: CitedWork
    resolution: Resolution


@dataclass(frozen=True, slots=True)
class CitingLink:
    """A paper's row that cites another: by which entry, which version of it, and how they met."""

    row: int
    number: int
    cited_row: int
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class CitingLinks:
    """One link for each paper that cites; `ambiguous_rows` may cite this paper or another."""

    links: tuple[CitingLink, ...]
    ambiguous_rows: tuple[int, ...]


def has_citations(segment: LiveSegment) -> bool:
    """Whether a segment has the tables of citations; those of earlier versions do not."""
    return int(segment.file.meta[META_FORMAT]) >= FORMAT_WITH_CITATIONS


def list_references(session: CorpusSession, paper: FoundPaper) -> tuple[CitedWork, ...] | None:
    """The reference list of a paper; None where none is known."""

    def read(name: str) -> bytes:
        content = read_asset(session, name)
        if content is None:
            raise ValueError("a reference list is missing")
        return content

    try:
        return read_references(paper.paper.record, read)
    except ValueError as error:
        raise paper.segment.file.damaged() from error


def link_references(
    session: CorpusSession, paper: FoundPaper, works: Sequence[CitedWork]
) -> list[ReferenceLink]:
    """Where each entry of a paper's list leads in the corpus."""
    return [
        ReferenceLink(number, work, resolution)
        for number, (work, resolution) in enumerate(
            zip(works, resolve_works(session, works, {paper.row}), strict=True), start=1
        )
    ]


def resolve_works(
    session: CorpusSession, works: Sequence[CitedWork], not_rows: set[int]
) -> list[Resolution]:
    """The papers that works are; `not_rows` are those that cite them."""
    keys = [reference_rows(number, work) for number, work in enumerate(works, start=1)]
    names = {value: name for work in works for value, name in reference_names(work).items()}
    hits = find_works(session, [row.hash for rows in keys for row in rows], names)
    return [_resolve(session, rows, hits, not_rows) for rows in keys]


def _resolve(
    session: CorpusSession,
    keys: Sequence[ReferenceKeyRow],
    hits: Mapping[int, Sequence[tuple[int, WorkKeyRow]]],
    not_rows: set[int],
) -> Resolution:
    by_kind: dict[int, set[int]] = defaultdict(set)
    for key in keys:
        for row, work in hits.get(key.hash, ()):
            if row not in not_rows and (kind := meet(key, work)) is not None:
                by_kind[kind].add(row)
    kind = min(by_kind, default=ANOTHER_WORK)
    if kind == ANOTHER_WORK:
        return Resolution()
    rows = rivals = by_kind[kind]
    if kind == BY_UNDATED_TITLE:
        rows = rows | by_kind[IN_DOUBT]
        rivals = rows | by_kind[ANOTHER_WORK]
    first = min(by_kind[kind])
    if kind == IN_DOUBT or (len(rivals) > 1 and not rivals <= set(find_versions(session, first))):
        return Resolution(candidates=tuple(sorted(rows)))
    return Resolution(first, name_kind(kind))


def find_works(
    session: CorpusSession, hashes: Iterable[int], names: KeyNames
) -> dict[int, list[tuple[int, WorkKeyRow]]]:
    """Live papers by the hashes of their keys, as rows with the key."""
    wanted = sorted(set(hashes))
    found: dict[int, list[tuple[int, WorkKeyRow]]] = defaultdict(list)
    for segment, reader in session.readers():
        if has_citations(segment):
            for value, row, *facts in reader.all(
                "SELECT hash, row, year, person, flags FROM work_key "
                "WHERE hash IN (SELECT value FROM json_each(?))",
                (json.dumps(wanted),),
            ):
                if row not in segment.deleted:
                    found[value].append((row, WorkKeyRow(value, *facts)))
            continue
        by_name = {names[value]: value for value in wanted if value in names}
        for name, row in reader.all(
            "SELECT key, row FROM paper_key WHERE key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(by_name)),),
        ):
            if row not in segment.deleted:
                found[by_name[name]].append((row, WorkKeyRow(by_name[name], 0, 0, 0)))
    return found


def find_reference_keys(
    session: CorpusSession, hashes: Iterable[int]
) -> list[tuple[int, ReferenceKeyRow]]:
    """Live papers whose references have these keys, as rows with the key."""
    wanted = json.dumps(sorted(set(hashes)))
    return [
        (row, ReferenceKeyRow(value, *facts))
        for segment, reader in session.readers()
        if has_citations(segment)
        for value, row, *facts in reader.all(
            "SELECT hash, row, number, year, person, flags FROM reference_key "
            "WHERE hash IN (SELECT value FROM json_each(?))",
            (wanted,),
        )
        if row not in segment.deleted
    ]


def find_versions(session: CorpusSession, row: int) -> list[int]:
    """The rows of all versions of a work, this one first; the records say which they are."""
    known: dict[int, None] = {row: None}
    waiting = [row]
    while waiting and len(known) < MAX_VERSIONS:
        own: list[int] = []
        versions: dict[int, str] = {}
        for found in papers_of_rows(session, waiting):
            record = found.paper.record
            versions |= {hash_key(name): name for name in version_names(record)}
            own += [
                work.hash
                for work in work_rows(found.paper)
                if not is_title(work.hash) and not work.flags & IS_OTHER_VERSION
            ]
        near = [row for hits in find_works(session, versions, versions).values() for row, _ in hits]
        near += [
            other
            for other, key in find_reference_keys(session, own)
            if key.flags & IS_OTHER_VERSION
        ]
        waiting = [other for other in dict.fromkeys(near) if other not in known]
        known |= dict.fromkeys(waiting)
    return list(known)[:MAX_VERSIONS]


class _Meeting(NamedTuple):
    """A reference and a paper that have a key in common, the strongest kind first."""

    kind: int
    cited_row: int
    key: ReferenceKeyRow


def find_citing(session: CorpusSession, versions: Sequence[FoundPaper]) -> CitingLinks:
    """The papers that cite any of these versions of one work."""
    keys: dict[int, list[tuple[int, WorkKeyRow]]] = defaultdict(list)
    names: dict[int, str] = {}
    for paper in versions:
        names |= identifier_names(paper.paper)
        for work in work_rows(paper.paper):
            keys[work.hash].append((paper.row, work))
    own = {paper.row for paper in versions}
    met: dict[tuple[int, int], list[_Meeting]] = defaultdict(list)
    for row, key in find_reference_keys(session, keys):
        if row not in own and not key.flags & IS_OTHER_VERSION:
            met[row, key.number] += [
                _Meeting(kind, cited, key)
                for cited, work in keys[key.hash]
                if (kind := meet(key, work)) is not None and kind != ANOTHER_WORK
            ]
    best = {place: min(found) for place, found in met.items() if found}
    hits = find_works(session, keys, names)
    others = {value: [hit for hit in hits[value] if hit[0] not in own] for value in hits}
    return _decide(session, best, own, others)


def _decide(
    session: CorpusSession,
    best: Mapping[tuple[int, int], _Meeting],
    own: set[int],
    others: Mapping[int, Sequence[tuple[int, WorkKeyRow]]],
) -> CitingLinks:
    """Which of the references lead to these papers and to no other."""
    links: dict[int, CitingLink] = {}
    ambiguous: set[int] = set()
    unsure: dict[int, list[int]] = defaultdict(list)
    for (row, number), (kind, cited, key) in sorted(best.items()):
        if key.flags & HAS_STRONGER_KEY and kind:
            unsure[row].append(number)
            continue
        hits = (meet(key, work) for other, work in others.get(key.hash, ()) if other != row)
        rival = min((hit for hit in hits if hit is not None), default=None)
        if kind > BY_TITLE and rival is not None and rival <= BY_TITLE:
            continue
        if kind == IN_DOUBT or (
            rival is not None and (kind == BY_UNDATED_TITLE or rival <= BY_TITLE)
        ):
            ambiguous.add(row)
        else:
            links.setdefault(row, CitingLink(row, number, cited, name_kind(kind)))
    for paper in papers_of_rows(session, [row for row in unsure if row not in links]):
        # Another key of the entry decides first: only the list itself says where that leads.
        works = list_references(session, paper) or ()
        numbers = [number for number in unsure[paper.row] if number <= len(works)]
        resolved = resolve_works(session, [works[number - 1] for number in numbers], {paper.row})
        for number, found in zip(numbers, resolved, strict=True):
            if found.row in own and found.kind is not None:
                link = CitingLink(paper.row, number, found.row, found.kind)
                links.setdefault(paper.row, link)
            elif own & set(found.candidates):
                ambiguous.add(paper.row)
    return CitingLinks(tuple(links.values()), tuple(sorted(ambiguous - links.keys())))


def count_shared_references(session: CorpusSession, papers: Sequence[FoundPaper]) -> Counter[int]:
    """How many of the works that these papers cite other papers cite as well, by row."""
    keys: dict[int, list[ReferenceKeyRow]] = defaultdict(list)
    count = 0
    for paper in papers:
        for work in list_references(session, paper) or ():
            count += 1
            for key in reference_rows(count, work):
                keys[key.hash].append(key)
    own = {paper.row for paper in papers}
    ours: dict[int, set[int]] = defaultdict(set)
    theirs: dict[int, set[int]] = defaultdict(set)
    for row, key in find_reference_keys(session, keys):
        if row not in own and not key.flags & IS_OTHER_VERSION:
            for mine in keys[key.hash]:
                if agrees(key, mine):
                    ours[row].add(mine.number)
                    theirs[row].add(key.number)
    # A list that names a work twice shares it once.
    return Counter({row: min(len(ours[row]), len(theirs[row])) for row in ours})


def count_lists(session: CorpusSession) -> int:
    """How many papers have a reference list that is known."""
    answers = session.version.answers
    if "reference lists" not in answers:
        answers["reference lists"] = sum(
            _count_lists(segment, reader)
            for segment, reader in session.readers()
            if has_citations(segment)
        )
    return int(answers["reference lists"])


def _count_lists(segment: LiveSegment, reader: SegmentReader) -> int:
    deleted = json.dumps(sorted(segment.deleted))
    found = reader.one(
        "SELECT (SELECT count(*) FROM reference_list) - (SELECT count(*) FROM reference_list "
        "WHERE row IN (SELECT value FROM json_each(?)))",
        (deleted,),
    )
    return int(found[0]) if found else 0


def count_entries(session: CorpusSession, rows: Sequence[int]) -> dict[int, int]:
    """The lengths of the reference lists of rows, as far as they are known."""
    found: dict[int, int] = {}
    for segment in session.version.segments:
        here = [row for row in rows if segment.may_have(row)]
        if here and has_citations(segment):
            found.update(
                session.reader(segment).all(
                    "SELECT row, entries FROM reference_list "
                    "WHERE row IN (SELECT value FROM json_each(?))",
                    (json.dumps(here),),
                )
            )
    return found
