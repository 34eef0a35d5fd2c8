"""A generator as judge: assistants and stale editors of any age write one library, and nothing
acknowledged may be lost, though assistants are killed between the ledger and the file.

Every value is unique, so that whoever holds it got it from whoever wrote it. The model remembers
for each item and field what was
last acknowledged, and which editor had loaded what; an editor may undo only what it had loaded.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from carrel.stores.csl_json.document import LibraryDocument
from carrel.stores.csl_json.library_file import LibraryFile

pytestmark = pytest.mark.promise("L9")
FIELDS = ("note", "volume", "abstract")
CHANCE = st.integers(min_value=0, max_value=1_000_000)
Item = dict[str, Any]


@dataclass
class Editor:
    """A program that loaded the file once and saves its own copy. `loaded` is what it had at
    loading, `edited` what it changed.
    """

    buffer: list[Item]
    loaded: dict[str, Item]
    edited: dict[tuple[str, str], Any] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)


class Killed(BaseException):
    """The end of a process at some step."""


class Writers(RuleBasedStateMachine):
    """Two assistants through the real store, three editors that know nothing of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "lib.json"
        self.assistants = [LibraryFile(self.path), LibraryFile(self.path)]
        self.editors: list[Editor | None] = [None, None, None]
        self.numbers = count()
        # What was acknowledged: items that must be there, items that must not, and the value that a
        # field must have.
        self.present: dict[str, Item] = {}
        self.absent: set[str] = set()
        self.fields: dict[tuple[str, str], Any] = {}
        # Fields that were ever changed by anybody: where two change one field, either value may
        # stay.
        self.changed: set[tuple[str, str]] = set()
        self._fsync, os.fsync = os.fsync, lambda fd: None

    def teardown(self) -> None:
        os.fsync = self._fsync
        shutil.rmtree(self.folder)

    @initialize(size=st.integers(min_value=0, max_value=4))
    def begin(self, size: int) -> None:
        if size:
            items = [
                {"id": f"old-{number}", "type": "book", "title": f"Old {number}"}
                for number in range(size)
            ]
            self.path.write_text(json.dumps(items), encoding="utf-8")
            self.assistants[0].read()

    @rule(who=CHANCE, size=st.integers(min_value=1, max_value=4), has_uuid=st.booleans())
    def assistant_adds(self, who: int, size: int, has_uuid: bool) -> None:
        items = []
        for _ in range(size):
            number = next(self.numbers)
            item: Item = {
                "id": f"item-{number}",
                "type": "book",
                "title": f"Title {number}",
                "note": f"note {number}",
            }
            items.append(item | {"custom": {"uuid": f"uuid-{number}"}} if has_uuid else item)
        self._write(who % 2, lambda present: present.with_added(items))
        for item in items:
            self.present[item["id"]] = item
            self.fields[item["id"], "note"] = item["note"]

    @rule(who=CHANCE, which=CHANCE, name=st.sampled_from(FIELDS))
    def assistant_edits(self, who: int, which: int, name: str) -> None:
        value = f"assistant {next(self.numbers)}"
        chosen: list[str] = []

        def edit(present: LibraryDocument) -> LibraryDocument:
            ids = [entry.item_id for entry in present.entries if entry.item_id is not None]
            if not ids:
                return present
            chosen[:] = [ids[which % len(ids)]]
            entry = present.get(chosen[0])
            assert entry is not None
            return present.with_entry(chosen[0], entry.with_changes({name: value}))

        self._write(who % 2, edit)
        for item_id in chosen:
            self.fields[item_id, name] = value
            self.changed.add((item_id, name))
            self.present[item_id] = {}

    @rule(who=CHANCE, which=CHANCE)
    def assistant_removes(self, who: int, which: int) -> None:
        chosen: list[str] = []

        def remove(present: LibraryDocument) -> LibraryDocument:
            ids = [entry.item_id for entry in present.entries if entry.item_id is not None]
            chosen[:] = [ids[which % len(ids)]] if ids else []
            return present.without(chosen[0]) if chosen else present

        self._write(who % 2, remove)
        for item_id in chosen:
            self._forget(item_id)
            self.absent.add(item_id)

    def _write(self, who: int, edit: Callable[[LibraryDocument], LibraryDocument]) -> None:
        """The first assistant is content with the ledger, the second waits for the file."""
        assistant = self.assistants[who]
        (assistant.record if who == 0 else assistant.change)(edit)

    @rule(who=CHANCE)
    def file_follows(self, who: int) -> None:
        self.assistants[who % 2].materialize()

    @rule(who=CHANCE)
    def assistant_is_killed(self, who: int) -> None:
        self.assistants[who % 2] = LibraryFile(self.path)

    @rule(who=CHANCE, step=st.integers(min_value=1, max_value=9))
    def assistant_is_killed_while_the_file_follows(self, who: int, step: int) -> None:
        left = step

        def count(fd: object) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise Killed

        os.fsync = count
        try:
            self.assistants[who % 2].materialize()
        except Killed:
            self.assistants[who % 2] = LibraryFile(self.path)
        finally:
            os.fsync = lambda fd: None

    @rule(which=st.integers(min_value=0, max_value=2))
    def editor_loads(self, which: int) -> None:
        buffer = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else []
        self.editors[which] = Editor(buffer, {item["id"]: dict(item) for item in buffer})

    @precondition(lambda self: any(self.editors))
    @rule(which=st.integers(min_value=0, max_value=2), item=CHANCE, name=st.sampled_from(FIELDS))
    def editor_edits(self, which: int, item: int, name: str) -> None:
        editor = self.editors[which]
        if editor is not None and editor.buffer:
            chosen = editor.buffer[item % len(editor.buffer)]
            chosen[name] = f"editor {next(self.numbers)}"
            editor.edited[chosen["id"], name] = chosen[name]

    @precondition(lambda self: any(self.editors))
    @rule(which=st.integers(min_value=0, max_value=2))
    def editor_adds(self, which: int) -> None:
        editor = self.editors[which]
        if editor is not None:
            number = next(self.numbers)
            editor.buffer.append(
                {"id": f"edited-{number}", "type": "book", "title": f"By an editor {number}"}
            )

    @precondition(lambda self: any(self.editors))
    @rule(which=st.integers(min_value=0, max_value=2), item=CHANCE)
    def editor_deletes(self, which: int, item: int) -> None:
        editor = self.editors[which]
        if editor is not None and editor.buffer:
            gone = editor.buffer.pop(item % len(editor.buffer))
            editor.deleted.add(gone["id"])

    @precondition(lambda self: any(self.editors))
    @rule(
        which=st.integers(min_value=0, max_value=2),
        indent=st.sampled_from([None, 2, 4]),
        is_sorted=st.booleans(),
        is_renamed=st.booleans(),
    )
    def editor_saves(
        self, which: int, indent: int | None, is_sorted: bool, is_renamed: bool
    ) -> None:
        editor = self.editors[which]
        if editor is None:
            return
        # What was saved before this save is seen first: a save that nobody of ours ever saw cannot
        # be kept.
        self.assistants[0].read()
        items = (
            sorted(editor.buffer, key=lambda item: str(item["id"])) if is_sorted else editor.buffer
        )
        text = json.dumps(items, indent=indent, sort_keys=is_sorted)
        if is_renamed:
            (self.folder / "draft").write_text(text, encoding="utf-8")
            (self.folder / "draft").replace(self.path)
        else:
            self.path.write_text(text, encoding="utf-8")
        self._judge_save(editor)

    def _judge_save(self, editor: Editor) -> None:
        """Lets the model know what this editor may undo: what it had loaded in its newest version,
        and nothing else.
        """
        for item_id in editor.deleted:
            had = editor.loaded.get(item_id)
            promised = {
                name: value for (owner, name), value in self.fields.items() if owner == item_id
            }
            # An item of its own it may always delete.
            if had is None or all(had.get(name) == value for name, value in promised.items()):
                self._forget(item_id)
        for (item_id, name), value in editor.edited.items():
            # An edited item may come back.
            self.absent.discard(item_id)
            self.fields.pop((item_id, name), None)
            if (item_id, name) not in self.changed and item_id in self.present:
                self.fields[item_id, name] = value
            self.changed.add((item_id, name))
        # What is saved again is no new edit.
        editor.edited.clear()
        for item in editor.buffer:
            if item["id"] not in editor.loaded and item["id"] not in self.absent:
                self.present.setdefault(item["id"], {})

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        found = {item["id"]: item for item in self.assistants[1].read().document.items()}
        assert set(self.present) <= set(found)
        assert not self.absent & set(found)
        for (item_id, name), value in self.fields.items():
            assert found[item_id].get(name) == value, (item_id, name)
        assert len(found) == len(self.assistants[1].read().document.items())

    def _forget(self, item_id: str) -> None:
        self.present.pop(item_id, None)
        self.fields = {key: value for key, value in self.fields.items() if key[0] != item_id}


Writers.TestCase.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestWriters = Writers.TestCase
