"""The journal of a library: records and writes made under its lock.

The accepted state is the newest version of ours with the edits that the ledger has since. The file
follows it: whatever becomes of the file, the accepted state is what was acknowledged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from carrel.stores.csl_json.document import LibraryDocument, UnreadableLibraryError
from carrel.stores.csl_json.document_changes import changed_entries
from carrel.stores.csl_json.edits import Edits
from carrel.stores.csl_json.element_history import ElementHistory
from carrel.stores.csl_json.element_keys import entries_by_key
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
from carrel.stores.csl_json.journal_replay import (
    describe_change,
    describe_versions,
    replay_all,
    replay_exactly,
)
from carrel.stores.csl_json.ledger import ChangeOrigin, LedgerEnd, LibraryLedger, Revision
from carrel.stores.csl_json.merge import MergeResult, describe_merge, merge_save
from carrel.stores.csl_json.placed_file import PlacedFile, PlacedNote, Signature, file_signature
from carrel.stores.csl_json.prepared_file import PreparedFile
from carrel.stores.csl_json.working_folder import (
    CURRENT,
    LEDGER_NAME,
    REPLACED,
    LibraryLocation,
    LibraryVersions,
    Notices,
    Version,
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


@dataclass(frozen=True, slots=True)
class AcceptedState:
    """What was acknowledged so far: the state of a revision, from the version of another on."""

    document: LibraryDocument
    revision: int
    base: int
    version: str
    end: LedgerEnd | None
    ledger: Signature


class LibraryJournal:
    """Ledger, versions and notices of one library file, and the writes that they make safe."""

    def __init__(self, location: LibraryLocation, now: Callable[[], datetime]) -> None:
        self.location = location
        self.versions = LibraryVersions(location.folder / "versions")
        self.ledger = LibraryLedger(location.folder / LEDGER_NAME)
        self.notices = Notices(location.folder / "notices.jsonl")
        self.placed = PlacedNote(location.placed)
        self.is_touched = False
        self._now = now
        self._accepted: AcceptedState | None = None
        # Files put aside that were no library when they were looked at: they cost one look each.
        self._unreadable: dict[str, Signature] = {}
        # What this writer recorded last: its line, its version, and the state before.
        self._recorded: tuple[Revision, Path, AcceptedState | None] | None = None

    def forget_recorded(self) -> None:
        """Called when the lock was taken: what was recorded before has come about."""
        self.is_touched = False
        self._recorded = None

    def read_accepted(self) -> AcceptedState | None:
        """The state that we last wrote or accepted, or None at the first sight of a library."""
        newest = self.versions.newest_current()
        if newest is None:
            return None
        known = self._catch_up(newest) or self._load()
        self._accepted = known
        return known

    def accepted_state(self) -> LibraryDocument | None:
        """The library as it was last acknowledged, or None at its first sight."""
        known = self.read_accepted()
        return None if known is None else known.document

    def accepted_from(
        self, placed: PlacedFile, read_file: Callable[[], LibraryDocument | None]
    ) -> AcceptedState | None:
        """The accepted state of a library whose file is as we left it; None where it is not.

        The file serves for its version, which then needs not be read.
        """
        newest = self.versions.newest_current()
        base = -1 if newest is None or newest.revision is None else newest.revision
        if base > placed.revision:
            # A writer that was killed recorded more than it put into the file.
            return self.read_accepted()
        known = None if newest is None else self._catch_up(newest)
        if known is None or known.revision < placed.revision:
            document = read_file()
            if document is None:
                return None
            name = "" if newest is None else newest.path.name
            known = self._replay(document, placed.revision, base, name)
        self._accepted = known
        return known

    def _catch_up(self, newest: Version) -> AcceptedState | None:
        """The state in memory with what was added to the ledger since; None where it is outdated.

        A newer version is that of a state which this one has passed.
        """
        known = self._accepted
        if known is None or known.end is None:
            return None
        ledger = self.ledger.signature() or ()
        if ledger == known.ledger and known.version == newest.path.name:
            return known
        added = self.ledger.read_since(known.end)
        if added is None:
            return None
        found = replay_exactly(known.document, known.revision, added[0])
        if found is None:
            return None
        document, revision = found
        if known.version == newest.path.name:
            return replace(known, document=document, revision=revision, end=added[1], ledger=ledger)
        base = newest.revision
        if base is None or not known.base <= base <= revision:
            return None
        return AcceptedState(document, revision, base, newest.path.name, added[1], ledger)

    def _load(self) -> AcceptedState | None:
        found = self.versions.read_current()
        if found is None:
            return None
        version, document = found
        base = version.revision
        if base is None:
            base = self._revision_of(version.mark)
        return self._replay(document, base, base, version.path.name)

    def _replay(
        self, document: LibraryDocument, revision: int, base: int, version: str
    ) -> AcceptedState:
        """The state after every edit that the ledger has since a revision."""
        if self._accepted is not None:
            document = document.reuse_entries(self._accepted.document)
        ledger = self.ledger.signature() or ()
        lines, end = self.ledger.read_after(revision)
        document, revision = replay_all(document, revision, lines)
        return AcceptedState(document, revision, base, version, end, ledger)

    def _revision_of(self, mark: str) -> int:
        """The revision of a version that does not name it."""
        revisions = self.ledger.read()
        named = [revision.number for revision in revisions if revision.state == mark]
        return named[-1] if named else 0

    def is_ours(self, mark: str) -> bool:
        """Whether we put a file of this digest in place, or were about to."""
        note = self.placed.read()
        ours = {self.versions.current_digest()}
        return mark in (ours if note is None else {*ours, note.wanted, note.expected})

    def begin(self, data: bytes, document: LibraryDocument) -> None:
        """Takes the file as it is found at first sight. Nothing in it was promised by us."""
        last = self.ledger.last()
        number = 0 if last is None else last.number + 1
        # A ledger without versions: whatever it tells of, the present file need not follow from it.
        revision = Revision(number, self._at(), "outside", digest(data), is_floor=last is not None)
        self._keep_current(data, document, revision, self.ledger.append(revision))

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
        """Takes back what was recorded last, since it could not be put in place."""
        if self._recorded is not None:
            revision, version, before = self._recorded
            version.unlink(missing_ok=True)
            self.ledger.withdraw_last(revision)
            self._accepted = before
            self._recorded = None

    def shorten_ledger(self) -> None:
        """Called when the file has the accepted state, so that no edit is needed any more.

        Before that the write may still be withdrawn, and edits of earlier changes must be there.
        """
        if self._accepted is not None:
            self.ledger.compact_if_large(self._accepted.base)

    def record(self, known: AcceptedState, after: LibraryDocument, edits: Edits) -> AcceptedState:
        """Acknowledges a change of ours in the ledger alone. After an OSError nothing changed."""
        self._bring_ledger_in_step()
        number = self._next_number()
        former, present = changed_entries(known.document, after)
        revision = describe_change(number, self._at(), "carrel", "", former, present)
        end = self.ledger.append(replace(revision, edits=edits))
        ledger = self.ledger.signature() or ()
        self._accepted = replace(known, document=after, revision=number, end=end, ledger=ledger)
        return self._accepted

    def write(self, data: bytes, expected: bytes) -> WriteResult:
        """Makes the file hold `data`; returns what others wrote since it held `expected`."""
        mark = self._keep_version(data)
        target, draft = self.location.target, self.location.draft
        target.parent.mkdir(parents=True, exist_ok=True)
        # Under another name until it is whole: what is found as the draft was a library file.
        unfinished = draft.with_suffix(".unfinished")
        try:
            write_durably(unfinished, data)
            unfinished.replace(draft)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        return self._put_in_place(mark, digest(expected))

    def place(self, prepared: PreparedFile, expected: str) -> WriteResult:
        """Makes the file hold what was prepared; `expected` is the digest of what it holds."""
        known = self._accepted
        newest = self.versions.newest_current()
        if newest is None or (newest.mark, newest.revision) != (prepared.mark, prepared.revision):
            path = self.versions.take_in(
                prepared.version, prepared.mark, CURRENT, prepared.revision
            )
            if known is not None:
                self._accepted = replace(known, base=prepared.revision, version=path.name)
        prepared.draft.replace(self.location.draft)
        return self._put_in_place(prepared.mark, expected, prepared.revision)

    def note_placed(self, data: bytes) -> None:
        """Notes that the file holds the accepted state, which it does without a write of ours."""
        mark = self._keep_version(data)
        wanted = PlacedFile(self._revision(), mark, mark, self._signature_of(mark))
        if wanted.signature and self.placed.read() != wanted:
            self.placed.write(wanted)

    def _signature_of(self, mark: str) -> Signature:
        """The signature of the file; empty where it has another content, or changes meanwhile."""
        target = self.location.target
        signature = file_signature(target)
        try:
            is_same = digest(target.read_bytes()) == mark
        except FileNotFoundError:
            return ()
        return signature if is_same and file_signature(target) == signature else ()

    def _keep_version(self, data: bytes) -> str:
        """Makes the accepted state a version, if it is none; returns its digest."""
        mark, known, newest = digest(data), self._accepted, self.versions.newest_current()
        if known is not None and (
            newest is None or newest.mark != mark or (newest.revision or 0) < known.revision
        ):
            path = self.versions.keep(data, CURRENT, known.revision)
            self._accepted = replace(known, base=known.revision, version=path.name)
        return mark

    def _put_in_place(self, mark: str, expected: str, revision: int | None = None) -> WriteResult:
        """Gives the draft the name of the file."""
        target, draft = self.location.target, self.location.draft
        number = self._revision() if revision is None else revision
        try:
            if target.exists():
                if target.stat().st_nlink > 1:
                    raise NotReplaceableError("it has other names")
                copy_attributes(target, draft)
            # That of the draft, which it keeps: what has the name of the file a moment later may
            # be what another program put there.
            signature = file_signature(draft)
            self.placed.write(PlacedFile(number, mark, expected, signature))
            replaced = exchange(draft, target)
        except NotReplaceableError:
            data = draft.read_bytes()
            draft.unlink(missing_ok=True)
            return self._write_in_place(data, expected, number)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        self.is_touched = True
        self.placed.write(PlacedFile(number, mark, mark, signature), is_durable=False)
        return WriteResult(replaced, is_done=True)

    def _revision(self) -> int:
        return 0 if self._accepted is None else self._accepted.revision

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
        unmerged = [
            path
            for path in self.list_unmerged()
            if file_signature(path) != self._unreadable.get(path.name)
        ]
        return [*(path for path in singles if path.exists()), *unmerged]

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

    def drop_replaced(self, file: Path | None, mark: str) -> None:
        """Removes a replaced file that has what we had put there, and makes it a version if not."""
        if file is not None and self.versions.has_mark(mark):
            file.unlink()
        elif file is not None:
            self.versions.keep_replaced(file, file.read_bytes())

    def placed_signature(self) -> Signature:
        """The signature of the file as we left it; empty where that is not known."""
        note = self.placed.read()
        return () if note is None else note.signature

    def note_signature(self, signature: Signature, mark: str) -> None:
        """Notes under which signature the file now has what we put there, as after a copy."""
        note = self.placed.read()
        if note is not None and note.wanted == mark and note.signature != signature:
            self.placed.write(replace(note, signature=signature), is_durable=False)

    def list_unmerged(self) -> list[Path]:
        return sorted(self.location.folder.glob("unmerged-*"))

    def _put_aside(self, file: Path) -> None:
        others = [path for path in self.list_unmerged() if path != file]
        aside = file
        if file not in self.list_unmerged():
            numbers = [int(path.name.partition("-")[2]) for path in others]
            aside = self.location.folder / f"unmerged-{max(numbers, default=0) + 1}"
            file.replace(aside)
        self._unreadable[aside.name] = file_signature(aside)
        # Programs that crash while saving leave such files too; a few are enough.
        for old in others[:-2]:
            self.versions.keep_replaced(old, old.read_bytes())

    def _write_in_place(self, data: bytes, expected: str, revision: int) -> WriteResult:
        target = self.location.target
        found = target.read_bytes()
        if digest(found) != expected:
            write_durably(self.location.replaced, found)
            return WriteResult(self.location.replaced, is_done=False)
        if not self.versions.has(found):
            self.versions.keep(found, REPLACED)
        mark = digest(data)
        write_note(self.location.note, UnfinishedWrite(expected, mark))
        self.placed.write(PlacedFile(revision, mark, expected, ()))
        self.is_touched = True
        overwrite(target, data)
        self.placed.write(PlacedFile(revision, mark, mark, self._signature_of(mark)))
        self.location.note.unlink(missing_ok=True)
        return WriteResult(None, is_done=True)

    def _record(
        self,
        before: LibraryDocument,
        after: LibraryDocument,
        origin: ChangeOrigin,
        found: MergeResult | None,
    ) -> None:
        """Records a state with a version of its own."""
        text = None if found is None else describe_merge(found)
        if text is not None:
            self.notices.add(text, self._at())
        data = after.data
        mark = digest(data)
        known, newest = self.read_accepted(), self.versions.newest_current()
        is_stored = known is not None and known.revision == known.base
        if known is not None and newest is not None and is_stored and mark == newest.mark:
            self._accepted = replace(known, document=after)
            return
        self._bring_ledger_in_step()
        number = self._next_number()
        former, present = changed_entries(before, after)
        revision = describe_change(number, self._at(), origin, mark, former, present)
        if found is not None:
            revision = replace(
                revision,
                written={
                    key: number if id(entry) in found.made_here else found.seen
                    for key, entry in present.items()
                },
                kept=found.kept,
            )
        self._keep_current(data, after, revision, self.ledger.append(revision))

    def _keep_current(
        self, data: bytes, document: LibraryDocument, revision: Revision, end: LedgerEnd
    ) -> None:
        before = self._accepted
        try:
            path = self.versions.keep(data, CURRENT, revision.number)
        except OSError:
            # A line whose state nobody has tells of a change that never was.
            self.ledger.withdraw_last(revision)
            raise
        ledger = self.ledger.signature() or ()
        number = revision.number
        self._accepted = AcceptedState(document, number, number, path.name, end, ledger)
        self._recorded = (revision, path, before)

    def _next_number(self) -> int:
        last = self.ledger.last()
        return 1 if last is None else last.number + 1

    def _bring_ledger_in_step(self) -> None:
        """Makes the ledger end with the accepted state; what it missed counts as unseen."""
        newest, last = self.versions.newest_current(), self.ledger.last()
        if newest is None or (last is not None and last.state == newest.mark):
            return
        if last is None:
            self.ledger.rewrite(describe_versions(self.versions, self._at()))
            last = self.ledger.last()
        number = -1 if last is None else last.number
        if newest.revision is None:
            marks = {revision.state for revision in self.ledger.read()[-_LINES_AHEAD:]}
            is_behind = newest.mark not in marks
        else:
            is_behind = number < newest.revision
        if is_behind:
            number = max(number + 1, newest.revision or 0)
            self.ledger.append(Revision(number, self._at(), "unknown", newest.mark, is_floor=True))

    def _at(self) -> str:
        return self._now().isoformat(timespec="seconds")


def _is_unfinished(found: bytes, expected: bytes | None, wanted: bytes) -> bool:
    try:
        LibraryDocument.parse(found)
    except UnreadableLibraryError:
        return True
    return not found.strip() or is_torn(found, expected or b"", wanted)
