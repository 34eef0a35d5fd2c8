"""The authors' sets of goals, read from the files beside this one."""

import json
from pathlib import Path

Goal = tuple[str, bool]


def goals(name: str) -> list[Goal]:
    """Each goal and whether it is harmful."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [
        (row["goal"], row["harmful"] if "harmful" in row else not row["allowed"])
        for row in map(json.loads, lines)
    ]
