"""The fields of the editor of notes, as a form sends them and as a page shows them again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from carrel.core.desk_search import DeskHit
from carrel.core.pages import FieldValues
from carrel.rooms.knowledge.models import FullNote

# What may stand in the title of a link, so that the link is read as it was written.
_PLAIN_TITLE = re.compile(r"[^\[\]|#^:\n]{1,200}")
_LABEL_SIGNS = re.compile(r"[\[\]|\n]+")
_PREFIXES = {"paper": "paper", "reference": "ref", "hypothesis": "hypothesis"}


@dataclass(frozen=True, slots=True)
class EditorForm:
    """What a person has typed; `version` is the updated_at of the state that they saw.

    `draft` names the copy that their browser keeps until the save is acknowledged.
    """

    note_id: str = ""
    version: str = ""
    title: str = ""
    tags: str = ""
    content: str = ""
    source: str = "personal"
    draft: str = ""

    @classmethod
    def read(cls, form: FieldValues, note_id: str = "") -> EditorForm:
        return cls(
            note_id=note_id,
            version=form.text("updated_at")[:64],
            title=form.text("title"),
            tags=form.text("tags"),
            content=form.whole_text("content"),
            source="team" if form.text("source") == "team" else "personal",
            draft=form.text("draft")[:80],
        )

    @classmethod
    def of(cls, note: FullNote) -> EditorForm:
        return cls(
            note_id=note.id,
            version=note.updated_at,
            title=note.title,
            tags=join_tags(note.tags),
            content=note.content,
            source=note.source,
        )

    @property
    def tag_list(self) -> list[str]:
        return split_tags(self.tags)

    def with_link(self, link: str) -> EditorForm:
        """The link at the end of the text, where a browser without modules puts it."""
        between = "" if not self.content or self.content.endswith((" ", "\n")) else " "
        return replace(self, content=f"{self.content}{between}{link}")


def split_tags(text: str) -> list[str]:
    """Tags between commas, or each behind its #."""
    tags = (" ".join(part.split()).lstrip("#").strip() for part in re.split(r"[,\n;]+", text))
    return list(dict.fromkeys(tag for tag in tags if tag))


def join_tags(tags: Sequence[str]) -> str:
    return ", ".join(tags)


def write_link(hit: DeskHit) -> str:
    """A hit of the search over the desk as a link in a note."""
    label = " ".join(_LABEL_SIGNS.sub(" ", hit.title).split())
    if hit.kind == "note":
        is_plain = _PLAIN_TITLE.fullmatch(hit.title) is not None
        return f"[[{hit.title}]]" if is_plain else f"[[note:{hit.id}|{label}]]"
    prefix = _PREFIXES.get(hit.kind, hit.kind)
    return f"[[{prefix}:{hit.id}|{label}]]" if label else f"[[{prefix}:{hit.id}]]"
