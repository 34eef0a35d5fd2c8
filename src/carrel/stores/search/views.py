"""Views: any set of parts searched as one index, with word weights counted over all of them.

tantivy's segments are immutable files that its `meta.json` lists, so a view is a folder of links to
the segments of its parts and a list that names them all. It is a cache, named by what it shows.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tantivy

from carrel.core.process_name import process_name
from carrel.stores.search.engine import TantivyEngine
from carrel.stores.search.errors import UnusablePartError, translate_panics
from carrel.stores.search.parts import read_part
from carrel.stores.search.schema import INDEX_FORMAT, index_schema, register_tokenizers

# A view that nobody has opened for this long is removed; whoever searches it keeps its files.
SWEEP_AFTER_SECONDS = 600.0
_ATTEMPTS = 3
_PART_SUFFIX = ".part"


@dataclass(frozen=True, slots=True)
class View:
    """One opened union of parts; many threads may search it at once."""

    name: str
    schema: tantivy.Schema
    searcher: tantivy.Searcher

    @property
    def engine(self) -> TantivyEngine:
        return TantivyEngine(self.schema, self.searcher)

    @property
    def document_count(self) -> int:
        return int(self.searcher.num_docs)


def name_view(parts: Sequence[Path]) -> str:
    """The name of the view of these parts, which changes with what was committed to any of them.

    Raises UnusablePartError.
    """
    return _name_of([segment for _, segment in _segments(parts)])


def open_view(parts: Sequence[Path], views_folder: Path) -> View:
    """Open all parts as one index. Raises UnusablePartError where one cannot be read.

    The view is made in `views_folder`, or in a folder of this process where that cannot be written.
    """
    failure: Exception | None = None
    for _ in range(_ATTEMPTS):
        # A part may be committed to, and its old files removed, while they are being linked.
        segments = list(_segments(parts))
        name = _name_of([segment for _, segment in segments])
        try:
            return _open_in(views_folder, name, segments)
        except PermissionError:
            break
        except (OSError, ValueError) as error:
            failure = error
            _remove_view(views_folder / name)
    segments = list(_segments(parts))
    name = _name_of([segment for _, segment in segments])
    try:
        return _open_in(_own_folder(), name, segments)
    except (OSError, ValueError) as error:
        names = ", ".join(part.name for part in parts)
        raise UnusablePartError(f"cannot open the index parts {names}") from (failure or error)


def open_part(part: Path) -> View:
    """Open one part alone, in its own folder where that can be written. Raises UnusablePartError.

    tantivy locks a folder while it opens it, so that a read-only one needs a view elsewhere.
    """
    read_part(part)
    try:
        return _open_folder(part)
    except (OSError, ValueError):
        return open_view([part], _own_folder())


def sweep_views(views_folder: Path, *, but: Iterable[str] = ()) -> None:
    """Remove views that nobody has opened lately, and what a killed process left half made."""
    kept = set(but)
    oldest = time.time() - SWEEP_AFTER_SECONDS
    with suppress(OSError):
        for folder in views_folder.iterdir():
            with suppress(OSError):
                if folder.name not in kept and folder.stat().st_mtime < oldest:
                    _remove_view(folder)


def _segments(parts: Sequence[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for part in parts:
        for segment in read_part(part)["segments"]:
            yield part, segment


def _name_of(segments: Sequence[dict[str, Any]]) -> str:
    facts = json.dumps([INDEX_FORMAT, segments], sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()[:32]


def _open_in(views_folder: Path, name: str, segments: list[tuple[Path, dict[str, Any]]]) -> View:
    folder = views_folder / name
    is_new = not folder.is_dir()
    if is_new:
        _make_view(folder, segments)
    view = _open_folder(folder)
    if is_new:
        sweep_views(views_folder, but=[name])
    else:
        with suppress(OSError):
            os.utime(folder)
    return view


def _open_folder(folder: Path) -> View:
    try:
        with translate_panics():
            index = tantivy.Index.open(str(folder))
            register_tokenizers(index)
            return View(folder.name, index_schema(), index.searcher())
    except UnusablePartError as error:
        raise ValueError("the files cannot be opened") from error


def _make_view(folder: Path, segments: list[tuple[Path, dict[str, Any]]]) -> None:
    """Write the whole view under another name and rename it, so that none is ever half made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(
        tempfile.mkdtemp(
            prefix=f"{folder.name}.{process_name()}.", suffix=_PART_SUFFIX, dir=folder.parent
        )
    )
    try:
        for part in dict.fromkeys(part for part, _ in segments):
            link_files(part, fresh, [segment for owner, segment in segments if owner == part])
        meta = dict(read_part(segments[0][0])) if segments else _empty_meta()
        meta |= {"segments": [segment for _, segment in segments], "opstamp": 0, "payload": None}
        (fresh / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
        fresh.rename(folder)
    except BaseException:
        _remove_view(fresh)
        # Another process has made the same view in the meantime.
        if not folder.is_dir():
            raise


def _empty_meta() -> dict[str, Any]:
    """What tantivy writes for an index without documents."""
    with tempfile.TemporaryDirectory(prefix="carrel-empty-index-") as folder:
        tantivy.Index(index_schema(), path=folder)
        return dict(json.loads((Path(folder) / "meta.json").read_bytes()))


def link_files(part: Path, folder: Path, segments: Sequence[dict[str, Any]]) -> None:
    """Link the files of a part's segments, each named by its segment's id."""
    wanted = {str(segment["segment_id"]).replace("-", "") for segment in segments}
    for file in sorted(part.iterdir()):
        if file.name.partition(".")[0] in wanted:
            _link_or_copy(file, folder / file.name)


def _link_or_copy(source: Path, target: Path) -> None:
    """A hard link; across file systems a symbolic one; where neither exists, a copy."""
    for make_link in (os.link, os.symlink):
        try:
            make_link(source.resolve(), target)
        except FileNotFoundError:
            raise
        except (OSError, NotImplementedError):
            continue
        return
    shutil.copyfile(source, target)


def _remove_view(folder: Path) -> None:
    """Remove a view; its list goes first, so that nobody opens the rest."""
    with suppress(OSError):
        (folder / "meta.json").unlink()
    shutil.rmtree(folder, ignore_errors=True)


_own_folders: dict[int, Path] = {}


def _own_folder() -> Path:
    """A folder for the views of this process alone, removed when it ends."""
    process = os.getpid()
    if process not in _own_folders:
        folder = _own_folders[process] = Path(tempfile.mkdtemp(prefix="carrel-views-"))
        atexit.register(_remove_own_folder, process, folder)
    return _own_folders[process]


def _remove_own_folder(process: int, folder: Path) -> None:
    # A forked child inherits the duty but not the folder.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
