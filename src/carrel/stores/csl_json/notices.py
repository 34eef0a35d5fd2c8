"""What the next answer has to say about the library: kept until one answer has said it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from carrel.stores.csl_json.reconciling import Reconciled

_NAMED = 10


class Notices:
    """A file of sentences, one to a line. Only the holder of the library's lock comes here."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, text: str, at: str) -> None:
        if text in self._texts():
            return
        with self.path.open("ab") as file:
            file.write(json.dumps({"at": at, "text": text}).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def take(self) -> list[str]:
        """The sentences, which are then forgotten."""
        found = self._texts()
        self.path.unlink(missing_ok=True)
        return found

    def _texts(self) -> list[str]:
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        texts = []
        for line in lines:
            try:
                texts.append(str(json.loads(line)["text"]))
            except (ValueError, KeyError, TypeError):
                continue
        return texts


def notice_of(found: Reconciled) -> str | None:
    """What was decided against the letter of a saved file, in sentences, or None where it was taken
    as it is.
    """
    said = []
    if found.kept:
        said.append(
            f"{_count(found.kept)} kept ({_list(found.kept)}): the saved file lacks them and does "
            f"not show that its writer had "
            "seen them. Remove them here if they should go; `carrel references restore` goes back "
            "to an earlier state."
        )
    if found.still_removed:
        said.append(
            f"{_count(found.still_removed)} not brought back ({_list(found.still_removed)}): "
            f"removed here, and unchanged in the "
            "saved file. `carrel references restore` brings them back."
        )
    if found.brought_back:
        said.append(
            f"{_count(found.brought_back)} brought back ({_list(found.brought_back)}): removed "
            f"here, and edited in the saved file."
        )
    if found.conflicts:
        fields = tuple(f"{item} ({name})" for item, name in found.conflicts)
        said.append(
            f"Both sides changed {_list(fields)}: the value from here stays, the other is in the "
            f"kept versions."
        )
    for item, free in found.renamed:
        said.append(
            f"Another work was saved under the id {item}, which was given here meanwhile: it is "
            f"now {free}."
        )
    return "Another program saved the library. " + " ".join(said) if said else None


def _count(ids: tuple[str, ...]) -> str:
    return "1 reference was" if len(ids) == 1 else f"{len(ids)} references were"


def _list(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
