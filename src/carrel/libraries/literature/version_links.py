"""Versions of one work that stay works of their own: what services state, and what is alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from carrel.libraries.identifiers import ARXIV_DOI_PREFIX
from carrel.libraries.literature.record_identity import (
    RecordIdentity,
    normalize_ids,
    service_place,
)
from carrel.libraries.literature.records import (
    LinkedVersion,
    VersionPointer,
    VersionRelation,
    WorkIds,
    WorkRecord,
)
from carrel.libraries.works.link_events import DOIS_DIFFER, Clustering
from carrel.libraries.works.work import Work

LIKENESS = "likeness"
_VERSION_RELATIONS = frozenset({"preprint_of", "published_as", "version_of"})


def find_stated_pairs(identities: Sequence[RecordIdentity]) -> list[tuple[set[int], set[int]]]:
    """Pairs of records that one of them states to be two versions: never one work."""
    holders = _find_holders(identities)
    pairs: dict[tuple[int, int], None] = {}
    for at, identity in enumerate(identities):
        for pointer in identity.pointers:
            for other in _find_named(pointer, holders):
                if not identity.keys & identities[other].keys:
                    pairs[min(at, other), max(at, other)] = None
    return [({one}, {other}) for one, other in pairs]


def is_preprint_group(group: Sequence[int], identities: Sequence[RecordIdentity]) -> bool:
    """Whether the records of one work are of a preprint; the strongest record decides."""
    works = [identities[at].work for at in group]
    with_doi = [work for work in works if work.own_doi]
    if with_doi:
        return any(work.is_preprint for work in with_doi)
    return any(work.is_preprint for work in works) and not any(work.volume for work in works)


def link_versions(
    groups: Sequence[Sequence[int]],
    works: Sequence[WorkRecord],
    identities: Sequence[RecordIdentity],
    clustering: Clustering,
    *,
    apart: Collection[int],
) -> list[tuple[LinkedVersion, ...]]:
    """The other versions of each group, those that services state before those that are alike.

    The groups in `apart` are false copies, which are no versions of anything.
    """
    group_of = {at: number for number, group in enumerate(groups) for at in group}
    is_preprint = [is_preprint_group(group, identities) for group in groups]
    inside: dict[tuple[int, int], list[str]] = defaultdict(list)
    outside: list[dict[WorkIds, str]] = [{} for _ in groups]
    for number, other, origin in _list_links(group_of, identities, clustering, outside):
        if number != other:
            inside[number, other].append(origin)
            inside[other, number].append(origin)
    found: list[list[LinkedVersion]] = [[] for _ in groups]
    for (number, other), origins in sorted(inside.items()):
        relation = _name_relation(is_preprint[number], is_preprint[other])
        origin = min(origins, key=lambda each: (each == LIKENESS, service_place(each)))
        if number in apart or other in apart:
            continue
        # No work is a version of itself, whatever its records point at.
        if not _written_keys(works[number].ids) & _written_keys(works[other].ids):
            found[number].append(
                LinkedVersion(relation, works[other].ids, works[other].title, origin)
            )
    for number, named in enumerate(outside):
        for ids, origin in named.items():
            is_other_preprint = bool(ids.arxiv) or Work("", doi=ids.doi).is_preprint
            relation = _name_relation(is_preprint[number], is_other_preprint)
            if number not in apart and not _written_keys(ids) & _written_keys(works[number].ids):
                found[number].append(LinkedVersion(relation, ids, "", origin))
    return [tuple(links) for links in found]


def _name_relation(is_preprint: bool, is_other_preprint: bool) -> VersionRelation:
    """What leads from a work to its other version: not as services word it, but as they are."""
    if is_preprint == is_other_preprint:
        return "version_of"
    return "published_as" if is_preprint else "preprint_of"


def _list_links(
    group_of: dict[int, int],
    identities: Sequence[RecordIdentity],
    clustering: Clustering,
    outside: Sequence[dict[WorkIds, str]],
) -> Iterator[tuple[int, int, str]]:
    """Links between groups with their origin; a version that no group is goes to `outside`."""
    holders = _find_holders(identities)
    for at, identity in enumerate(identities):
        number = group_of[at]
        for pointer in identity.pointers:
            others = {group_of[other] for other in _find_named(pointer, holders)}
            for other in sorted(others):
                yield number, other, pointer.service
            if not others:
                outside[number].setdefault(pointer.ids, pointer.service)
    for refused in clustering.refused:
        # The same identifier of a service on a preprint and on its article.
        here, there = identities[refused.one].work, identities[refused.other].work
        if here.is_preprint != there.is_preprint and refused.reason == DOIS_DIFFER:
            yield group_of[refused.one], group_of[refused.other], here.source or LIKENESS
    for link in clustering.versions:
        if link.relation in _VERSION_RELATIONS:
            yield group_of[link.one], group_of[link.other], LIKENESS


def _find_named(pointer: VersionPointer, holders: Mapping[str, Sequence[int]]) -> list[int]:
    """The records whose own identifier a pointer names; an arXiv DOI names the arXiv id too."""
    return [at for key in sorted(_written_keys(pointer.ids)) for at in holders.get(key, ())]


def _written_keys(ids: WorkIds) -> set[str]:
    """The keys of identifiers in lower case; an arXiv DOI is the arXiv id as well."""
    written = normalize_ids(ids).keys()
    keys = {key.lower() for key in written}
    return keys | {key.replace(f"doi:{ARXIV_DOI_PREFIX}", "arxiv:") for key in keys}


def _find_holders(identities: Sequence[RecordIdentity]) -> dict[str, list[int]]:
    holders: dict[str, list[int]] = defaultdict(list)
    for at, identity in enumerate(identities):
        for key in identity.keys:
            holders[key].append(at)
    return holders
