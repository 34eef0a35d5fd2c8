"""Which notes, nodes and indices the answers of the room quote. The caller's own notes are the
caller's own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from carrel.core.caller import Caller
from carrel.core.quoting import QuotedSource
from carrel.rooms.knowledge.models import (
    FoundNote,
    NoteVersion,
    RetrievedNodes,
    SearchAnswer,
    WholeNote,
)


def quoted_notes(
    arguments: Mapping[str, Any], answer: Sequence[FoundNote], caller: Caller
) -> Iterable[QuotedSource]:
    return [
        QuotedSource("note", note.id, note.title)
        for note in answer
        if note.author != caller.user_id
    ]


def quoted_note(
    arguments: Mapping[str, Any], answer: WholeNote, caller: Caller
) -> Iterable[QuotedSource]:
    return (
        [QuotedSource("note", answer.id, answer.title)] if answer.user_id != caller.user_id else []
    )


def quoted_versions(
    arguments: Mapping[str, Any], answer: Sequence[NoteVersion], caller: Caller
) -> Iterable[QuotedSource]:
    is_others = any(version.changed_by != caller.user_id for version in answer)
    return [QuotedSource("note", str(arguments["id"]))] if is_others else []


def quoted_nodes(
    arguments: Mapping[str, Any], answer: RetrievedNodes, caller: Caller
) -> Iterable[QuotedSource]:
    return [
        QuotedSource("node", node.node_name) for node in answer.results if node.similarity_score > 0
    ]


def quoted_index(
    arguments: Mapping[str, Any], answer: SearchAnswer, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("index", str(arguments["index"]))]
