"""The HTTP door: one ASGI application with every address on it."""

from carrel.doors.http.app import HttpApp, RequestLimits, Route
from carrel.doors.http.exchange import Exchange, Response

__all__ = ["Exchange", "HttpApp", "RequestLimits", "Response", "Route"]
