"""The budget of answers at the MCP doors: what is longer is given in pages, with a cursor.

How an answer is cut follows from its operation's answer type: a list by items, a text by
characters, a model by its long fields. `is_whole` operations are never cut, and a `max_chars` of
the operation's own is obeyed by the operation. An operation that only reads runs again for each
page; the answer of one that changes something is kept, so that reading on changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import orjson
from pydantic import ConfigDict

from carrel.core.answer import Binary, Blocks, Embedded, Explanation, Link, Text
from carrel.core.answer_encoding import encode_answer, encode_explanation, readable_blocks
from carrel.core.answer_pages import (
    Page,
    Position,
    Stretch,
    WrongPositionError,
    cut_text,
    cut_value,
    fingerprint,
)
from carrel.core.caller import Call, Caller
from carrel.core.cursors import Cursor, InvalidCursorError
from carrel.core.errors import InvalidInputError, NotFoundError
from carrel.core.operation import Effect, Operation, Question, Resource
from carrel.core.quoting import (
    QuotedSource,
    delimit_quotation,
    quotation_note,
    quoted_facts_within,
)
from carrel.libraries.text.outline import number_heading, outline, section_numbers
from carrel.libraries.text.surrogates import whole_text
from carrel.policy.gate import Gate

CURSOR = "cursor"
MAX_CHARS = "max_chars"
SCHEME = "answer"
# Promise D12: the text of an answer, all of its blocks together.
TEXT_BUDGET = 32_000
# For the notes beside a page: whose words it quotes, where it goes on, an outline.
_NOTES_CHARACTERS = 4_500
_QUOTED_FACTS_CHARACTERS = 1_500
_OUTLINE_CHARACTERS = 2_000
_MOST_STRETCHES_NAMED = 4
_LEAST_MAX_CHARS = 1
_MOST_MAX_CHARS = 100_000_000

Part = Text | Binary | Embedded | Link


class KeptAnswers(Protocol):
    """Keeps long answers of operations that changed something, for the one who called."""

    def keep(self, owner: str, content: bytes) -> str:
        """The name under which the content can be found for a while."""
        ...

    def find(self, owner: str, name: str) -> bytes | None:
        """The content, or None where it is gone or another's."""
        ...


class KeptInMemory:
    """Keeps the last few answers in this process."""

    _MOST = 16

    def __init__(self) -> None:
        self._contents: dict[tuple[str, str], bytes] = {}

    def keep(self, owner: str, content: bytes) -> str:
        name = fingerprint(content.decode("latin-1"))
        self._contents[owner, name] = content
        while len(self._contents) > self._MOST:
            del self._contents[next(iter(self._contents))]
        return name

    def find(self, owner: str, name: str) -> bytes | None:
        return self._contents.get((owner, name))


class KeptAnswerGoneError(NotFoundError):
    """The rest of an answer that is no longer kept."""

    def __init__(self, operation: str) -> None:
        super().__init__(
            "Answer",
            operation,
            next_step="It was kept for a while only. What the call did is done: look at the "
            "things themselves.",
        )


class _AnyQuestion(Question):
    """The arguments of a call that does not run again, whatever they are."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True, slots=True)
class AnswerPageRequest:
    """The page that a call wants; `asked` are the arguments a cursor is bound to."""

    operation: Operation[Any]
    arguments: dict[str, Any]
    asked: Mapping[str, Any]
    position: Position = ()
    fingerprint: str | None = None
    max_chars: int | None = None
    # What stands before the position in the answer that the cursor is of: a task shows only the
    # result of its job.
    prefix: Position = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    """A kept answer, read back."""

    name: str
    value: Any
    sources: tuple[QuotedSource, ...]


@dataclass(frozen=True, slots=True)
class _Whole:
    """An answer as the value that is cut, and the pieces of content around it."""

    value: Any
    is_text: bool
    media_type: str = "application/json"
    before: tuple[Part, ...] = ()
    after: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Presented:
    """What a client gets: blocks, the answer's own one first, and the structured content."""

    parts: tuple[Part, ...]
    structured: dict[str, Any] | None
    # For the block at this index, where there is no structured content.
    meta: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PresentedBlocks(Blocks):
    """Blocks that are an operation's whole tool result, which a tool passes on as it is."""

    shown: Presented


