"""What a file is by its content: papers, lists, notes, and what is none of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.works.file_kinds import (
    HEAD_BYTES,
    FileKind,
    file_ending,
    is_paper_text,
    recognise_file,
)


@given(st.text(max_size=40), st.binary(max_size=400))
def test_any_bytes_under_any_name_have_a_kind(name: str, head: bytes) -> None:
    kind = recognise_file(name, head)
    ending = file_ending(kind, head)
    if kind in {FileKind.EMPTY, FileKind.ARCHIVE, FileKind.PICTURE, FileKind.UNKNOWN}:
        assert ending is None


@given(st.text(max_size=400))
def test_any_text_is_a_paper_or_a_note(text: str) -> None:
    assert is_paper_text(text) in {True, False}


@pytest.mark.parametrize(
    ("text", "is_paper"),
    [
        ("---\ndoi: 10.1000/x\n---\nText\n", True),
        ("---\ntitle: T\nauthors: [A B]\nyear: 2001\n---\nText\n", True),
        ("---\ntitle: T\nauthor: A B\n---\nAn essay\n", False),
        ("# T\n\n## Abstract\n\nText\n\n## 5. References\n\n1. A. B.\n", True),
        ("# T\n\n## Abstract\n\nText\n", False),
        ("---\ndoi: 10.1000/x\ncitekey: lee2001\n---\nWhat I think of it\n", False),
        ("---\ndoi: 10.1000/x\n---\nSee [[Other note]]\n", False),
        ("---\n: : broken\n  - [\n---\nText\n", False),
        ("", False),
    ],
)
def test_a_paper_is_told_from_a_note(text: str, is_paper: bool) -> None:
    assert is_paper_text(text) is is_paper


@pytest.mark.parametrize(
    ("name", "head", "kind", "ending"),
    [
        ("a.txt", b"junk before\n%PDF-1.7\n", FileKind.PDF, ".pdf"),
        ("a.pdf", b"PK\x03\x04", FileKind.ARCHIVE, None),
        ("a.jsonl.gz", b"\x1f\x8b\x08", FileKind.JSON_RECORDS, None),
        ("a.jsonl", b'{"title": "T"}\n{"title": "U"}\n', FileKind.JSON_RECORDS, ".jsonl"),
        ("a", b"PMID- 123\nTI  - T\nFAU - Lee, Ann\n", FileKind.BIBLIOGRAPHY, ".nbib"),
        ("a", b"%0 Journal Article\n%T Growth\n%A Lee\n", FileKind.BIBLIOGRAPHY, ".enw"),
        ("a.bib", b"@article{a, author={M\xfcller}}", FileKind.BIBLIOGRAPHY, ".bib"),
        ("a.md", b"caf\xe9", FileKind.UNKNOWN, None),
        ("a.md", b"x" * (HEAD_BYTES - 1) + "é".encode()[:1], FileKind.MARKDOWN, ".md"),
        ("a.html", b"<html><body>x</body></html>", FileKind.UNKNOWN, None),
        ("a.txt", b"Plain words", FileKind.TEXT, ".md"),
    ],
)
def test_a_kind_and_the_ending_its_readers_expect(
    name: str, head: bytes, kind: FileKind, ending: str | None
) -> None:
    assert recognise_file(name, head) is kind
    assert file_ending(kind, head) == ending
