"""Notes as Markdown files with front matter, as Obsidian, Foam and plain editors keep them."""

from carrel.engines.markdown_notes.folder import NoteFolder, Recorded
from carrel.engines.markdown_notes.note import EmptyNoteError, ParsedNote, parse_note, write_note

__all__ = ["EmptyNoteError", "NoteFolder", "ParsedNote", "Recorded", "parse_note", "write_note"]
