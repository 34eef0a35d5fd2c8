"""FastMCP's client with its tasks extension, in an environment of its own: calls are handed tasks
and followed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import fastmcp
from fastmcp_tasks.client import call_tool_task  # type: ignore[import-not-found]


async def visit(url: str, goal: str) -> dict[str, Any]:
    async with fastmcp.Client(url) as client:
        started = await client.call_tool("start_research", {"goal": goal, "hypothesis_count": 2})
        research_id = (started.structured_content or {})["research_id"]
        # This client follows a task by itself; the caller only sees the answer.
        made = await client.call_tool(
            "generate_hypotheses", {"research_id": research_id, "count": 1}
        )
        task = await call_tool_task(client, "rank_hypotheses", {"research_id": research_id})
        ranked = await task.result()
        wrong = await client.call_tool(
            "review_hypothesis", {"hypothesis_id": "hyp_none"}, raise_on_error=False
        )
        dropped = await call_tool_task(client, "rank_hypotheses", {"research_id": research_id})
        await dropped.cancel()
        return {
            "tasks": sum(one.task_id is not None for one in (task, dropped)),
            "made": len((made.structured_content or {})["result"]),
            "ranked": len((ranked.structured_content or {})["result"]),
            "wrong": (wrong.structured_content or {})["error"]["code"],
        }


print(json.dumps(asyncio.run(visit(*sys.argv[1:3]))))
