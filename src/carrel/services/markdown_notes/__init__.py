"""Notes as Markdown files with front matter, as Obsidian, Foam and plain editors keep them."""

from carrel.services.markdown_notes.folder import NoteFolder, Recorded
from carrel.services.markdown_notes.note import (
    EmptyNoteError,
    NoteTooLargeError,
    ParsedNote,
    parse_note,
    refuse_too_large,
    write_note,
)

__all__ = [
    "EmptyNoteError",
    "NoteFolder",
    "NoteTooLargeError",
    "ParsedNote",
    "Recorded",
    "parse_note",
    "refuse_too_large",
    "write_note",
]
