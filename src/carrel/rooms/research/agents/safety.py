"""The safety agent: a mind's own look at a goal that the rules have let pass, before anything else
is done with it.
"""

from __future__ import annotations

from carrel.rooms.research.agents.workshop import Made, Workshop
from carrel.rooms.research.errors import UnsafeGoalError
from carrel.rooms.research.minds.mind import Brief
from carrel.rooms.research.records import Changes


async def look_at_goal(workshop: Workshop, brief: Brief) -> Made:
    """Writes the decision down; a goal that is refused goes no further."""
    opinions = await workshop.mind.check(brief, [brief.project.goal])
    records = tuple(
        workshop.by_mind(brief, "goal", brief.project.goal, opinion, 0) for opinion in opinions
    )
    if not all(record.is_allowed for record in records):
        await workshop.memory.keep(Changes(safety=records))
        raise UnsafeGoalError(
            "goal",
            "model",
            f"{workshop.mind.name} refused it, saying: {records[0].reason}",
            "Questions of prevention, treatment, detection or history are welcome.",
        )
    return Made(Changes(safety=records))
