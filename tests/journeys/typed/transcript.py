"""The typed session as a page: commands and answers, with what differs from run to run made the
same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.journeys.typed.documents import Written
from tests.journeys.typed.terminal import Terminal, Typed

_LINES_SHOWN = 14
_WIDTH_SHOWN = 200
_HEADING = """\
# Transcript of README and guide

Written by `make transcript`, which types every command of [README](../README.md) and the [guide](guide.md) in order: Carrel from an
installed wheel, an empty home with a few papers, references and notes, no network. A test does the same and fails when this page is
not what it saw. Times, sizes, ids and secrets are shown as `…`, the home as `~`, and long answers are cut.
"""  # noqa: E501
_PROGRESS = re.compile(
    r"^(reading|writing|indexing|importing|exporting|copying|checking|unpacking|linking)\b.*(kB|bytes|MB|papers|notes|files)\b"
)
_LOG = re.compile(r"^(\d\d:\d\d:\d\d (debug|info|warning|error)|\s*\d{1,2}% \w+:)")
_STABLE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"carrel_[\w-]{30,}", "carrel_…"),
        (r"Bearer [\w-]{30,}", "Bearer …"),
        (r"with the password \S+", "with the password …"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "…"),
        (r"\b(res|hyp|job)_[0-9a-f]+", r"\1_…"),
        (r"\b[0-9a-f]{16,64}\b", "…"),
        (r"(?m)^(id: )\S+$", r"\1…"),
        (r"\b(note|show|propose|promote) [A-Za-z0-9]{20}\b", r"\1 …"),
        (r"(?m)^( +)[A-Za-z0-9]{20}(?= ·|$)", r"\1…"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?", "…"),
        (r"\b20\d\d-\d\d-\d\d\b", "…"),
        (r"-[0-9a-f]{8}(?=/)", "-…"),
        (r"\b\d+ (files|lines|chains)\b", r"… \1"),
        (r"\b\d+(\.\d+)? (s|ms|minutes)\b", r"… \2"),
        (r"\d[\d,.]* (bytes|kB|MB|GB)\b", r"… \1"),
        # What the doctor finds on this machine.
        (r"(?m)^(ok +(?:pdf|extras|styles|assistants) +).*$", r"\1…"),
        (r" \(something listens there already\)", ""),
        (r"Python [\d.]+, SQLite [\d.]+", "Python …, SQLite …"),
        (r"local:[\w-]+ cli", "local:you cli"),
        (r'"(anchor|duration_ms|elapsed_ms)":[\d.]+', r'"\1":…'),
    )
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A command of a page, and what came of it; nothing where the page says that it needs more."""

    written: Written
    typed: Typed | None


def stable(text: str, terminal: Terminal) -> str:
    """An answer without what differs from run to run."""
    text = (
        text.replace(str(terminal.bin), "~/.local/bin")
        .replace(str(terminal.home), "~")
        .replace(str(terminal.port), "8080")
    )
    for pattern, by in _STABLE:
        text = pattern.sub(by, text)
    lines = [
        line.rstrip()
        for line in text.splitlines()
        if not (_PROGRESS.match(line) or _LOG.match(line))
    ]
    shown = [
        line if len(line) <= _WIDTH_SHOWN else f"{line[:_WIDTH_SHOWN]}…"
        for line in lines[:_LINES_SHOWN]
    ]
    left = len(lines) - len(shown)
    return "\n".join([*shown, *([f"… ({left} more lines)"] if left > 0 else [])])


def page(parts: Iterable[tuple[str, Iterable[Entry], Terminal]]) -> str:
    """The whole transcript."""
    return "\n".join(
        [
            _HEADING,
            *(
                f"## {name}\n\n{''.join(_entry(each, terminal) for each in some)}"
                for name, some, terminal in parts
            ),
        ]
    )


def _entry(entry: Entry, terminal: Terminal) -> str:
    written, typed = entry.written, entry.typed
    if written.kind == "description":
        return ""
    if typed is None:
        return f"- `{written.text}` was not typed: {written.needs}\n\n"
    prompt = ">>> " if written.kind == "python" else "$ "
    command = "\n".join(
        [
            written.text.splitlines()[0],
            *(f"... {line}".rstrip() for line in written.text.splitlines()[1:]),
        ]
    )
    answer = stable(typed.output, terminal)
    status = "" if typed.status == 0 else f"\n(exit status {typed.status})"
    return f"```text\n{prompt}{command}{answer and chr(10) + answer}{status}\n```\n\n"


def write(text: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8")
