"""Measures calls at the gate, MCP requests and HTTP requests; doors and gate have one or None.

Every call passes here, so that it is written for speed: doors note what they know on the visit, one
look-up at the end finds where a duration belongs, and durations are put into buckets many at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping
from time import perf_counter, time_ns
from typing import Any

from carrel.core.caller import COMMAND_LINE, McpRequest, Visit
from carrel.core.operation import Entry, Operation
from carrel.core.telemetry import DURATION_BOUNDS, SUCCESS, DeskMetrics, Tracer
from carrel.libraries.telemetry.instruments import OTHER
from carrel.libraries.telemetry.spans import AttributeValue, Span, SpanShape
from carrel.libraries.telemetry.trace_context import read_trace_parent

# What a tool's own error is called, which travels in a result.
TOOL_ERROR = "tool_error"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_INTERNAL, _LOWEST_APPLICATION, _HIGHEST_APPLICATION = -32603, -32099, -32000
# Error codes that say that the server failed, not the call.
_OUR_FAULTS = frozenset({"internal_error", "unavailable", "timed_out", "storage_full"})
_MOST_KEPT = 1000
# Revisions of the protocol whose shapes an answer keeps; more are names that callers made up.
_MOST_VERSIONS = 4
# Durations that wait until they are put into buckets: sorted together, each takes a tenth.
_FOLDED_AT = 256
_NAMED = frozenset({"tools/call", "prompts/get"})


class McpAnswer:
    """Requests of MCP that are counted together; `code` is their JSON-RPC error, 0 for none.

    `waiting` are durations in seconds that are in no bucket yet, `places` where those are; `shapes`
    are those of their spans, by the revision that a caller names.
    """

    __slots__ = ("code", "error", "failure", "folded_at", "labels", "places", "shapes", "waiting")

    def __init__(self, method: str, name: str, code: int, failure: str, *, is_pipe: bool) -> None:
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
        # How many durations wait at most.
        self.folded_at = _FOLDED_AT
        self.waiting: list[float] = []
        self.places: tuple[int, ...] = ()
        self.shapes: dict[str, SpanShape] = {}


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
        if visit.mcp_request is not None:
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

    def mcp_began(self, visit: Visit, request: McpRequest) -> None:
        """A request of MCP begins: its id, method and parameters.

        Over HTTP what is counted at the end of a request is the last of a batch; of a single one
        doors note it on the visit themselves.
        """
        if visit.mcp_request is not None:
            self.mcp_answered(visit, visit.mcp_request)
        elif not visit.began:
            visit.began = perf_counter()
        visit.failure = ""
        visit.mcp_request = request

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
        """A request that carried none of MCP is answered, or its client is gone (status 0)."""
        if self._metrics is not None and status:
            shown = method if method in _METHODS else OTHER
            seconds = perf_counter() - visit.began
            self._metrics.http_duration.observe((shown, route_of(path), str(status)), seconds)

    def mcp_answered(
        self,
        visit: Visit,
        request: McpRequest,
        path: str = "",
        status: int = 0,
    ) -> None:
        """A request of MCP is answered; it has a path and a status if HTTP carried it alone."""
        seconds = perf_counter() - visit.began
        _, method, params = request
        # Methods that have no names are told apart where the key is not known.
        key = (path, status, method, params.get("name", ""), visit.mcp_code, visit.failure)
        try:
            answer = self._answers.get(key)
        except TypeError:
            # A name that is a list or an object.
            answer = None
        if answer is None:
            answer = self._find_answer(key, visit)
        if answer.places:
            waiting = answer.waiting
            waiting.append(seconds)
            if len(waiting) >= answer.folded_at:
                self._fold(answer)
        if self._tracer is not None:
            self._trace_mcp(self._tracer, answer, seconds, visit, request)

    def fold(self) -> None:
        """Put all durations into their buckets, before somebody reads them."""
        for answer in self._answers.values():
            self._fold(answer)

    def _find_answer(self, given: tuple[Any, ...], visit: Visit) -> McpAnswer:
        """What a request is counted as; methods and names that are none of ours are OTHER."""
        path, status, method, name, code, failure = given
        if method not in self._methods:
            method, name = OTHER, ""
        elif method not in _NAMED:
            name = ""
        elif not (isinstance(name, str) and name in self._names[method]):
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
            if len(self._answers) < _MOST_KEPT:
                self._answers[key] = answer
            else:
                answer.folded_at = 1
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
    def _trace_mcp(
        self,
        tracer: Tracer,
        answer: McpAnswer,
        seconds: float,
        visit: Visit,
        request: McpRequest,
    ) -> None:
        """The context of the message is the span's parent, that of the HTTP request a link."""
        request_id, _, params = request
        parent = link = None
        if visit.trace_headers is not None:
            parent = read_trace_parent(*visit.trace_headers)
        version = ""
        meta = params.get("_meta")
        if isinstance(meta, dict):
            if "traceparent" in meta:
                named = read_trace_parent(meta["traceparent"], meta.get("tracestate"))
                if named is not None:
                    parent, link = named, parent
            said = meta.get(_META_VERSION)
            # That of a failed request may be anything.
            version = said if isinstance(said, str) and not answer.code else ""
        if tracer.is_sampled(parent):
            shape = answer.shapes.get(version) or _mcp_shape(answer, version)
            tracer.put(Span(shape, seconds, time_ns(), parent, link, request_id))

    def _trace_call(
        self, tracer: Tracer, entry: Entry, visit: Visit, outcome: str, seconds: float
    ) -> None:
        given = visit.trace_headers
        parent = None if given is None else read_trace_parent(*given)
        if not tracer.is_sampled(parent):
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
        tracer.put(Span(shape, seconds, time_ns(), parent))


def _mcp_shape(answer: McpAnswer, version: str) -> SpanShape:
    """The shape of a request's span; kept, where the answer has not too many already."""
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
    shape = SpanShape(f"{method} {tool or prompt}".strip(), True, attributes, problem)
    if len(answer.shapes) < _MOST_VERSIONS:
        answer.shapes[version] = shape
    return shape