class AnswerBudget:
    """Cuts answers in pages and finds the page that a cursor names."""

    def __init__(self, kept: KeptAnswers | None = None) -> None:
        self._kept = kept or KeptInMemory()

    def open(
        self, operation: Operation[Any], arguments: Mapping[str, Any], caller: Caller
    ) -> AnswerPageRequest:
        """The page that arguments with a cursor or max_chars ask for.

        Raises InvalidCursorError for a cursor of another operation or other arguments.
        """
        fields = operation.question.model_fields
        if CURSOR in arguments and CURSOR not in fields:
            return self._open_cursor(operation, arguments, caller)
        return _request(operation, arguments, fields)

    def _open_cursor(
        self, operation: Operation[Any], arguments: Mapping[str, Any], caller: Caller
    ) -> AnswerPageRequest:
        cursor = Cursor.decode(arguments[CURSOR])
        if cursor.operation != operation.name:
            raise InvalidCursorError(
                f"This cursor belongs to {cursor.operation}, not to {operation.name}",
                next_step=f"Call {cursor.operation} with it.",
                details={"operation": cursor.operation},
            )
        given = {name: value for name, value in arguments.items() if name != CURSOR}
        asked = cursor.merge_arguments(given)
        if cursor.kept is not None:
            return self._open_kept(operation, cursor, caller)
        request = _request(operation, asked, operation.question.model_fields)
        return replace(request, position=cursor.position, fingerprint=cursor.fingerprint)

    def _open_kept(
        self, operation: Operation[Any], cursor: Cursor, caller: Caller
    ) -> AnswerPageRequest:
        name = cursor.kept or ""

        async def read_kept(question: Question, call: Call) -> _Kept:
            content = self._kept.find(call.caller.user_id, name)
            if content is None:
                raise KeptAnswerGoneError(operation.name)
            value, sources = orjson.loads(content)
            return _Kept(name, value, tuple(QuotedSource(*source) for source in sources))

        reading = replace(
            operation, question=_AnyQuestion, run=read_kept, effect=Effect.READS, quotes=None
        )
        return AnswerPageRequest(reading, {}, {}, cursor.position, cursor.fingerprint)

    def present(
        self,
        request: AnswerPageRequest,
        answer: Any,
        caller: Caller,
        *,
        sources: Sequence[QuotedSource] = (),
        explanation: Explanation | None = None,
        takes_links: bool = True,
        budget: int = TEXT_BUDGET,
    ) -> Presented:
        """The page of an answer; the whole where it fits."""
        if isinstance(answer, _Kept):
            sources = answer.sources
        whole = _whole(request.operation, answer)
        room = request.max_chars or budget - _NOTES_CHARACTERS
        page = _cut(whole, request, room)
        is_cut = page.next is not None or bool(request.position)
        kept = answer.name if isinstance(answer, _Kept) else None
        if is_cut and kept is None and request.operation.effect is not Effect.READS:
            content = orjson.dumps([whole.value, [list(source) for source in sources]])
            kept = self._kept.keep(caller.user_id, content)
        shown = _shown_text(whole, page)
        if is_cut:
            sources = _sources_on_page(sources, shown)
        builder = _Presentation(whole, page, shown, request.operation.answer)
        if sources:
            builder.add_sources(sources)
        if explanation is not None and not request.position:
            builder.add_explanation(explanation)
        if is_cut:
            builder.add_page(request, kept, takes_links=takes_links)
        return builder.finish()

    def whole_answers(self, operations: Iterable[Operation[Any]], gate: Gate) -> Resource:
        """The resource that gives the whole of an answer that was cut."""
        known = {operation.name: operation for operation in operations}

        async def read(variables: Mapping[str, str], call: Call) -> Text:
            cursor = Cursor.decode(variables[CURSOR])
            operation = known.get(cursor.operation)
            if operation is None or not cursor.is_complete:
                raise InvalidCursorError(
                    "Nothing here can be read by this address",
                    next_step="Use the address of an answer as it is.",
                    details={"operation": cursor.operation},
                )
            if cursor.kept is None and operation.effect is not Effect.READS:
                raise InvalidCursorError(
                    f"{operation.name} changes something; its answer is not read by an address",
                    next_step="Call the operation itself.",
                    details={"operation": cursor.operation},
                )
            request = self._open_cursor(operation, {CURSOR: variables[CURSOR]}, call.caller)
            answer = await gate.call(
                request.operation, request.arguments, call.caller, call.visit, call.report_progress
            )
            whole = _whole(request.operation, answer)
            if whole.is_text:
                return Text(whole.value, whole.media_type)
            return Text(orjson.dumps(whole.value).decode(), "application/json")

        def quotes(
            variables: Mapping[str, Any], answer: object, caller: Caller
        ) -> Iterable[QuotedSource]:
            operation = known.get(Cursor.decode(variables[CURSOR]).operation)
            is_quoting = operation is not None and operation.quotes is not None
            return [QuotedSource("answer", operation.name)] if operation and is_quoting else []

        return Resource(
            uri=f"{SCHEME}://{{{CURSOR}}}",
            name="whole-answer",
            room="desk",
            title="Whole answer",
            description="The whole of an answer that a tool gave in part, at the address it named.",
            read=read,
            scopes=frozenset(),
            cost=0.0,
            timeout_seconds=_WHOLE_ANSWER_SECONDS,
            quotes=quotes,
        )


