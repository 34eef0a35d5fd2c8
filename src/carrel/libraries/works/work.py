"""A work as linkage sees it: the fields of one record that tell works apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from carrel.libraries.identifiers import ARXIV_DOI_PREFIX
from carrel.libraries.text.folding import fold_text, text_key
from carrel.libraries.text.words import STOP_WORDS, split_words
from carrel.libraries.works.people import ComparableName, read_people
from carrel.libraries.works.titles import (
    find_notice,
    is_generic_title,
    squash_title,
    title_blocks,
    title_words,
)

# Who registers DOIs of preprints: bioRxiv and medRxiv, arXiv, Research Square, SSRN, OSF (PsyArXiv
# and others), ChemRxiv, Preprints.org, TechRxiv, Authorea (facts sheet of pdf-reading, section 5);
# other servers of OSF, PeerJ Preprints, EcoEvoRxiv, Cambridge Open Engage, EdArXiv (from memory).
_PREPRINT_REGISTRANTS = (
    "10.1101 10.64898 10.48550 10.21203 10.2139 10.31219 10.31234 10.26434 10.20944 10.36227 "
    "10.22541 10.31222 10.31223 10.31224 10.31231 10.31233 10.31235 10.31236 10.7287 10.32942 "
    "10.33774 10.35542"
)
PREPRINT_PREFIXES = frozenset(_PREPRINT_REGISTRANTS.split())
# Holds copies of famous papers under other DOIs: never joined by likeness, never preferred.
FALSE_TWIN_PREFIXES = frozenset({"10.65215"})
_PREPRINT_VENUE = re.compile(
    r"arxiv|biorxiv|medrxiv|chemrxiv|psyarxiv|socarxiv|engrxiv|eartharxiv|edarxiv|techrxiv|\bssrn\b"
    r"|research square|preprints?\b|openreview|\bcorr\b|\bosf\b|authorea|\brepec\b|\beconstor\b"
    r"|\bagecon search\b|\b(?:working|discussion) papers?\b",
    re.IGNORECASE,
)
_PREPRINT_KINDS = frozenset({"preprint", "posted-content", "working-paper"})
_NOTICE_KINDS = {
    "correction": "correction_of",
    "corrigendum": "correction_of",
    "erratum": "correction_of",
    "retraction": "retraction_of",
    "expression-of-concern": "retraction_of",
    "reply": "comment_on",
    "review-book": "comment_on",
    "book-review": "comment_on",
    "dataset": "version_of",
    "peer-review": "comment_on",
}
_ARXIV_VERSION = re.compile(r"v\d+$")
_FIRST_PAGE = re.compile(r"^\W*([a-z]{0,3}\d{1,9}[a-z]{0,2})", re.IGNORECASE)
# eLife, Research Square, F1000 and its sisters, Preprints.org, ChemRxiv and figshare number the
# versions of a text behind its DOI.
_VERSION_OF_DOI = re.compile(
    r"^(10\.7554/elife\.\d{4,7}|10\.12688/[a-z0-9]{4,30}\.\d{3,7})\.\d{1,2}$"
    r"|^(10\.(?:21203|20944|26434|6084|22541|31234|36227)/.{4,80}?)[./-]v\d{1,2}$"
)
MAX_VENUE_CHARACTERS = 300


@dataclass(frozen=True)
class Work:
    """One record of a work.

    `source` is the list that it stands in (a bibliography, a dump), None for a file of its own:
    likeness never joins two entries of one list. `order` decides which of several comes first.
    `file` is the absolute name of the file that the record alone was read from, `links` are those
    of files that it names as its text; `contents` are hashes of the bytes of its texts. `label` is
    a citation key. Records with the same `fingerprint` say the same in every field.
    """

    title: str
    people: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    pmid: str | None = None
    # Other identifiers, each as `kind:value`: that of PubMed Central, those of services.
    other_ids: tuple[str, ...] = ()
    isbn: str | None = None
    venue: str | None = None
    # One name for all spellings of the venue, where the caller knows them.
    unified_venue: str | None = None
    volume: str | None = None
    first_page: str | None = None
    kind: str | None = None
    # Whether who gives the record says that it appeared in a journal or book, named or not.
    states_published: bool = False
    source: str | None = None
    file: str | None = None
    links: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    label: str | None = None
    fingerprint: str | None = None
    order: tuple[int | str, ...] = ()

    @cached_property
    def words(self) -> tuple[str, ...]:
        return title_words(self.title)

    @cached_property
    def title_key(self) -> str:
        return squash_title(self.title)

    @cached_property
    def names(self) -> tuple[ComparableName, ...]:
        return read_people(self.people)

    @cached_property
    def own_doi(self) -> str | None:
        """The DOI in lower case, without what ends a sentence."""
        return (self.doi or "").lower().rstrip(".,;)") or None

    @cached_property
    def doi_of_all_versions(self) -> str | None:
        """The DOI without the number of a version behind it."""
        versioned = _VERSION_OF_DOI.match(self.own_doi or "")
        return versioned.group(1) or versioned.group(2) if versioned else self.own_doi

    @cached_property
    def own_arxiv_id(self) -> str | None:
        """The arXiv id without its version, also where only the DOI says it."""
        if self.arxiv_id:
            return _ARXIV_VERSION.sub("", self.arxiv_id.lower())
        doi = self.own_doi
        return (
            doi.removeprefix(ARXIV_DOI_PREFIX) if doi and doi.startswith(ARXIV_DOI_PREFIX) else None
        )

    @cached_property
    def is_preprint(self) -> bool:
        """Whether the record itself says that it is a preprint."""
        if self.own_doi:
            is_of_registrant = self.own_doi.partition("/")[0] in PREPRINT_PREFIXES
            # Registration agencies say so by this kind; others call journal articles preprints too.
            return is_of_registrant or self.kind == "posted-content"
        if (self.kind or "") in _PREPRINT_KINDS:
            return True
        venue = (self.venue or "")[:MAX_VENUE_CHARACTERS]
        return bool(_PREPRINT_VENUE.search(venue)) or (self.arxiv_id is not None and not venue)

    @cached_property
    def is_published(self) -> bool:
        """Whether the record itself says that it appeared in a journal, book or proceedings."""
        return not self.is_preprint and bool(
            self.own_doi or self.venue or self.volume or self.states_published
        )

    @cached_property
    def is_false_twin(self) -> bool:
        return (self.own_doi or "").partition("/")[0] in FALSE_TWIN_PREFIXES

    @cached_property
    def notice(self) -> str | None:
        """The relation of a correction, retraction or comment to the work that it is about."""
        return _NOTICE_KINDS.get(self.kind or "") or find_notice(self.title)

    @cached_property
    def is_generic(self) -> bool:
        return is_generic_title(self.title_key)

    @cached_property
    def venue_key(self) -> str:
        return self.unified_venue or text_key((self.venue or "")[:MAX_VENUE_CHARACTERS])

    @cached_property
    def venue_words(self) -> tuple[str, ...]:
        """The words of the venue that its abbreviation has as well."""
        words = split_words(fold_text((self.venue or "")[:MAX_VENUE_CHARACTERS]))
        return tuple(word for word in words if word not in STOP_WORDS)

    def is_in_venue_of(self, other: Work) -> bool:
        """Whether the venues are the same, or one is written as the other's abbreviation."""
        if self.venue_key == other.venue_key:
            return bool(self.venue_key)
        here, there = self.venue_words, other.venue_words
        if len(here) != len(there) or len(here) < 2:
            return False
        return all(
            one.startswith(two) or two.startswith(one) for one, two in zip(here, there, strict=True)
        )

    @cached_property
    def blocks(self) -> tuple[str, ...]:
        """Blocking keys: only works that share one are ever compared."""
        family = self.names[0].family if self.names else None
        return tuple(title_blocks(self.words, family, self.year))

    def is_identical(self, other: Work) -> bool:
        """Whether every field that tells works apart is the same, and a place is among them.

        Only then may two entries of one list be one work without an identifier: a list has its
        corrections, columns and series under one title, by the same people, in one year.
        """
        return bool(self.names and (self.volume or self.first_page)) and all(
            getattr(self, name) == getattr(other, name)
            for name in ("title_key", "names", "year", "venue_key", "volume", "first_page", "kind")
        )

    def stands_where(self, other: Work) -> bool:
        """Whether volume and first page are known of both and the same."""
        here, there = (self.volume, self.first_page), (other.volume, other.first_page)
        return all(here) and [str(each).lower() for each in here] == [
            str(each).lower() for each in there
        ]


def first_page_of(pages: str | None) -> str | None:
    """`e1234` of `e1234-e1250`, `100` of `100--110`."""
    found = _FIRST_PAGE.match(pages or "")
    return found.group(1).lower() if found else None
