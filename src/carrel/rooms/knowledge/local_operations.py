"""Operations for the operator of the server: folders of notes in and out, and named nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.decorators import operation
from carrel.core.errors import InvalidInputError
from carrel.core.operation import Effect, Question
from carrel.libraries.text.tokenizer import case_key
from carrel.rooms.knowledge.folder_export import (
    FolderExporter,
    read_note_files,
    read_sync_states,
)
from carrel.rooms.knowledge.folder_import import FolderImporter, ImportReport, NoteFile, NoteFolder
from carrel.rooms.knowledge.import_sources import (
    FILES_COMPARED,
    AskedFolder,
    FolderResolver,
    KnownFolders,
)
from carrel.rooms.knowledge.notes import BadRow, Mine, Node, Source, Team
from carrel.rooms.knowledge.operations import READ, WRITE
from carrel.rooms.knowledge.ports import KnowledgeStores

_NOTES_AT_ONCE = 100
_NODES_AT_ONCE = 200
# Without a limit of its own: a person who waits can stop it, and what was saved stays.
_A_MONTH_SECONDS = 30 * 24 * 3600.0


class ImportNotes(Question):
    folder: str = Field(description="a folder of Markdown files")
    source: Source = Field(default="personal", description="whose notes these are")
    name: str | None = Field(default=None, description="a name for the folder")
    moved_from: str | None = Field(default=None, description="where it was at the last import")
    only: list[str] | None = Field(
        default=None, description="these files of the folder alone, by relative path"
    )


class CountNotes(Question):
    """Asks nothing."""


class ExportNotes(Question):
    folder: str = Field(description="where the Markdown files are written")
    source: Source = Field(default="personal", description="whose notes these are")


class ImportNodes(Question):
    file: str | None = Field(default=None, description="JSON lines, or a table (.csv, .tsv)")
    from_notes: bool = Field(default=False, description="make a node of every team note instead")


@dataclass(slots=True)
class NodesImported:
    """How many nodes were saved, and the lines that are none."""

    saved: int = 0
    bad: list[BadRow] = field(default_factory=list)


class KnowledgeFolderOperations:
    """Local operations, because they read and write any folder of the machine."""

    def __init__(
        self,
        open_stores: Callable[[], KnowledgeStores],
        known_folders: KnownFolders,
        open_folder: Callable[[Path], NoteFolder],
        read_nodes: Callable[[Path], Iterator[Node | BadRow]],
        clock: Clock,
        update_index: Callable[[KnowledgeStores], Awaitable[None]] | None = None,
    ) -> None:
        self._open_stores = open_stores
        self._update_index = update_index
        self._known_folders = known_folders
        self._open_folder = open_folder
        self._read_nodes = read_nodes
        self._clock = clock

    @operation(
        title="Import notes",
        description="Bring a folder of Markdown notes in; again, only what changed is saved.",
        scopes=WRITE,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="import",
    )
    async def import_notes(self, question: ImportNotes, call: Call) -> ImportReport:
        asked = _asked_folder(question, call.caller.user_id)
        folder, report = self._open_folder(asked.folder), ImportReport()
        stores, synced = self._open_stores(), read_sync_states(folder)
        importer = FolderImporter(stores.notes, self._clock)
        try:
            paths = await asyncio.to_thread(folder.paths)
            if question.only is not None:
                wanted = set(question.only)
                paths = [path for path in paths if path in wanted]
            some = await _read(folder, paths[:FILES_COMPARED], ImportReport())
            known = await FolderResolver(self._known_folders, stores.notes).resolve(asked, some)
            call.progress.begin("importing", len(paths), "notes")
            for start in range(0, len(paths), _NOTES_AT_ONCE):
                part = paths[start : start + _NOTES_AT_ONCE]
                files = await _read(folder, part, report)
                await importer.import_files(
                    files, known, call.caller, question.source, synced, report
                )
                call.progress.advance(len(part))
            call.progress.end()
            if self._update_index is not None:
                # The first search would do it, and let its caller wait.
                await self._update_index(stores)
        finally:
            await stores.notes.close()
        return report

    @operation(
        title="Count notes",
        description="How many notes of one's own there are.",
        scopes=READ,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="count",
    )
    async def count_notes(self, question: CountNotes, call: Call) -> int:
        stores, count = self._open_stores(), 0
        try:
            async for _ in stores.notes.everything(Mine(call.caller.user_id)):
                count += 1
        finally:
            await stores.notes.close()
        return count

    @operation(
        title="Export notes",
        description="Write notes as Markdown files; one that was changed elsewhere stays.",
        scopes=READ,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="export",
    )
    async def export_notes(self, question: ExportNotes, call: Call) -> ImportReport:
        folder = self._open_folder(_made_folder(question.folder))
        exporter, stores = FolderExporter(folder), self._open_stores()
        notes = FolderImporter(stores.notes, self._clock)
        try:
            call.progress.begin("exporting", None, "notes")
            async for note in notes.notes_to_export(call.caller, question.source):
                await asyncio.to_thread(exporter.write, note)
                call.progress.advance()
            call.progress.end()
        finally:
            await stores.notes.close()
            await asyncio.to_thread(exporter.remember)
        return exporter.report

    @operation(
        title="Import nodes",
        description="Add named nodes; a node of the same name is replaced.",
        scopes=WRITE,
        effect=Effect.WRITES,
        is_local=True,
        timeout_seconds=_A_MONTH_SECONDS,
        command="import-nodes",
    )
    async def import_nodes(self, question: ImportNodes, call: Call) -> NodesImported:
        file = None if question.file is None else Path(question.file)
        if not question.from_notes and (file is None or not file.is_file()):
            raise InvalidInputError(
                "A file of nodes is required", next_step="Name a file, or use --from-notes."
            )
        stores, imported = self._open_stores(), NodesImported()
        call.progress.begin("importing", None, "nodes")
        try:
            if question.from_notes or file is None:
                await self._import_team_notes(stores, imported, call)
            else:
                await self._import_rows(self._read_nodes(file), stores, imported, call)
        finally:
            await stores.notes.close()
        call.progress.end()
        return imported

    async def _import_rows(
        self,
        rows: Iterator[Node | BadRow],
        stores: KnowledgeStores,
        imported: NodesImported,
        call: Call,
    ) -> None:
        while group := await asyncio.to_thread(lambda: list(islice(rows, _NODES_AT_ONCE))):
            imported.bad.extend(row for row in group if isinstance(row, BadRow))
            await self._put([row for row in group if isinstance(row, Node)], stores, imported, call)

    async def _import_team_notes(
        self, stores: KnowledgeStores, imported: NodesImported, call: Call
    ) -> None:
        """Only the team's notes, because nodes are everybody's."""
        group: dict[str, Node] = {}
        async for note in stores.notes.everything(Team()):
            metadata: dict[str, object] = {"note_id": note.id, "tags": list(note.tags)}
            group[case_key(note.title)] = Node(note.title, "note", "", note.content, metadata)
            if len(group) >= _NODES_AT_ONCE:
                await self._put(list(group.values()), stores, imported, call)
                group = {}
        await self._put(list(group.values()), stores, imported, call)

    async def _put(
        self, nodes: list[Node], stores: KnowledgeStores, imported: NodesImported, call: Call
    ) -> None:
        # The last of several with one name counts, as it would one after the other.
        await stores.nodes.put(list({case_key(node.name): node for node in nodes}.values()))
        imported.saved += len(nodes)
        call.progress.advance(len(nodes))


async def _read(folder: NoteFolder, paths: list[str], report: ImportReport) -> list[NoteFile]:
    return await asyncio.to_thread(lambda: list(read_note_files(folder, paths, report)))


def _asked_folder(question: ImportNotes, user_id: str) -> AskedFolder:
    place = Path(question.folder)
    if not place.is_dir():
        raise InvalidInputError(
            f"There is no folder {place}", next_step="Name a folder of Markdown files."
        )
    moved_from = None if question.moved_from is None else Path(question.moved_from).resolve()
    return AskedFolder(place.resolve(), user_id, question.name, moved_from)


def _made_folder(name: str) -> Path:
    place = Path(name)
    place.mkdir(parents=True, exist_ok=True)
    return place
