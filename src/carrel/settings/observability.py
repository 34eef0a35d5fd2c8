"""Settings of what operators see from outside: metrics, traces, and the audit log elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from carrel.settings.rooms import Section

_MOST_PAIRS = 64


class ObservabilitySettings(Section):
    """Nothing is measured unless asked for here, or by OpenTelemetry's own variables (OTEL_…)."""

    disabled: bool = Field(
        default=False, description="measure and send nothing, whatever else is set"
    )
    metrics: tuple[Literal["prometheus", "otlp", "none"], ...] = Field(
        default=(),
        description="prometheus: GET /metrics; otlp: sent to otlp_endpoint",
    )
    metrics_token: str | None = Field(
        default=None,
        min_length=16,
        max_length=500,
        pattern=r"^[\x21-\x7e]+$",
        description="whoever shows it as a bearer token may read /metrics; without one, "
        "administrators may",
    )
    metrics_token_file: Path | None = Field(
        default=None, description="a file that holds the token, in place of metrics_token"
    )
    metrics_every_seconds: float = Field(
        default=60.0, ge=1, le=3600, description="how often metrics are sent to otlp_endpoint"
    )
    traces: Literal["otlp", "none"] | None = Field(
        default=None, description="unset: otlp where otlp_endpoint is set"
    )
    sampler: Literal[
        "always_on",
        "always_off",
        "traceidratio",
        "parentbased_always_on",
        "parentbased_always_off",
        "parentbased_traceidratio",
    ] = Field(
        default="parentbased_always_on",
        description="which calls are traced, by OpenTelemetry's names; parentbased: as the caller "
        "says, where it says anything",
    )
    sampler_ratio: float = Field(
        default=1.0, ge=0, le=1, description="the share of calls that a ratio sampler traces"
    )
    audit: Literal["otlp", "none"] = Field(
        default="none",
        description="otlp: records of the audit log are sent to otlp_endpoint as well",
    )
    otlp_endpoint: str | None = Field(
        default=None,
        description="address of a collector, to which /v1/traces, /v1/metrics and /v1/logs are "
        "added; OTLP over HTTP as JSON",
    )
    otlp_traces_endpoint: str | None = Field(default=None, description="for traces alone, whole")
    otlp_metrics_endpoint: str | None = Field(default=None, description="for metrics alone, whole")
    otlp_logs_endpoint: str | None = Field(default=None, description="for logs alone, whole")
    otlp_protocol: Literal["http/json", "http/protobuf", "grpc"] | None = Field(
        default=None,
        description="http/json is sent in any case, which receivers of http/protobuf take as well; "
        "grpc is refused",
    )
    otlp_headers: str = Field(
        default="", max_length=8192, description="name=value,name=value, sent with every request"
    )
    otlp_timeout_ms: float = Field(default=10_000, ge=100, le=60_000)
    service_name: str = Field(default="carrel", min_length=1, max_length=200)
    resource_attributes: str = Field(
        default="", max_length=8192, description="name=value,name=value, of everything sent"
    )
    batch_delay_ms: float = Field(
        default=5000, ge=100, le=600_000, description="how long spans wait for a fuller batch"
    )
    queue_size: int = Field(
        default=2048,
        ge=64,
        le=1_000_000,
        description="how many spans, and how many audit records, may wait; further ones are "
        "dropped and counted",
    )
    batch_size: int = Field(default=512, ge=1, le=10_000)

    @property
    def has_page(self) -> bool:
        """Whether /metrics is served."""
        return "prometheus" in self.metrics and not self.disabled

    @property
    def pushes_metrics(self) -> bool:
        return "otlp" in self.metrics and not self.disabled

    @property
    def has_traces(self) -> bool:
        if self.disabled or self.traces == "none":
            return False
        return self.traces == "otlp" or bool(self.otlp_endpoint or self.otlp_traces_endpoint)

    @property
    def sends_audit(self) -> bool:
        return self.audit == "otlp" and not self.disabled

    @property
    def is_on(self) -> bool:
        return self.has_page or self.pushes_metrics or self.has_traces or self.sends_audit

    def address(self, path: str) -> str | None:
        """Where one signal is sent, by its path."""
        own = {
            "/v1/traces": self.otlp_traces_endpoint,
            "/v1/metrics": self.otlp_metrics_endpoint,
            "/v1/logs": self.otlp_logs_endpoint,
        }[path]
        if own:
            return own
        return self.otlp_endpoint.rstrip("/") + path if self.otlp_endpoint else None


# OpenTelemetry's names for the same; what they say is read as its specification describes.
OTEL_NAMES = {
    "OTEL_SDK_DISABLED": "disabled",
    "OTEL_METRICS_EXPORTER": "metrics",
    "OTEL_METRIC_EXPORT_INTERVAL": "metrics_every_seconds",
    "OTEL_TRACES_EXPORTER": "traces",
    "OTEL_TRACES_SAMPLER": "sampler",
    "OTEL_TRACES_SAMPLER_ARG": "sampler_ratio",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "otlp_endpoint",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "otlp_traces_endpoint",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "otlp_metrics_endpoint",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "otlp_logs_endpoint",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "otlp_protocol",
    "OTEL_EXPORTER_OTLP_HEADERS": "otlp_headers",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "otlp_timeout_ms",
    "OTEL_SERVICE_NAME": "service_name",
    "OTEL_RESOURCE_ATTRIBUTES": "resource_attributes",
    "OTEL_BSP_SCHEDULE_DELAY": "batch_delay_ms",
    "OTEL_BSP_MAX_QUEUE_SIZE": "queue_size",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "batch_size",
}


def read_otel_value(setting: str, value: str) -> object:
    """The text of one of OpenTelemetry's variables as the setting wants it."""
    text = value.strip()
    if setting == "disabled":
        # Only "true" switches off, whatever else is written there.
        return text.lower() == "true"
    if setting == "metrics":
        return [word.strip() for word in text.split(",") if word.strip()]
    if setting == "metrics_every_seconds":
        return float(text) / 1000.0 if text.replace(".", "", 1).isdecimal() else text
    return text


def read_pairs(text: str) -> dict[str, str]:
    """`name=value,name=value` with values percent-encoded; raises ValueError without values."""
    pairs: dict[str, str] = {}
    for piece in text.split(","):
        if not piece.strip():
            continue
        name, equals, value = piece.partition("=")
        name, value = name.strip(), unquote(value.strip())
        if not equals or not name or not (name + value).isprintable():
            raise ValueError("it must be name=value,name=value")
        pairs[name] = value
    if len(pairs) > _MOST_PAIRS:
        raise ValueError(f"it may hold at most {_MOST_PAIRS} pairs")
    return pairs


def host_of(address: str) -> str:
    """The host of an address; empty where it is no address of HTTP."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme in {"http", "https"} else ""
