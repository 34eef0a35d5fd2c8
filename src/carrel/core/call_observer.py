"""Measures calls at the gate, MCP requests and HTTP requests; doors and gate have one or None.

Every call passes here, so that it is written for speed: doors note what they know on the visit, one
look-up at the end finds where a duration belongs, and durations are put into buckets many at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping
from time import perf_counter
from typing import Any

from carrel.core.caller import COMMAND_LINE, Visit
from carrel.core.operation import Entry, Operation
from carrel.core.telemetry import DURATION_BOUNDS, SUCCESS, DeskMetrics, Tracer
from carrel.libraries.telemetry.instruments import OTHER
from carrel.libraries.telemetry.spans import AttributeValue, SpanShape
from carrel.libraries.telemetry.trace_context import TraceParent, read_trace_parent

# What a tool's own error is called, which travels in a result.
TOOL_ERROR = "tool_error"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_INTERNAL, _LOWEST_APPLICATION, _HIGHEST_APPLICATION = -32603, -32099, -32000
# Error codes that say that the server failed, not the call.
_OUR_FAULTS = frozenset({"internal_error", "unavailable", "timed_out", "storage_full"})
_LONGEST_REQUEST_ID = 100
_MOST_KEPT = 1000
# Durations that wait until they are put into buckets: sorted together, each takes a tenth.
_FOLDED_AT = 256
_NAMED = frozenset({"tools/call", "prompts/get"})


class McpAnswer:
    """Requests of MCP that are counted together; `code` is their JSON-RPC error, 0 for none.

    `waiting` are durations in seconds that are in no bucket yet, `places` where those are.
    """

    __slots__ = ("code", "error", "failure", "is_kept", "labels", "method", "places", "waiting")

    def __init__(self, method: str, name: str, code: int, failure: str, *, is_pipe: bool) -> None:
        self.method = method
        self.code = code
        self.failure = failure
        # `error.type`: the code of the answer, or that a tool's result is an error.
        self.error = str(code) if code else TOOL_ERROR if failure else ""
        is_prompt = method == "prompts/get"
        self.labels = (
            method,
            "" if is_prompt else name,
            name if is_prompt else "",
            self.error,
            "pipe" if is_pipe else "tcp",
        )
        self.is_kept = True
        self.waiting: list[float] = []
        self.places: tuple[int, ...] = ()


class CallObserver:
    """Counts and traces, as far as there are metrics and a tracer."""

    def __init__(self, metrics: DeskMetrics | None, tracer: Tracer | None) -> None:
        self._metrics = metrics
        self._tracer = tracer
        self._values = [] if metrics is None else metrics.registry.values
        self._answers: dict[tuple[object, ...], McpAnswer] = {}
        # The methods of MCP, and the names of tools and prompts, that labels may have.
        self._methods: set[str] = set()
        self._names: dict[str, set[str]] = {"tools/call": set(), "prompts/get": set()}
        self.reads_context = tracer is not None
        # HTTP requests under way in this process.
        self.under_way = 0

    # The gate
    def refused(self, visit: Visit, code: str) -> None:
        """A request or a call was refused before it ran."""
        visit.failure = code
        if self._metrics is not None:
            self._metrics.refusals.add((visit.door, code))

    def call_ended(self, entry: Entry, visit: Visit, outcome: str, seconds: float) -> None:
        """A call behind the gate has ended; one by MCP is measured as the request that it is."""
        if outcome != SUCCESS:
            visit.failure = outcome
        if visit.mcp_message is not None:
            return
        if self._metrics is not None:
            self._metrics.call_duration.observe((visit.door, entry.name, outcome), seconds)
        if self._tracer is not None:
            self._trace_call(self._tracer, entry, visit, outcome, seconds)

    # MCP and HTTP
    def know(self, methods: Iterable[str], tools: Iterable[str], prompts: Iterable[str]) -> None:
        """An endpoint answers these methods, and serves these tools and prompts."""
        self._methods.update(methods)
        self._names["tools/call"].update(tools)
        self._names["prompts/get"].update(prompts)

    def mcp_began(self, visit: Visit, message: object) -> None:
        """A request of MCP begins; over HTTP what is counted at the end is the last of a batch."""
        if visit.mcp_message is not None:
            self.mcp_ended(visit)
        elif not visit.began:
            visit.began = perf_counter()
        visit.failure = ""
        visit.mcp_message = message if isinstance(message, dict) else None

    def mcp_ended(self, visit: Visit) -> None:
        """A message that came by no request of its own is answered: on stdio, or in a batch."""
        self._count(visit, perf_counter() - visit.began, "", 0)
        visit.mcp_message = None

    def read_context(
        self, visit: Visit, headers: Mapping[bytes, bytes], repeated: Container[bytes]
    ) -> None:
        """Keep the trace context of a request; given twice, it is not clear whose it is."""
        if b"traceparent" in headers and b"traceparent" not in repeated:
            visit.trace_headers = (
                headers[b"traceparent"].decode("latin-1"),
                headers.get(b"tracestate", b"").decode("latin-1"),
            )

    def request_ended(
        self, visit: Visit, method: str, path: str, status: int, route_of: Callable[[str], str]
    ) -> None:
        """A request is answered, or its client is gone (status 0)."""
        self.under_way -= 1
        seconds = perf_counter() - visit.began
        if visit.mcp_message is not None and status:
            self._count(visit, seconds, path, status)
        elif self._metrics is not None and status:
            shown = method if method in _METHODS else OTHER
            self._metrics.http_duration.observe((shown, route_of(path), str(status)), seconds)

    def fold(self) -> None:
        """Put all durations into their buckets, before somebody reads them."""
        for answer in self._answers.values():
            self._fold(answer)

    def _count(self, visit: Visit, seconds: float, path: str, status: int) -> None:
        message = visit.mcp_message
        assert message is not None
        method, name = message.get("method"), ""
        if method in _NAMED:
            params = message.get("params")
            if isinstance(params, dict):
                name = params.get("name", "")
        key = (path, status, method, name, visit.mcp_code, visit.failure)
        try:
            answer = self._answers.get(key)
        except TypeError:
            # A name that is a list or an object.
            answer = None
        if answer is None:
            answer = self._find_answer(key, visit)
        waiting = answer.waiting
        waiting.append(seconds)
        if len(waiting) >= _FOLDED_AT or not answer.is_kept:
            self._fold(answer)
        if self._tracer is not None:
            self._trace_mcp(self._tracer, answer, seconds, visit)

    def _find_answer(self, given: tuple[Any, ...], visit: Visit) -> McpAnswer:
        """What a request is counted as; methods and names that are none of ours are OTHER."""
        path, status, method, name, code, failure = given
        if not isinstance(method, str) or method not in self._methods:
            method, name = OTHER, ""
        elif method in _NAMED and not (isinstance(name, str) and name in self._names[method]):
            name = OTHER
        key = (path, status, method, name, code, failure)
        answer = self._answers.get(key)
        if answer is None:
            answer = McpAnswer(method, name, code or 0, failure, is_pipe=visit.door == "stdio")
            if self._metrics is not None:
                mcp = self._metrics.mcp_duration.place(answer.labels)
                # Only routes have requests of MCP, so that the addresses are few.
                http = ("POST", path, str(status))
                answer.places = (mcp, self._metrics.http_duration.place(http)) if status else (mcp,)
            answer.is_kept = len(self._answers) < _MOST_KEPT
            if answer.is_kept:
                self._answers[key] = answer
        return answer

    def _fold(self, answer: McpAnswer) -> None:
        waiting, answer.waiting = answer.waiting, []
        waiting.sort()
        total, values = sum(waiting), self._values
        counted = 0
        bounds = [*(bisect_right(waiting, bound) for bound in DURATION_BOUNDS), len(waiting)]
        for bucket, until in enumerate(bounds, start=1):
            if until > counted:
                for at in answer.places:
                    values[at + bucket] += until - counted
                counted = until
        for at in answer.places:
            values[at] += total

    # Traces
    def _trace_mcp(self, tracer: Tracer, answer: McpAnswer, seconds: float, visit: Visit) -> None:
        """The context of the message is the span's parent, that of the HTTP request a link."""
        message = visit.mcp_message or {}
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        around = None if visit.trace_headers is None else read_trace_parent(*visit.trace_headers)
        parent: TraceParent | None = None
        version = ""
        if isinstance(meta, dict):
            if "traceparent" in meta:
                parent = read_trace_parent(meta["traceparent"], meta.get("tracestate"))
            said = meta.get(_META_VERSION)
            # That of a failed request may be anything.
            version = said if isinstance(said, str) and not answer.code else ""
        link = None if parent is None else around
        if parent is None:
            parent = around
        trace_id = tracer.sample(parent)
        if trace_id is None:
            return
        key = (answer, version)
        shape = tracer.find_shape(key) or _mcp_shape(tracer, key, answer, version)
        request_id = message.get("id")
        is_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
        shown = str(request_id)[:_LONGEST_REQUEST_ID] if is_id else None
        tracer.record(shape, trace_id, seconds, parent, link, shown)

    def _trace_call(
        self, tracer: Tracer, entry: Entry, visit: Visit, outcome: str, seconds: float
    ) -> None:
        given = visit.trace_headers
        parent = None if given is None else read_trace_parent(*given)
        trace_id = tracer.sample(parent)
        if trace_id is None:
            return
        key = ("call", visit.door, entry.action, outcome)
        shape = tracer.find_shape(key)
        if shape is None:
            attributes: dict[str, AttributeValue] = {"carrel.door": visit.door}
            name = entry.action
            if isinstance(entry, Operation):
                name = f"execute_tool {entry.name}"
                attributes["gen_ai.operation.name"] = "execute_tool"
                attributes["gen_ai.tool.name"] = entry.name
            if outcome != SUCCESS:
                attributes["error.type"] = outcome
            problem = outcome if outcome in _OUR_FAULTS else None
            is_server = visit.door != COMMAND_LINE
            shape = tracer.add_shape(key, name, attributes, problem, is_server=is_server)
        tracer.record(shape, trace_id, seconds, parent)


def _mcp_shape(
    tracer: Tracer, key: tuple[object, ...], answer: McpAnswer, version: str
) -> SpanShape:
    method, tool, prompt, error, transport = answer.labels
    attributes: dict[str, AttributeValue] = {
        "mcp.method.name": method,
        "network.transport": transport,
    }
    if version:
        attributes["mcp.protocol.version"] = version
    if tool:
        attributes["gen_ai.tool.name"] = tool
        attributes["gen_ai.operation.name"] = "execute_tool"
    if prompt:
        attributes["gen_ai.prompt.name"] = prompt
    if error:
        attributes["error.type"] = error
    if answer.code:
        attributes["rpc.response.status_code"] = str(answer.code)
    if answer.failure:
        attributes["carrel.error.code"] = answer.failure
    is_fault = answer.code == _INTERNAL or (
        _LOWEST_APPLICATION <= answer.code <= _HIGHEST_APPLICATION
    )
    problem = (answer.failure or error) if is_fault else None
    return tracer.add_shape(key, f"{method} {tool or prompt}".strip(), attributes, problem)
