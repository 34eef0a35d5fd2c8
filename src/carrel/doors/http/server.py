"""Runs the ASGI application under uvicorn, with uvloop and httptools, on a listening socket."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import socket
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, cast

import uvicorn
from uvicorn.supervisors import Multiprocess

from carrel.core.errors import CarrelError
from carrel.doors.http.protocol import GuardedProtocolFactory
from carrel.policy.http_limits import ConnectionLimits

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

log = logging.getLogger("carrel.http")

_BACKLOG = 2048
# Files, databases and outgoing connections that a process has open besides.
_OTHER_FILES = 512


# Requests leave few cycles; with Python's own numbers every 700th object starts a collection, and
# one of all objects takes tens of milliseconds. Chosen by `python -m benchmarks.doors load`.
_COLLECT_AFTER = (20_000, 20, 50)


class AddressInUseError(CarrelError):
    """The address to listen on cannot be had."""

    code = "unavailable"


def listen(host: str, port: int, *, waits_for_start: bool = False) -> socket.socket:
    """A listening socket; raises an error with the next step.

    With `waits_for_start` connections are refused until the application has started: a proxy asks
    another replica then, where otherwise its call would wait for this one.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise AddressInUseError(
            f"Cannot listen on {host} port {port}: {error.strerror}",
            next_step="Choose another with --port, or --port 0 for any that is free.",
            details={"host": host, "port": port},
        ) from None
    if not waits_for_start:
        # Listen now: whoever connects while the workers start waits instead of being refused.
        listener.listen(_BACKLOG)
    listener.set_inheritable(True)
    return listener


def server_config(
    app: Callable[..., Any] | str,
    limits: ConnectionLimits,
    *,
    workers: int = 1,
    drain_seconds: int = 20,
) -> uvicorn.Config:
    """How uvicorn is run. Each of several workers has its share of all connections."""
    share = replace(limits, max_connections=math.ceil(limits.max_connections / workers))
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=workers,
        loop="uvloop" if find_spec("uvloop") else "asyncio",
        http=cast(type[asyncio.Protocol], GuardedProtocolFactory(share)),
        ws="none",
        lifespan="on",
        access_log=False,
        server_header=False,
        # server.trusted_proxies decides: uvicorn would trust any caller from loopback.
        proxy_headers=False,
        log_config=None,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=drain_seconds,
    )


def spare_collections() -> None:
    """What is open when serving begins stays: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


class AnnouncingServer(uvicorn.Server):
    """Says when the application has started and connections are taken."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def run_server(
    app: Callable[..., Any] | str,
    listener: socket.socket,
    *,
    workers: int,
    drain_seconds: int,
    limits: ConnectionLimits,
    announce: Callable[[], None] = lambda: None,
) -> None:
    """Serves until stopped, then drains; several workers need an importable factory.

    `announce` is called when connections are taken, with several workers when they are let wait.
    """
    limits = replace(
        limits,
        max_connections=min(
            limits.max_connections, workers * _allow_open_files(limits.max_connections)
        ),
    )
    config = server_config(app, limits, workers=workers, drain_seconds=drain_seconds)
    if workers > 1:
        announce()
        Multiprocess(config, sockets=[listener]).run()
    else:
        spare_collections()
        AnnouncingServer(config, announce).run(sockets=[listener])


def _allow_open_files(connections: int) -> int:
    """Raise the limit of open files as far as allowed; returns how many connections fit."""
    if resource is None:
        return connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return connections
    allowed = max(soft - _OTHER_FILES, soft // 2)
    log.warning("fewer connections than set", extra={"open_files": soft, "connections": allowed})
    return allowed
