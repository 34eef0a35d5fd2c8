"""The MCP tasks extension: a long call returns a task, which the client polls and may cancel.

Only clients of 2026-07-28 that announce the extension on the request are given tasks. A task is the
background job itself, so any server of the same desk can answer for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from carrel.core.answer import Job
from carrel.core.caller import Caller, Visit
from carrel.core.errors import InternalError, NotFoundError
from carrel.core.jobs import JobOperations
from carrel.core.operation import Operation
from carrel.doors.errors import INTERNAL, INVALID_PARAMS, MISSING_CAPABILITY
from carrel.doors.mcp.endpoint import Endpoint
from carrel.doors.mcp.json_rpc import (
    TASKS_EXTENSION,
    ProtocolError,
    announces_extension,
    error_facts,
    tool_error,
)
from carrel.policy.gate import Gate

POLL_INTERVAL_MS = 1000
_STATUS = {
    "running": "working",
    "completed": "completed",
    "failed": "completed",
    "cancelled": "cancelled",
}


def knows_tasks(params: Mapping[str, Any]) -> bool:
    """Whether a request announces the tasks extension."""
    return announces_extension(params, TASKS_EXTENSION)


def task_created(job: Job) -> bytes:
    """The fields of a result that returns a task."""
    return b'"resultType":"task",' + orjson.dumps(_facts(job))[1:-1]


class Tasks:
    """Reads and cancels tasks, through the gate."""

    def __init__(self, endpoint: Endpoint, gate: Gate, jobs: JobOperations) -> None:
        self._tools = {tool.operation.name: tool for tool in endpoint.tools.values()}
        self._gate = gate
        self._jobs = jobs

    async def get(self, params: Mapping[str, Any], caller: Caller, visit: Visit) -> bytes:
        job = await self._call_for_task(self._jobs.find_task, params, caller, visit)
        facts = _facts(job)
        if job.error is not None and job.error.code == InternalError.code:
            # What no tool result may say: the server itself went wrong.
            error = {"code": INTERNAL, "message": job.error.message, "data": error_facts(job.error)}
            return orjson.dumps({**facts, "status": "failed", "error": error}, default=str)[1:-1]
        inside = orjson.dumps(facts)[1:-1]
        if job.error is not None:
            inside += b',"result":{"resultType":"complete",' + tool_error(job.error) + b"}"
        elif job.state == "completed":
            encoded = self._tools[job.operation].encode_job_result(job, self._jobs.get, caller)
            inside += b',"result":{"resultType":"complete",' + encoded + b"}"
        return inside

    async def update(self, params: Mapping[str, Any], caller: Caller, visit: Visit) -> None:
        """Accept a client's input and ignore it: our jobs never ask for any."""
        await self._call_for_task(self._jobs.find_task, params, caller, visit)
        if not isinstance(params.get("inputResponses"), dict):
            raise ProtocolError(
                INVALID_PARAMS, "inputResponses is required and must be an object", has_run=True
            )

    async def cancel(self, params: Mapping[str, Any], caller: Caller, visit: Visit) -> None:
        await self._call_for_task(self._jobs.cancel_task, params, caller, visit)

    async def _call_for_task(
        self, operation: Operation[Any], params: Mapping[str, Any], caller: Caller, visit: Visit
    ) -> Job:
        if not knows_tasks(params):
            wanted: dict[str, object] = {
                "requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}
            }
            raise ProtocolError(
                MISSING_CAPABILITY, f"Tasks are for clients that declare {TASKS_EXTENSION}", wanted
            )
        task_id = params.get("taskId")
        if not isinstance(task_id, str) or not task_id:
            raise ProtocolError(INVALID_PARAMS, "taskId is required and must be a string")
        try:
            job: Job = await self._gate.call(operation, {"job_id": task_id[:200]}, caller, visit)
        except NotFoundError as error:
            raise ProtocolError(
                INVALID_PARAMS, error.message, error_facts(error), has_run=True
            ) from None
        return job


def _facts(job: Job) -> dict[str, object]:
    return {
        "taskId": job.job_id,
        "status": _STATUS[job.state],
        "statusMessage": job.message,
        "createdAt": job.started_at,
        "lastUpdatedAt": job.updated_at,
        "ttlMs": None,
        "pollIntervalMs": POLL_INTERVAL_MS,
    }