# As long as the longest operation whose whole answer it reads.
_WHOLE_ANSWER_SECONDS = 120.0


def _request(
    operation: Operation[Any], asked: Mapping[str, Any], fields: Mapping[str, Any]
) -> AnswerPageRequest:
    arguments = dict(asked)
    if MAX_CHARS not in asked:
        return AnswerPageRequest(operation, arguments, asked)
    if MAX_CHARS in fields:
        # The operation itself obeys; an explicit null is none.
        limit = None if asked[MAX_CHARS] is None else _MOST_MAX_CHARS
        return AnswerPageRequest(operation, arguments, asked, max_chars=limit)
    limit = arguments.pop(MAX_CHARS)
    is_number = isinstance(limit, int) and not isinstance(limit, bool)
    if not is_number or not _LEAST_MAX_CHARS <= limit <= _MOST_MAX_CHARS:
        raise InvalidInputError(
            f"max_chars: must be a number from {_LEAST_MAX_CHARS} to {_MOST_MAX_CHARS}",
            next_step="Correct max_chars and call again.",
            details={"errors": [{"field": MAX_CHARS, "problem": "not in its range"}]},
        )
    return AnswerPageRequest(operation, arguments, asked, max_chars=limit)


def _whole(operation: Operation[Any], answer: Any) -> _Whole:
    match answer:
        case _Kept():
            return _Whole(answer.value, isinstance(answer.value, str), "text/plain")
        case Text():
            return _Whole(whole_text(answer.body), True, answer.media_type)
        case Blocks():
            texts = [part for part in answer.parts if isinstance(part, Text)]
            longest = max(texts, key=lambda part: len(part.body), default=Text(""))
            at = answer.parts.index(longest) if texts else 0
            before, after = answer.parts[:at], answer.parts[at + 1 if texts else 0 :]
            return _Whole(whole_text(longest.body), True, longest.media_type, before, after)
    return _Whole(orjson.loads(encode_answer(operation.answer, answer)), False)


def _cut(whole: _Whole, request: AnswerPageRequest, room: int) -> Page:
    position = request.position[len(request.prefix) :]
    if request.operation.is_whole and not position:
        return Page(whole.value, None, {})
    try:
        if whole.is_text:
            return cut_text(whole.value, position, room, _how_to_go_on(request.operation))
        root = "result" if isinstance(whole.value, list) else ""
        return cut_value(whole.value, position, room, root)
    except WrongPositionError:
        raise InvalidCursorError(
            "The answer has changed, and the place of this cursor is no longer in it",
            next_step="Call without a cursor to begin again.",
        ) from None


def _how_to_go_on(operation: Operation[Any]) -> str:
    """What the marker of an export says; other texts have the note below alone."""
    fields = operation.question.model_fields
    if not {"page", "limit"} <= set(fields):
        return ""
    return "call again with the cursor named below, or with a smaller limit, page by page"


def _shown_text(whole: _Whole, page: Page) -> str:
    return str(page.value) if whole.is_text else orjson.dumps(page.value).decode()


def _sources_on_page(sources: Sequence[QuotedSource], shown: str) -> Sequence[QuotedSource]:
    """The sources whose ids are on the page; all where none is, as of a collection."""
    here = [source for source in sources if orjson.dumps(source.id)[1:-1].decode() in shown]
    return here or sources


