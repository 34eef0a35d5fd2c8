"""`carrel knowledge import` and `export`: a folder of Markdown notes, in and out."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from carrel.cli.options import add_desk_options, settings_from, usual_file_modes
from carrel.cli.output import say_next_step, show
from carrel.cli.progress import TerminalProgress
from carrel.core.caller import Caller, Visit
from carrel.core.clock import SystemClock
from carrel.core.errors import InvalidInputError
from carrel.core.process_name import process_name
from carrel.rooms.knowledge.folder_import import (
    FolderImporter,
    ImportReport,
    NoteFile,
    SyncState,
    digest_of,
)
from carrel.rooms.knowledge.import_sources import FILES_COMPARED, AskedFolder, FolderResolver
from carrel.rooms.knowledge.notes import Note, Source
from carrel.services.markdown_notes.folder import NoteFolder, file_name
from carrel.services.markdown_notes.note import (
    EmptyNoteError,
    NoteTooLargeError,
    parse_note,
    refuse_too_large,
    write_note,
)
from carrel.settings import Settings
from carrel.wiring.audit import record_command
from carrel.wiring.desk import open_desk
from carrel.wiring.knowledge import open_note_folders, open_stores

_GROUP = 100


def run(words: list[str]) -> int:
    command = words[0]
    parser = argparse.ArgumentParser(
        prog=f"carrel knowledge {command}",
        description="Bring a folder of Markdown notes in; again and again, only what changed is "
        "saved."
        if command == "import"
        else "Write notes as Markdown files; a file that was changed elsewhere is never "
        "overwritten.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--source", choices=["personal", "team"], default="personal", help="whose notes these are"
    )
    if command == "import":
        parser.add_argument(
            "--as",
            dest="name",
            metavar="NAME",
            help="a name for the folder, the same wherever it lies",
        )
        parser.add_argument(
            "--moved-from",
            type=Path,
            metavar="FOLDER",
            help="where the folder was when it was last imported",
        )
    add_desk_options(parser)
    options = parser.parse_args(words[1:])
    settings = settings_from(options)
    if command == "import":
        if not options.folder.is_dir():
            raise InvalidInputError(
                f"There is no folder {options.folder}", next_step="Name a folder of Markdown files."
            )
        facts = {"folder": str(options.folder), "source": options.source, "name": options.name}
        with record_command(settings, "knowledge:import", "knowledge://notes", facts):
            moved_from = None if options.moved_from is None else options.moved_from.resolve()
            report = asyncio.run(
                _import(
                    settings, options.folder.resolve(), options.name, moved_from, options.source
                )
            )
    else:
        facts = {"folder": str(options.folder), "source": options.source}
        with (
            record_command(settings, "knowledge:export", "knowledge://notes", facts),
            usual_file_modes(),
        ):
            options.folder.mkdir(parents=True, exist_ok=True)
            report = asyncio.run(_export(settings, options.folder, options.source))
    return _show_report(report, command)


async def _import(
    settings: Settings, place: Path, name: str | None, moved_from: Path | None, source: Source
) -> ImportReport:
    folder, report, progress = NoteFolder(place), ImportReport(), TerminalProgress()
    caller = await _caller(settings)
    stores = open_stores(settings)
    importer = FolderImporter(stores.notes, SystemClock())
    synced = _synced(folder)
    try:
        paths = await asyncio.to_thread(folder.paths)
        asked = AskedFolder(place, caller.user_id, name, moved_from)
        some = await asyncio.to_thread(
            lambda: list(_files(folder, paths[:FILES_COMPARED], ImportReport()))
        )
        resolver = FolderResolver(open_note_folders(settings), stores.notes)
        known = await resolver.resolve(asked, some)
        progress.begin("importing", len(paths), "notes")
        for start in range(0, len(paths), _GROUP):
            part = paths[start : start + _GROUP]
            files = await asyncio.to_thread(lambda part=part: list(_files(folder, part, report)))  # type: ignore[misc]
            await importer.import_files(files, known, caller, source, synced, report)
            progress.advance(len(part))
        progress.end()
    finally:
        await stores.notes.close()
    return report


async def _export(settings: Settings, place: Path, source: Source) -> ImportReport:
    folder, report, progress = NoteFolder(place), ImportReport(), TerminalProgress()
    caller = await _caller(settings)
    stores = open_stores(settings)
    synced = _synced(folder)
    paths = {known.id: path for path, known in synced.items()}
    used = {path.casefold() for path in paths.values()}
    there = {path.casefold() for path in folder.paths()}
    try:
        progress.begin("exporting", None, "notes")
        async for note in FolderImporter(stores.notes, SystemClock()).notes_to_export(
            caller, source
        ):
            path = paths.get(note.id) or _free_path(note, used, there)
            used.add(path.casefold())
            await asyncio.to_thread(_write, folder, path, note, synced.get(path), report)
            progress.advance()
        progress.end()
    finally:
        await stores.notes.close()
        await asyncio.to_thread(folder.write_record, {**synced, **report.synced})
    return report


def _files(folder: NoteFolder, paths: list[str], report: ImportReport) -> Iterator[NoteFile]:
    for path in paths:
        try:
            parsed = parse_note(folder.read(path), path)
            refuse_too_large(parsed)
        except (EmptyNoteError, NoteTooLargeError, OSError) as error:
            report.add(path, "refused", str(error))
        except UnicodeDecodeError:
            report.add(path, "refused", "not UTF-8 text")
        else:
            report.problems.extend((path, warning) for warning in parsed.warnings)
            yield parsed


def _write(
    folder: NoteFolder, path: str, note: Note, last: SyncState | None, report: ImportReport
) -> None:
    mine = digest_of(note.title, note.content, note.tags)
    text = _text(note, path, mine)
    read_back = parse_note(text, path)
    state = SyncState(note.id, read_back.digest, mine)
    if not folder.exists(path):
        folder.write(path, text)
        report.add(path, "new")
        report.synced[path] = state
        return
    there = folder.read(path)
    if there == text:
        report.add(path, "unchanged")
        report.synced[path] = state
        return
    parsed = next(_files(folder, [path], ImportReport()), None)
    before = last.file_digest if last else note.origin.digest if note.origin else ""
    if parsed is None or parsed.digest != before:
        report.add(path, "conflict", "the file was changed since; it was not overwritten")
    elif last is not None and last.note_digest == mine:
        report.add(path, "unchanged")
    else:
        folder.write(path, text)
        report.add(path, "changed")
        report.synced[path] = state


def _text(note: Note, path: str, digest: str) -> str:
    origin = note.origin
    if origin is not None and origin.digest == digest:
        # Nobody changed it, so the file is the one that came in, byte for byte.
        return origin.front_matter + (note.content if origin.content_from == "body" else "")
    return write_note(
        note.title, note.content, note.tags, path, origin.front_matter if origin else ""
    )


def _free_path(note: Note, used: set[str], there: set[str]) -> str:
    """Where it came from, without the name of that folder, so that links between files go on; or
    named for its title.
    """
    home = note.origin.path.partition("/")[2] if note.origin is not None else ""
    if home and home.casefold() not in used:
        return home
    name = PurePosixPath(file_name(note.title))
    path, number = str(name), 2
    while path.casefold() in used | there:
        path, number = f"{name.stem} ({number}).md", number + 1
    return path


def _synced(folder: NoteFolder) -> Mapping[str, SyncState]:
    try:
        return folder.read_record()
    except OSError as error:
        raise InvalidInputError(str(error), next_step="Nothing was changed.") from None


async def _caller(settings: Settings) -> Caller:
    async with open_desk(settings.model_copy(update={"rooms": ()})).session() as desk:
        return await desk.gate.identify(
            Visit("cli", f"cli-{process_name()}", "local", f"carrel on {sys.platform}")
        )


def _show_report(report: ImportReport, command: str) -> int:
    show(
        ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.counts.items()))
        or "nothing to do"
    )
    for path, problem in report.problems:
        show(f"  {path}: {problem}", file=sys.stderr)
    if report.counts["conflict"]:
        return 6
    if report.counts["refused"] and report.counts.total() == report.counts["refused"]:
        return 1
    if command == "import":
        say_next_step("knowledge import")
    return 0
