"""The HTTP door: one ASGI application with every address on it."""

from carrel.doors.http.app import HttpApp, Route
from carrel.doors.http.messages import HttpRequest, Response

__all__ = ["HttpApp", "HttpRequest", "Response", "Route"]
