"""What happened to the files of a corpus: new, changed, renamed, removed, or only touched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from carrel.rooms.papers.building.build_reports import SourceChange
from carrel.rooms.papers.building.models import FoundSource, KnownSource
from carrel.rooms.papers.building.ports import BuildState, PaperSources


@dataclass(slots=True)
class Settlement:
    """The sources that must be read, and those that only have another path or time."""

    to_read: list[FoundSource] = field(default_factory=list)
    changes: list[SourceChange] = field(default_factory=list)
    moved_from: set[str] = field(default_factory=set)


class SourceSettler:
    """Tells renamed and touched files by their bytes from new and changed ones."""

    def __init__(self, sources: PaperSources, state: BuildState, inbox: Path) -> None:
        self._sources = sources
        self._state = state
        self._inbox = inbox.absolute()

    def find_former_copies(self, found: Iterable[FoundSource], known: Collection[str]) -> set[str]:
        """Files of our inbox that are known as they lie in another copy of this corpus.

        The same corpus may have been changed in another home or by another server.
        """
        names = {each.path.name for each in found if each.path.parent == self._inbox}
        return {path for path in known if Path(path).name in names and self._is_in_other_copy(path)}

    def settle(
        self,
        found: Iterable[FoundSource],
        known: Mapping[str, KnownSource | None],
        gone: Collection[str],
        *,
        knows_all: bool = False,
    ) -> Settlement:
        """Compare what is not up to date with what is known; moves are stored at once.

        With `knows_all`, only files of a size that `known` has are worth their hash.
        """
        result = Settlement()
        sizes = {_sizes(each) for each in known.values() if each is not None and each.content}
        for source in found:
            before = known.get(str(source.path))
            if before is not None:
                if not self._is_only_touched(source, before):
                    result.to_read.append(source)
                    result.changes.append(SourceChange("changed", str(source.path)))
                continue
            is_candidate = not knows_all or _sizes(source) in sizes
            old = self._find_moved(source, gone, result.moved_from) if is_candidate else None
            if old is None:
                result.to_read.append(source)
                result.changes.append(SourceChange("new", str(source.path)))
            else:
                self._state.move_source(old, source)
                # Among equal sources the path decides whose fields come first.
                self._state.touch_source(str(source.path))
                result.moved_from.add(old)
                result.changes.append(SourceChange("renamed", str(source.path), old))
        return result

    def _is_only_touched(self, source: FoundSource, known: KnownSource) -> bool:
        """Whether the bytes are the same; the new time is stored then."""
        if known.content is None or not known.is_complete or known.further:
            return False
        if not _has_same_reader(source, known) or _sizes(source) != _sizes(known):
            return False
        if self._sources.hash_content(source) != known.content:
            return False
        self._state.move_source(known.path, source)
        return True

    def _find_moved(
        self, source: FoundSource, gone: Collection[str], taken: Collection[str]
    ) -> str | None:
        """The path that a file had before: the same bytes, and nothing there any more."""
        content = self._sources.hash_content(source)
        if content is None:
            return None
        for known in self._state.sources_with_content(content):
            is_same = known.is_complete and _has_same_reader(source, known)
            if known.path in taken or not is_same:
                continue
            if len(known.stamps) != len(source.stamps):
                continue
            is_ours = source.path.parent == self._inbox and self._is_in_other_copy(known.path)
            if is_ours or known.path in gone or not Path(known.path).exists():
                return known.path
        return None

    def _is_in_other_copy(self, path: str) -> bool:
        """Whether a file lies in the inbox of another copy: its name is the hash of its bytes."""
        folder = Path(path).parent
        return folder.name == self._inbox.name and folder != self._inbox


def _sizes(source: FoundSource | KnownSource) -> tuple[int, ...]:
    return tuple(stamp.size_bytes for stamp in source.stamps)


def _has_same_reader(source: FoundSource, known: KnownSource) -> bool:
    return (source.reader, source.reader_version) == (known.reader, known.reader_version)


def removed_changes(paths: Collection[str]) -> list[SourceChange]:
    return [SourceChange("removed", path) for path in sorted(paths)]
