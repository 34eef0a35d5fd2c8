"""The journal of a library: records and writes made under its lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from carrel.stores.csl_json.document import (
    LibraryDocument,
    UnreadableLibraryError,
    changed_entries,
    entries_by_key,
)
from carrel.stores.csl_json.element_history import ElementHistory
from carrel.stores.csl_json.file_replacement import (
    NotReplaceableError,
    UnfinishedWrite,
    copy_attributes,
    exchange,
    is_torn,
    overwrite,
    read_note,
    write_durably,
    write_note,
)
from carrel.stores.csl_json.ledger import ChangeOrigin, LibraryLedger, Revision
from carrel.stores.csl_json.merge import MergeResult, describe_merge, merge_save
from carrel.stores.csl_json.working_folder import (
    REPLACED,
    LibraryLocation,
    LibraryVersions,
    Notices,
    digest,
)

# A ledger whose last lines do not name the present state has missed changes; a killed writer leaves
# at most one line too many.
_LINES_AHEAD = 3


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The file that a write replaced, if there was one, and whether our content is in place."""

    replaced: Path | None
    is_done: bool


class LibraryJournal:
    """Ledger, versions and notices of one library file, and the writes that they make safe."""

    def __init__(self, location: LibraryLocation, now: Callable[[], datetime]) -> None:
        self.location = location
        self.versions = LibraryVersions(location.folder / "versions")
        self.ledger = LibraryLedger(location.folder / "ledger.jsonl")
        self.notices = Notices(location.folder / "notices.jsonl")
        self.is_touched = False
        self._now = now
        self._accepted: tuple[str, LibraryDocument] | None = None

    def accepted_state(self) -> LibraryDocument | None:
        """The state that we last wrote or accepted, or None at the first sight of a library."""
        mark = self.versions.current_digest()
        if mark is None:
            return None
        if self._accepted is None or self._accepted[0] != mark:
            found = self.versions.current()
            self._accepted = None if found is None else (mark, found)
        return None if self._accepted is None else self._accepted[1]

    def begin(self, data: bytes, document: LibraryDocument) -> None:
        """Takes the file as it is found at first sight. Nothing in it was promised by us."""
        last = self.ledger.last()
        number = 0 if last is None else last.number + 1
        # A ledger without versions: whatever it tells of, the present file need not follow from it.
        self.ledger.append(
            Revision(number, self._at(), "outside", digest(data), is_floor=last is not None)
        )
        self._keep_current(data, document)

    def absorb(self, theirs: LibraryDocument, data: bytes) -> LibraryDocument:
        """Merges an outside save into the accepted state, and accepts the result."""
        ours = self.accepted_state()
        if ours is None:
            self.begin(data, theirs)
            return theirs
        theirs = theirs.reuse_entries(ours)
        found = merge_save(self.history(ours), ours, theirs)
        self._record(ours, found.document, "outside", found)
        return found.document

    def restore_missing(self) -> LibraryDocument | None:
        """The accepted state of a library whose file is gone, or None where there never was one."""
        ours = self.accepted_state()
        if ours is not None and ours.entries:
            self.notices.add(
                f"The library file was missing; its {len(ours.entries)} references were put back.",
                self._at(),
            )
        return ours

    def accept(self, before: LibraryDocument, after: LibraryDocument) -> None:
        """Records a change of ours, so that it is remembered whatever becomes of the file."""
        self._record(before, after, "carrel", None)

    def history(self, ours: LibraryDocument) -> ElementHistory:
        self._bring_ledger_in_step()
        return ElementHistory(self.ledger.read(), entries_by_key(ours.entries))

    def withdraw(self) -> None:
        """Removes the newest accepted state, which was recorded and could not be put in place."""
        listed = [path for _, kind, path in self.versions.list_files() if kind != REPLACED]
        listed[-1].unlink(missing_ok=True)
        self._accepted = None

    def write(self, data: bytes, expected: bytes) -> WriteResult:
        """Makes the file hold `data`; returns what others wrote since it held `expected`."""
        target, draft = self.location.target, self.location.draft
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_durably(draft, data)
            if target.exists():
                if target.stat().st_nlink > 1:
                    raise NotReplaceableError("it has other names")
                copy_attributes(target, draft)
            replaced = exchange(draft, target)
        except NotReplaceableError:
            draft.unlink(missing_ok=True)
            return self._write_in_place(data, expected)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        self.is_touched = True
        return WriteResult(replaced, is_done=True)

    def finish_interrupted_write(self) -> None:
        """Completes a write into the file itself whose process was killed."""
        note = read_note(self.location.note)
        if note is not None:
            expected, wanted = self.versions.find(note.expected), self.versions.find(note.wanted)
            found = self.location.target.read_bytes() if self.location.target.exists() else b""
            is_other = digest(found) not in {note.expected, note.wanted}
            if wanted is not None and is_other and _is_unfinished(found, expected, wanted):
                overwrite(self.location.target, wanted)
        self.location.note.unlink(missing_ok=True)

    def list_interrupted(self) -> list[Path]:
        """Files of a killed writer: unmerged replaced ones, or the note of a write in place."""
        note = [self.location.note] if self.location.note.exists() else []
        return [*note, *self._left_behind()]

    def _left_behind(self) -> list[Path]:
        singles = (self.location.draft, self.location.replaced)
        return [*(path for path in singles if path.exists()), *self.list_unmerged()]

    def absorb_left_behind(self, present: LibraryDocument) -> LibraryDocument:
        """Merges the replaced files that a killed process, or a half-finished save, left behind."""
        for file in self._left_behind():
            data = file.read_bytes()
            if self.versions.has(data):
                file.unlink()
                continue
            present = self.absorb_replaced(file, data, present)
        return present

    def absorb_replaced(self, file: Path, data: bytes, present: LibraryDocument) -> LibraryDocument:
        """Merges a replaced file and makes it a version; an unreadable one is left for later."""
        try:
            theirs = LibraryDocument.parse(data)
            if not data.strip():
                raise UnreadableLibraryError("it is empty")
        except UnreadableLibraryError:
            self._put_aside(file)
            return present
        present = self.absorb(theirs, data)
        self.versions.keep_replaced(file, data)
        return present

    def keep_replaced(self, file: Path, data: bytes) -> None:
        """Makes a replaced file without anything new a version, unless it is one already."""
        if self.versions.has(data):
            file.unlink()
        else:
            self.versions.keep_replaced(file, data)

    def list_unmerged(self) -> list[Path]:
        return sorted(self.location.folder.glob("unmerged-*"))

    def _put_aside(self, file: Path) -> None:
        others = [path for path in self.list_unmerged() if path != file]
        if file not in self.list_unmerged():
            numbers = [int(path.name.partition("-")[2]) for path in others]
            file.replace(self.location.folder / f"unmerged-{max(numbers, default=0) + 1}")
        # Programs that crash while saving leave such files too; a few are enough.
        for old in others[:-2]:
            self.versions.keep_replaced(old, old.read_bytes())

    def _write_in_place(self, data: bytes, expected: bytes) -> WriteResult:
        target = self.location.target
        found = target.read_bytes()
        if found != expected:
            write_durably(self.location.replaced, found)
            return WriteResult(self.location.replaced, is_done=False)
        if not self.versions.has(found):
            self.versions.keep(found, REPLACED)
        write_note(self.location.note, UnfinishedWrite(digest(found), digest(data)))
        self.is_touched = True
        overwrite(target, data)
        self.location.note.unlink(missing_ok=True)
        return WriteResult(None, is_done=True)

    def _record(
        self,
        before: LibraryDocument,
        after: LibraryDocument,
        origin: ChangeOrigin,
        found: MergeResult | None,
    ) -> None:
        text = None if found is None else describe_merge(found)
        if text is not None:
            self.notices.add(text, self._at())
        data = after.data
        mark = digest(data)
        if mark == self.versions.current_digest():
            return
        self._bring_ledger_in_step()
        last = self.ledger.last()
        number = 1 if last is None else last.number + 1
        former, present = changed_entries(before, after)
        self.ledger.append(
            Revision(
                number,
                self._at(),
                origin,
                mark,
                {
                    key: number if found is None or id(entry) in found.made_here else found.seen
                    for key, entry in present.items()
                },
                [key for key in former if key not in present],
                {key: entry.raw for key, entry in former.items()},
                () if found is None else found.kept,
            )
        )
        self._keep_current(data, after)
        self.ledger.compact_if_large()

    def _keep_current(self, data: bytes, document: LibraryDocument) -> None:
        self.versions.keep(data)
        self._accepted = (digest(data), document)

    def _bring_ledger_in_step(self) -> None:
        """Makes the ledger end with the accepted state; what it missed counts as unseen."""
        mark, last = self.versions.current_digest(), self.ledger.last()
        if mark is None or (last is not None and last.state == mark):
            return
        if last is None:
            self.ledger.rewrite(_revisions_from_versions(self.versions, self._at()))
            return
        if mark not in {revision.state for revision in self.ledger.read()[-_LINES_AHEAD:]}:
            self.ledger.append(
                Revision(last.number + 1, self._at(), "unknown", mark, is_floor=True)
            )

    def _at(self) -> str:
        return self._now().isoformat(timespec="seconds")


def _revisions_from_versions(versions: LibraryVersions, at: str) -> Iterator[Revision]:
    """A ledger for a library that was kept without one: from the versions that are left of it."""
    listed = versions.list_files()
    is_whole = bool(listed) and listed[0][0] == 1
    number, before = (0 if is_whole else 1), None
    for mark, found in versions.accepted():
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


def _is_unfinished(found: bytes, expected: bytes | None, wanted: bytes) -> bool:
    try:
        LibraryDocument.parse(found)
    except UnreadableLibraryError:
        return True
    return not found.strip() or is_torn(found, expected or b"", wanted)
