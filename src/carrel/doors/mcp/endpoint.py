"""The contents of one MCP endpoint, serialised in advance where possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import orjson

from carrel.core.answer import (
    Binary,
    Blocks,
    Explanation,
    Job,
    PromptText,
    Text,
    split_explanation,
)
from carrel.core.answer_encoding import (
    content_block,
    encode_answer,
    encode_explanation,
    quoted_sources,
    readable_blocks,
    resource_content,
)
from carrel.core.caller import Caller
from carrel.core.jobs import JobOperations
from carrel.core.name_suggestions import near_names
from carrel.core.operation import ArgumentCompletion, Effect, Operation, Prompt, Resource
from carrel.core.quoting import QuotedSource, quotation_note, quoted_facts
from carrel.doors.listed_schemas import listed_input_schema, listed_output_schema
from carrel.doors.mcp.answer_budget import (
    CURSOR,
    MAX_CHARS,
    TEXT_BUDGET,
    AnswerBudget,
    AnswerPageRequest,
    Presented,
    PresentedBlocks,
)
from carrel.doors.mcp.icon import server_icons
from carrel.doors.mcp.json_rpc import (
    FIRST_VERSION_WITH_ICONS,
    FIRST_VERSION_WITH_TITLES,
    META_SERVER_INFO,
    TASKS_EXTENSION,
    UI_EXTENSION,
)
from carrel.doors.mcp.served_names import ServedNames
from carrel.doors.mcp.views.endpoint_views import EndpointViews

LIST_TTL_MS = 300_000
READ_TTL_MS = 0
# In bytes, which are never fewer than characters; with room for the sentence about quotations.
_SURELY_SHORT = TEXT_BUDGET - 1_000
# Characters of a source's id up to which its quotation is kept as it is encoded.
_SHORT_ID = 200


class ServedTool:
    """An operation under the name it has here; `budget` cuts its long answers in pages."""

    def __init__(self, operation: Operation[Any], names: ServedNames, budget: AnswerBudget) -> None:
        self.operation = operation
        self.name = names.name_of(operation)
        self._names = names
        self._budget = budget
        self._has_text_for_reading = bool(getattr(operation.answer, "text_field", ""))

    @cached_property
    def listing(self) -> bytes:
        return orjson.dumps(_tool_listing(self.operation, self._names))

    def open_page(self, arguments: Mapping[str, Any], caller: Caller) -> AnswerPageRequest | None:
        """The page that the arguments name, if they name one. Raises InvalidCursorError."""
        if CURSOR in arguments or MAX_CHARS in arguments:
            return self._budget.open(self.operation, arguments, caller)
        return None

    def encode(
        self,
        given: Any,
        arguments: Mapping[str, Any],
        caller: Caller,
        page: AnswerPageRequest | None = None,
        *,
        takes_links: bool = True,
    ) -> bytes:
        """The inside of a tool result.

        Blocks and fields beside the answer name the sources it quotes, explain it, and say where a
        part of it goes on.
        """
        if isinstance(given, PresentedBlocks):
            return encode_presented(given.shown)
        answer, explanation = split_explanation(given)
        operation = self.operation if page is None else page.operation
        sources = quoted_sources(operation.quotes, arguments, answer, caller)
        if page is None:
            content, structured = self._encode(answer)
            quotation = _encode_quotation(sources) if sources else None
            if _is_surely_short(content, structured, quotation):
                return _encode_whole(content, structured, quotation, explanation)
            page = AnswerPageRequest(self.operation, dict(arguments), arguments)
        shown = self._budget.present(
            page, answer, caller, sources=sources, explanation=explanation, takes_links=takes_links
        )
        return encode_presented(shown)

    def encode_job_result(self, job: Job, get_job: Operation[Any], caller: Caller) -> bytes:
        """The result of a job as this tool would have answered; a long one goes on in get_job."""
        answer, explanation = split_explanation(job.result)
        content, structured = self._encode(answer)
        sources = quoted_sources(self.operation.quotes, {}, answer, caller)
        quotation = _encode_quotation(sources) if sources else None
        if _is_surely_short(content, structured, quotation):
            return _encode_whole(content, structured, quotation, explanation)
        asked = {"job_id": job.job_id}
        reading = replace(get_job, answer=self.operation.answer)
        page = AnswerPageRequest(reading, asked, asked, prefix=("result",))
        return encode_presented(
            self._budget.present(page, answer, caller, sources=sources, explanation=explanation)
        )

    def _encode(self, answer: Any) -> tuple[bytes, bytes | None]:
        """The content blocks without brackets, and the structured content if any."""
        if isinstance(answer, (Text, Blocks)):
            parts = answer.parts if isinstance(answer, Blocks) else (answer,)
            return orjson.dumps([content_block(part) for part in parts])[1:-1], None
        raw = encode_answer(self.operation.answer, answer)
        if self._has_text_for_reading:
            readable = readable_blocks(self.operation.answer, orjson.loads(raw))
            if readable:
                return orjson.dumps([content_block(part) for part in readable])[1:-1], raw
        is_bare_list = raw.startswith(b"[")
        structured = b'{"result":' + raw + b"}" if is_bare_list else raw
        return b'{"type":"text","text":' + orjson.dumps(raw.decode()) + b"}", structured


class _Quotation(NamedTuple):
    """The sentence that names the sources of an answer and the same as data, both as JSON."""

    sentence: bytes
    facts: bytes


def _encode_quotation(sources: Sequence[QuotedSource]) -> _Quotation:
    if len(sources) == 1 and sources[0].title is None and len(sources[0].id) <= _SHORT_ID:
        return _encode_one_source(sources[0])
    return _Quotation(orjson.dumps(quotation_note(sources)), orjson.dumps(quoted_facts(sources)))


@lru_cache(maxsize=256)
def _encode_one_source(source: QuotedSource) -> _Quotation:
    """Whole collections are quoted again and again."""
    return _Quotation(orjson.dumps(quotation_note([source])), orjson.dumps(quoted_facts([source])))


def _is_surely_short(
    content: bytes, structured: bytes | None, quotation: _Quotation | None
) -> bool:
    facts = 0 if quotation is None else len(quotation.facts)
    return len(content if structured is None else structured) + facts <= _SURELY_SHORT


def _encode_whole(
    content: bytes,
    structured: bytes | None,
    quotation: _Quotation | None,
    explanation: Explanation | None,
) -> bytes:
    if quotation is None and explanation is None:
        rest = (b"]",) if structured is None else (b'],"structuredContent":', structured)
        return b"".join((b'"content":[', content, *rest))
    blocks: list[bytes] = [content]
    fields: list[bytes] = []
    if quotation is not None:
        blocks.append(_beside(*quotation, b"quoted_from", structured))
        fields.append(b'"quoted_from":' + quotation.facts)
    if explanation is not None:
        facts = encode_explanation(explanation)
        sentence = orjson.dumps(explanation.message)
        blocks.append(_beside(sentence, facts, b"explanation", structured))
        fields.append(b'"explanation":' + facts)
    if structured is None:
        return b"".join((b'"content":[', b",".join(blocks), b"]"))
    before = b"" if structured == b"{}" else b","
    return b"".join(
        (
            b'"content":[',
            b",".join(blocks),
            b'],"structuredContent":',
            structured[:-1],
            before,
            b",".join(fields),
            b"}",
        )
    )


def _beside(sentence: bytes, facts: bytes, name: bytes, structured: bytes | None) -> bytes:
    """A text block beside the answer; its facts are in `_meta` if nothing else can hold them."""
    if structured is not None:
        return b'{"type":"text","text":%b}' % sentence
    return b'{"type":"text","text":%b,"_meta":{"%b":%b}}' % (sentence, name, facts)


def encode_presented(shown: Presented) -> bytes:
    """The inside of a tool result of a page."""
    blocks = [content_block(part) for part in shown.parts]
    for at, facts in shown.meta.items():
        blocks[at]["_meta"] = facts
    inside = b'"content":' + orjson.dumps(blocks)
    if shown.structured is None:
        return inside
    return inside + b',"structuredContent":' + orjson.dumps(shown.structured)


@dataclass(frozen=True, slots=True)
class ServedResource:
    """A resource and the function that recognises its addresses."""

    resource: Resource
    match: Callable[[str], dict[str, str] | None]
    listing: bytes


@dataclass(frozen=True, slots=True)
class ServedPrompt:
    """A prompt and its listing."""

    prompt: Prompt
    listing: bytes


class Endpoint:
    """One MCP endpoint: its tools, resources, prompts, capabilities and error format.

    `speaks_json_rpc_errors` reports application errors as JSON-RPC errors instead of tool results,
    as the specification of the references room wants. `offers_tasks` announces tasks before the
    room that runs them is open. Tools that are not `listed` can still be called by name.
    `offers_views` puts views for the chat (MCP Apps) beside the listed tools that have one.
    """

    def __init__(
        self,
        name: str,
        *,
        operations: Iterable[Operation[Any]],
        resources: Iterable[Resource] = (),
        prompts: Iterable[Prompt] | None = None,
        server_name: str,
        server_version: str,
        server_title: str = "",
        instructions: str = "",
        is_alone: bool = False,
        speaks_json_rpc_errors: bool = False,
        json_rpc_error_schemes: tuple[str, ...] = (),
        jobs: JobOperations | None = None,
        offers_tasks: bool = False,
        offers_completions: bool = False,
        offers_views: bool = False,
        is_listed: Callable[[Operation[Any]], bool] = lambda _: True,
        budget: AnswerBudget | None = None,
    ) -> None:
        self.name = name
        self.is_alone = is_alone
        self.speaks_json_rpc_errors = speaks_json_rpc_errors
        self.json_rpc_error_schemes = json_rpc_error_schemes
        self.instructions = instructions
        # Short, because every answer of the newest revision carries it.
        self.server_info = {"name": server_name, "version": server_version}
        self.server_title = server_title or server_name
        self.budget = budget or AnswerBudget()
        served = tuple(operations)
        self.served_names = ServedNames(served, is_alone=is_alone)
        self.tools = {
            tool.name: tool
            for tool in (ServedTool(each, self.served_names, self.budget) for each in served)
        }
        self.listed_tools = tuple(tool for tool in self.tools.values() if is_listed(tool.operation))
        self.resources = tuple(_served_resource(resource) for resource in resources)
        self.has_prompts = prompts is not None
        self.prompts = {prompt.name: _served_prompt(prompt) for prompt in prompts or ()}
        self.capabilities: dict[str, dict[str, object]] = {"tools": {}, "resources": {}}
        if self.has_prompts:
            self.capabilities["prompts"] = {}
        self.offers_completions = offers_completions
        if offers_completions:
            self.capabilities["completions"] = {}
        # Kept, because limits remember an entry's price by the entry itself.
        self._completions: dict[tuple[str, str], ArgumentCompletion] = {
            **{
                ("ref/resource", served.resource.uri): ArgumentCompletion(served.resource)
                for served in self.resources
            },
            **{
                ("ref/prompt", name): ArgumentCompletion(served.prompt)
                for name, served in self.prompts.items()
            },
        }
        self.jobs = jobs
        self.offers_views = offers_views
        self.views = self._open_views(is_listed, server_version) if offers_views else None
        self.view_resources = tuple(
            _served_resource(resource)
            for resource in (self.views.resources() if self.views else ())
        )
        self.extensions: dict[str, dict[str, object]] = {}
        if offers_tasks or jobs is not None:
            self.extensions[TASKS_EXTENSION] = {}
        if offers_views:
            self.extensions[UI_EXTENSION] = {}
        self.stamp = b'"_meta":' + orjson.dumps({META_SERVER_INFO: self.server_info})
        self._lists: dict[tuple[str, bool, bool, frozenset[str]], bytes] = {}

    def _open_views(
        self, is_listed: Callable[[Operation[Any]], bool], version: str
    ) -> EndpointViews:
        operations = [tool.operation for tool in self.tools.values()]
        names = {tool.operation.name: name for name, tool in self.tools.items()}
        return EndpointViews(operations, names, is_listed, version)

    def describe_server(self, version: str) -> dict[str, object]:
        """`serverInfo` of a handshake, with the fields that this revision of the protocol knows."""
        info: dict[str, object] = dict(self.server_info)
        if version >= FIRST_VERSION_WITH_TITLES:
            info["title"] = self.server_title
        if version >= FIRST_VERSION_WITH_ICONS:
            info["icons"] = server_icons()
        return info

    def listed(
        self, kind: str, scopes: frozenset[str], *, is_modern: bool, names_views: bool = False
    ) -> bytes:
        """The bytes of a list answer for a caller with these scopes; cached."""
        names_views = names_views and self.views is not None
        key = (kind, is_modern, names_views, scopes)
        found = self._lists.get(key)
        if found is None:
            if len(self._lists) > 256:
                self._lists.clear()
            found = self._list(kind, scopes, is_modern=is_modern, names_views=names_views)
            self._lists[key] = found
        return found

    def _list(
        self, kind: str, scopes: frozenset[str], *, is_modern: bool, names_views: bool
    ) -> bytes:
        match kind:
            case "tools":
                rows = [
                    self._listing_with_view(tool) if names_views else tool.listing
                    for tool in self.listed_tools
                    if tool.operation.scopes <= scopes
                ]
            case "prompts":
                rows = [
                    served.listing
                    for served in self.prompts.values()
                    if served.prompt.scopes <= scopes
                ]
            case _:
                wants_templates = kind == "resourceTemplates"
                rows = [
                    served.listing
                    for served in self.resources
                    if served.resource.scopes <= scopes
                    and served.resource.is_template is wants_templates
                ]
        inside = b'"' + kind.encode() + b'":[' + b",".join(rows) + b"]"
        if is_modern:
            inside = (
                b'"resultType":"complete","ttlMs":%d,"cacheScope":"private",' % LIST_TTL_MS
                + inside
                + b","
                + self.stamp
            )
        return b"{" + inside + b"}"

    def _listing_with_view(self, tool: ServedTool) -> bytes:
        uri = self.views.find_uri(tool.operation.name) if self.views is not None else None
        if uri is None:
            return tool.listing
        return tool.listing[:-1] + b',"_meta":' + orjson.dumps({"ui": {"resourceUri": uri}}) + b"}"

    def near_tools(self, name: str) -> list[str]:
        """Tools that may be meant by an unknown name, those of the list first."""
        listed = near_names(name, [tool.name for tool in self.listed_tools])
        return listed or near_names(name, self.tools)

    def find_completion(self, kind: str, name: str) -> ArgumentCompletion | None:
        """Find by `ref/prompt` and a prompt's name, or `ref/resource` and a listed address."""
        return self._completions.get((kind, name))

    def find_resource(self, uri: str) -> tuple[Resource, dict[str, str]] | None:
        for served in (*self.resources, *self.view_resources):
            variables = served.match(uri)
            if variables is not None:
                return served.resource, variables
        return None


