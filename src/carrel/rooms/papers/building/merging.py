"""One record from all records of a paper: field by field, the best origin's value."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from carrel.libraries.text.folding import fold_text
from carrel.rooms.papers.building.paper_keys import facet_value, find_year
from carrel.rooms.papers.building.paper_records import (
    CITED_FIELDS,
    FieldOrigin,
    FiledSummary,
    KeptImage,
    Origin,
    OtherValue,
    PaperRecord,
    is_guess,
)
from carrel.rooms.papers.building.record_works import describe_record

ORIGINS_BY_TRUST: tuple[Origin, ...] = ("person", "publisher", "list", "layout", "guess")
_TEXT_FIELDS = (
    "title", "venue", "abstract", "doi", "arxiv_id", "language", "kind", "volume", "issue",
    "pages", "publisher", "pmid", "pmcid", "isbn", "issn", "url", "license",
)  # fmt: skip
# Fields whose differences a person may want to settle, of which a paper keeps this many.
_COMPARED = (
    "title", "authors", "publication_date", "doi", "venue", "volume", "issue", "pages", "arxiv_id",
)  # fmt: skip
# Keywords that say how far a work was from publication, as facets spell them.
_STAGES = frozenset({"preprint", "preprints", "pre-print", "eprint", "e-print", "working paper"})
_MAX_OTHER_VALUES = 2
_MAX_VALUE_CHARACTERS = 300
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"[0-9]+")
_VENUE_FILLERS = frozenset({"the", "of", "and", "in", "on", "for", "a", "an", "de", "la", "und"})


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A record that has a value for a field, where that comes from, and its place in the list."""

    record: PaperRecord
    origin: FieldOrigin
    place: int
    lead: int

    @property
    def rank(self) -> tuple[bool, int, int, float, int]:
        trust = ORIGINS_BY_TRUST.index(self.origin.origin)
        return is_guess(self.origin), trust, self.lead, -self.origin.confidence, self.place


def merge_records(records: Sequence[PaperRecord], leads: Sequence[int] = ()) -> PaperRecord:
    """Merge at least one record, those of better readers first.

    Of each field the value of the best origin wins, then the surest, then the first; the others
    fill gaps. What is stated always wins over a guess. `leads` has a number for each record where
    people merged papers: among equal origins the lowest goes first.
    """
    if len(records) == 1:
        return records[0]
    if leads:
        order = sorted(range(len(records)), key=lambda at: (_trust(records[at]), leads[at], at))
        records, leads = [records[at] for at in order], [leads[at] for at in order]
    ranked = {name: _rank_candidates(records, name, leads) for name in (*CITED_FIELDS, "bibtex")}
    # An entry is a whole with a key that people use: the first stays, whose word each field is.
    ranked["bibtex"].sort(key=lambda each: each.place)
    texts = {name: _best_text(ranked[name], name) for name in _TEXT_FIELDS}
    text = next((record for record in records if record.markdown_sha256), None)
    summaries: dict[str, FiledSummary] = {}
    for record in records:
        for summary in record.summaries:
            summaries.setdefault(summary.template, summary)
    origin, confidence = _usual_origin(ranked)
    return PaperRecord(
        title=texts.pop("title") or "",
        authors=_best_names(ranked["authors"], "authors"),
        editors=_best_names(ranked["editors"], "editors"),
        institutions=_unite(record.institutions for record in records),
        publication_date=_fullest_date(ranked["publication_date"]),
        keywords=_unite_keywords(records),
        tags=_unite(record.tags for record in records),
        citation_key=_first(record.citation_key for record in records),
        bibtex=next((each.record.bibtex for each in ranked["bibtex"]), None),
        headings=text.headings
        if text
        else next((record.headings for record in records if record.headings), ()),
        summaries=tuple(summaries.values()),
        source_hash=_first(record.source_hash for record in records),
        markdown_sha256=text.markdown_sha256 if text else None,
        pdf_sha256=_first(record.pdf_sha256 for record in records),
        translations=tuple(
            dict(pair for record in reversed(records) for pair in record.translations).items()
        ),
        images=_images_shown(text, next((each for each in records if each.figures_sha256), None)),
        affiliations=next((each.record.affiliations for each in ranked["affiliations"]), ()),
        related=tuple(dict.fromkeys(related for record in records for related in record.related)),
        files=(),
        references_sha256=_first(record.references_sha256 for record in records),
        figures_sha256=_first(record.figures_sha256 for record in records),
        origin=origin,
        confidence=confidence,
        origins=tuple(
            FieldOrigin(name, best.origin, best.confidence)
            for name, candidates in ranked.items()
            if candidates
            and ((best := candidates[0].origin).origin, best.confidence) != (origin, confidence)
        ),
        other_values=tuple(
            other for name in _COMPARED for other in _find_other_values(name, ranked[name])
        ),
        overruled=_find_overruled(ranked),
        openalex_id=_first(record.openalex_id for record in records),
        text_origin=next((each.text_origin for each in records if each.text_origin), None),
        **texts,
    )


