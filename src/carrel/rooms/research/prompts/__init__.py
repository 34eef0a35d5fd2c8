"""The texts of prompts, read from the files beside this one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def prompt_text(name: str) -> str:
    """The text of a prompt, by the name of its file."""
    return (
        files("carrel.rooms.research.prompts")
        .joinpath(f"{name}.md")
        .read_text(encoding="utf-8")
        .strip()
    )


def agent_text(name: str, **values: object) -> str:
    """What an agent tells a model, with its places filled."""
    text = prompt_text(f"agents/{name}")
    for place, value in values.items():
        text = text.replace("{" + place + "}", str(value))
    return text
