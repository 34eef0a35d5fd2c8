"""The words each sign is known by, as regular expressions.

Alternatives stand three spaces or a line apart; a line that begins with a bar carries on the alternative before it.
"""

from carrel.rooms.research.safety.patterns.acts import ACTS
from carrel.rooms.research.safety.patterns.aims import AIMS
from carrel.rooms.research.safety.patterns.objects import OBJECTS
from carrel.rooms.research.safety.patterns.parts import PARTS

ANYWHERE = frozenset({"WORSEN", "HARM_PEOPLE", "KILL_SELF", "EXPLAIN", "PERSECUTE", "DEFEATED"})
"""Signs whose expressions say themselves where a word begins."""

WORDS = {**ACTS, **OBJECTS, **AIMS}

__all__ = ["ANYWHERE", "PARTS", "WORDS"]
