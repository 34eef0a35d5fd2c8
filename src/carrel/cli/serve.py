"""`carrel serve`: every open room over HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from carrel.cli.connect import lines_to_paste
from carrel.cli.options import add_desk_options, settings_from
from carrel.cli.parsers import CommandParser
from carrel.cli.progress import TerminalProgress
from carrel.core.clock import SystemClock
from carrel.doors.http.server import listen, run_server
from carrel.doors.logs import configure_logs
from carrel.settings import Settings
from carrel.settings.home_rules import find_refused
from carrel.settings.network_rules import connection_limits, refuse_open_server
from carrel.wiring.access import open_access_store
from carrel.wiring.audit import record_command
from carrel.wiring.database import refuse_other_schema
from carrel.wiring.desk import open_desk
from carrel.wiring.home import read_local_secret, unserved_files
from carrel.wiring.http import METRICS_FOLDER, RESOLVED_SETTINGS, http_app
from carrel.wiring.papers import has_corpus

if TYPE_CHECKING:
    from carrel.policy.authorization.models import AccessStore

log = logging.getLogger("carrel.serve")
AnswerT = TypeVar("AnswerT")


def run(words: list[str]) -> int:
    parser = CommandParser(prog="carrel serve", description="Serve every open room over HTTP.")
    add_desk_options(parser)
    parser.add_argument("--host", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (8080); 0 for any that is free")
    parser.add_argument("--workers", type=int, help="processes that share the work (1)")
    parser.add_argument(
        "--compact",
        action="store_true",
        default=None,
        help="offer one tool that finds and calls the others",
    )
    parser.add_argument(
        "--secret",
        action="store_true",
        default=None,
        help="ask callers for a secret that only this account can read",
    )
    parser.add_argument(
        "--demo", action="store_true", help="open a small demonstration corpus, built on first use"
    )
    options = parser.parse_args(words[1:])
    extra: dict[tuple[str, ...], object] = {
        ("server", "host"): options.host,
        ("server", "port"): options.port,
        ("server", "workers"): options.workers,
        ("server", "compact"): options.compact,
        ("auth", "local_secret"): options.secret,
    }
    settings = settings_from(options, extra)
    if options.demo:
        from carrel.wiring.papers_build import with_demo

        settings = with_demo(settings, TerminalProgress())
    configure_logs(settings.log.level, settings.log.format)
    refuse_open_server(settings)
    for what, file in unserved_files(settings).items():
        log.warning("not served, because DATABASE_URL is set", extra={"what": what, "file": file})
    refuse_other_schema(settings)
    for refused in find_refused(settings):
        log.warning(
            "not kept here, and so refused",
            extra={
                "room": refused.room,
                "reason": refused.message,
                "next_step": refused.next_step,
            },
        )
    others_answer = settings.is_one_of_several and settings.server.workers == 1
    listener = listen(settings.server.host, settings.server.port, waits_for_start=others_answer)
    port = listener.getsockname()[1]
    settings = settings.model_copy(
        update={"server": settings.server.model_copy(update={"port": port})}
    )
    workers = settings.server.workers
    with keeping_interrupts():
        desk = open_desk(settings, audit_stream="stdout")
        if desk.access.built_in is not None and desk.access.built_in.has_passwords:
            _greet_the_first_user(settings)
        app = http_app(desk) if workers == 1 else "carrel.wiring.http:app_from_environment"
    if workers > 1:
        os.environ[RESOLVED_SETTINGS] = settings.model_dump_json()
    greeting = _greeting(settings)
    with _shared_metrics(settings):
        run_server(
            app,
            listener,
            workers=workers,
            drain_seconds=settings.server.drain_seconds,
            limits=connection_limits(settings),
            announce=lambda: print(greeting, file=sys.stderr, flush=True),
        )
    return 0


@contextmanager
def _shared_metrics(settings: Settings) -> Iterator[None]:
    """A folder in which workers see one another's numbers, while they serve."""
    if settings.server.workers == 1 or not settings.observability.has_page:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="carrel-metrics-") as folder:
        os.environ[METRICS_FOLDER] = folder
        yield


@contextmanager
def keeping_interrupts() -> Iterator[None]:
    """Ctrl-C ends the block as KeyboardInterrupt, whatever a library makes of it on the way.

    Compiled libraries turn an interrupt that comes while they call Python into an error of their
    own, or lose it.
    """
    # Outside the main thread there are no signals, and a job that ignores them goes on doing so.
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    interrupted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception:
        if interrupted:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        raise KeyboardInterrupt


def _greet_the_first_user(settings: Settings) -> None:
    from carrel.policy.authorization.login import FIRST_USER, add_first_user

    if asyncio.run(_ask_store(settings, lambda store: store.users())):
        return
    with record_command(settings, "users:add", f"user:{FIRST_USER}", {"first_run": True}):
        password = asyncio.run(
            _ask_store(settings, lambda store: add_first_user(store, SystemClock()))
        )
    if password is not None:
        print(
            f"First run: log in as {FIRST_USER} with the password {password}\n"
            f"It is shown only now. carrel users reset-password {FIRST_USER} makes another; carrel "
            f"users add NAME adds people.\n",
            file=sys.stderr,
            flush=True,
        )


async def _ask_store(
    settings: Settings, question: Callable[[AccessStore], Awaitable[AnswerT]]
) -> AnswerT:
    store = open_access_store(settings)
    try:
        return await question(store)
    finally:
        await store.close()


def _greeting(settings: Settings) -> str:
    url = settings.base_url
    has_papers = "papers" in settings.rooms and has_corpus(settings)
    served = [name for name in settings.rooms if name != "papers" or has_papers]
    lines = [
        f"Carrel is serving {', '.join(served) or 'no room with anything in it'} at {url} (MCP at "
        f"{url}/desk/mcp, operations at {url}/docs)"
    ]
    if settings.server.console and settings.rooms:
        lines.append(f"To look at it, open {url}/ in a browser.")
    if "papers" in settings.rooms and not has_papers:
        lines.append(
            "There are no papers yet: carrel add FOLDER adds them, and the server sees "
            "them at once."
        )
    is_local = settings.auth.mode in {None, "local"}
    if is_local and not settings.auth.local_secret:
        lines.append(
            "Every account of this machine can use it; where there are others, start it with "
            "--secret."
        )
    secret = read_local_secret(settings.home) if is_local and settings.auth.local_secret else None
    return "\n".join((*lines, "", lines_to_paste(url, secret), ""))
