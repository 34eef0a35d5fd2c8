"""What a person can do next, said at the end of a command on standard error."""

from __future__ import annotations

import sys

_NEXT: dict[str, str] = {
    "papers build": 'carrel papers search "WORDS" asks it, carrel connect CLIENT --write gives it '
    "to an assistant, carrel serve serves it.",
    "papers index": 'carrel papers search "WORDS" uses it.',
    "papers add": "carrel papers show PAPER_ID shows it.",
    "papers search": "carrel papers show PAPER_ID says more of one, carrel papers source PAPER_ID "
    "reads it.",
    "papers keyword": "carrel papers show PAPER_ID says more of one.",
    "references add": "carrel references cite ID --style vancouver cites one, carrel references "
    "export writes a bibliography.",
    "references search": "carrel references cite ID cites one.",
    "references attach": "carrel references fulltext ID reads it back.",
    "knowledge import": 'carrel knowledge search "WORDS" finds them; run it again to bring in '
    "what changed; "
    "--source team imports for everybody.",
    "knowledge import-nodes": 'carrel knowledge nodes "NAME" shows one.',
    "knowledge save": "carrel knowledge propose ID offers it to the team, carrel knowledge "
    "promote ID shares it.",
    "knowledge propose": "carrel knowledge promote ID shares it with the team.",
    "research start": "carrel research watch RESEARCH_ID goes on with it and shows it (a running "
    "server goes on by itself).",
    "research results": "carrel research export RESEARCH_ID writes a report.",
    "users add": "carrel tokens create NAME --scopes … makes a token for a script; people log in "
    "when their client sends them.",
    "tokens create": "Send it as the header Authorization: Bearer TOKEN.",
    "backup": "carrel restore FILE puts it in place, here or on another machine.",
    "restore": "carrel doctor{HOME} says what is on the desk now.",
}


def say_next_step(command: str, **names: str) -> None:
    """Prints what comes after `command`, with the names that are known filled in."""
    text = _NEXT.get(command)
    if text is None:
        return
    for placeholder, value in names.items():
        text = text.replace(placeholder, value)
    print(f"Next: {text}", file=sys.stderr)
