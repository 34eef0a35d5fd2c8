"""The keys by which a work is known again: in another run, service or version."""

from __future__ import annotations

from collections.abc import Iterator

from carrel.libraries.identifiers import (
    ARXIV_DOI_PREFIX,
    ArxivId,
    Doi,
    identifier_keys,
    parse_or_none,
)
from carrel.libraries.literature.records import Author, MergedWork, WorkIds, WorkRecord
from carrel.libraries.works.keys import family_key, title_key
from carrel.libraries.works.titles import find_notice, is_generic_title, squash_title

# An ISBN names a book, of which all chapters have it.
_SHARED_KINDS = frozenset({"isbn"})


def list_seen_keys(found: MergedWork) -> tuple[str, ...]:
    """Every key of a work and of its versions, the best first."""
    keys = [*_keys_of(found.work.ids)]
    for record in found.records:
        keys += _keys_of(record.work.ids)
        keys.append(f"record:{record.service}:{record.service_id}")
        keys += [key for each in record.work.versions for key in _keys_of(each.ids)]
    keys += [key for each in found.versions for key in _keys_of(each.ids)]
    keys += list_title_keys(found.work)
    return tuple(dict.fromkeys(keys))


def list_title_keys(work: WorkRecord) -> tuple[str, ...]:
    """Keys that two records of one text share where their years are at most one apart.

    None for a title that many works have, for a notice about a work, and without author or year.
    """
    key, squashed = title_key(work.title), squash_title(work.title)
    if key is None or work.year is None or not work.authors:
        return ()
    if is_generic_title(squashed) or find_notice(work.title) is not None:
        return ()
    family = family_key(_family(work.authors[0]))
    if family is None:
        return ()
    return tuple(f"title:{key}|{family}|{year}" for year in (work.year, work.year + 1))


def _family(author: Author) -> str:
    return f"{author.family}," if author.family else author.literal


def _keys_of(ids: WorkIds) -> Iterator[str]:
    for key in ids.keys():  # noqa: SIM118 - no mapping
        kind, _, value = key.partition(":")
        if kind in _SHARED_KINDS:
            continue
        yield key
        # arXiv registers one DOI for all versions of a preprint, so either names both.
        if kind == "doi" and value.startswith(ARXIV_DOI_PREFIX):
            yield from _both(parse_or_none(Doi, value))
        elif kind == "arxiv":
            yield from _both(parse_or_none(ArxivId, value))


def _both(identifier: object) -> tuple[str, ...]:
    return identifier_keys(identifier) if isinstance(identifier, Doi | ArxivId) else ()
