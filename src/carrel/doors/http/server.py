"""Runs the ASGI application under uvicorn, with uvloop and httptools, on a socket opened beforehand."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from carrel.core.errors import CarrelError

_BACKLOG = 2048


class AddressInUseError(CarrelError):
    """The address to listen on cannot be had."""

    code = "unavailable"


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that says what to do."""
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
    # Listening from now on: whoever connects while the workers start waits instead of being refused.
    listener.listen(_BACKLOG)
    listener.set_inheritable(True)
    return listener


def run_server(app: Callable[..., Any] | str, listener: socket.socket, *, workers: int, drain_seconds: int) -> None:
    """Serves until told to stop, then finishes what is in flight. More than one worker needs an importable factory."""
    config = uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=workers,
        loop="uvloop" if find_spec("uvloop") else "asyncio",
        http="httptools",
        lifespan="on",
        access_log=False,
        server_header=False,
        # Proxies are ours to believe or not, by server.trusted_proxies: uvicorn would believe whoever calls from loopback.
        proxy_headers=False,
        ws="none",
        log_config=None,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=drain_seconds,
    )
    if workers > 1:
        Multiprocess(config, sockets=[listener]).run()
    else:
        uvicorn.Server(config).run(sockets=[listener])
