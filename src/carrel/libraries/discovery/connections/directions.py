"""What a goal asks an answer to do to its subject."""

from carrel.libraries.discovery.goals.asked_for import AskedFor
from carrel.libraries.discovery.goals.reading import GoalReading, Wanted

_SIGNS = {"raises": 1, "causes": 1, "lowers": -1, "treats": -1}
_ASKING = frozenset({AskedFor.CAUSES, AskedFor.INTERVENTIONS, AskedFor.NOT_STATED})


def wanted_effect(reading: GoalReading) -> int:
    """What an answer must do to the start: 1 raise it, -1 lower it, 0 where that is not asked."""
    if reading.is_closed:
        return 0
    statement = reading.statement
    if statement is not None and statement.asked_for in _ASKING:
        sign = _SIGNS.get(statement.relation, 0)
        if sign:
            return sign
    return -1 if asks_for_intervention(reading) else 0


def asks_for_intervention(reading: GoalReading) -> bool:
    """Whether an answer that does the opposite of what is asked must never be given."""
    statement = reading.statement
    return reading.wanted is Wanted.DRUG or (
        statement is not None and statement.asked_for is AskedFor.INTERVENTIONS
    )
