"""Rules for metrics, traces and the audit log elsewhere."""

from __future__ import annotations

from carrel.policy.origin import is_loopback
from carrel.settings import Settings, SettingsError
from carrel.settings.observability import host_of, read_pairs

_PATHS = {
    "/v1/traces": "traces",
    "/v1/metrics": "metrics",
    "/v1/logs": "records of the audit log",
}


def check_observability(settings: Settings) -> None:
    """Raises SettingsError for what cannot be measured, sent, or is forbidden."""
    chosen = settings.observability
    wanted = {
        "/v1/traces": chosen.has_traces,
        "/v1/metrics": chosen.pushes_metrics,
        "/v1/logs": chosen.sends_audit,
    }
    if chosen.sends_audit and not settings.audit.enabled:
        raise SettingsError(
            "observability.audit = otlp sends an audit log that audit.enabled = false switched off",
            next_step="Set one of them otherwise.",
            details={"setting": "observability.audit"},
        )
    for path, is_wanted in wanted.items():
        if is_wanted:
            _check_address(settings, path)
    for name in ("otlp_headers", "resource_attributes"):
        try:
            read_pairs(getattr(chosen, name))
        except ValueError as error:
            raise SettingsError(
                f"observability.{name} cannot be read: {error}",
                next_step="Write the values percent-encoded, as OpenTelemetry's variables have "
                "them.",
                details={"setting": f"observability.{name}"},
            ) from None


def _check_address(settings: Settings, path: str) -> None:
    chosen = settings.observability
    address = chosen.address(path)
    if address is None:
        raise SettingsError(
            f"{_PATHS[path].capitalize()} are to be sent, and observability.otlp_endpoint does not "
            "say where",
            next_step="Name a collector, such as http://127.0.0.1:4318.",
            details={"setting": "observability.otlp_endpoint"},
        )
    if chosen.otlp_protocol == "grpc":
        raise SettingsError(
            "OTLP is sent over HTTP here, not gRPC",
            next_step="Set observability.otlp_protocol (OTEL_EXPORTER_OTLP_PROTOCOL) to http/json "
            "and the endpoint to the collector's port for HTTP, mostly 4318.",
            details={"setting": "observability.otlp_protocol"},
        )
    host = host_of(address)
    if not host:
        raise SettingsError(
            "observability.otlp_endpoint is no address of HTTP",
            next_step="Write it as http://127.0.0.1:4318 or https://collector.example.",
            details={"setting": "observability.otlp_endpoint"},
        )
    if not settings.network and not is_loopback(host):
        raise SettingsError(
            f"network = false, and {_PATHS[path]} would be sent to {host}",
            next_step="Send them to a collector on this machine (127.0.0.1), or set "
            "OTEL_SDK_DISABLED=true (observability.disabled), or network = true.",
            details={"setting": "observability.otlp_endpoint"},
        )


def metrics_token(settings: Settings) -> str | None:
    """The token that opens /metrics, or None; raises SettingsError."""
    chosen = settings.observability
    if chosen.metrics_token_file is None:
        return chosen.metrics_token
    try:
        token = chosen.metrics_token_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"observability.metrics_token_file cannot be read: {error}",
            next_step="Correct the path, or the rights of the file.",
            details={"setting": "observability.metrics_token_file"},
        ) from None
    if not 16 <= len(token) <= 500 or not token.isprintable() or " " in token:
        raise SettingsError(
            "observability.metrics_token_file holds no token",
            next_step="Write 16 to 500 printable characters into it, without spaces.",
            details={"setting": "observability.metrics_token_file"},
        )
    return token
