"""What the lines of a ledger say: states made again from them, and lines made of states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.document_changes import changed_entries
from carrel.stores.csl_json.edits import Edits, apply_edits
from carrel.stores.csl_json.element_keys import ElementKey
from carrel.stores.csl_json.ledger import ChangeOrigin, Revision
from carrel.stores.csl_json.library_entry import LibraryEntry
from carrel.stores.csl_json.working_folder import LibraryVersions


def describe_change(
    number: int,
    at: str,
    origin: ChangeOrigin,
    mark: str,
    former: Mapping[ElementKey, LibraryEntry],
    present: Mapping[ElementKey, LibraryEntry],
) -> Revision:
    """The line of a change from elements that were there before to others."""
    return Revision(
        number,
        at,
        origin,
        mark,
        dict.fromkeys(present, number),
        [key for key in former if key not in present],
        {key: entry.raw for key, entry in former.items()},
    )


def replay_exactly(
    document: LibraryDocument, revision: int, lines: Sequence[Revision]
) -> tuple[LibraryDocument, int] | None:
    """The state after the edits of some lines; None where they do not follow from this one."""
    edits: list[Edits] = []
    for line in lines:
        if line.edits is not None and line.number > revision:
            if line.edits.on != revision:
                return None
            edits.append(line.edits)
            revision = line.number
    return (apply_edits(document, edits) if edits else document), revision


def replay_all(
    document: LibraryDocument, revision: int, lines: Sequence[Revision]
) -> tuple[LibraryDocument, int]:
    """The state after the edits of every line; after a lost one, elements go by their ids."""
    edits: list[Edits] = []
    for line in lines:
        if line.edits is not None and line.number > revision:
            is_lost = line.edits.on != revision
            edits.append(replace(line.edits, count=-1) if is_lost else line.edits)
            revision = line.number
    return (apply_edits(document, edits) if edits else document), revision


def describe_versions(versions: LibraryVersions, at: str) -> Iterator[Revision]:
    """A ledger for a library that was kept without one: from the versions that are left of it."""
    listed = versions.list_files()
    is_whole = bool(listed) and listed[0][0] == 1
    number, before = (0 if is_whole else 1), None
    for mark, found in versions.iterate_accepted():
        document = found if before is None else found.reuse_entries(before)
        if before is None:
            yield Revision(number, at, "unknown", mark, is_floor=not is_whole)
        else:
            former, present = changed_entries(before, document)
            number += 1
            removed = [key for key in former if key not in present]
            texts = {key: entry.raw for key, entry in former.items()}
            yield Revision(number, at, "unknown", mark, dict.fromkeys(present, 0), removed, texts)
        before = document