def _find_overruled(ranked: dict[str, list[_Candidate]]) -> tuple[str, ...]:
    """The fields that the record of the BibTeX entry lost to another, which says otherwise."""
    if not ranked["bibtex"]:
        return ()
    entry = ranked["bibtex"][0]
    return tuple(
        name
        for name in CITED_FIELDS
        if ranked[name] and _is_overruled(name, ranked[name][0], entry)
    )


def _is_overruled(name: str, best: _Candidate, entry: _Candidate) -> bool:
    said, instead = getattr(entry.record, name), getattr(best.record, name)
    if best.place == entry.place or not said or is_guess(best.origin):
        return False
    is_same = says_the_same(name, said, instead) and says_the_same(name, instead, said)
    return said != instead if best.origin.origin == "person" else not is_same


def _trust(record: PaperRecord) -> int:
    return ORIGINS_BY_TRUST.index(record.origin)


def _rank_candidates(
    records: Sequence[PaperRecord], name: str, leads: Sequence[int]
) -> list[_Candidate]:
    found = [
        _Candidate(record, record.origin_of(name), place, leads[place] if leads else 0)
        for place, record in enumerate(records)
        if getattr(record, name)
    ]
    return sorted(found, key=lambda each: each.rank)


def _usual_origin(ranked: dict[str, list[_Candidate]]) -> tuple[Origin, float]:
    """What most fields have, so that few need to be named."""
    counts = Counter(
        (each[0].origin.origin, each[0].origin.confidence) for each in ranked.values() if each
    )
    return counts.most_common(1)[0][0] if counts else ("list", 1.0)


def _best_text(candidates: Sequence[_Candidate], name: str) -> str | None:
    return _first(getattr(each.record, name) for each in candidates)


def _best_names(candidates: Sequence[_Candidate], name: str) -> tuple[str, ...]:
    return next((getattr(each.record, name) for each in candidates), ())


