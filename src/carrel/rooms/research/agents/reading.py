"""The agent that looks at the goal first: whether it may be worked on, and how it is read."""

from __future__ import annotations

from carrel.rooms.research.agents.safety import look_at_goal
from carrel.rooms.research.agents.workshop import Made, Workshop
from carrel.rooms.research.minds.mind import Brief
from carrel.rooms.research.ports import ContextMemory
from carrel.rooms.research.records import Understanding

AGENT = "goal reading"


async def begin(workshop: Workshop, brief: Brief) -> Made:
    """The mind's safety opinion, then its reading of the goal, unless that was kept when the
    project was started.
    """
    made = await look_at_goal(workshop, brief)
    if await understanding(workshop.memory, brief.project.id) is not None:
        return made
    read = await workshop.mind.understand(brief.project.goal)
    output = workshop.output(brief, AGENT, brief.project.goal, read.model_dump_json())
    return Made(made.changes.model_copy(update={"outputs": (*made.changes.outputs, output)}))


async def understanding(memory: ContextMemory, research_id: str) -> Understanding | None:
    """How the goal was read, as it was kept."""
    found = await memory.outputs(research_id, agent=AGENT)
    return Understanding.model_validate_json(found[-1].answered) if found else None
