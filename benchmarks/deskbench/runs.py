"""One job from its beginning to its verdict, and the log of it."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmarks.deskbench.checks import DeskState, judge
from benchmarks.deskbench.jobs import Job
from benchmarks.deskbench.mcp_client import McpClient, ServerError, ToolAnswer
from benchmarks.deskbench.servers import OpenDesk

CALLS_PER_JOB = 25
TOOL_ANSWER_CHARACTERS = 30_000
# Of a tool's answer in a log that is kept in the repository.
KEPT_CHARACTERS = 600
# A copy of the desk, whose place says nothing to a reader of the log.
_DESK_FOLDER = re.compile(r'[^\s"]*/deskbench-\w+/desk')
# Where an API does not count tokens itself.
CHARACTERS_PER_TOKEN = 4


@dataclass
class CallRecord:
    """A call as the assistant made it, and what came back."""

    tool: str
    arguments: dict[str, Any]
    answer: str
    is_error: bool
    seconds: float


@dataclass
class JobRecord:
    """A line of the log."""

    job: str
    kind: str
    split: str
    server: str
    assistant: str
    answer: str = ""
    done: bool = False
    why: str = ""
    calls: list[CallRecord] = field(default_factory=list)
    call_count: int = 0
    error_count: int = 0
    characters_in: int = 0
    characters_out: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_from: str = "characters/4"
    seconds: float = 0.0


class OutOfCallsError(Exception):
    """The assistant has used all its calls."""


class Desk:
    """What an assistant has: instructions, the list of tools, and calls that are counted."""

    def __init__(self, client: McpClient, record: JobRecord) -> None:
        self._client = client
        self._record = record
        self.instructions = client.instructions
        self.tools = client.list_tools()

    def call(self, tool: str, arguments: dict[str, Any]) -> ToolAnswer:
        """The tool's answer, cut at the limit; an OutOfCallsError after the last call."""
        if len(self._record.calls) >= CALLS_PER_JOB:
            raise OutOfCallsError
        began = time.monotonic()
        answer = self._client.call(tool, arguments)
        text = answer.text
        if len(text) > TOOL_ANSWER_CHARACTERS:
            text = text[:TOOL_ANSWER_CHARACTERS] + "\n[cut by the harness]"
        seconds = round(time.monotonic() - began, 3)
        self._record.calls.append(CallRecord(tool, arguments, text, answer.is_error, seconds))
        return ToolAnswer(text, answer.is_error)

    def close(self) -> None:
        """Ends the connection; may be called twice."""
        self._client.close()


class Assistant(Protocol):
    """Does a job with a desk and answers with text; may count tokens in the record."""

    name: str

    def do(self, job: Job, desk: Desk, record: JobRecord) -> str: ...


def run_job(job: Job, desk: OpenDesk, assistant: Assistant) -> JobRecord:
    """The job done by the assistant on this desk, and judged."""
    record = begin_record(job, desk, assistant.name)
    began = time.monotonic()
    client = desk.connect()
    try:
        held = Desk(client, record)
        record.answer = assistant.do(job, held, record)
        count_characters(record, job, held)
    except OutOfCallsError:
        record.why = f"more than {CALLS_PER_JOB} calls"
    except ServerError as error:
        record.why = f"server: {error}"
    finally:
        client.close()
    record.seconds = round(time.monotonic() - began, 1)
    finish_record(record, job, desk)
    return record


def begin_record(job: Job, desk: OpenDesk, assistant: str) -> JobRecord:
    """An empty record of a job."""
    return JobRecord(job.id, job.kind, job.split, desk.server.name, assistant)


def count_characters(record: JobRecord, job: Job, desk: Desk) -> None:
    """Sizes as one conversation: list of tools, job, calls and answers once each."""
    fixed = len(desk.instructions) + len(json.dumps(desk.tools)) + len(job.text)
    read = sum(len(call.answer) for call in record.calls)
    written = sum(len(json.dumps(call.arguments)) + len(call.tool) for call in record.calls)
    record.characters_in = fixed + read
    record.characters_out = written + len(record.answer)
    if record.tokens_from == "characters/4":
        record.tokens_in = record.characters_in // CHARACTERS_PER_TOKEN
        record.tokens_out = record.characters_out // CHARACTERS_PER_TOKEN


def finish_record(record: JobRecord, job: Job, desk: OpenDesk) -> None:
    """The verdict, with the desk as it is now where a check looks at it."""
    record.call_count = len(record.calls)
    record.error_count = sum(call.is_error for call in record.calls)
    if not record.why:
        state = desk.read_state() if job.reads_state else DeskState()
        record.why = judge(job.check, record.answer, state, is_long=job.long)
    record.done = not record.why


def append_record(record: JobRecord, log: Path) -> None:
    """One JSON line more."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")


def shorten_logs(logs: list[Path], to: Path) -> None:
    """The jobs of the logs in one file, with what tools answered cut, and how long it was."""
    with to.open("w", encoding="utf-8") as file:
        for log in logs:
            for row in read_records(log):
                for call in row["calls"]:
                    call["answer_characters"] = len(call["answer"])
                    answer = _DESK_FOLDER.sub("{desk}", call["answer"])
                    call["answer"] = answer[:KEPT_CHARACTERS]
                line = json.dumps(row, ensure_ascii=False)
                file.write(_DESK_FOLDER.sub("{desk}", line) + "\n")


def read_records(log: Path) -> list[dict[str, Any]]:
    """The lines of a log; of jobs run twice the last."""
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines() if line.strip()]
    return list({row["job"]: row for row in rows}.values())
