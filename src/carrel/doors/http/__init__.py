"""The HTTP door: one ASGI application with every address on it."""

from carrel.doors.http.app import HttpApp, RequestLimits, Route
from carrel.doors.http.messages import HttpRequest, Response

__all__ = ["HttpApp", "HttpRequest", "RequestLimits", "Response", "Route"]
