"""Populations: phrases that say in whom something was looked at, not what it was."""

import re

from carrel.libraries.discovery.goals.goal_language import goal_language

# `geographers`, `cardiologists`, `technicians`; no drug or thing ends so.
_PEOPLE_ENDING = re.compile(r"(?:ologist|grapher|ographer|ician|worker|keeper|farmer|scientist)s?$")
_WITH = re.compile(r"^(.+?) (?:with|of|from|in|undergoing|receiving) ", re.IGNORECASE)


def is_population(name: str) -> bool:
    """Whether a phrase names people or animals looked at: `older adults`, `patients with X`."""
    lead = _WITH.match(f"{name} ")
    head = (lead[1] if lead else name).split(" ")[-1]
    return goal_language().has("people", head) or bool(_PEOPLE_ENDING.search(head.lower()))