class _Presentation:
    """The blocks and fields of one page, put together."""

    def __init__(self, whole: _Whole, page: Page, shown: str, answer_type: Any) -> None:
        self._whole = whole
        self._page = page
        readable = () if whole.is_text else readable_blocks(answer_type, page.value)
        # Several pieces of content keep their order around the one that is cut.
        cut: tuple[Part, ...] = readable or (Text(shown, whole.media_type),)
        self._parts: list[Part] = [*whole.before, *cut, *whole.after]
        self._meta: dict[int, dict[str, Any]] = {}
        self._structured: dict[str, Any] | None = None
        if not whole.is_text:
            value = page.value
            self._structured = {"result": value} if isinstance(value, list) else dict(value)

    def add_sources(self, sources: Sequence[QuotedSource]) -> None:
        facts = quoted_facts_within(sources, _QUOTED_FACTS_CHARACTERS)
        self._add(quotation_note(sources), {"quoted_from": facts})

    def add_explanation(self, explanation: Explanation) -> None:
        facts = orjson.loads(encode_explanation(explanation))
        self._add(explanation.message, {"explanation": facts})

    def add_page(self, request: AnswerPageRequest, kept: str | None, *, takes_links: bool) -> None:
        page, whole = self._page, self._whole
        rooted = {str(request.prefix[0]): whole.value} if request.prefix else whole.value
        mark = fingerprint(rooted)
        operation = request.operation.name
        first = Cursor.of(operation, request.asked, (), mark, kept)
        facts: dict[str, Any] = {}
        if page.next is not None:
            following = Cursor.of(
                operation, request.asked, (*request.prefix, *page.next), mark, kept
            )
            facts["next_cursor"] = following.encode()
        link = f"{SCHEME}://{first.encode()}" if first.is_complete else None
        has_changed = request.fingerprint is not None and request.fingerprint != mark
        cut: dict[str, Any] = {
            "shown": {
                path: {"from": stretch.start, "to": stretch.end, "total": stretch.total}
                for path, stretch in page.stretches.items()
            }
        }
        if link is not None:
            cut["whole"] = link
        if has_changed:
            cut["has_changed"] = True
        facts["cut"] = cut
        told = _page_note(request, page, facts.get("next_cursor"), link, has_changed)
        self._add(told, facts)
        headings = _outline_lines(whole, request)
        if headings:
            quoted = delimit_quotation("\n".join(headings), "outline")
            self._parts.append(Text(f"The headings of the whole, as it has them:\n{quoted}"))
        if link is not None and takes_links:
            size = len(whole.value.encode()) if whole.is_text else len(orjson.dumps(whole.value))
            self._parts.append(
                Link(link, f"{operation} in full", media_type=whole.media_type, size_bytes=size)
            )

    def _add(self, text: str, facts: dict[str, Any]) -> None:
        if self._structured is None:
            self._meta[len(self._parts)] = facts
        else:
            self._structured.update(facts)
        self._parts.append(Text(text))

    def finish(self) -> Presented:
        return Presented(tuple(self._parts), self._structured, self._meta)


def _page_note(
    request: AnswerPageRequest, page: Page, cursor: str | None, link: str | None, has_changed: bool
) -> str:
    named = list(page.stretches.items())[:_MOST_STRETCHES_NAMED]
    parts = "; ".join(_name_stretch(path, stretch) for path, stretch in named)
    sentences = [f"This is a part of the answer: {parts}."]
    if has_changed:
        sentences.append(
            "It has changed since its first part: to be sure of all of it, begin again without "
            "a cursor."
        )
    if cursor is not None:
        same = " the same arguments and" if request.asked else ""
        sentences.append(
            f'To go on, call {request.operation.name} with{same} "cursor": "{cursor}".'
        )
    else:
        sentences.append("Nothing follows.")
    if link is not None:
        sentences.append("The resource link holds the whole.")
    return " ".join(sentences)


def _name_stretch(path: str, stretch: Stretch) -> str:
    return f"{path}, {stretch.unit} {stretch.start + 1} to {stretch.end} of {stretch.total}"


def _outline_lines(whole: _Whole, request: AnswerPageRequest) -> list[str]:
    """The headings of a long Markdown text with their offsets, on its first page."""
    if whole.media_type != "text/markdown" or request.position:
        return []
    begins = not request.asked.get("offset") and not request.asked.get("section")
    takes_offset = begins and "offset" in request.operation.question.model_fields
    lines: list[str] = []
    room = _OUTLINE_CHARACTERS
    sections = outline(whole.value)
    for section, number in zip(sections, section_numbers(sections), strict=True):
        indent = "  " * (section.number.count("."))
        line = f"{indent}{number_heading(section, number)}" + (
            f" (offset {section.start})" if takes_offset else ""
        )
        room -= len(line) + 1
        if room < 0:
            lines.append("…")
            break
        lines.append(line)
    return lines
