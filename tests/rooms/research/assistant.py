"""A scripted assistant: does every task by rule, and counts calls and characters."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Ask = Callable[..., Awaitable[Any]]
MOST_CHARACTERS = 10_000


def idea(brief: dict[str, Any], number: int) -> dict[str, Any]:
    """A hypothesis that cites what was handed out, as long as assistants write them."""
    cited = [passage["id"] for passage in brief.get("passages", [])][:2]
    mark = f"{brief['task_id'][-8:]} {number}"
    return {
        "title": f"Hypothesis {mark}: what the passages say opposes what the goal asks about",
        "summary": "The bridge is raised in the one and lowered in the other. " * 5,
        "rationale": "A passage says that the first lowers the bridge; another says more. " * 8,
        "predictions": ["The bridge falls by half within a day.", "Blocking it undoes this."],
        "refutations": ["The bridge stays as it is in all animals."],
        "experiment": ["Take ten samples.", "Treat five of them.", "Measure the bridge."],
        "citations": cited,
    }


def answer(brief: dict[str, Any]) -> dict[str, Any]:
    """A good answer to any task."""
    known = [one["id"] for one in brief.get("known", []) if "id" in one]
    count = brief["answer_shape"]["properties"]
    match brief["role"]:
        case "generate":
            most = count["hypotheses"]["maxItems"]
            return {"hypotheses": [idea(brief, number) for number in range(most)]}
        case "evolve":
            most = count["children"]["maxItems"]
            children = [
                {**idea(brief, number), "parents": known[:1], "strategy": "refine"}
                for number in range(most)
            ]
            return {"children": children}
        case "review":
            cited = [passage["id"] for passage in brief.get("passages", [])][:2]
            review = {
                "plausibility": 0.6, "novelty": "0.7", "testability": 0.8, "safety": 1,
                "verdict": "mixed", "strengths": ["It names a mechanism that can be reached."],
                "weaknesses": ["One of its two links rests on a single paper."],
                "supporting": cited[:1], "contradicting": cited[1:],
            }  # fmt: skip
            return {"reviews": [{"hypothesis_id": one, **review} for one in known]}
        case "compare":
            # The longer title, then the later one: any rule that does not depend on the order.
            verdicts = [
                {
                    "pair": pair["pair"],
                    "better": "A" if pair["A"]["title"] > pair["B"]["title"] else "B",
                    "margin": "clear",
                    "why": "Its mechanism is nearer to what the goal asks.",
                }
                for pair in brief["pairs"]
            ]
            return {"verdicts": verdicts}
    return {"summary": "The leading ones share a bridge; test the first with a small trial. " * 5}


@dataclass
class Assistant:
    """Works through a project by two tools; `ask` calls a tool and gives its answer as JSON."""

    ask: Ask
    worker: str = ""
    calls: int = 0
    characters: int = 0
    roles: list[str] = field(default_factory=list)
    longest: int = 0
    briefs: list[dict[str, Any]] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.calls += 1
        told = await self.ask(tool, **arguments)
        size = len(json.dumps(told, ensure_ascii=False))
        self.characters += size + len(json.dumps(arguments, ensure_ascii=False))
        self.longest = max(self.longest, size)
        return dict(told)

    async def next(self, research_id: str, **more: Any) -> dict[str, Any]:
        worker = {"worker": self.worker} if self.worker else {}
        return await self.call("next_research_task", research_id=research_id, **worker, **more)

    async def submit(self, brief: dict[str, Any], given: Any = None) -> dict[str, Any]:
        self.roles.append(brief["role"])
        self.briefs.append(brief)
        return await self.call(
            "submit_research_task",
            task_id=brief["task_id"],
            answer=answer(brief) if given is None else given,
        )

    async def work(self, research_id: str, most: int = 60) -> dict[str, Any]:
        """Works until there is nothing more, or for so many calls."""
        brief = await self.next(research_id)
        while "task_id" in brief and self.calls < most:
            submitted = await self.submit(brief)
            assert submitted["kept"], submitted
            brief = submitted["next"]
        return brief
