"""The distinct words of a library by kind, in files that are searched for a part of a word."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_END = b"\n"


class WordFiles:
    """One file of words for each kind, one to a line; words are only ever added."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, tuple[tuple[int, int], bytes]] = {}

    def add(self, words: Mapping[str, Iterable[str]]) -> None:
        """Add words, which may be known already, and make them durable."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for kind, found in words.items():
            lines = [_encode(word) for word in sorted(found)]
            if not lines:
                continue
            with (self._folder / kind).open("ab") as file:
                # A killed writer may have left half a line.
                file.write(_END + _END.join(lines) + _END)
                file.flush()
                os.fsync(file.fileno())

    def sizes(self) -> dict[str, int]:
        """The bytes of every file, which only grow."""
        try:
            return {file.name: file.stat().st_size for file in self._folder.iterdir()}
        except FileNotFoundError:
            return {}

    def containing(self, kind: str, text: str, *, is_beginning: bool = False) -> Iterator[str]:
        """The words of a kind that have a text in them, or at the start of a word in them."""
        content, wanted = self._content(kind), _encode(text)
        at = content.find(wanted)
        while at >= 0:
            start = content.rfind(_END, 0, at) + 1
            end = content.find(_END, at)
            word = content[start : end if end >= 0 else len(content)].decode("utf-8", "replace")
            if not is_beginning or _begins_word(word, text):
                yield word
            if end < 0:
                return
            at = content.find(wanted, end)

    def _content(self, kind: str) -> bytes:
        file = self._folder / kind
        try:
            found = file.stat()
        except FileNotFoundError:
            return b""
        signature = (found.st_ino, found.st_size)
        known = self._read.get(kind)
        if known is None or known[0] != signature:
            known = self._read[kind] = (signature, file.read_bytes())
        return known[1]


def _begins_word(word: str, text: str) -> bool:
    at = word.find(text)
    while at > 0 and word[at - 1].isalnum():
        at = word.find(text, at + 1)
    return at >= 0


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "replace")
