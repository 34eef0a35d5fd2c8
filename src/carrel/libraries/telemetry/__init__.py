"""Metrics and traces as others read them: Prometheus text, OTLP/JSON, W3C trace context."""
