"""What a desk measures of itself, for whoever operates it; nothing of it exists unless asked for.

Labels and names of spans come from the catalogue, the routes and the error codes: never a user, an
address of a resource, or a word of a caller.
"""

from __future__ import annotations

from carrel.libraries.telemetry.instruments import Registry
from carrel.libraries.telemetry.spans import AttributeValue, BoundedBuffer, Span, SpanShape
from carrel.libraries.telemetry.trace_context import Sampler

# The bounds of the conventions for MCP and HTTP in seconds, and three below, where most calls are.
DURATION_BOUNDS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0,
    300.0,
)  # fmt: skip
SUCCESS = "success"
_MOST_SHAPES = 2000


class DeskMetrics:
    """The instruments that calls pass."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.mcp_duration = registry.histogram(
            "mcp.server.operation.duration",
            "s",
            "How long MCP requests take, by method and tool or prompt",
            (
                "mcp.method.name",
                "gen_ai.tool.name",
                "gen_ai.prompt.name",
                "error.type",
                "network.transport",
            ),
            DURATION_BOUNDS,
        )
        self.http_duration = registry.histogram(
            "http.server.request.duration",
            "s",
            "How long HTTP requests take, their bodies included",
            ("http.request.method", "http.route", "http.response.status_code"),
            DURATION_BOUNDS,
        )
        self.http_active = registry.gauge(
            "http.server.active_requests", "{request}", "HTTP requests under way"
        )
        self.call_duration = registry.histogram(
            "carrel.call.duration",
            "s",
            "How long calls take that are no MCP request of their own",
            ("door", "operation", "outcome"),
            DURATION_BOUNDS,
        )
        self.refusals = registry.counter(
            "carrel.refusals",
            "{refusal}",
            "Requests and calls that were refused before they ran, by error code",
            ("door", "reason"),
        )


class Tracer:
    """Makes the spans of calls that are sampled."""

    def __init__(self, sampler: Sampler, spans: BoundedBuffer[Span]) -> None:
        self.is_sampled = sampler.is_sampled
        self.put = spans.put
        self._shapes: dict[tuple[object, ...], SpanShape] = {}

    def find_shape(self, key: tuple[object, ...]) -> SpanShape | None:
        return self._shapes.get(key)

    def add_shape(
        self,
        key: tuple[object, ...],
        name: str,
        attributes: dict[str, AttributeValue],
        problem: str | None,
        *,
        is_server: bool = True,
    ) -> SpanShape:
        """A shape under its key; kept, where not too many are kept already."""
        shape = SpanShape(name, is_server, attributes, problem)
        if len(self._shapes) < _MOST_SHAPES:
            self._shapes[key] = shape
        return shape
