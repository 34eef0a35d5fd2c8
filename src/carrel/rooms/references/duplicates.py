"""Finds references of one work in a library, each pair with its evidence; never all with all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from carrel.libraries.text.folding import text_key
from carrel.libraries.works.comparison import find_version_relation
from carrel.libraries.works.link_events import IDENTIFIER_RULES, Clustering, JoinEvent, LinkRule
from carrel.libraries.works.linkage import cluster
from carrel.libraries.works.title_differences import find_title_difference
from carrel.libraries.works.titles import have_different_numbers
from carrel.libraries.works.work import Work, first_page_of
from carrel.rooms.references.items import (
    PARTS_OF_WORKS,
    Item,
    arxiv_of,
    custom,
    doi_of,
    isbn_of_work,
    isbns_of,
    people,
    pmcid_of,
    pmid_of,
    text_of,
    year_of,
)

Certainty = Literal["certain", "possible"]
# Types of which one book or site has several, each with the place where it stands.
_BOOKS = frozenset({"book", "thesis", "report", "standard", "collection", "periodical"})
# More references of one work than this are those of records that are broken.
_MOST_COMPARED = 50
# Types that appear again under the same title.
_UPDATED = frozenset({"webpage", "software", "dataset", "post-weblog", "legislation"})


@dataclass(frozen=True, slots=True)
class DuplicateEvidence:
    """Why two references, given by their positions, may be one work."""

    one: int
    other: int
    reason: str
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """References, given by their positions, that are or may be one work."""

    members: tuple[int, ...]
    certainty: Certainty
    evidence: tuple[DuplicateEvidence, ...]


def find_duplicate_groups(items: Sequence[Item]) -> list[DuplicateGroup]:
    """Certain groups first, each in the order of the library; then those to be looked at."""
    works = [describe_work(item) for item in items]
    found = cluster(works)
    certain: list[DuplicateEvidence] = []
    possible: list[DuplicateEvidence] = []
    torn = {at for group in found.groups if _differ_inside(items, group) for at in group}
    for join in found.joins:
        reason = _name_evidence(works[join.one], works[join.other], join)
        doubt = _find_doubt(items, works, join.one, join.other, join.rule)
        if doubt is None and join.one in torn:
            doubt = "another that is as like to them differs"
        if doubt is None:
            certain.append(DuplicateEvidence(join.one, join.other, reason))
        else:
            possible.append(DuplicateEvidence(join.one, join.other, f"{reason}; {doubt}"))
    possible += _list_possible(found)
    return [
        *(DuplicateGroup(members, "certain", why) for members, why in _connect(certain)),
        *(DuplicateGroup(members, "possible", why) for members, why in _pair(possible)),
    ]


def _name_evidence(one: Work, other: Work, join: JoinEvent) -> str:
    """The reason of a join, with the identifier that two references share."""
    match join.rule:
        case LinkRule.DOI:
            return f"same DOI {one.own_doi}"
        case LinkRule.ARXIV:
            return f"same arXiv id {one.own_arxiv_id}"
        case LinkRule.PMID:
            return f"same PubMed id {one.pmid}"
        case LinkRule.RECORD:
            shared = next((each for each in one.other_ids if each in other.other_ids), "")
            kind, _, value = shared.partition(":")
            return f"same {_IDENTIFIERS.get(kind, 'identifier')} {value.partition(' ')[0]}"
        case _:
            return join.reason


_IDENTIFIERS = {
    "isbn": "ISBN",
    "pmcid": "PubMed Central id",
    "eric": "ERIC id",
    "scopus": "Scopus id",
}


def describe_work(item: Item) -> Work:
    """A reference as linkage sees it. The ISBN of a chapter or article is that of its book."""
    kind = text_of(item, "type")
    own = custom(item)
    others = [("pmcid", pmcid_of(item))]
    others += [(name, str(own.get(f"{name}_id") or "").lower()) for name in ("eric", "scopus")]
    others += [("isbn", _describe_isbn(item, isbn)) for isbn in isbns_of(item)]
    venue = text_of(item, "container-title") or text_of(item, "publisher")
    return Work(
        title=text_of(item, "title"),
        people=_list_names(item),
        year=year_of(item),
        doi=doi_of(item),
        arxiv_id=arxiv_of(item),
        pmid=pmid_of(item),
        other_ids=tuple(f"{name}:{value}" for name, value in others if value),
        venue=venue or None,
        volume=text_of(item, "volume") or None,
        first_page=first_page_of(text_of(item, "page")),
        kind=kind or None,
        fingerprint=_describe_record(item),
        order=(text_of(item, "id"),),
    )


def _describe_isbn(item: Item, isbn: str) -> str:
    return isbn_of_work(item, isbn) or f"{isbn} {text_of(item, 'volume').lower()}".strip()


def _list_names(item: Item) -> tuple[str, ...]:
    names = []
    for person in [*people(item)] or [*people(item, "editor")]:
        last = str(person.get("family") or person.get("literal") or person.get("name") or "")
        given = str(person.get("given") or "")
        names.append(f"{last}, {given}" if last and given else last or given)
    return tuple(name for name in names if name)


def _describe_record(item: Item) -> str | None:
    """What records that say the same have in common; nothing where too little is said."""
    title, names = text_key(text_of(item, "title")), "; ".join(map(text_key, _list_names(item)))
    year, venue = year_of(item), text_key(text_of(item, "container-title"))
    if not (title and names and year and venue):
        return None
    place = f"{text_of(item, 'volume')}|{text_of(item, 'issue')}|{text_of(item, 'page')}"
    return f"{item.get('type')}|{title}|{names}|{year}|{venue}|{place}"


def _find_doubt(
    items: Sequence[Item], works: Sequence[Work], one: int, other: int, rule: LinkRule
) -> str | None:
    """Why a person must look at two references although linkage takes them for one work."""
    here, there = items[one], items[other]
    if doubt := find_difference(here, there):
        return doubt
    mine, theirs = works[one], works[other]
    if not (mine.title_key and theirs.title_key):
        return None
    if mine.title_key != theirs.title_key and have_different_numbers(mine.words, theirs.words):
        return "the numbers in their titles differ"
    if rule not in IDENTIFIER_RULES:
        return None
    if relation := find_version_relation(mine, theirs):
        return _RELATIONS.get(relation, "they are versions of one work")
    is_book = {text_of(here, "type"), text_of(there, "type")} & _BOOKS
    if is_book and rule is not LinkRule.DOI:
        difference = find_title_difference(mine.title, theirs.title)
        if (
            difference
            and not mine.title_key.startswith(theirs.title_key)
            and not (theirs.title_key.startswith(mine.title_key))
        ):
            return difference
    return None


_RELATIONS = {
    "preprint_of": "one is the preprint of the other",
    "published_as": "one is the preprint of the other",
    "correction_of": "one corrects the other",
    "corrected_by": "one corrects the other",
    "retraction_of": "one retracts the other",
    "retracted_by": "one retracts the other",
    "comment_on": "one comments on the other",
    "commented_by": "one comments on the other",
}


def find_difference(one: Item, other: Item) -> str | None:
    """What two references say that can be true of one work only: its edition, part and kind."""
    for field, said in (("edition", "the editions differ"), ("part-number", "the parts differ")):
        here, there = text_key(text_of(one, field)), text_key(text_of(other, field))
        if here and there and here != there:
            return said
    kinds = {text_of(one, "type"), text_of(other, "type")}
    if kinds & PARTS_OF_WORKS and kinds & _BOOKS:
        return "one is a part of a book"
    if kinds & PARTS_OF_WORKS:
        pages = [first_page_of(text_of(item, "page")) for item in (one, other)]
        if all(pages) and pages[0] != pages[1]:
            return "they stand on other pages"
    if kinds & _BOOKS:
        volumes = [text_key(text_of(item, "volume")) for item in (one, other)]
        if all(volumes) and volumes[0] != volumes[1]:
            return "the volumes differ"
    years = [year_of(item) for item in (one, other)]
    if kinds & (_BOOKS | _UPDATED) and None not in years and years[0] != years[1]:
        return "they may be editions: the years differ"
    return None


def _differ_inside(items: Sequence[Item], members: Sequence[int]) -> bool:
    """Whether a group holds two that differ, joined by a third that does not say enough."""
    if len(members) > _MOST_COMPARED:
        return True
    return any(
        find_difference(items[one], items[other])
        for place, one in enumerate(members)
        for other in members[place + 1 :]
    )


def _list_possible(found: Clustering) -> Iterable[DuplicateEvidence]:
    for pair in found.doubtful:
        yield DuplicateEvidence(pair.one, pair.other, pair.reason)
    for link in found.versions:
        said = _RELATIONS.get(link.relation, "they are versions of one work")
        reason = f"{link.reason}; {said}"
        yield DuplicateEvidence(link.one, link.other, reason, link.relation)


def _connect(
    evidence: Sequence[DuplicateEvidence],
) -> list[tuple[tuple[int, ...], tuple[DuplicateEvidence, ...]]]:
    """Connected positions with what connects them, in the order of the library."""
    leader: dict[int, int] = {}

    def find(at: int) -> int:
        while leader.setdefault(at, at) != at:
            leader[at] = at = leader[leader[at]]
        return at

    for each in evidence:
        first, second = sorted((find(each.one), find(each.other)))
        leader[second] = first
    members: dict[int, list[int]] = defaultdict(list)
    reasons: dict[int, list[DuplicateEvidence]] = defaultdict(list)
    for at in sorted(leader):
        members[find(at)].append(at)
    for each in evidence:
        reasons[find(each.one)].append(each)
    return [(tuple(each), tuple(reasons[at])) for at, each in sorted(members.items())]


def _pair(
    evidence: Sequence[DuplicateEvidence],
) -> list[tuple[tuple[int, ...], tuple[DuplicateEvidence, ...]]]:
    """Each doubtful pair by itself: what is like one of two is not like the other."""
    found: dict[tuple[int, int], DuplicateEvidence] = {}
    for each in evidence:
        found.setdefault((min(each.one, each.other), max(each.one, each.other)), each)
    return [(pair, (each,)) for pair, each in sorted(found.items())]
