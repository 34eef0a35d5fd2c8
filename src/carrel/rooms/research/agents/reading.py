"""The agent that looks at the goal first: whether it may be worked on, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.rooms.research.agents.safety import look_at_goal
from carrel.rooms.research.agents.workshop import Made, Workshop
from carrel.rooms.research.minds.mind import Brief
from carrel.rooms.research.ports import ContextMemory
from carrel.rooms.research.records import AgentOutput, Understanding

AGENT = "goal reading"


async def begin(workshop: Workshop, brief: Brief) -> Made:
    """The mind's safety opinion, then its reading of the goal, unless that was kept when the project was started."""
    made = await look_at_goal(workshop, brief)
    if await understanding(workshop.memory, brief.project.id) is not None:
        return made
    read = await workshop.mind.understand(brief.project.goal)
    output = workshop.output(brief, AGENT, brief.project.goal, read.model_dump_json())
    return Made(made.changes.model_copy(update={"outputs": (*made.changes.outputs, output)}))


async def understanding(memory: ContextMemory, research_id: str) -> Understanding | None:
    """How the goal was read, as it was kept."""
    return understanding_in(await memory.outputs(research_id))


def understanding_in(outputs: Sequence[AgentOutput]) -> Understanding | None:
    """The same, from what agents answered."""
    found = [output.answered for output in outputs if output.agent == AGENT]
    return Understanding.model_validate_json(found[-1]) if found else None
