"""A record of a source as linkage sees it, and the names by which records find each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from carrel.libraries.works.work import Work, first_page_of
from carrel.rooms.papers.building.paper_keys import find_year
from carrel.rooms.papers.building.paper_records import PaperRecord

# Sources of these readers hold many works, each once.
_LIST_READERS = frozenset({"bibliography", "json_lines"})
_DUMP = "_dump"
_LEFT_OUT_AS_GUESSES = frozenset({"publication_date", "venue", "authors", "doi"})


def describe_record(
    record: PaperRecord, path: str, reader: str, order: tuple[int | str, ...] = ()
) -> Work:
    """The work of a record that was read from `path`; what is only guessed is left out."""
    guessed = _LEFT_OUT_AS_GUESSES.intersection(record.inferred)
    year = find_year(None if "publication_date" in guessed else record.publication_date)
    is_list = reader in _LIST_READERS or reader.endswith(_DUMP)
    return Work(
        title=record.title,
        people=() if "authors" in guessed else record.authors,
        year=int(year) if year.isdigit() else None,
        doi=None if "doi" in guessed else record.doi,
        arxiv_id=record.arxiv_id,
        pmid=record.pmid,
        isbn=record.isbn,
        venue=None if "venue" in guessed else record.venue,
        volume=record.volume,
        first_page=first_page_of(record.pages),
        kind=record.kind,
        source=path if is_list else None,
        file=None if is_list else path,
        links=record.files,
        contents=tuple(each for each in (record.pdf_sha256,) if each),
        order=order,
    )


def move_linked_files(record: PaperRecord, before: str, after: str) -> PaperRecord:
    """The record of a list that lies elsewhere now: files in its folder moved with it."""
    old, new = Path(before).parent, Path(after).parent
    if old == new or not record.files:
        return record
    files = tuple(
        str(new / Path(name).relative_to(old)) if Path(name).is_relative_to(old) else name
        for name in record.files
    )
    return replace(record, files=files)


def file_names(work: Work) -> tuple[str, ...]:
    """Names under which an entry and the file that it links to find each other."""
    own = (work.file,) if work.file else ()
    return tuple(f"at:{path}" for path in (*own, *work.links))