def _tool_listing(operation: Operation[Any], names: ServedNames) -> dict[str, object]:
    listing: dict[str, object] = {
        "name": names.name_of(operation),
        "title": operation.title,
        "description": names.put_into(operation.description),
        "inputSchema": listed_input_schema(operation, has_cursor=True),
    }
    schema = listed_output_schema(operation)
    if schema is not None:
        listing["outputSchema"] = schema
    listing["annotations"] = {
        "title": operation.title,
        "readOnlyHint": operation.effect is Effect.READS,
        "destructiveHint": operation.effect is Effect.DESTROYS,
        "idempotentHint": operation.is_idempotent or operation.effect is Effect.READS,
        "openWorldHint": operation.is_open_world,
    }
    return listing


def _served_resource(resource: Resource) -> ServedResource:
    listing = {
        "uriTemplate" if resource.is_template else "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.media_type,
    }
    return ServedResource(resource, resource.matcher(), orjson.dumps(listing))


def _served_prompt(prompt: Prompt) -> ServedPrompt:
    listing = {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": [
            {
                "name": argument.name,
                "description": argument.description,
                "required": argument.is_required,
            }
            for argument in prompt.arguments
        ],
    }
    return ServedPrompt(prompt, orjson.dumps(listing))


def encode_resource(
    uri: str,
    content: Text | Binary,
    sources: Sequence[QuotedSource],
    meta: Mapping[str, object] | None = None,
) -> bytes:
    """The contents of a resource; a second entry names the sources that they quote."""
    contents = [resource_content(uri, content)]
    if meta is not None:
        contents[0]["_meta"] = meta
    if sources:
        note: dict[str, object] = {
            "uri": f"{uri}#quoted_from",
            "mimeType": "text/plain",
            "text": quotation_note(sources),
        }
        contents.append({**note, "_meta": {"quoted_from": quoted_facts(sources)}})
    return orjson.dumps(contents)


def encode_prompt(text: PromptText) -> bytes:
    messages = [
        {"role": message.role, "content": content_block(message.content)}
        for message in text.messages
    ]
    inside: dict[str, object] = {"messages": messages}
    if text.description:
        inside["description"] = text.description
    return orjson.dumps(inside)[1:-1]
