"""Compares two records of works by likeness: one work, versions of one, doubtful, or different."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from carrel.libraries.works import linkage_weights as fitted
from carrel.libraries.works.block_lists import NO_BLOCK_LIST, BlockList
from carrel.libraries.works.people import count_shared_people
from carrel.libraries.works.title_differences import find_title_difference
from carrel.libraries.works.titles import (
    MIN_TELLING_LETTERS,
    count_telling_letters,
    have_different_numbers,
    is_repeated_notice,
    title_likeness,
)
from carrel.libraries.works.work import Work


class LinkVerdict(Enum):
    """What two records are to each other."""

    SAME = "same"
    DOUBTFUL = "doubtful"
    VERSION = "version"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of comparing two records, with the reason in one sentence for a person.

    `relation` says what the first is to the second where they are versions.
    """

    verdict: LinkVerdict
    score: float
    reason: str
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far each field of two records agrees, as one level a field."""

    levels: tuple[tuple[str, str], ...]
    facts: tuple[str, ...]

    def level(self, field: str) -> str:
        return dict(self.levels)[field]

    @property
    def score(self) -> float:
        return sum(fitted.WEIGHTS[level] for level in self.levels)

    @property
    def sentence(self) -> str:
        return ", ".join(self.facts)


def compare(one: Work, other: Work, block_list: BlockList = NO_BLOCK_LIST) -> Comparison:
    """Compare by title, people, year and place; identifiers only speak against a join here."""
    if one.source is not None and one.source == other.source and not one.is_identical(other):
        return Comparison(LinkVerdict.DIFFERENT, 0.0, "they are two entries of one list")
    title = _compare_titles(one, other)
    if title == fitted.TITLE_OTHER:
        return Comparison(LinkVerdict.DIFFERENT, 0.0, "their titles differ")
    agreement = measure_agreement(one, other, title)
    score, sentence = agreement.score, agreement.sentence
    if score < fitted.MIN_REVIEW_SCORE:
        return Comparison(LinkVerdict.DIFFERENT, score, sentence)
    if (
        one.title_key != other.title_key
        and have_different_numbers(one.words, other.words)
        and not _is_same_place(agreement)
    ):
        return Comparison(LinkVerdict.DIFFERENT, score, "the numbers in their titles differ")
    if relation := find_version_relation(one, other):
        return Comparison(LinkVerdict.VERSION, score, sentence, relation)
    if reason := _reason_to_refuse(one, other, block_list):
        return Comparison(LinkVerdict.DIFFERENT, score, reason)
    if doubt := _reason_to_doubt(one, other, agreement):
        return Comparison(LinkVerdict.DOUBTFUL, score, f"{sentence}; {doubt}")
    if score < fitted.MIN_JOIN_SCORE and not _is_text_of_entry(one, other, agreement):
        return Comparison(LinkVerdict.DOUBTFUL, score, sentence)
    return Comparison(LinkVerdict.SAME, score, sentence)


def find_version_relation(one: Work, other: Work) -> str | None:
    """What the first of two works with like titles and people is to the second, if not the same."""
    if one.notice != other.notice:
        if one.notice is None:
            return _TURNED[other.notice or "version_of"]
        return one.notice
    if one.is_false_twin or other.is_false_twin:
        return None
    if one.own_doi != other.own_doi and one.doi_of_all_versions == other.doi_of_all_versions:
        return "version_of"
    if not (one.own_doi and other.own_doi) and one.is_in_venue_of(other):
        return None
    if one.is_preprint and other.is_published:
        return "preprint_of"
    if other.is_preprint and one.is_published:
        return "published_as"
    return None


_TURNED = {
    "preprint_of": "published_as",
    "published_as": "preprint_of",
    "correction_of": "corrected_by",
    "retraction_of": "retracted_by",
    "comment_on": "commented_by",
    "version_of": "version_of",
}


def turn_relation(relation: str) -> str:
    """The same relation seen from the other work."""
    turned = {**_TURNED, **{there: here for here, there in _TURNED.items()}}
    return turned[relation]


def _is_same_place(agreement: Agreement) -> bool:
    """Whether venue, volume and first page are known of both and the same."""
    return all(agreement.level(field) == "same" for field in ("venue", "volume", "first page"))


def _reason_to_refuse(one: Work, other: Work, block_list: BlockList) -> str | None:
    if one.is_false_twin or other.is_false_twin or block_list.forbids(one, other):
        return "the block list of false twins has them"
    for name, here, there in (
        ("DOIs", one.own_doi, other.own_doi),
        ("arXiv ids", one.own_arxiv_id, other.own_arxiv_id),
        ("PubMed ids", one.pmid, other.pmid),
    ):
        if here and there and here != there:
            return f"their {name} differ"
    return None


def _reason_to_doubt(one: Work, other: Work, agreement: Agreement) -> str | None:
    """Why a person should look at two records that are alike enough to be one."""
    same_place = all(agreement.level(field) == "same" for field in ("volume", "first page"))
    for field in ("volume", "first page"):
        if agreement.level(field) == "other":
            return f"{field} differs"
    if agreement.level("year") == "further apart":
        return "the years are too far apart"
    if not same_place and (difference := find_title_difference(one.title, other.title)):
        return difference
    if _is_same_place(agreement):
        return None
    people = agreement.level("people")
    if one.is_generic or other.is_generic:
        return "many works have this title"
    if (
        one.source is not None
        and other.source is not None
        and is_repeated_notice(one.title)
        and is_repeated_notice(other.title)
    ):
        return "a work may have several notices and replies under one title"
    if min(map(_telling_letters, (one, other))) < MIN_TELLING_LETTERS:
        fewest = min(len(one.names), len(other.names))
        enough = {
            "same": fitted.MIN_PEOPLE_OF_SHORT_TITLE,
            "unknown": fitted.MIN_PEOPLE_WITHOUT_YEAR,
        }.get(agreement.level("year"))
        is_telling = people == fitted.PEOPLE_ALL and enough is not None and fewest >= enough
        return None if is_telling else "the title is short"
    if people in {fitted.PEOPLE_SOME, fitted.PEOPLE_NONE}:
        return "the people differ"
    if people == fitted.PEOPLE_UNKNOWN and not (
        _is_text_of_entry(one, other, agreement) or _is_in_one_venue(one, other, agreement)
    ):
        return "one of them names nobody"
    return None


def _is_in_one_venue(one: Work, other: Work, agreement: Agreement) -> bool:
    """Whether two lists name the same title, long enough, in the same venue and year."""
    return (
        one.source is not None
        and other.source is not None
        and agreement.level("title") == fitted.TITLE_EQUAL
        and agreement.level("year") == "same"
        and agreement.level("venue") == "same"
        and len(one.words) >= fitted.MIN_WORDS_WITHOUT_PEOPLE
    )


def _is_text_of_entry(one: Work, other: Work, agreement: Agreement) -> bool:
    """Whether one is a text without names and the other an entry of a list with its whole title."""
    return (
        (one.source is None) != (other.source is None)
        and (
            bool(one.names or other.names)
            or agreement.level("year") == "same"
            or len(one.words) >= fitted.MIN_WORDS_WITHOUT_PEOPLE
        )
        and agreement.level("people") == fitted.PEOPLE_UNKNOWN
        and agreement.level("title") == fitted.TITLE_EQUAL
        and len(one.words) >= fitted.MIN_WORDS_OF_LONG_TITLE
        and _telling_letters(one) >= fitted.MIN_LETTERS_OF_LONG_TITLE
        and agreement.level("year") in {"same", "1 apart", "unknown"}
    )


def _telling_letters(work: Work) -> int:
    return count_telling_letters(work.title_key)


def measure_agreement(one: Work, other: Work, title: str | None = None) -> Agreement:
    """The levels of agreement of two records; that of their titles may be known already."""
    title = title or _compare_titles(one, other)
    people, said_of_people = _compare_people(one, other)
    year, said_of_year = _compare_years(one.year, other.year)
    volume = _compare_values(one.volume, other.volume)
    page = _compare_values(one.first_page, other.first_page)
    venue = _compare_venues(one, other)
    facts = [_TITLE_FACTS[title], said_of_people, said_of_year]
    facts += [
        f"same {name}"
        for name, level in (("volume", volume), ("first page", page), ("venue", venue))
        if level == "same"
    ]
    return Agreement(
        (
            ("title", title),
            ("people", people),
            ("year", year),
            ("volume", volume),
            ("first page", page),
            ("venue", venue),
        ),
        tuple(facts),
    )


_TITLE_FACTS = {
    fitted.TITLE_EQUAL: "same title",
    fitted.TITLE_VERY_ALIKE: "nearly the same title",
    fitted.TITLE_ALIKE: "a similar title",
    fitted.TITLE_BEGINS: "one title begins with the other",
    fitted.TITLE_OTHER: "other titles",
}


def _compare_titles(one: Work, other: Work) -> str:
    here, there = one.title_key, other.title_key
    if not here or not there:
        return fitted.TITLE_OTHER
    if here == there:
        return fitted.TITLE_EQUAL
    shorter, longer = sorted((here, there), key=len)
    if longer.startswith(shorter) and len(shorter) >= fitted.MIN_LETTERS_OF_BEGINNING:
        return fitted.TITLE_BEGINS
    likeness = title_likeness(here, there)
    if likeness >= fitted.MIN_VERY_ALIKE:
        return fitted.TITLE_VERY_ALIKE
    return fitted.TITLE_ALIKE if likeness >= fitted.MIN_ALIKE else fitted.TITLE_OTHER


def _compare_people(one: Work, other: Work) -> tuple[str, str]:
    if not one.names or not other.names:
        return fitted.PEOPLE_UNKNOWN, "authors unknown"
    common = count_shared_people(one.names, other.names)
    said = f"{common.shared} of {common.shorter} authors"
    if common.shared == 0:
        return fitted.PEOPLE_NONE, said
    if common.share >= fitted.MIN_SHARE_ALL:
        return fitted.PEOPLE_ALL, said
    if common.share >= fitted.MIN_SHARE_MOST and common.has_first:
        return fitted.PEOPLE_MOST, said
    return fitted.PEOPLE_SOME, said


def _compare_years(one: int | None, other: int | None) -> tuple[str, str]:
    if one is None or other is None:
        return "unknown", "year unknown" if one is other else f"year {one or other} / unknown"
    apart = abs(one - other)
    said = f"year {one}" if apart == 0 else f"year {one} / {other}"
    if apart == 0:
        return "same", said
    return (f"{apart} apart" if apart <= 2 else "further apart"), said


def _compare_venues(one: Work, other: Work) -> str:
    if not one.venue_key or not other.venue_key:
        return "unknown"
    return "same" if one.is_in_venue_of(other) else "other"


def _compare_values(one: str | None, other: str | None) -> str:
    if not one or not other:
        return "unknown"
    return "same" if one.lower() == other.lower() else "other"