def _images_shown(text: PaperRecord | None, figures: PaperRecord | None) -> tuple[KeptImage, ...]:
    """Images of the text and of the list of figures, each once."""
    images = [image for record in (text, figures) if record for image in record.images]
    return tuple(dict.fromkeys(images))


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _unite(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Distinct values in their first spelling; values with the same facet are one."""
    seen: dict[str, str] = {}
    for values in lists:
        for value in values:
            if spelled := facet_value(value):
                seen.setdefault(spelled, value)
    return tuple(seen.values())


def _unite_keywords(records: Sequence[PaperRecord]) -> tuple[str, ...]:
    """The keywords of all; "preprint", which a preprint has, tells nothing of what appeared."""
    united = _unite(record.keywords for record in records)
    stages = [word for word in united if facet_value(word) in _STAGES]
    if not stages:
        return united
    works = [describe_record(record, "", "") for record in records]
    # Of a preprint with a DOI like any other, its kind or venue says what it is.
    is_preprint = [work.is_preprint or replace(work, doi=None).is_preprint for work in works]
    kept = {
        facet_value(word)
        for record, is_early in zip(records, is_preprint, strict=True)
        for word in record.keywords
        if not is_early
    }
    if all(is_preprint) or not any(work.is_published for work in works):
        return united
    return tuple(word for word in united if word not in stages or facet_value(word) in kept)


def _fullest_date(candidates: Sequence[_Candidate]) -> str | None:
    """The best date, unless another that is no guess only adds the month to the same year."""
    if not candidates:
        return None
    best = candidates[0].record.publication_date or ""
    fuller = (
        date
        for each in candidates
        if (date := each.record.publication_date) and not is_guess(each.origin)
    )
    return next((date for date in fuller if date.startswith(f"{best}-")), best)


def _find_other_values(name: str, candidates: Sequence[_Candidate]) -> list[OtherValue]:
    """What lower sources say of a field, where it is not the same; nothing a person has settled."""
    if not candidates or candidates[0].origin.origin == "person":
        return []
    best = candidates[0]
    found: list[OtherValue] = []
    seen = [getattr(best.record, name)]
    for each in candidates[1:]:
        value = getattr(each.record, name)
        is_idle = is_guess(each.origin) and not is_guess(best.origin)
        if is_idle or any(says_the_same(name, one, value) for one in seen):
            continue
        seen.append(value)
        shown = "; ".join(value) if isinstance(value, tuple) else str(value)
        found.append(
            OtherValue(
                name, shown[:_MAX_VALUE_CHARACTERS], each.origin.origin, each.origin.confidence
            )
        )
    return found[:_MAX_OTHER_VALUES]


def says_the_same(name: str, one: str | tuple[str, ...], other: str | tuple[str, ...]) -> bool:
    """Whether two values of a field differ in spelling at most; the first may say more."""
    if isinstance(one, tuple) or isinstance(other, tuple):
        return _has_all_names(tuple(one), tuple(other))
    match name:
        case "publication_date":
            return find_year(one) == find_year(other)
        case "venue":
            return _is_same_venue(one, other)
        case "pages" | "volume" | "issue":
            return _first_number(one) == _first_number(other)
        case "doi" | "arxiv_id":
            return one.lower() == other.lower()
        case _:
            return _squash(one) == _squash(other)


def _squash(text: str) -> str:
    return "".join(_WORD.findall(fold_text(text)))


def _first_number(text: str) -> str:
    found = _DIGITS.search(text)
    return found.group().lstrip("0") if found else fold_text(text).strip()


def _has_all_names(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether each name of the other list shares a longer word with one of the first."""
    known = {word for name in one for word in _long_words(name)}
    return all(
        not words or not known.isdisjoint(words) for words in (_long_words(name) for name in other)
    )


def _long_words(name: str) -> set[str]:
    """The words of a name that are no initials; in scripts without spaces, the whole name."""
    return {word for word in _WORD.findall(fold_text(name)) if len(word) > 1}


def _is_same_venue(one: str, other: str) -> bool:
    """Also where one is an abbreviation of the other: word by word, or by first letters."""
    mine, theirs = _venue_words(one), _venue_words(other)
    if not mine or not theirs:
        return True
    shorter, longer = sorted((mine, theirs), key=lambda words: sum(map(len, words)))
    if len(shorter) == 1 and shorter[0] == "".join(word[0] for word in longer):
        return True
    rest = iter(longer)
    return all(any(_abbreviates(word, full) for full in rest) for word in shorter)


def _abbreviates(word: str, full: str) -> bool:
    """`phys` and `physical`, `natl` and `national`: same beginning, letters in the same order."""
    if not full.startswith(word[:1]):
        return False
    letters = iter(full)
    return all(letter in letters for letter in word)


def _venue_words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", fold_text(text))
    return [word for word in _WORD.findall(folded) if word not in _VENUE_FILLERS]
